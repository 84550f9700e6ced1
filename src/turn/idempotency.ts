import type { Owner } from "../domain/owner.js";
import { deferred, orAbort } from "../platform/bounded-signal.js";
import { AppError } from "../platform/errors.js";

/**
 * The requests with an idempotency key that run in this process: one at a time for each key. What has ended is told by the
 * index, which outlives a restart.
 */
export class RequestsInFlight {
  readonly #running = new Map<string, { readonly requestHash: string; readonly ended: Promise<void> }>();

  /**
   * Runs `work` when no other request with this key runs; waits for it at most `waitMs` otherwise.
   * @throws IDEMPOTENCY_KEY_REUSED when the one that runs has another hash, IDEMPOTENCY_IN_PROGRESS after the wait
   */
  async run<T>(
    owner: Owner,
    idempotency: { readonly key: string; readonly requestHash: string },
    wait: { readonly waitMs: number; readonly signal: AbortSignal },
    work: () => Promise<T>,
  ): Promise<T> {
    const id = JSON.stringify([owner, idempotency.key]);
    const patience = AbortSignal.any([AbortSignal.timeout(wait.waitMs), wait.signal]);
    for (let other = this.#running.get(id); other; other = this.#running.get(id)) {
      if (other.requestHash !== idempotency.requestHash) throw new AppError("IDEMPOTENCY_KEY_REUSED");
      await orAbort(other.ended, patience).catch(() => {
        throw wait.signal.aborted
          ? new AppError("CLIENT_CLOSED_REQUEST")
          : new AppError("IDEMPOTENCY_IN_PROGRESS", { retryAfterSeconds: 1 });
      });
    }
    const ended = deferred();
    this.#running.set(id, { requestHash: idempotency.requestHash, ended: ended.promise });
    try {
      return await work();
    } finally {
      this.#running.delete(id);
      ended.resolve();
    }
  }
}
