import type { CircuitBreakerPolicy } from "cockatiel";
import { LRUCache } from "lru-cache";
import type { Owner } from "../../domain/owner.js";
import { loadedLater } from "../../platform/loaded-later.js";

const cockatiel = loadedLater<typeof import("cockatiel")>("cockatiel");

export interface RecallBreakerOptions {
  /** Failures in a row before what fails is left alone. */
  readonly failures: number;
  /** For how long, in milliseconds; then one call tries. */
  readonly halfOpenAfterMs: number;
}

/** The store's or the embedder's failure, as against the caller's going away. */
export class RecallFailed extends Error {}

/** The owner whose call failed last failed once more: that says nothing new about the others'. */
class FailedAgain extends RecallFailed {}

/** Owners whose failures are kept in mind. */
const MAX_OWNERS = 1_000;

/**
 * Leaves alone what fails in a row, so that it doesn't cost every turn its deadline: for one owner when their own calls fail, and
 * for all when the calls of at least two owners do, with no success between. What fails for one owner alone is never felt by another.
 */
export class RecallBreaker {
  readonly #options: RecallBreakerOptions;
  readonly #all: CircuitBreakerPolicy;
  readonly #owners = new LRUCache<Owner, CircuitBreakerPolicy>({ max: MAX_OWNERS });
  /** When the circuit of an owner opened. An owner who never comes back doesn't count for longer than it is open. */
  readonly #opened = new LRUCache<Owner, number>({ max: MAX_OWNERS });
  #allOpened = Number.NEGATIVE_INFINITY;
  #lastFailed: Owner | null = null;

  constructor(options: RecallBreakerOptions) {
    this.#options = options;
    this.#all = this.#policy((error) => error instanceof RecallFailed && !(error instanceof FailedAgain));
    this.#all.onBreak(() => {
      this.#allOpened = Date.now();
    });
    this.#all.onReset(() => {
      this.#allOpened = Number.NEGATIVE_INFINITY;
    });
  }

  /** True while something is left alone, if only for one owner. */
  get isOpen(): boolean {
    if (this.#all.state !== cockatiel().CircuitState.Closed) return true;
    const now = Date.now();
    return [...this.#opened.values()].some((at) => now - at < this.#options.halfOpenAfterMs);
  }

  /** True while a call for this owner would not be made. */
  leavesAlone(owner: Owner): boolean {
    return Date.now() - Math.max(this.#allOpened, this.#opened.get(owner) ?? Number.NEGATIVE_INFINITY) < this.#options.halfOpenAfterMs;
  }

  /**
   * Only {@link RecallFailed} counts. @throws what the work throws; cockatiel's BrokenCircuitError, without calling it, while it
   * is open
   */
  run(owner: Owner, work: () => Promise<void>): Promise<void> {
    return this.#own(owner).execute(() => this.#all.execute(() => this.#watched(owner, work)));
  }

  async #watched(owner: Owner, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#lastFailed = null;
    } catch (error) {
      if (!(error instanceof RecallFailed)) throw error;
      // The one call that tries an open circuit again decides, whoever's it is.
      const again = this.#lastFailed === owner && this.#all.state === cockatiel().CircuitState.Closed;
      this.#lastFailed = owner;
      throw again ? new FailedAgain(error.message, { cause: error }) : error;
    }
  }

  #own(owner: Owner): CircuitBreakerPolicy {
    const known = this.#owners.get(owner);
    if (known !== undefined) return known;
    const policy = this.#policy((error) => error instanceof RecallFailed);
    policy.onBreak(() => void this.#opened.set(owner, Date.now()));
    policy.onReset(() => void this.#opened.delete(owner));
    this.#owners.set(owner, policy);
    return policy;
  }

  #policy(counts: (error: Error) => boolean): CircuitBreakerPolicy {
    const { failures, halfOpenAfterMs } = this.#options;
    const { circuitBreaker, ConsecutiveBreaker, handleWhen } = cockatiel();
    return circuitBreaker(handleWhen(counts), { halfOpenAfter: halfOpenAfterMs, breaker: new ConsecutiveBreaker(failures) });
  }
}
