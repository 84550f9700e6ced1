import { AppError, isAppError } from "../platform/errors.js";
import type { ModelEvent } from "../ports/agent.js";

export interface StreamBounds {
  readonly signal: AbortSignal;
  /** Milliseconds that may be spent waiting for the model in all; time in which the reader is busy doesn't count. */
  readonly timeoutMs: number;
  /** Milliseconds waited for one event. */
  readonly onWait?: (ms: number) => void;
}

/** Why a model is told to stop that took longer than it may: what is asked of it, not the turn around it. */
export class ModelTimeout extends AppError {
  constructor() {
    super("MODEL_TIMEOUT");
  }
}

/** Why a model is told to stop when all is read. Made once: nobody looks at its stack. */
const OVER = new AppError("ABORTED");

/**
 * Holds a model to what its port promises, whatever it does: ends in time, ends on abort even if the model ignores it, and is whole. The
 * reason of the signal that it is given says which. @throws MODEL_TIMEOUT, ABORTED, MODEL_UNAVAILABLE (any other failure, or a stream
 * without its `end`)
 */
export async function* boundedStream(
  open: (signal: AbortSignal) => AsyncIterable<ModelEvent>,
  bounds: StreamBounds,
): AsyncGenerator<ModelEvent, void, undefined> {
  const stop = new AbortController();
  const onAbort = () => stop.abort(bounds.signal.reason);
  let iterator: AsyncIterator<ModelEvent> | undefined;
  const waits = new Waits(bounds.timeoutMs, bounds.signal);
  try {
    bounds.signal.throwIfAborted();
    bounds.signal.addEventListener("abort", onAbort, { once: true });
    iterator = open(stop.signal)[Symbol.asyncIterator]();
    for (;;) {
      const started = performance.now();
      const next = await waits.for(iterator.next());
      bounds.onWait?.(performance.now() - started);
      if (next.done === true) throw new AppError("MODEL_UNAVAILABLE", { detail: "The model's answer broke off." });
      yield next.value;
      if (next.value.type === "end") return;
    }
  } catch (error) {
    if (isAppError(error, "MODEL_TIMEOUT")) stop.abort(error);
    throw asModelError(error, bounds.signal);
  } finally {
    bounds.signal.removeEventListener("abort", onAbort);
    waits.end();
    stop.abort(OVER);
    // Not awaited: a model that ignores its signal must not hold up the turn.
    iterator?.return?.()?.catch(() => {});
  }
}

function asModelError(error: unknown, signal: AbortSignal): AppError {
  if (signal.aborted) return new AppError("ABORTED", { cause: signal.reason });
  if (isAppError(error)) return error;
  return new AppError("MODEL_UNAVAILABLE", { cause: error });
}

/** Waits for one thing after another, for so many milliseconds in all: with one timer, however many pieces an answer has. */
class Waits {
  readonly #signal: AbortSignal;
  #leftMs: number;
  /** When the time is up, if what is waited for now does not come. */
  #until = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Null while nothing is waited for. */
  #fail: ((reason: unknown) => void) | null = null;
  readonly #onAbort = () => this.#fail?.(this.#signal.reason);

  constructor(ms: number, signal: AbortSignal) {
    this.#leftMs = ms;
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** @throws MODEL_TIMEOUT when the time is up, the signal's reason when it aborts */
  async for<T>(work: Promise<T>): Promise<T> {
    this.#until = performance.now() + this.#leftMs;
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#fail = reject;
        if (this.#signal.aborted) this.#onAbort();
        this.#timer ??= setTimeout(this.#onTime, Math.max(0, this.#leftMs));
        work.then(resolve, reject);
      });
    } finally {
      this.#fail = null;
      this.#leftMs = this.#until - performance.now();
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#onAbort);
  }

  /** The timer was set when less time had been spent with the reader than now. */
  readonly #onTime = () => {
    this.#timer = undefined;
    if (this.#fail === null) return;
    const left = this.#until - performance.now();
    if (left <= 0) this.#fail(new ModelTimeout());
    else this.#timer = setTimeout(this.#onTime, left);
  };
}
