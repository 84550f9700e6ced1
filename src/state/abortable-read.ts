import { orAbort } from "../platform/bounded-signal.js";
import { AppError, isAppError } from "../platform/errors.js";

/** @throws ABORTED */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new AppError("ABORTED", { cause: signal.reason });
}

/** A read that nobody waits for any more when the signal aborts. @throws ABORTED, and what the read throws */
export async function abortableRead<T>(read: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return read();
  throwIfAborted(signal);
  try {
    return await orAbort(read(), signal);
  } catch (error) {
    if (!isAppError(error, "ABORTED")) throwIfAborted(signal);
    throw error;
  }
}
