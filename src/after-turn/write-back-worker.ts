import type { Owner } from "../domain/owner.js";
import { JobWorker } from "../jobs/job-worker.js";
import type { Clock } from "../platform/clock.js";
import { isAppError } from "../platform/errors.js";
import { LEASE_MS } from "../platform/held-lease.js";
import type { Logger } from "../platform/logger.js";
import type { PendingTurn, PendingTurns, RecordedAttempt, SessionStore } from "../ports/session-store.js";
import { DueTurns, type DueTurnsParts, isLeft, OUT_OF_TOKENS } from "./due-turns.js";
import type { WriteBack } from "./write-back.js";
import { nextTryMs, type WriteBackWorkerOptions, withDefaults } from "./write-back-retries.js";

/** A limit may have been raised. */
const LOOK_AGAIN_MS = 5 * 60_000;

/**
 * Takes pending turns from the store, which is the truth of what is left to do, and writes them back: off the reply path, the
 * turns of one session in order, retried with exponential backoff and jitter
 * (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/): for hours, where something outside is out of reach.
 */
export class WriteBackWorker {
  readonly #writeBack: Pick<WriteBack, "run" | "fail">;
  readonly #store: Pick<SessionStore, "index" | "turns">;
  readonly #turns: PendingTurns;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #afterDone: (owner: Owner, sessionId: string) => Promise<void>;
  readonly #options: Required<WriteBackWorkerOptions>;
  readonly #due: DueTurns;
  readonly #jobs: JobWorker<PendingTurn>;

  constructor(
    parts: Omit<DueTurnsParts, "turns"> & {
      readonly writeBack: Pick<WriteBack, "run" | "fail">;
      readonly store: Pick<SessionStore, "index" | "turns">;
      readonly logger: Logger;
      /** Called when a turn of a session is done: summary, topic. It may wait for a turn, and a turn for the next write-back. */
      readonly afterDone: (owner: Owner, sessionId: string) => Promise<void>;
    },
    options: WriteBackWorkerOptions = {},
  ) {
    this.#writeBack = parts.writeBack;
    this.#store = parts.store;
    this.#turns = parts.store.turns;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#afterDone = parts.afterDone;
    this.#options = withDefaults(options);
    this.#due = new DueTurns({ ...parts, turns: this.#turns }, this.#options.delayMs);
    this.#jobs = this.#worker();
    parts.lagging?.onLevel(() => this.kick());
  }

  start(): void {
    this.#jobs.start();
  }

  /** Says that there may be something to do. Returns at once. */
  kick(): void {
    this.#jobs.kick();
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
    await this.#jobs.until(async () => {
      const turns = await this.#turns.of(owner, sessionId);
      await this.#due.release(turns);
      const runs = this.#jobs.runningNow().some((turn) => turn.owner === owner && turn.sessionId === sessionId);
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
    await this.#jobs.until(async () => {
      turns = (await this.#turns.of(owner)).filter((turn) => !isLeft(turn));
      return !this.#due.soon(turns);
    }, signal);
    return turns.length === 0;
  }

  /**
   * Resolves when nothing is due and nothing runs, or when the time is up. True for the first. Never throws: it is called at an end.
   * `left`: whether what was left to be read along with a next message is read, or stays so. Default: it is read.
   */
  async drain(timeoutMs: number, { left = "read" }: { readonly left?: "read" | "stays" } = {}): Promise<boolean> {
    const { leftMs } = this.#options;
    const release = async () => (left === "read" ? this.#due.releaseAll(leftMs) : undefined);
    const isDrained = async () => {
      await release();
      const isIdle = async () => (await this.#jobs.running()).length === 0;
      // What is taken while it is looked for runs behind the look.
      return (await isIdle()) && !(await this.#due.any()) && (await isIdle());
    };
    try {
      return await this.#due.atOnce(() => this.#jobs.until(isDrained, AbortSignal.timeout(timeoutMs)));
    } catch (error) {
      this.#logger.warn({ err: error }, "what is left to be written back could not be looked up");
      return false;
    }
  }

  /** Aborts the owner's write-backs, waits for them, and starts none until the result is called. */
  hold(owner: Owner): Promise<() => void> {
    return this.#jobs.hold(owner);
  }

  /** As {@link JobWorker.stop}. */
  stop(): Promise<void> {
    return this.#jobs.stop();
  }

  #worker(): JobWorker<PendingTurn> {
    const { concurrency, timeoutMs, pollMs } = this.#options;
    const turns = this.#turns;
    return new JobWorker<PendingTurn>(
      {
        name: "write-back",
        ownerOf: ({ owner }) => owner,
        keyOf: ({ owner, sessionId }) => JSON.stringify([owner, sessionId]),
        placeOf,
        claim: (limit, except) => this.#due.claim(limit, except, LEASE_MS),
        renew: async (turn) => {
          const claim = await turns.renew(turn, LEASE_MS);
          return claim === null ? null : { ...turn, claim };
        },
        letGo: (turn) => turns.letGo(turn),
        run: async (turn, signal) => void (await this.#writeBack.run(turn, signal)),
        failed: async (turn, error, { late }) => {
          await this.#failed(turn, error, late).catch((cause: unknown) =>
            this.#logger.error({ ...placeOf(turn), err: cause }, "a failed write-back could not be recorded"),
          );
          return isAppError(error, "STORAGE_UNAVAILABLE") && this.#isOver(turn);
        },
        afterDone: (turn) => this.#tend(turn),
        nextLookMs: async () => pollMs,
      },
      this.#logger,
      { concurrency, timeoutMs, waitMs: Math.min(pollMs, 50) },
    );
  }

  /** Whether the turn is not pending any more: a write that was not answered may have been done. Never throws. */
  async #isOver({ owner, sessionId, turn }: PendingTurn): Promise<boolean> {
    const left = await this.#turns.of(owner, sessionId).catch(() => null);
    return left !== null && !left.some((each) => each.turn === turn);
  }

  /** Never throws. */
  async #tend(pending: PendingTurn): Promise<void> {
    await this.#afterDone(pending.owner, pending.sessionId).catch((error: unknown) =>
      this.#logger.warn({ ...placeOf(pending), err: error }, "the session's upkeep failed; the next turn tries again"),
    );
  }

  async #failed(pending: PendingTurn, error: unknown, late: boolean): Promise<void> {
    const attempts = pending.attempts + 1;
    const code = isAppError(error) ? error.code : "INTERNAL";
    if (code === OUT_OF_TOKENS) return this.#wait(pending, error);
    const where = { ...placeOf(pending), attempts, code };
    if (code === "SESSION_NOT_FOUND") return this.#store.index.remove(pending.owner, pending.sessionId);
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

  #postpone(pending: PendingTurn, attempt: Omit<RecordedAttempt, "claim">): Promise<void> {
    const { claim } = pending;
    return this.#turns.recordAttempt(pending, { ...attempt, ...(claim !== undefined && { claim }) });
  }
}

function placeOf({ sessionId, turn }: PendingTurn): { readonly session_id: string; readonly turn: number } {
  return { session_id: sessionId, turn };
}
