import { z } from "zod";
import type { Owner } from "../../domain/owner.js";
import type { Session } from "../../domain/session.js";
import type { IdempotencyEntry, PendingTurn } from "../../ports/session-store.js";
import { type Kept, openedJson } from "../journal/kept-content.js";
import type { SessionState } from "./session-fold.js";

/** Both are written by the index alone: their shape needs no second check on the way back. */
const stateSchema = z.custom<SessionState>((value) => typeof value === "object" && value !== null && "indexedSeq" in value);
const entrySchema = z.custom<IdempotencyEntry>((value) => typeof value === "object" && value !== null && "messageId" in value);

/** Turns that wait to be written back, and that were given up. */
export interface Unwritten {
  readonly pending: number;
  readonly failed: number;
}

export interface SessionRow extends Unwritten {
  readonly state: string;
}

export interface PendingRow {
  readonly owner: Owner;
  readonly session_id: string;
  readonly turn: number;
  readonly from_seq: number;
  readonly state: "pending" | "failed";
  readonly planned: number;
  readonly attempts: number;
  readonly due_ms: number;
  readonly error_code: string | null;
}

export const SESSION_COLUMNS = `s.state,
  (SELECT count(*) FROM pending p WHERE p.session_id = s.id AND p.state = 'pending') AS pending,
  (SELECT count(*) FROM pending p WHERE p.session_id = s.id AND p.state = 'failed') AS failed`;

export function entryOf(json: string): IdempotencyEntry {
  return entrySchema.parse(JSON.parse(json));
}

export function stateOf(json: string, kept: Kept): SessionState {
  return stateSchema.parse(openedJson(json, kept));
}

export function sessionOf(row: SessionRow, kept: Kept): Session {
  return sessionWith(stateOf(row.state, kept), row);
}

export function sessionWith({ session, statusSince }: SessionState, { pending, failed }: Unwritten): Session {
  return { ...session, status_since: statusSince, write_back: { pending_turns: pending, failed_turns: failed } };
}

export function pendingOf(row: PendingRow): PendingTurn {
  return {
    owner: row.owner,
    sessionId: row.session_id,
    turn: row.turn,
    state: row.state,
    planned: row.planned === 1,
    attempts: row.attempts,
    dueAtMs: row.due_ms,
    errorCode: row.error_code,
    fromSeq: row.from_seq,
  };
}
