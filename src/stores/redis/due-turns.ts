import { setTimeout as pause } from "node:timers/promises";
import type { Owner } from "../../domain/owner.js";
import type { ClaimOptions, PendingTurn } from "../../ports/session-store.js";
import type { RedisDatabase } from "./database.js";
import { CLAIM, CLAIMED, COUNT_FAILED, LET_GO, RECORD_ATTEMPT, RENEW_CLAIM, RESTORE_PENDING, RETRY_FAILED } from "./due-scripts.js";
import type { Hints, Need } from "./hints.js";
import { tagOf } from "./keys.js";
import { atMsOf, type FoundTurn, turnField, turnsOf } from "./pending-rows.js";

const LOOK_AGAIN_MS = 100;

/** Turns whose write-back is not done. They stand with their owners; hints lead to the owners that have some. */
export class DueTurns {
  readonly #database: RedisDatabase;
  readonly #hints: Hints;

  constructor(database: RedisDatabase, hints: Hints) {
    this.#database = database;
    this.#hints = hints;
  }

  /** Due turns, oldest first; taken for a worker where there is a `leaseMs`. */
  async find(nowMs: number, limit: number, { except = [], only, leaseMs }: ClaimOptions): Promise<readonly PendingTurn[]> {
    const leftOut = new Set(except.map(tagOf));
    const taken = only === undefined ? null : new Set(only.map(tagOf));
    const found: FoundTurn[] = [];
    for await (const hint of this.#hints.upTo("due", Math.floor(nowMs))) {
      // What stands behind a hint is no older than it says.
      if (found.length >= limit) break;
      if (leftOut.has(hint.tag) || taken?.has(hint.tag) === false) continue;
      const reply = await this.#database.run(CLAIM, hint.keys, hint.gen, Math.floor(nowMs), limit - found.length, leaseMs);
      const [verdict, name = "", claim = "", ...rows] = reply as readonly string[];
      const turns = turnsOf(name as Owner, "pending", rows);
      found.push(...(claim === "" ? turns : turns.map(({ atMs, turn }) => ({ atMs, turn: { ...turn, claim } }))));
      await this.#hints.settled(hint, verdict);
    }
    return found.toSorted((a, b) => a.atMs - b.atMs).map(({ turn }) => turn);
  }

  async renewClaim({ owner, sessionId, turn, claim = "" }: PendingTurn, leaseMs: number): Promise<string | null> {
    const renewed = await this.#database.run(RENEW_CLAIM, this.#database.keys(owner), turnField(sessionId, turn), claim, leaseMs);
    return renewed === null ? null : String(renewed);
  }

  async letGo({ owner, sessionId, turn, claim = "" }: Pick<PendingTurn, "owner" | "sessionId" | "turn" | "claim">): Promise<void> {
    await this.#database.run(LET_GO, this.#database.keys(owner), turnField(sessionId, turn), claim);
  }

  async unclaimed(owner: Owner, { sessionId, signal }: { readonly sessionId?: string; readonly signal: AbortSignal }): Promise<void> {
    const prefix = sessionId === undefined ? "" : `${sessionId}:`;
    while (!signal.aborted && (await this.#database.run(CLAIMED, this.#database.keys(owner), prefix)) === 1)
      await pause(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
  }

  /** By session, the oldest turn first. */
  async of(owner: Owner, sessionId?: string): Promise<readonly PendingTurn[]> {
    const keys = this.#database.keys(owner);
    const [pending, failed] = await Promise.all([
      this.#database.command("HGETALL", keys.pending),
      this.#database.command("HGETALL", keys.failed),
    ]);
    return [...turnsOf(owner, "pending", pending as readonly string[]), ...turnsOf(owner, "failed", failed as readonly string[])]
      .map(({ turn }) => turn)
      .filter((turn) => sessionId === undefined || turn.sessionId === sessionId)
      .sort((a, b) => (a.sessionId === b.sessionId ? a.turn - b.turn : a.sessionId < b.sessionId ? -1 : 1));
  }

  async counts(): Promise<{ readonly pending: number; readonly failed: number }> {
    const pending = new Map<string, number>();
    for await (const { tag, keys } of this.#hints.upTo("due", Number.MAX_SAFE_INTEGER))
      if (!pending.has(tag)) pending.set(tag, Number(await this.#database.command("HLEN", keys.pending)));
    let failed = 0;
    for await (const hint of this.#hints.upTo("failed", 0)) {
      const [verdict, count] = (await this.#database.run(COUNT_FAILED, hint.keys, hint.gen)) as readonly string[];
      if (verdict !== "gone") failed += Number(count);
      await this.#hints.settled(hint, verdict);
    }
    return { pending: [...pending.values()].reduce((sum, each) => sum + each, 0), failed };
  }

  /** Over all owners: each owner with pending turns is asked once. */
  async oldestAtMs(): Promise<number | null> {
    const seen = new Set<string>();
    let oldest: number | null = null;
    for await (const { tag, keys } of this.#hints.upTo("due", Number.MAX_SAFE_INTEGER)) {
      if (seen.has(tag)) continue;
      seen.add(tag);
      const rows = (await this.#database.command("HGETALL", keys.pending)) as readonly string[];
      for (const atMs of atMsOf(rows)) oldest = Math.min(oldest ?? atMs, atMs);
    }
    return oldest;
  }

  async recordAttempt(
    owner: Owner,
    sessionId: string,
    turn: number,
    attempt: { readonly attempts: number; readonly dueAtMs: number; readonly errorCode: string },
  ): Promise<void> {
    const dueMs = Math.ceil(attempt.dueAtMs);
    const given = { field: turnField(sessionId, turn), dueMs, attempts: attempt.attempts, errorCode: attempt.errorCode };
    const needs: readonly Need[] = [["due", dueMs]];
    const keys = this.#database.keys(owner);
    await this.#hints.having(owner, needs, (offer) => this.#database.run(RECORD_ATTEMPT, keys, JSON.stringify({ ...given, needs, offer })));
  }

  async restore({ owner, sessionId, turn, state, attempts, dueAtMs, errorCode }: PendingTurn): Promise<void> {
    const needs: readonly Need[] = state === "pending" ? [["due", dueAtMs]] : [["failed", 0]];
    const given = { field: turnField(sessionId, turn), state, attempts, dueMs: dueAtMs, errorCode: errorCode ?? "", needs };
    const keys = this.#database.keys(owner);
    await this.#hints.having(owner, needs, (offer) => this.#database.run(RESTORE_PENDING, keys, JSON.stringify({ ...given, offer })));
  }

  async retryFailed(owner: Owner, sessionId: string, nowMs: number): Promise<number> {
    const needs: readonly Need[] = [["due", nowMs]];
    const given = { prefix: `${sessionId}:`, dueMs: nowMs, needs };
    const keys = this.#database.keys(owner);
    const [count] = await this.#hints.having(owner, needs, (offer) =>
      this.#database.run(RETRY_FAILED, keys, JSON.stringify({ ...given, offer })),
    );
    return Number(count);
  }
}
