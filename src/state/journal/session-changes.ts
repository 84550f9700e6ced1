import { createHash } from "node:crypto";
import type { JournalRecord } from "../../domain/session.js";
import type { IdempotencyEntry } from "../../ports/session-store.js";
import { type Effect, foldSession, type SessionState, type Standing } from "./session-fold.js";

export interface PendingPut {
  readonly turn: number;
  readonly fromSeq: number;
  readonly answeredSeq: number;
  readonly atMs: number;
  state: "pending" | "failed";
  attempts: number;
  errorCode: string | null;
}

/** What a batch of records changes in the index's tables, net. */
export interface SessionChanges {
  readonly state: SessionState;
  readonly standings: readonly { readonly seq: number; readonly standing: Standing; readonly summaryKey: string | null }[];
  readonly summaries: ReadonlyMap<string, NonNullable<Standing["summary"]>>;
  readonly keys: readonly { readonly key: string; readonly entry: IdempotencyEntry }[];
  readonly pending: readonly PendingPut[];
  readonly done: readonly number[];
  readonly failed: readonly Extract<Effect, { kind: "failed" }>[];
  /** Pending turns that were answered behind this seq are no more; null where nothing was taken back. */
  readonly takenBackTo: number | null;
}

/** Folds records into a session; null where there is nothing to fold them into, or they are all in it. */
export function changesOf(
  before: SessionState | null,
  sessionId: string,
  records: readonly JournalRecord[],
  standingAt: (seq: number) => Standing,
): SessionChanges | null {
  let state = before;
  const effects: Effect[] = [];
  for (const record of records) {
    const folded = foldSession(state, sessionId, record, (seq) => newest(effects, seq) ?? standingAt(seq));
    if (folded === null) continue;
    state = folded.state;
    effects.push(...folded.effects);
  }
  return state === null || state === before ? null : { state, ...net(effects) };
}

function newest(effects: readonly Effect[], upTo: number): Standing | undefined {
  const found = effects.findLast((effect) => effect.kind === "standing" && effect.seq <= upTo);
  return found?.kind === "standing" ? found.standing : undefined;
}

function net(effects: readonly Effect[]): Omit<SessionChanges, "state"> {
  const standings = new Map<number, { seq: number; standing: Standing; summaryKey: string | null }>();
  const summaries = new Map<string, NonNullable<Standing["summary"]>>();
  const keys = new Map<string, { key: string; entry: IdempotencyEntry }>();
  const pending = new Map<number, PendingPut>();
  const done: number[] = [];
  const failed: Extract<Effect, { kind: "failed" }>[] = [];
  let takenBackTo: number | null = null;
  for (const effect of effects) {
    switch (effect.kind) {
      case "standing": {
        const { seq, standing } = effect;
        const summaryKey = standing.summary === null ? null : keyOf(standing.summary);
        if (standing.summary !== null && summaryKey !== null) summaries.set(summaryKey, standing.summary);
        standings.set(seq, { seq, standing, summaryKey });
        break;
      }
      case "idempotency":
        keys.set(effect.key, effect);
        break;
      case "pending": {
        const { turn, seq: fromSeq, answeredSeq, atMs } = effect;
        pending.set(turn, { turn, fromSeq, answeredSeq, atMs, state: "pending", attempts: 0, errorCode: null });
        break;
      }
      case "done":
        pending.delete(effect.turn);
        done.push(effect.turn);
        break;
      case "failed": {
        const put = pending.get(effect.turn);
        if (put === undefined) failed.push(effect);
        else Object.assign(put, { state: "failed", attempts: effect.attempts, errorCode: effect.errorCode });
        break;
      }
      case "taken_back":
        for (const put of [...pending.values()]) if (put.answeredSeq > effect.toSeq) pending.delete(put.turn);
        takenBackTo = Math.min(takenBackTo ?? effect.toSeq, effect.toSeq);
    }
  }
  return {
    standings: [...standings.values()],
    summaries,
    keys: [...keys.values()],
    pending: [...pending.values()],
    done,
    failed,
    takenBackTo,
  };
}

/** The same summary at many records is kept once. */
function keyOf({ at, text }: NonNullable<Standing["summary"]>): string {
  return createHash("sha256").update(at).update("\0").update(text).digest("base64url");
}
