import { isAppError } from "../errors.js";
import type { Owner } from "../owner.js";
import type { Clock } from "../platform/clock.js";
import type { Logger } from "../platform/logger.js";
import type { PendingTurn, SessionIndex } from "../session-store.js";
import type { WriteBack } from "./write-back.js";

export interface WriteBackWorkerOptions {
  /** Turns written back at the same time, half of them of one owner at most: whose hang leave room for others'. Default 4. */
  readonly concurrency?: number;
  /** Tries before a turn is failed. Default 8. */
  readonly maxAttempts?: number;
  /** Delay after the first failure; doubles with each. Default 500. */
  readonly backoffBaseMs?: number;
  /** Default 60,000. */
  readonly backoffMaxMs?: number;
  /** Bound of one try. Default 60,000. */
  readonly timeoutMs?: number;
  /** How often due turns are looked for beside being told. Default 1,000. */
  readonly pollMs?: number;
  /** 0 to below 1; for the jitter. Default Math.random. */
  readonly random?: () => number;
}

interface Job {
  readonly pending: PendingTurn;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

/**
 * Takes pending turns from the index, which is the truth of what is left to do, and writes them back: off the reply path, the
 * turns of one session in order, retried with exponential backoff and full jitter
 * (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 */
export class WriteBackWorker {
  readonly #writeBack: WriteBack;
  readonly #index: SessionIndex;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #afterDone: (owner: Owner, sessionId: string) => Promise<void>;
  readonly #options: Required<WriteBackWorkerOptions>;
  /** Turns that are being written back: one of a session at a time. */
  readonly #jobs = new Map<string, Job>();
  /** Turns that are written, whose session's upkeep runs. It may wait for a turn of the session, and a turn for the next write-back. */
  readonly #upkeep = new Set<Job>();
  readonly #held = new Map<Owner, number>();
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | null = null;
  #pumping: Promise<void> | null = null;
  #again = false;
  #stopped = false;

  constructor(
    parts: {
      readonly writeBack: WriteBack;
      readonly index: SessionIndex;
      readonly clock: Clock;
      readonly logger: Logger;
      /** Called when a turn of a session is done: summary, topic. */
      readonly afterDone: (owner: Owner, sessionId: string) => Promise<void>;
    },
    options: WriteBackWorkerOptions = {},
  ) {
    this.#writeBack = parts.writeBack;
    this.#index = parts.index;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#afterDone = parts.afterDone;
    this.#options = {
      concurrency: 4,
      maxAttempts: 8,
      backoffBaseMs: 500,
      backoffMaxMs: 60_000,
      timeoutMs: 60_000,
      pollMs: 1_000,
      random: Math.random,
      ...options,
    };
  }

  start(): void {
    this.#timer = setInterval(() => this.kick(), this.#options.pollMs);
    this.#timer.unref();
    this.kick();
  }

  /** Says that there may be something to do. Returns at once. */
  kick(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#pumping ??= this.#pump().finally(() => {
      this.#pumping = null;
      if (this.#again && !this.#stopped) this.kick();
    });
  }

  /** Resolves when the session has no pending turn that is not failed, or when the time is up. */
  async flush(owner: Owner, sessionId: string, timeoutMs: number): Promise<void> {
    await this.#until(async () => {
      const turns = await this.#index.pendingOf(owner, sessionId);
      const runs = this.#running().some(({ pending }) => pending.owner === owner && pending.sessionId === sessionId);
      return turns.every((turn) => turn.state === "failed") && !runs;
    }, AbortSignal.timeout(timeoutMs));
  }

  /**
   * Resolves when none of the owner's turns, of any session, can still be written back, or when the signal aborts. True when all of
   * them are: none pending, none failed. Waits for no upkeep, so it can be called within a turn, which holds its session's lock.
   */
  async written(owner: Owner, signal: AbortSignal): Promise<boolean> {
    let turns: readonly PendingTurn[] = [];
    await this.#until(async () => {
      turns = await this.#index.pendingOf(owner);
      return turns.every((turn) => turn.state === "failed");
    }, signal);
    return turns.length === 0;
  }

  /** Resolves when nothing is due and nothing runs, or when the time is up. True for the first. */
  async drain(timeoutMs: number): Promise<boolean> {
    return this.#until(
      async () => this.#running().length === 0 && (await this.#index.due(this.#clock.now().getTime(), 1)).length === 0,
      AbortSignal.timeout(timeoutMs),
    );
  }

  /** Aborts the owner's write-backs, waits for them, and starts none until the result is called. */
  async hold(owner: Owner): Promise<() => void> {
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + 1);
    const jobs = this.#running().filter((job) => job.pending.owner === owner);
    for (const job of jobs) job.controller.abort();
    await Promise.all(jobs.map((job) => job.ended));
    return () => {
      const left = (this.#held.get(owner) ?? 1) - 1;
      if (left === 0) this.#held.delete(owner);
      else this.#held.set(owner, left);
      this.kick();
    };
  }

  /** Starts nothing more, aborts what runs, and waits for it. What was not done is done after the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearInterval(this.#timer);
    for (const job of this.#running()) job.controller.abort();
    await this.#pumping;
    await Promise.all(this.#running().map((job) => job.ended));
  }

  #running(): readonly Job[] {
    return [...this.#jobs.values(), ...this.#upkeep];
  }

  async #pump(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      try {
        const { concurrency } = this.#options;
        if (this.#running().length >= concurrency) return;
        const except = new Set([...this.#held.keys(), ...this.#busyOwners()]);
        // Those whose session is being written back already are among them.
        const limit = concurrency + this.#jobs.size;
        const due = await this.#index.due(this.#clock.now().getTime(), limit, { except: [...except] });
        for (const pending of due) if (this.#running().length < concurrency) this.#begin(pending);
        // Behind an owner who has become busy now, others may be waiting.
        if (due.length === limit && this.#busyOwners().some((owner) => !except.has(owner))) this.#again = true;
      } catch (error) {
        this.#logger.error({ err: error }, "pending write-backs could not be read");
      }
    }
  }

  /** Owners who have as many jobs as one may have. */
  #busyOwners(): Owner[] {
    const share = Math.max(1, Math.floor(this.#options.concurrency / 2));
    const counts = new Map<Owner, number>();
    for (const { pending } of this.#running()) counts.set(pending.owner, (counts.get(pending.owner) ?? 0) + 1);
    return [...counts].flatMap(([owner, count]) => (count >= share ? [owner] : []));
  }

  #begin(pending: PendingTurn): void {
    const key = jobKey(pending.owner, pending.sessionId);
    if (this.#stopped || this.#jobs.has(key) || this.#held.has(pending.owner) || this.#busyOwners().includes(pending.owner)) return;
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(this.#options.timeoutMs)]);
    const changed = () => {
      for (const listener of this.#listeners) listener();
      this.kick();
    };
    const written = this.#write(pending, signal, controller.signal);
    const ended = written
      .then(async (done) => {
        this.#jobs.delete(key);
        if (!done) return;
        this.#upkeep.add(job);
        changed();
        await this.#tend(pending);
      })
      .finally(() => {
        this.#upkeep.delete(job);
        changed();
      });
    const job: Job = { pending, controller, ended };
    this.#jobs.set(key, job);
  }

  /** True when the turn is done. Never throws. */
  async #write(pending: PendingTurn, signal: AbortSignal, cancelled: AbortSignal): Promise<boolean> {
    try {
      await this.#writeBack.run(pending, signal);
      return true;
    } catch (error) {
      if (cancelled.aborted) return false;
      await this.#failed(pending, error).catch((cause: unknown) =>
        this.#logger.error({ ...placeOf(pending), err: cause }, "a failed write-back could not be recorded"),
      );
      return false;
    }
  }

  /** Never throws. */
  async #tend(pending: PendingTurn): Promise<void> {
    await this.#afterDone(pending.owner, pending.sessionId).catch((error: unknown) =>
      this.#logger.warn({ ...placeOf(pending), err: error }, "the session's upkeep failed; the next turn tries again"),
    );
  }

  async #failed(pending: PendingTurn, error: unknown): Promise<void> {
    const attempts = pending.attempts + 1;
    const code = isAppError(error) ? error.code : "INTERNAL";
    const where = { ...placeOf(pending), attempts, code };
    if (code === "SESSION_NOT_FOUND") return this.#index.remove(pending.owner, pending.sessionId);
    if (attempts >= this.#options.maxAttempts) {
      this.#logger.error({ ...where, err: error }, "write-back failed; it can be retried");
      return this.#writeBack.fail(pending, error);
    }
    const delayMs = Math.min(this.#options.backoffMaxMs, this.#options.backoffBaseMs * 2 ** (attempts - 1)) * this.#options.random();
    this.#logger.warn({ ...where, delay_ms: Math.round(delayMs), err: error }, "write-back will be tried again");
    await this.#index.recordAttempt(pending.owner, pending.sessionId, pending.turn, {
      attempts,
      dueAtMs: this.#clock.now().getTime() + delayMs,
      errorCode: code,
    });
  }

  /** Waits for a condition that can change when a job ends, or with time. */
  async #until(condition: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      this.kick();
      if (await condition()) return true;
      if (signal.aborted) return false;
      await this.#nextChange(signal);
    }
  }

  #nextChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#listeners.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(this.#options.pollMs, 50));
      this.#listeners.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }
}

function placeOf({ sessionId, turn }: PendingTurn): { readonly session_id: string; readonly turn: number } {
  return { session_id: sessionId, turn };
}

function jobKey(owner: Owner, sessionId: string): string {
  return JSON.stringify([owner, sessionId]);
}
