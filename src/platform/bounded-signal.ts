import { setMaxListeners } from "node:events";

interface BoundedSignal {
  readonly signal: AbortSignal;
  /** Whether it was the time that ended it. */
  readonly late: boolean;
  /** Lets go of the sources and of the timer. To be called when the work is over. */
  end(): void;
}

/**
 * A signal that aborts with the first of others, for its reason, or with a `TimeoutError` after a time (milliseconds; default: none). What
 * `AbortSignal.any` and `AbortSignal.timeout` make stays in memory until the time is up, or the collector gets to it; this goes with the
 * work. The timer keeps no process alive.
 */
export function boundedSignal(sources: readonly (AbortSignal | undefined)[], timeoutMs?: number): BoundedSignal {
  const controller = new AbortController();
  // As many listen as work goes on side by side; each lets go when it is over.
  setMaxListeners(0, controller.signal);
  let late = false;
  let timer: NodeJS.Timeout | undefined;
  const followed: { readonly source: AbortSignal; readonly abort: () => void }[] = [];
  const end = () => {
    clearTimeout(timer);
    for (const { source, abort } of followed.splice(0)) source.removeEventListener("abort", abort);
  };
  for (const source of sources) {
    if (source === undefined) continue;
    const abort = () => {
      controller.abort(source.reason);
      end();
    };
    if (source.aborted) {
      abort();
      break;
    }
    setMaxListeners(0, source);
    source.addEventListener("abort", abort, { once: true });
    followed.push({ source, abort });
  }
  if (timeoutMs !== undefined && !controller.signal.aborted) {
    timer = setTimeout(() => {
      late = true;
      controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
      end();
    }, timeoutMs);
    timer.unref();
  }
  return {
    signal: controller.signal,
    get late() {
      return late;
    },
    end,
  };
}

/** A promise that whoever made it resolves. */
export function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** What `work` gives; where the signal aborts first it goes on, and nobody waits for it. @throws what it throws; the signal's reason */
export function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    if (signal.aborted) aborted();
    else signal.addEventListener("abort", aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });
}

/** What `work` gives, or `late` when the time is up: it then goes on, and nobody waits for it. @throws what it throws before */
export async function within<T, L>(ms: number, work: Promise<T>, late: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<L>((resolve) => {
    timer = setTimeout(() => resolve(late), ms);
  });
  return Promise.race([work, timeUp]).finally(() => clearTimeout(timer));
}
