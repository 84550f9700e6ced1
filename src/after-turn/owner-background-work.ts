import type { Owner } from "../domain/owner.js";
import { deferred, orAbort } from "../platform/bounded-signal.js";

interface Running {
  readonly controller: AbortController;
  readonly ended: Promise<unknown>;
}

/**
 * Work on an owner's stores that is neither a turn nor a write-back, such as catching up. Whoever takes something out of them holds the
 * owner meanwhile: what runs is ended, what is to run waits, so that nothing is put back that was taken out.
 */
export class OwnerBackgroundWork {
  readonly #running = new Map<Owner, Set<Running>>();
  /** How many hold the owner, and the end of the last hold. */
  readonly #held = new Map<Owner, { count: number; readonly over: ReturnType<typeof deferred> }>();

  /**
   * Runs `work` when nobody holds the owner. Work that a hold ended is begun again when the hold is over, so it must be safe to repeat.
   * @throws what `work` throws; the signal's reason when it aborts
   */
  async run<T>(owner: Owner, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (;;) {
      for (let held = this.#held.get(owner); held; held = this.#held.get(owner)) await orAbort(held.over.promise, signal);
      signal.throwIfAborted();
      const controller = new AbortController();
      const result = work(AbortSignal.any([signal, controller.signal]));
      const running = { controller, ended: result.catch(() => undefined) };
      const others = this.#running.get(owner) ?? new Set();
      this.#running.set(owner, others.add(running));
      try {
        return await result;
      } catch (error) {
        if (!controller.signal.aborted) throw error;
      } finally {
        others.delete(running);
        if (others.size === 0) this.#running.delete(owner);
      }
    }
  }

  /** Ends the owner's work, waits for it, and lets none begin until the result is called. */
  async hold(owner: Owner): Promise<() => void> {
    const held = this.#held.get(owner) ?? { count: 0, over: deferred() };
    held.count += 1;
    this.#held.set(owner, held);
    const running = [...(this.#running.get(owner) ?? [])];
    for (const { controller } of running) controller.abort();
    await Promise.all(running.map(({ ended }) => ended));
    return () => {
      held.count -= 1;
      if (held.count > 0) return;
      this.#held.delete(owner);
      held.over.resolve();
    };
  }
}
