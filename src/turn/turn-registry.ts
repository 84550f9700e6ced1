import { setTimeout as pause } from "node:timers/promises";
import type { Owner } from "../domain/owner.js";
import { boundedSignal, deferred, orAbort, within } from "../platform/bounded-signal.js";
import { AppError } from "../platform/errors.js";

/** How long nobody else has to have been answered until work goes on that may wait. */
const MOMENT_MS = 20;
/** Within which a turn that was asked for has begun, on a busy machine too. */
const BEGINS_MS = 500;

/** A turn that is running. */
export interface RunningTurn {
  /** Aborts when the owner is being erased; that of upkeep also when a stop can't wait for it any longer. */
  readonly signal: AbortSignal;
  end(): void;
}

interface Running {
  readonly kind: "turn" | "upkeep";
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

/**
 * The turns that run in this process, by owner: so that an erasure can end them and wait, and a stop can let them finish.
 */
export class TurnRegistry {
  readonly #running = new Map<Owner, Set<Running>>();
  readonly #erasing = new Map<Owner, number>();
  /** What waits for a turn's end. */
  readonly #behind = new Map<Owner, Set<() => void>>();
  #closed = false;
  #brokenOff = false;

  /**
   * `upkeep`: work that follows a turn and goes on while a stop drains it.
   * @throws SHUTTING_DOWN, OWNER_ERASED while the owner's data is being erased
   */
  begin(owner: Owner, kind: "turn" | "upkeep" = "turn"): RunningTurn {
    if (this.#brokenOff || (this.#closed && kind === "turn")) throw new AppError("SHUTTING_DOWN", { retryAfterSeconds: 5 });
    if (this.#erasing.has(owner)) throw new AppError("OWNER_ERASED", { retryAfterSeconds: 5 });
    const controller = new AbortController();
    const ended = deferred();
    const entry: Running = { kind, controller, ended: ended.promise };
    const turns = this.#running.get(owner) ?? new Set();
    this.#running.set(owner, turns.add(entry));
    return {
      signal: controller.signal,
      end: () => {
        turns.delete(entry);
        if (turns.size === 0) this.#running.delete(owner);
        if (kind === "turn") this.#letGo(owner);
        ended.resolve();
      },
    };
  }

  /**
   * Runs what a client asked for as a turn, and tells why it was broken off.
   * @throws SHUTTING_DOWN, OWNER_ERASED, CLIENT_CLOSED_REQUEST when the client's signal aborts, and what `work` throws
   */
  async during<T>(owner: Owner, client: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const running = this.begin(owner);
    const either = boundedSignal([client, running.signal]);
    try {
      return await work(either.signal);
    } catch (error) {
      if (running.signal.aborted) throw new AppError("OWNER_ERASED", { cause: error });
      if (client?.aborted) throw new AppError("CLIENT_CLOSED_REQUEST", { cause: error });
      throw error;
    } finally {
      either.end();
      running.end();
    }
  }

  /**
   * For work of an owner that this process does itself and that goes on for longer, between its pieces: resolves when no turn of another
   * owner has run here for a moment, or after `maxMs`. At once where none runs.
   * @throws the signal's reason when it aborts
   */
  async giveWay(owner: Owner, maxMs: number, signal: AbortSignal): Promise<void> {
    if (this.#turnsOfOthers(owner).length === 0) return;
    const bound = boundedSignal([signal], maxMs);
    try {
      for (let turns = this.#turnsOfOthers(owner); turns.length > 0; turns = this.#turnsOfOthers(owner)) {
        await orAbort(Promise.all(turns.map(({ ended }) => ended)), bound.signal);
        // Whoever was answered may go on at once.
        await pause(MOMENT_MS, undefined, { signal: bound.signal });
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!bound.late) throw error;
    } finally {
      bound.end();
    }
  }

  /**
   * For work of an owner that nobody waits for, and that would cost a turn what it writes: resolves when one of theirs ends, where one runs
   * or begins within half a second, and at a stop. @throws the signal's reason when it aborts
   */
  async behindTurns(owner: Owner, signal: AbortSignal): Promise<void> {
    const { promise: ended, resolve: goOn } = deferred();
    const waiting = (this.#behind.get(owner) ?? new Set()).add(goOn);
    this.#behind.set(owner, waiting);
    const begins = boundedSignal([signal], BEGINS_MS);
    try {
      await orAbort(ended, begins.signal);
    } catch (error) {
      if (!begins.late) throw error;
      if (this.isTalking(owner)) await orAbort(ended, signal);
    } finally {
      begins.end();
      waiting.delete(goOn);
      if (waiting.size === 0 && this.#behind.get(owner) === waiting) this.#behind.delete(owner);
    }
  }

  #letGo(owner: Owner): void {
    for (const goOn of this.#behind.get(owner) ?? []) goOn();
  }

  /** Whether a turn of the owner runs here: it may wait for other work of theirs. */
  isTalking(owner: Owner): boolean {
    return [...(this.#running.get(owner) ?? [])].some(({ kind }) => kind === "turn");
  }

  #turnsOfOthers(owner: Owner): Running[] {
    return [...this.#running].flatMap(([of, running]) => (of === owner ? [] : [...running].filter(({ kind }) => kind === "turn")));
  }

  /** Refuses new turns of the owner, aborts those that run, and resolves when they have ended. The result lets turns in again. */
  async hold(owner: Owner): Promise<() => void> {
    this.#erasing.set(owner, (this.#erasing.get(owner) ?? 0) + 1);
    const running = [...(this.#running.get(owner) ?? [])];
    for (const { controller } of running) controller.abort(new AppError("OWNER_ERASED"));
    await Promise.all(running.map(({ ended }) => ended));
    return () => {
      const left = (this.#erasing.get(owner) ?? 1) - 1;
      if (left === 0) this.#erasing.delete(owner);
      else this.#erasing.set(owner, left);
    };
  }

  /** Refuses new turns of anyone and resolves when all that run have ended. Upkeep goes on. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const owner of this.#behind.keys()) if (!this.isTalking(owner)) this.#letGo(owner);
    await Promise.all(this.#all().flatMap(({ kind, ended }) => (kind === "turn" ? [ended] : [])));
  }

  /**
   * Gives the upkeep that still runs `graceMs`, aborts it then, and refuses more: it can be done after another turn. Resolves when all
   * that runs has ended.
   */
  async breakOff(graceMs: number): Promise<void> {
    const ended = () => Promise.all(this.#all().map((running) => running.ended));
    await within(graceMs, ended(), undefined);
    this.#brokenOff = true;
    for (const { kind, controller } of this.#all()) if (kind === "upkeep") controller.abort(new AppError("SHUTTING_DOWN"));
    await ended();
  }

  #all(): Running[] {
    return [...this.#running.values()].flatMap((running) => [...running]);
  }
}
