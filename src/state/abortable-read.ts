import { AppError, isAppError } from "../platform/errors.js";
import { orAbort } from "../platform/or-abort.js";

/** A read that nobody waits for any more when the signal aborts. @throws ABORTED, and what the read throws */
export async function abortableRead<T>(read: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return read();
  if (signal.aborted) throw new AppError("ABORTED", { cause: signal.reason });
  try {
    return await orAbort(read(), signal);
  } catch (error) {
    throw signal.aborted && !isAppError(error, "ABORTED") ? new AppError("ABORTED", { cause: signal.reason }) : error;
  }
}
