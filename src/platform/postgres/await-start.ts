import { setTimeout as pause } from "node:timers/promises";
import { AppError, isAppError } from "../errors.js";
import type { Logger } from "../logger.js";
import { mayPass, reasonOf } from "./postgres-errors.js";

const TRY_AGAIN_MS = 1_000;

/**
 * A start on a server that may be slow to start itself: tried every second, for `waitMs`.
 * @throws STORAGE_UNAVAILABLE that names DATABASE_URL: at once where waiting does not help, such as at a wrong password
 */
export async function awaitStart<T>(
  start: () => Promise<T>,
  { url, waitMs, logger }: { url: string; waitMs: number; logger: Logger },
): Promise<T> {
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
          detail: `PostgreSQL at ${addressOf(url)} can't be used${waited}: ${reasonOf(error)}`,
          hint: "Check DATABASE_URL (address, user, password, database), and that the server runs.",
          cause: error.cause,
        });
      }
      if (tries === 1) logger.warn({ reason: reasonOf(error), waitMs }, `Waiting for PostgreSQL at ${addressOf(url)}`);
      await pause(TRY_AGAIN_MS);
    }
  }
}

/** Without who logs in, and how. */
function addressOf(url: string): string {
  if (!URL.canParse(url)) return "the address of DATABASE_URL";
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
