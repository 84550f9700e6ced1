import { createHash } from "node:crypto";
import { z } from "zod";
import { beginsAfter, isValidAt, type MemoryRecord, seconds } from "../../domain/memory-record.js";
import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import type { MemoryQuery } from "../../ports/memories.js";
import type { Page } from "../../ports/session-store.js";
import type { Condition } from "../../ports/vectors.js";
import { compareIds, type MemoryPoints } from "./memory-points.js";

/** Which memories a query means, as fields that must be so; and what the whole seconds of the fields leave to be checked. */
export interface Selection {
  readonly fields: Readonly<
    Record<string, string | { readonly in: readonly string[] } | { readonly gte: number } | { readonly lte: number }>
  >;
  readonly keep: (record: MemoryRecord) => boolean;
}

/**
 * Without a status: what holds now or will, or held at `as_of`; with `includeSuperseded` the past of it as well. `active` means that it
 * holds now or will; the other states have no validity to speak of.
 */
export function selectionOf(query: MemoryQuery, now: Date): Selection {
  const asked = {
    ...(query.category === undefined ? {} : { category: query.category }),
    ...(query.type === undefined ? {} : { type: query.type }),
    ...(query.tag === undefined ? {} : { tags: query.tag }),
    ...(query.entity === undefined ? {} : { entities: query.entity }),
    ...(query.subject === undefined ? {} : { subject: query.subject }),
    ...(query.channel === undefined ? {} : { channel: query.channel }),
    ...(query.sessionId === undefined ? {} : { source_session_id: query.sessionId }),
  };
  const { turn } = query;
  const ofTurn = (record: MemoryRecord) => turn === undefined || record.source?.turn === turn;
  const validAt = (at: Date, status: string | { in: readonly string[] }) => {
    const second = Math.floor(at.getTime() / 1000);
    const fields = { ...asked, status, valid_from_ts: { lte: second }, valid_until_ts: { gte: second } };
    return { fields, keep: (record: MemoryRecord) => ofTurn(record) && isValidAt(record, at) };
  };
  if (query.as_of !== undefined) return validAt(timeOf(query.as_of), query.status ?? { in: ["active", "superseded"] });
  if (query.status !== undefined && query.status !== "active") return { fields: { ...asked, status: query.status }, keep: ofTurn };
  if (query.includeSuperseded && query.status === undefined)
    return { fields: { ...asked, status: { in: ["active", "superseded"] } }, keep: ofTurn };
  // What a session gave, and what of it waits.
  if (query.sessionId !== undefined && query.status === undefined)
    return {
      fields: { ...asked, status: { in: ["active", "review"] } },
      keep: (record) => ofTurn(record) && (record.status === "review" || isValidAt(record, now) || beginsAfter(record, now)),
    };
  return {
    fields: { ...asked, status: "active", valid_until_ts: { gte: Math.floor(now.getTime() / 1000) } },
    keep: (record) => ofTurn(record) && (isValidAt(record, now) || beginsAfter(record, now)),
  };
}

function timeOf(iso: string): Date {
  const time = new Date(iso);
  if (!Number.isNaN(time.getTime())) return time;
  throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/as_of", detail: "Not an ISO 8601 time." }] });
}

function conditionsOf(selection: Selection): Condition[] {
  return Object.entries(selection.fields).map(([key, field]): Condition => {
    if (typeof field === "string") return { key, match: { value: field } };
    return "in" in field ? { key, match: { any: [...field.in] } } : { key, range: field };
  });
}

/** Newest first, by (stated at, id); stable while memories come and go. @throws INVALID_CURSOR */
export async function listMemories(points: MemoryPoints, owner: Owner, query: MemoryQuery, now: Date): Promise<Page<MemoryRecord>> {
  const limit = Math.min(Math.max(query.limit ?? 20, 1), 200);
  const selection = selectionOf(query, now);
  const must = conditionsOf(selection);
  const stamp = stampOf(owner, query);
  let after = query.cursor === undefined ? null : parseCursor(query.cursor, stamp);
  const items: MemoryRecord[] = [];
  const take = (records: readonly MemoryRecord[]) => items.push(...records.filter(selection.keep));

  while (items.length <= limit) {
    if (after !== null) {
      // What was stated in the same second, in the order of ids.
      const { second, id } = after;
      const group = await points.collect(
        owner,
        { must: [...must, { key: "stated_at_ts", range: { gte: second, lte: second } }] },
        { count: 0 },
      );
      take(group.filter((record) => record.id > id).sort(compareIds));
      if (items.length > limit) break;
    }
    const older: Condition[] = after === null ? [] : [{ key: "stated_at_ts", range: { lt: after.second } }];
    const next = await points.latest(owner, { must: [...must, ...older] }, "stated_at_ts", limit + 1, { count: 0 });
    const last = next.at(-1);
    if (last === undefined || next.length <= limit) {
      take(next);
      break;
    }
    // The last second of a full page may go on: take it whole on the next round.
    const second = seconds(last.stated_at);
    take(next.filter((record) => seconds(record.stated_at) > second));
    after = { second, id: "" };
  }

  const data = items.slice(0, limit);
  const end = data.at(-1);
  const more = items.length > limit && end !== undefined;
  return { data, nextCursor: more ? formatCursor({ second: seconds(end.stated_at), id: end.id }, stamp) : null };
}

interface Place {
  readonly second: number;
  readonly id: string;
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

function formatCursor(place: Place, stamp: string): string {
  return Buffer.from(JSON.stringify([place.second, place.id, stamp])).toString("base64url");
}

function parseCursor(cursor: string, stamp: string): Place {
  try {
    const [second, id, filters] = cursorSchema.parse(JSON.parse(Buffer.from(cursor, "base64url").toString()));
    if (filters === stamp) return { second, id };
  } catch (cause) {
    throw new AppError("INVALID_CURSOR", { cause });
  }
  throw new AppError("INVALID_CURSOR");
}
