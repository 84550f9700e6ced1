import { setTimeout as pause } from "node:timers/promises";
import { AppError, isAppError } from "./errors.js";
import type { Logger } from "./logger.js";

const TRY_AGAIN_MS = 1_000;

/** Who is waited for at a start, and how its errors read. */
export interface AwaitedServer {
  /** `PostgreSQL at host/database`: without who logs in, and how. */
  readonly name: string;
  /** What a person may check. */
  readonly hintOf: (error: AppError) => string;
  /** In milliseconds. */
  readonly waitMs: number;
  readonly logger: Logger;
  /** Whether it may go well a little later. */
  readonly mayPass: (error: AppError) => boolean;
  /** Default: its message. */
  readonly reasonOf?: (error: AppError) => string;
}

/**
 * A start on a server that may be slow to start itself: tried every second, for `waitMs`.
 * @throws STORAGE_UNAVAILABLE with the hint: at once where waiting does not help, such as at a wrong password
 */
export async function awaitStart<T>(start: () => Promise<T>, server: AwaitedServer): Promise<T> {
  const { name, hintOf, waitMs, logger, mayPass, reasonOf = ({ message }) => message } = server;
  const untilMs = performance.now() + waitMs;
  for (let tries = 1; ; tries++) {
    try {
      return await start();
    } catch (error) {
      // One without a cause has said all there is to say.
      if (!isAppError(error, "STORAGE_UNAVAILABLE") || error.cause === undefined) throw error;
      const passing = mayPass(error);
      if (!passing || performance.now() + TRY_AGAIN_MS > untilMs) {
        const waited = passing && tries > 1 ? ` (waited for ${Math.round(waitMs / 1_000)} s)` : "";
        throw new AppError("STORAGE_UNAVAILABLE", {
          detail: `${name} can't be used${waited}: ${reasonOf(error)}`,
          hint: hintOf(error),
          cause: error.cause,
        });
      }
      if (tries === 1) logger.warn({ reason: reasonOf(error), waitMs }, `Waiting for ${name}`);
      await pause(TRY_AGAIN_MS);
    }
  }
}

/** A server's host and port: without who logs in, and how. `variable`: names it where its address is none. */
export function hostIn(url: string, variable: string): string {
  return URL.canParse(url) ? new URL(url).host : `the address of ${variable}`;
}
