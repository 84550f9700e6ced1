import { AppError, isAppError } from "../platform/errors.js";
import type { ModelEvent } from "../ports/agent.js";

export interface StreamBounds {
  readonly signal: AbortSignal;
  /** Milliseconds that may be spent waiting for the model in all; time in which the reader is busy doesn't count. */
  readonly timeoutMs: number;
  /** Milliseconds waited for one event. */
  readonly onWait?: (ms: number) => void;
}

/**
 * Holds a model to what its port promises, whatever it does: ends in time, ends on abort even if the model ignores it,
 * and is whole. @throws MODEL_TIMEOUT, ABORTED, MODEL_UNAVAILABLE (any other failure, or a stream without its `end`)
 */
export async function* boundedStream(
  open: (signal: AbortSignal) => AsyncIterable<ModelEvent>,
  bounds: StreamBounds,
): AsyncGenerator<ModelEvent, void, undefined> {
  const stop = new AbortController();
  const onAbort = () => stop.abort(bounds.signal.reason);
  let iterator: AsyncIterator<ModelEvent> | undefined;
  let left = bounds.timeoutMs;
  try {
    bounds.signal.throwIfAborted();
    bounds.signal.addEventListener("abort", onAbort, { once: true });
    iterator = open(stop.signal)[Symbol.asyncIterator]();
    for (;;) {
      const started = performance.now();
      const next = await within(iterator.next(), left, bounds.signal);
      const waited = performance.now() - started;
      left -= waited;
      bounds.onWait?.(waited);
      if (next.done === true) throw new AppError("MODEL_UNAVAILABLE", { detail: "The model's answer broke off." });
      yield next.value;
      if (next.value.type === "end") return;
    }
  } catch (error) {
    throw asModelError(error, bounds.signal);
  } finally {
    bounds.signal.removeEventListener("abort", onAbort);
    stop.abort();
    // Not awaited: a model that ignores its signal must not hold up the turn.
    iterator?.return?.()?.catch(() => {});
  }
}

function asModelError(error: unknown, signal: AbortSignal): AppError {
  if (signal.aborted) return new AppError("ABORTED", { cause: signal.reason });
  if (isAppError(error)) return error;
  return new AppError("MODEL_UNAVAILABLE", { cause: error });
}

/** @throws MODEL_TIMEOUT after `ms`, the signal's reason when it aborts */
async function within<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const bound = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AppError("MODEL_TIMEOUT")), Math.max(0, ms));
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([work, bound]);
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
  }
}
