import type { Logger } from "../platform/logger.js";
import { nearestName } from "../platform/nearest-name.js";
import { VARIABLES } from "./config.js";

export interface MisspeltVariable {
  readonly name: string;
  /** The variable that it was probably meant for. */
  readonly meant: string;
}

/**
 * Names of an environment that are none of ours and look like one. What merely begins as one of ours (`DATABASE_URL_UNPOOLED`), or is a
 * single word, is somebody else's.
 */
export function misspeltVariables(env: Readonly<Record<string, string | undefined>>): readonly MisspeltVariable[] {
  const ours = Object.keys(VARIABLES);
  return Object.keys(env).flatMap((name) => {
    const meant = Object.hasOwn(VARIABLES, name) || !name.includes("_") ? undefined : nearestName(name, ours);
    return meant === undefined || name.startsWith(meant) || meant.startsWith(name) ? [] : [{ name, meant }];
  });
}

export function warnOfMisspelt(env: Readonly<Record<string, string | undefined>>, logger: Logger): void {
  for (const { name, meant } of misspeltVariables(env))
    logger.warn({ variable: name, meant }, "a variable that nothing reads; its name is near one that is read");
}
