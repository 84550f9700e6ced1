import type { Owner } from "../../domain/owner.js";
import type { PendingTurn } from "../../ports/session-store.js";
import { pendingOf } from "../sqlite-index/sqlite-index-rows.js";

/** What a row holds, in order. */
type Row = readonly [
  fromSeq: number,
  answeredSeq: number,
  atMs: number,
  dueAtMs: number,
  attempts: number,
  planned: number,
  errorCode: string,
];

export interface FoundTurn {
  readonly atMs: number;
  readonly turn: PendingTurn;
}

/** A field of `pending`, `failed` and `claims`. */
export function turnField(sessionId: string, turn: number): string {
  return `${sessionId}:${turn}`;
}

/** Fields and rows in turn, as a hash is read. */
export function turnsOf(owner: Owner, state: "pending" | "failed", found: readonly string[]): readonly FoundTurn[] {
  return found.flatMap((field, at) => (at % 2 === 0 ? [foundTurn(owner, state, field, found[at + 1] ?? "")] : []));
}

/** When the turns of a hash were answered. */
export function atMsOf(found: readonly string[]): readonly number[] {
  return found.flatMap((json, at) => (at % 2 === 1 ? [(JSON.parse(json) as Row)[2]] : []));
}

function foundTurn(owner: Owner, state: "pending" | "failed", field: string, json: string): FoundTurn {
  const [fromSeq, , atMs, dueAtMs, attempts, planned, errorCode] = JSON.parse(json) as Row;
  const [sessionId = "", turn = ""] = field.split(":");
  const row = { owner, session_id: sessionId, turn: Number(turn), from_seq: fromSeq, state, planned, attempts };
  return { atMs, turn: pendingOf({ ...row, due_ms: dueAtMs, error_code: errorCode === "" ? null : errorCode }) };
}
