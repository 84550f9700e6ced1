import { createHash } from "node:crypto";
import { z } from "zod";
import { type Memory, STATED_TYPES } from "../domain/memory.js";
import { beginsAfter, isValidAt, type MemoryRecord, memoryOf, seconds } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import type { MemoryQuery } from "../ports/memories.js";
import type { StoreFields } from "../ports/memory-store.js";
import type { Page } from "../ports/session-store.js";

/** Which memories a query means. */
export interface Selection {
  /** As the store filters: it lets pass what is meant, and of whole seconds a little more. */
  readonly fields: StoreFields;
  readonly isMeant: (record: MemoryRecord) => boolean;
}

/**
 * Without a status: what holds now or will, or held at `as_of`; with `includeSuperseded` the past of it as well. `active` means that it
 * holds now or will; the other states have no validity to speak of. Without a type: all but the narrative.
 */
export function selectionOf(query: MemoryQuery, now: Date): Selection {
  const { status, as_of, turn, sessionId, includeSuperseded } = query;
  const { category, type, tag: tags, entity: entities, subject, channel } = query;
  const asked = { category, type, tags, entities, subject, channel, source_session_id: sessionId };
  const exact = Object.entries(asked).filter((field): field is [string, string] => field[1] !== undefined);
  const selection = (states: readonly string[], isInTime: (record: MemoryRecord) => boolean, times: StoreFields = {}): Selection => ({
    fields: { type: { in: STATED_TYPES }, ...Object.fromEntries(exact), status: { in: states }, ...times },
    isMeant: (record) =>
      (type !== undefined || record.type !== "narrative") &&
      states.includes(record.status) &&
      exact.every(([key, value]) => holds(record, key, value)) &&
      (turn === undefined || record.source?.turn === turn) &&
      isInTime(record),
  });
  const holdsOrWill = (record: MemoryRecord) => isValidAt(record, now) || beginsAfter(record, now);
  if (as_of !== undefined) {
    const at = timeOf(as_of);
    const second = Math.floor(at.getTime() / 1000);
    const times = { valid_from_ts: { lte: second }, valid_until_ts: { gte: second } };
    return selection(status === undefined ? ["active", "superseded"] : [status], (record) => isValidAt(record, at), times);
  }
  if (status !== undefined && status !== "active") return selection([status], () => true);
  if (includeSuperseded && status === undefined) return selection(["active", "superseded"], () => true);
  // What a session gave, and what of it waits.
  if (sessionId !== undefined && status === undefined)
    return selection(["active", "review"], (record) => record.status === "review" || holdsOrWill(record));
  return selection(["active"], holdsOrWill, { valid_until_ts: { gte: Math.floor(now.getTime() / 1000) } });
}

function holds(record: MemoryRecord, key: string, value: string): boolean {
  const held: unknown = key === "source_session_id" ? record.source?.session_id : record[key as keyof MemoryRecord];
  return Array.isArray(held) ? held.includes(value) : held === value;
}

function timeOf(iso: string): Date {
  const time = new Date(iso);
  if (!Number.isNaN(time.getTime())) return time;
  throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/as_of", detail: "Not an ISO 8601 time." }] });
}

/** A copy for the caller's own: the record is the one that is held. */
export function handedOut(record: MemoryRecord): Memory {
  return structuredClone(memoryOf(record));
}

/** 1 to 200. Default 20. */
export function limitOf({ limit = 20 }: Pick<MemoryQuery, "limit">): number {
  return Math.min(Math.max(limit, 1), 200);
}

/** Newest first, by (second in which it was stated, id); stable while memories come and go. @throws INVALID_CURSOR, INVALID_REQUEST */
export function listedMemories(owner: Owner, query: MemoryQuery, records: Iterable<MemoryRecord>, now: Date): Page<Memory> {
  const limit = limitOf(query);
  const stamp = stampOf(owner, query);
  const after = query.cursor === undefined ? null : placeIn(query.cursor, stamp);
  const { isMeant } = selectionOf(query, now);
  const found = [...records]
    .filter(isMeant)
    .map((record) => ({ record, place: { second: seconds(record.stated_at), id: record.id } }))
    .filter(({ place }) => after === null || compare(after, place) < 0)
    .sort((a, b) => compare(a.place, b.place));
  const page = found.slice(0, limit);
  const end = page.at(-1);
  return {
    data: page.map(({ record }) => handedOut(record)),
    nextCursor: found.length > limit && end !== undefined ? cursorOf(end.place, stamp) : null,
  };
}

interface Place {
  readonly second: number;
  readonly id: string;
}

function compare(a: Place, b: Place): number {
  return b.second - a.second || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

const cursorSchema = z.tuple([z.number().int(), z.uuid(), z.string()]);

/** A cursor goes with its owner and filters. */
function stampOf(owner: Owner, query: MemoryQuery): string {
  const { category, type, status, tag, entity, subject, channel, as_of, includeSuperseded, sessionId, turn } = query;
  return createHash("sha256")
    .update(JSON.stringify([owner, category, type, status, tag, entity, channel, as_of, includeSuperseded, sessionId, turn, subject]))
    .digest("base64url")
    .slice(0, 8);
}

function cursorOf({ second, id }: Place, stamp: string): string {
  return Buffer.from(JSON.stringify([second, id, stamp])).toString("base64url");
}

function placeIn(cursor: string, stamp: string): Place {
  try {
    const [second, id, filters] = cursorSchema.parse(JSON.parse(Buffer.from(cursor, "base64url").toString()));
    if (filters === stamp) return { second, id };
  } catch (cause) {
    throw new AppError("INVALID_CURSOR", { cause });
  }
  throw new AppError("INVALID_CURSOR");
}
