import type { Owner } from "../../domain/owner.js";
import type { PendingTurn } from "../../ports/session-store.js";

type Turn = Pick<PendingTurn, "sessionId" | "turn">;

/** So long it is taken for granted that nothing is due, while nothing changes, in milliseconds: with time, something is. */
const NOTHING_MS = 50;

/** Which pending turns the worker of this process has: a file has one process. And when there was none to be had. */
export class Claims {
  /** Milliseconds since the epoch, by turn. */
  readonly #until = new Map<string, number>();
  #nothing: { readonly atMs: number; readonly except: string } | null = null;

  get size(): number {
    return this.#until.size;
  }

  /** Those whose lease has ended are free again. */
  expire(nowMs: number): void {
    for (const [key, until] of this.#until) if (until <= nowMs) this.#until.delete(key);
  }

  /** Takes those that are free, at most so many, until then. */
  take(due: readonly PendingTurn[], limit: number, untilMs: number): readonly PendingTurn[] {
    const free = due.filter((turn) => !this.#until.has(keyOf(turn))).slice(0, limit);
    for (const turn of free) this.#until.set(keyOf(turn), untilMs);
    return free;
  }

  letGo(turn: Turn): void {
    this.#until.delete(keyOf(turn));
    this.changed();
  }

  /** One that is done, though the file can't say so yet: nobody is given it again. */
  keepForGood(turn: Turn): void {
    this.#until.set(keyOf(turn), Number.POSITIVE_INFINITY);
  }

  /** Something became pending, or is so no more, or at another time. */
  changed(): void {
    this.#nothing = null;
  }

  /** All that is due was looked at, but for these owners', and none was free. */
  foundNothing(nowMs: number, except: readonly Owner[]): void {
    this.#nothing = { atMs: nowMs, except: except.join() };
  }

  /** True where a look would find nothing: it is asked several times a turn. */
  isNothing(nowMs: number, except: readonly Owner[]): boolean {
    const nothing = this.#nothing;
    return nothing !== null && nowMs >= nothing.atMs && nowMs < nothing.atMs + NOTHING_MS && except.join() === nothing.except;
  }
}

function keyOf({ sessionId, turn }: Turn): string {
  return `${sessionId}:${turn}`;
}
