import { AppError } from "../../platform/errors.js";
import type { AcquireOptions, Lease, TurnLock } from "../../ports/session-store.js";

/** Locks within this process. Nothing is kept of a key that nobody holds. */
export class InProcessLock implements TurnLock {
  readonly #queues = new Map<string, (() => void)[]>();
  #fence = 0;

  async acquire(key: string, options: AcquireOptions): Promise<Lease> {
    if (options.signal?.aborted === true) throw new AppError("ABORTED", { cause: options.signal.reason });
    const queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, []);
    else await waitIn(queue, options.waitMs, options.signal);
    return this.#lease(key);
  }

  /** Nobody else has any. */
  async revoke(): Promise<void> {}

  #lease(key: string): Lease {
    this.#fence += 1;
    let held = true;
    return {
      fence: this.#fence,
      // Nothing takes a lock away within one process.
      signal: new AbortController().signal,
      release: async () => {
        if (!held) return;
        held = false;
        const next = this.#queues.get(key)?.shift();
        if (next === undefined) this.#queues.delete(key);
        else next();
      },
    };
  }
}

function waitIn(queue: (() => void)[], waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (error: AppError) => {
      queue.splice(queue.indexOf(grant), 1);
      settle();
      reject(error);
    };
    const onAbort = () => leave(new AppError("ABORTED", { cause: signal?.reason }));
    const timer = setTimeout(() => leave(new AppError("SESSION_BUSY", { retryAfterSeconds: 1 })), waitMs);
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const grant = () => {
      settle();
      resolve();
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    queue.push(grant);
  });
}
