import type { Owner } from "../../domain/owner.js";
import { boundedSignal } from "../../platform/bounded-signal.js";
import { AppError, isAppError } from "../../platform/errors.js";
import { FailureStreak } from "../../platform/failure-streak.js";
import { KeyedMutex } from "../../platform/keyed-mutex.js";
import type { VectorStore } from "../../ports/vectors.js";

export interface StoreCallsParts {
  readonly reads: VectorStore;
  readonly writes: VectorStore;
  /** Awaited before each call: the collections are there. */
  readonly ready: () => Promise<unknown>;
  /** Bound of a call, in milliseconds. */
  readonly timeoutMs: number;
}

type Work<T> = (signal: AbortSignal) => Promise<T>;

/**
 * How long-term memory calls its store: each call bounded in time, an owner's writes one after the other, failures as the port
 * names them.
 */
export class StoreCalls {
  readonly #parts: StoreCallsParts;
  readonly #locks = new KeyedMutex();
  readonly #writes = new FailureStreak();

  constructor(parts: StoreCallsParts) {
    this.#parts = parts;
  }

  /** @throws ABORTED where the caller's signal did, LONG_TERM_MEMORY_UNAVAILABLE */
  read<T>(signal: AbortSignal | undefined, work: Work<T>): Promise<T> {
    return this.#guarded(this.#parts.reads, signal, work);
  }

  /** After the owner's writes before it. The bound counts from its turn on. @throws as {@link read} */
  write<T>(owner: Owner, signal: AbortSignal | undefined, work: Work<T>): Promise<T> {
    return this.#locks.run(owner, async () => {
      try {
        const result = await this.#guarded(this.#parts.writes, signal, work);
        this.#writes.wentWell();
        return result;
      } catch (error) {
        // What was refused for what it asked got through.
        if (isAppError(error) && error.status >= 500) this.#writes.failed();
        throw error;
      }
    });
  }

  /** Writes that failed in a row; null for less than three. A read that fails is told to whoever asked. */
  get failingWrites(): number | null {
    return this.#writes.told;
  }

  /** Resolves when no write runs or waits. */
  settled(): Promise<void> {
    return this.#locks.settled();
  }

  async #guarded<T>(store: VectorStore, signal: AbortSignal | undefined, work: Work<T>): Promise<T> {
    const bound = boundedSignal([signal], this.#parts.timeoutMs);
    try {
      return await store.withSignal(bound.signal, async () => {
        bound.signal.throwIfAborted();
        await this.#parts.ready();
        return work(bound.signal);
      });
    } catch (error) {
      if (signal?.aborted) throw isAppError(error, "ABORTED") ? error : new AppError("ABORTED", { cause: error });
      throw unavailable(error);
    } finally {
      bound.end();
    }
  }
}

/** Out of reach, also when our own bound passed. */
export function unavailable(error: unknown): AppError {
  const known = isAppError(error) && error.code !== "ABORTED" && error.code !== "STORAGE_UNAVAILABLE";
  return known ? error : new AppError("LONG_TERM_MEMORY_UNAVAILABLE", { cause: error });
}
