import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { AppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import { nearestName } from "../platform/nearest-name.js";
import { VARIABLES } from "./config.js";

/**
 * The process environment before `.env.local` before `.env`, both in `dir`; a file that isn't there is passed over.
 * An empty value in the environment counts as not set.
 */
export function readEnvironment(dir: string, env: NodeJS.ProcessEnv = process.env): Record<string, string | undefined> {
  const values: Record<string, string | undefined> = {};
  for (const file of [".env", ".env.local"]) Object.assign(values, readEnvFile(join(dir, file)));
  for (const [name, value] of Object.entries(env)) if (value !== undefined && value.trim() !== "") values[name] = value;
  return values;
}

function readEnvFile(path: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(path, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new AppError("INVALID_CONFIG", { detail: `${path} can't be read.`, cause: error });
  }
}

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
