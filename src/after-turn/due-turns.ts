import type { Owner } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import type { PendingTurn, PendingTurns } from "../ports/session-store.js";
import type { SessionsBehind } from "../ports/session-writer.js";

/** What the write-back of a turn failed with that waits for the next day's tokens. */
export const OUT_OF_TOKENS = "COST_LIMIT_REACHED";

/** What a turn waits with whose message was left to be read along with a next one. */
export const LEFT_TO_READ = "LEFT_TO_READ";

/** A turn that failed is waited for if it is tried again within this time: longer delays are those of an outage. */
const SOON_MS = 60_000;

/** Turns that are released at once. */
const MOST_RELEASED = 1_000;

export function isLeft({ state, errorCode }: PendingTurn): boolean {
  return state === "pending" && errorCode === LEFT_TO_READ;
}

/** A reading of it comes soon, as far as is known: what failed may take hours. */
export function willBeRead({ state, attempts, errorCode }: PendingTurn): boolean {
  return state === "pending" && attempts === 0 && errorCode !== OUT_OF_TOKENS;
}

/** Of these turns, those that were left to be read are due at this time, where it is sooner. One that somebody reads now is read. */
export async function releaseLeft(
  store: Pick<PendingTurns, "recordAttempt">,
  turns: readonly PendingTurn[],
  dueAtMs: number,
): Promise<void> {
  for (const turn of turns)
    if (isLeft(turn) && turn.dueAtMs > dueAtMs)
      await store.recordAttempt(turn, { attempts: 0, dueAtMs, errorCode: LEFT_TO_READ, claim: null });
}

export interface DueTurnsParts {
  readonly turns: Pick<PendingTurns, "due" | "claim" | "letGo" | "of" | "recordAttempt">;
  /** Their owners' turns are not taken: one may be done, though the index can't say so yet. Default: none is behind. */
  readonly lagging?: Pick<SessionsBehind, "owners" | "onLevel">;
  readonly clock: Clock;
}

/** Which pending turns are to be written back now: those that have waited for the delay, and those of owners who don't wait. */
export class DueTurns {
  readonly #turns: DueTurnsParts["turns"];
  readonly #lagging: DueTurnsParts["lagging"];
  readonly #clock: Clock;
  readonly #delayMs: number;
  /** Owners whose turns don't wait, until none is left that can be written back soon. */
  readonly #hurried = new Set<Owner>();
  #withoutDelay = 0;
  #preparing = 0;

  constructor({ turns, lagging, clock }: DueTurnsParts, delayMs: number) {
    this.#turns = turns;
    this.#lagging = lagging;
    this.#clock = clock;
    this.#delayMs = delayMs;
  }

  hurry(owner: Owner): void {
    if (this.#delayMs > 0) this.#hurried.add(owner);
  }

  /** Of these turns, those that were left to be read wait no longer. */
  async release(turns: readonly PendingTurn[]): Promise<void> {
    await releaseLeft(this.#turns, turns, this.#now() - this.#delayMs);
  }

  /** As {@link release}, of everybody's that are due within the time. */
  async releaseAll(withinMs: number): Promise<void> {
    await this.release(await this.#turns.due(this.#now() + withinMs, MOST_RELEASED));
  }

  /** While `work` runs nobody's turns wait. */
  async atOnce<T>(work: () => Promise<T>): Promise<T> {
    this.#withoutDelay += 1;
    try {
      return await work();
    } finally {
      this.#withoutDelay -= 1;
    }
  }

  /** While `work` runs, turns may become due: something is left to do. */
  async preparing(work: () => Promise<void>): Promise<void> {
    this.#preparing += 1;
    try {
      await work();
    } finally {
      this.#preparing -= 1;
    }
  }

  /** Takes the oldest of each session, those of owners who don't wait first; none of `others`. `leaseMs`: as {@link PendingTurns.claim}. */
  async claim(limit: number, others: ReadonlySet<Owner>, leaseMs: number): Promise<readonly PendingTurn[]> {
    const except = new Set([...others, ...(this.#lagging?.owners ?? [])]);
    const hurried = await this.#claimHurried(limit, except, leaseMs);
    if (hurried.length >= limit) return hurried;
    const due = await this.#turns.claim(this.#now() - this.#delay, limit - hurried.length, { except: [...except], leaseMs });
    return [...hurried, ...due];
  }

  /** Whether anything is left to do now. */
  async any(): Promise<boolean> {
    return this.#preparing > 0 || (await this.#turns.due(this.#now() - this.#delay, 1)).length > 0;
  }

  /**
   * Whether any of these turns can be written back within a minute. False where all that is left failed, or stands in line behind one that
   * waits for the next day's tokens or for the end of an outage.
   */
  soon(turns: readonly PendingTurn[]): boolean {
    const pending = turns.filter(({ state }) => state === "pending");
    const first = pending.filter(({ sessionId }, place) => pending[place - 1]?.sessionId !== sessionId);
    const now = this.#now();
    return first.some(({ attempts, errorCode, dueAtMs }) => {
      if (errorCode === OUT_OF_TOKENS) return dueAtMs <= now;
      return attempts === 0 || dueAtMs + this.#delayMs <= now + SOON_MS;
    });
  }

  #now(): number {
    return this.#clock.now().getTime();
  }

  get #delay(): number {
    return this.#withoutDelay > 0 ? 0 : this.#delayMs;
  }

  /** When a turn that failed is to be due, as the store holds it: the delay was waited for already. */
  again(inMs: number): number {
    return this.#clock.now().getTime() + inMs - this.#delayMs;
  }

  async #claimHurried(limit: number, except: ReadonlySet<Owner>, leaseMs: number): Promise<readonly PendingTurn[]> {
    const only: Owner[] = [];
    for (const owner of this.#hurried) {
      const turns = (await this.#turns.of(owner)).filter((turn) => !isLeft(turn));
      if (!this.soon(turns)) this.#hurried.delete(owner);
      else if (!except.has(owner)) only.push(owner);
    }
    if (only.length === 0) return [];
    const now = this.#now();
    const turns: PendingTurn[] = [];
    for (const turn of await this.#turns.claim(now, limit, { only, leaseMs })) {
      // One that failed waits for its time, which is held as {@link again} has it.
      if (turn.attempts > 0 && turn.dueAtMs + this.#delayMs > now) await this.#turns.letGo(turn);
      else turns.push(turn);
    }
    return turns;
  }
}
