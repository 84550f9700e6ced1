// Over 300 lines: one worker, and who waits for it.

import type { Owner } from "../domain/owner.js";
import { type BoundedSignal, boundedSignal } from "../platform/bounded-signal.js";
import type { Clock } from "../platform/clock.js";
import { isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { PendingTurn, SessionIndex } from "../ports/session-store.js";
import { Changes } from "./changes.js";
import { DueTurns, type DueTurnsParts, isLeft, OUT_OF_TOKENS } from "./due-turns.js";
import { CLAIM_MS, type HeldClaim, holdClaim } from "./held-claim.js";
import { type FailedTry, nextTryMs } from "./next-try.js";
import { type WriteBackWorkerOptions, withDefaults } from "./worker-options.js";
import type { WriteBack } from "./write-back.js";

/** A limit may have been raised. */
const LOOK_AGAIN_MS = 5 * 60_000;

/** How much longer than a try its claim lasts that is not renewed, so that what ended late is not taken by another at once. */
const AFTER_TIMEOUT_MS = 30_000;

type Attempt = Parameters<SessionIndex["recordAttempt"]>[3];

interface Job {
  readonly pending: PendingTurn;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

/**
 * Takes pending turns from the index, which is the truth of what is left to do, and writes them back: off the reply path, the
 * turns of one session in order, retried with exponential backoff and jitter
 * (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/): for hours, where something outside is out of reach.
 */
export class WriteBackWorker {
  readonly #writeBack: Pick<WriteBack, "run" | "fail">;
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
  readonly #due: DueTurns;
  readonly #changes = new Changes();
  #timer: NodeJS.Timeout | null = null;
  #pumping: Promise<void> | null = null;
  #again = false;
  #stopped = false;

  constructor(
    parts: Pick<DueTurnsParts, "lagging" | "clock"> & {
      readonly writeBack: Pick<WriteBack, "run" | "fail">;
      readonly index: SessionIndex;
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
    this.#options = withDefaults(options);
    this.#due = new DueTurns(parts, this.#options.delayMs);
  }

  start(): void {
    this.#timer = setInterval(() => this.kick(), this.#options.pollMs).unref();
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

  /** Runs what may make turns due, and then looks for them. Meanwhile something is left to do. */
  preparing(work: () => Promise<void>): Promise<void> {
    return this.#due.preparing(work).finally(() => this.kick());
  }

  /** The owner's turns are not waited with any longer. Returns at once. */
  hurry(owner: Owner): void {
    this.#due.hurry(owner);
    this.kick();
  }

  /**
   * Resolves when the session has no pending turn that can be written back soon (one that failed can't, nor one that waits for the end of
   * an outage or for the next day's tokens), or when the time is up.
   */
  async flush(owner: Owner, sessionId: string, timeoutMs: number): Promise<void> {
    this.hurry(owner);
    await this.#until(async () => {
      const turns = await this.#index.pendingOf(owner, sessionId);
      await this.#due.release(turns);
      const runs = this.#running().some(({ pending }) => pending.owner === owner && pending.sessionId === sessionId);
      return !this.#due.soon(turns) && !runs;
    }, AbortSignal.timeout(timeoutMs));
  }

  /**
   * Resolves when none of the owner's turns, of any session, can be written back soon, or when the signal aborts. True when all of
   * them are, but for those that were left to be read. Waits for no upkeep, so it can be called in a turn, which holds its session's lock.
   */
  async written(owner: Owner, signal: AbortSignal): Promise<boolean> {
    this.hurry(owner);
    let turns: readonly PendingTurn[] = [];
    await this.#until(async () => {
      turns = (await this.#index.pendingOf(owner)).filter((turn) => !isLeft(turn));
      return !this.#due.soon(turns);
    }, signal);
    return turns.length === 0;
  }

  /** Resolves when nothing is due and nothing runs, or when the time is up. True for the first. Never throws: it is called at an end. */
  async drain(timeoutMs: number): Promise<boolean> {
    const isDrained = async () => {
      // What was claimed runs then.
      await this.#pumping;
      return this.#running().length === 0 && !(await this.#due.any());
    };
    try {
      return await this.#due.atOnce(() => this.#until(isDrained, AbortSignal.timeout(timeoutMs)));
    } catch (error) {
      this.#logger.warn({ err: error }, "what is left to be written back could not be looked up");
      return false;
    }
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
        const { concurrency, timeoutMs } = this.#options;
        const leaseMs = this.#index.renewClaim === undefined ? timeoutMs + AFTER_TIMEOUT_MS : CLAIM_MS;
        const limit = concurrency - this.#jobs.size;
        if (limit <= 0) return;
        const except = new Set([...this.#held.keys(), ...this.#busyOwners()]);
        const due = await this.#due.claim(limit, except, leaseMs);
        for (const pending of due) if (!this.#begin(pending)) await this.#index.letGo(pending);
        // Behind an owner who has become busy now, others may be waiting.
        if (due.length >= limit && this.#busyOwners().some((owner) => !except.has(owner))) this.#again = true;
      } catch (error) {
        this.#logger.error({ err: error }, "pending write-backs could not be read");
      }
    }
  }

  /**
   * Owners who have as many write-backs as one may have. Upkeep is not counted: it waits for the end of a turn, which may itself wait for
   * the next write-back.
   */
  #busyOwners(): Owner[] {
    const share = Math.max(1, Math.floor(this.#options.concurrency / 2));
    const counts = new Map<Owner, number>();
    for (const { pending } of this.#jobs.values()) counts.set(pending.owner, (counts.get(pending.owner) ?? 0) + 1);
    return [...counts].flatMap(([owner, count]) => (count >= share ? [owner] : []));
  }

  /** False where it is not its time. */
  #begin(pending: PendingTurn): boolean {
    const key = JSON.stringify([pending.owner, pending.sessionId]);
    if (this.#stopped || this.#jobs.has(key) || this.#held.has(pending.owner) || this.#busyOwners().includes(pending.owner)) return false;
    const controller = new AbortController();
    const bound = boundedSignal([controller.signal], this.#options.timeoutMs);
    const claim = holdClaim(this.#index, pending, this.#logger, () => controller.abort());
    const changed = () => {
      this.#changes.tell();
      this.kick();
    };
    const written = this.#write(claim, bound, controller.signal).finally(() => {
      bound.end();
      claim.end();
    });
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
    return true;
  }

  /** True when the turn is done. Never throws. */
  async #write(claim: HeldClaim, bound: BoundedSignal, cancelled: AbortSignal): Promise<boolean> {
    const pending = claim.turn;
    try {
      await this.#writeBack.run(pending, bound.signal);
      return true;
    } catch (error) {
      if (cancelled.aborted) {
        await this.#index.letGo(claim.turn).catch(() => undefined);
        return false;
      }
      await this.#failed(claim.turn, error, bound.late).catch((cause: unknown) =>
        this.#logger.error({ ...placeOf(pending), err: cause }, "a failed write-back could not be recorded"),
      );
      return isAppError(error, "STORAGE_UNAVAILABLE") && this.#isOver(pending);
    }
  }

  /** Whether the turn is not pending any more: a write that was not answered may have been done. Never throws. */
  async #isOver({ owner, sessionId, turn }: PendingTurn): Promise<boolean> {
    const left = await this.#index.pendingOf(owner, sessionId).catch(() => null);
    return left !== null && !left.some((each) => each.turn === turn);
  }

  /** Never throws. */
  async #tend(pending: PendingTurn): Promise<void> {
    await this.#afterDone(pending.owner, pending.sessionId).catch((error: unknown) =>
      this.#logger.warn({ ...placeOf(pending), err: error }, "the session's upkeep failed; the next turn tries again"),
    );
  }

  async #failed(pending: PendingTurn, error: unknown, late: FailedTry["late"]): Promise<void> {
    const attempts = pending.attempts + 1;
    const code = isAppError(error) ? error.code : "INTERNAL";
    if (code === OUT_OF_TOKENS) return this.#wait(pending, error);
    const where = { ...placeOf(pending), attempts, code };
    if (code === "SESSION_NOT_FOUND") return this.#index.remove(pending.owner, pending.sessionId);
    const delayMs = nextTryMs(pending, { code, late }, this.#options);
    if (delayMs === null) {
      this.#logger.error({ ...where, err: error }, "write-back failed; it can be retried");
      return this.#writeBack.fail(pending, error);
    }
    this.#logger.warn({ ...where, delay_ms: Math.round(delayMs), err: error }, "write-back will be tried again");
    await this.#postpone(pending, { attempts, dueAtMs: this.#due.again(delayMs), errorCode: code });
  }

  /** Not an attempt: until the day ends, or the limit is found raised. */
  async #wait(pending: PendingTurn, error: unknown): Promise<void> {
    if (pending.errorCode !== OUT_OF_TOKENS)
      this.#logger.warn({ ...placeOf(pending), code: OUT_OF_TOKENS }, "write-back waits: the day's tokens are used up");
    const { retryAfterSeconds = 0 } = isAppError(error) ? error : {};
    const dueAtMs = this.#clock.now().getTime() + Math.min(retryAfterSeconds * 1_000, LOOK_AGAIN_MS);
    await this.#postpone(pending, { attempts: pending.attempts, dueAtMs, errorCode: OUT_OF_TOKENS });
  }

  #postpone({ owner, sessionId, turn, claim }: PendingTurn, attempt: Omit<Attempt, "claim">): Promise<void> {
    return this.#index.recordAttempt(owner, sessionId, turn, { ...attempt, ...(claim !== undefined && { claim }) });
  }

  /** Waits for a condition that can change when a job ends, or with time. */
  async #until(condition: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      this.kick();
      if (await condition()) return true;
      if (signal.aborted) return false;
      await this.#changes.next(Math.min(this.#options.pollMs, 50), signal);
    }
  }
}

function placeOf({ sessionId, turn }: PendingTurn): { readonly session_id: string; readonly turn: number } {
  return { session_id: sessionId, turn };
}
