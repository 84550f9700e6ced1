import { AppError, isAppError } from "../../../platform/errors.js";
import { errnoOf } from "../../../platform/file-system.js";
import { isDamage } from "../../../platform/sqlite.js";
import { asStorageError } from "../../../platform/storage-errors.js";
import { NotCommitted } from "../../durable-commit.js";

/** Refused before anything was written. */
const REFUSED = /^SQLITE_(BUSY|FULL|READONLY)/;

/** What work on a database file throws, as the port names it. @throws STORAGE_UNAVAILABLE, STORAGE_DAMAGED */
export function onSqlite<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isDamage(error)) throw asStorageError(error);
    throw new AppError("STORAGE_DAMAGED", {
      detail: `${path} is damaged.`,
      hint: "Stop the server and `maitred restore` a whole backup into an empty directory: the file alone fits no newer journals.",
      cause: error,
    });
  }
}

/** By another process, which has the file to itself: no commit goes through until it lets go. */
export function isLocked(error: unknown): boolean {
  return isAppError(error, "STORAGE_UNAVAILABLE") && codeOf(error).startsWith("SQLITE_BUSY");
}

/** The same error of a commit, as {@link NotCommitted} where it is known that nothing came of it. */
export function ofCommit(error: unknown): unknown {
  return isAppError(error, "STORAGE_UNAVAILABLE") && REFUSED.test(codeOf(error)) ? asNotCommitted(error) : error;
}

export function asNotCommitted({ message: detail, hint, cause, retryAfterSeconds = 1 }: AppError): NotCommitted {
  return new NotCommitted({ detail, hint, cause, retryAfterSeconds });
}

function codeOf({ cause }: AppError): string {
  return errnoOf(cause) ?? "";
}
