import { hash } from "node:crypto";
import type { Session, SessionStatus } from "../../domain/session.js";
import { newId } from "../../platform/ids.js";
import { type KeyRange, prefixRange } from "../engine.js";
import { numberKey } from "../partition.js";

/** Keys of sessions, in their owner's partition. */

export const SESSIONS = "session/";
export const JOURNALS = "journal/";
export const ACTIVITIES = "by-activity/";
export const EXTERNALS = "by-external/";
export const STANDINGS = "standing/";
export const SUMMARIES = "summary/";
export const REQUESTS = "request/";
export const JOBS = "job/";
export const TURN_JOBS = "job/turn/";
export const LOCKS = "lock/";
export const TRASH = "trash/";
export const TURN_RECORDS = "turn-record/";

/** Of a session's row; a row over the engine's limit has parts behind it. */
export function sessionKey(sessionId: string): string {
  return SESSIONS + sessionId;
}

/** A session's row with its parts. */
export function sessionRange(sessionId: string): KeyRange {
  return prefixRange(sessionKey(sessionId));
}

/** The order of an owner's list: by status, then by activity, then by id. */
export function activityKey({ status, updated_at, id }: Pick<Session, "status" | "updated_at" | "id">): string {
  return `${activitiesOf(status)}${new Date(updated_at).toISOString()}/${id}`;
}

export function activitiesOf(status: SessionStatus): string {
  return `${ACTIVITIES}${status}/`;
}

export function activityOf(key: string): { readonly status: SessionStatus; readonly updatedAt: string; readonly id: string } {
  const [, status = "", updatedAt = "", id = ""] = key.split("/");
  return { status: status as SessionStatus, updatedAt, id };
}

export function externalKey(externalId: string): string {
  return EXTERNALS + hash("sha256", externalId);
}

/** Journals of a session lie by generation, the newest last: a rewrite makes another, and what comes after a removal is another too. */
export function nextGeneration(before = ""): string {
  const number = before === "" ? 0 : Number.parseInt(before, 10) + 1;
  return `${String(number).padStart(6, "0")}-${newId().slice(-8)}`;
}

export function journalsOf(sessionId: string): string {
  return `${JOURNALS}${sessionId}/`;
}

export function journalPrefix(sessionId: string, generation: string): string {
  return `${journalsOf(sessionId)}${generation}/`;
}

/** Of the row whose first record has that seq. */
export function recordsKey(sessionId: string, generation: string, firstSeq: number): string {
  return journalPrefix(sessionId, generation) + numberKey(firstSeq);
}

export function standingsOf(sessionId: string, fold: string): string {
  return `${STANDINGS}${sessionId}/${fold}/`;
}

export function summariesOf(sessionId: string, fold: string): string {
  return `${SUMMARIES}${sessionId}/${fold}/`;
}

export function requestKey(key: string): string {
  return REQUESTS + hash("sha256", key);
}

export function jobsOf(sessionId: string): string {
  return `${TURN_JOBS}${sessionId}/`;
}

export function jobKey(sessionId: string, turn: number): string {
  return jobsOf(sessionId) + numberKey(turn);
}

/** A lock's key may hold an owner's name, which is not to be kept. */
export function leaseKey(key: string): string {
  return hash("sha256", key, "base64url");
}

/** `leaseKey`: as {@link leaseKey} makes it. */
export function lockKey(leaseKey: string): string {
  return LOCKS + leaseKey;
}

/** What is kept of a session's turns for whoever runs the server. */
export function turnRecordsOf(sessionId: string): string {
  return `${TURN_RECORDS}${sessionId}/`;
}

export function trashOf(sessionId: string): string {
  return `${TRASH}${sessionId}/`;
}
