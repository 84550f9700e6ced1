import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Owner } from "../../domain/owner.js";
import { jsonObject } from "../../domain/session.js";
import { derivedId } from "../../platform/ids.js";
import type { HistorySearch } from "../../ports/history.js";
import type { HistoryMessage } from "../../ports/resources.js";
import type { Condition, Filter, Payload, PayloadSchema, RangeCondition, VectorClient } from "../../ports/vectors.js";
import { ensureCollection } from "../requests/collection.js";

/** The sparse vector of a message's own words. */
export const OWN = "bm25";
/** The sparse vector of what was said just before it, so that a question finds the answer that shares none of its words. */
export const CONTEXT = "context";

/** The payload's key, true, of a message that was written while the embedder failed: it has no dense vector yet. */
export const UNEMBEDDED = "unembedded";

const INDEXES: Readonly<Record<string, PayloadSchema>> = {
  user_id: { type: "keyword", is_tenant: true },
  session_id: "keyword",
  role: "keyword",
  position: "integer",
  created_at_ts: "integer",
  [UNEMBEDDED]: "bool",
};

/** @throws REINDEX_REQUIRED when the collection was made for vectors of another length */
export function ensureHistoryCollection(client: VectorClient, collection: string, dimension: number): Promise<void> {
  return ensureCollection(client, collection, { dimension, sparse: [OWN, CONTEXT], indexes: INDEXES, onDiskPayload: true });
}

/** What a point of the history collection holds. `v` counts its layout. */
const payloadSchema = z.object({
  v: z.literal(1),
  user_id: z.string(),
  session_id: z.string(),
  turn: z.number(),
  position: z.number(),
  message_id: z.string(),
  external_id: z.string().optional(),
  role: z.enum(["user", "assistant", "system"]),
  name: z.string().nullable(),
  channel: z.string(),
  content: z.string(),
  created_at: z.string(),
  created_at_ts: z.number(),
  /** The message's own terms. */
  terms: z.string(),
  custom_metadata: jsonObject.optional(),
});

/** A search leaves out some dozens of messages, the same ones turn after turn. */
const pointIds = new LRUCache<string, string>({ max: 20_000 });

/** UUIDv5 of owner and message, so that adding a message again hits the same point. */
export function pointIdOf(owner: Owner, messageId: string): string {
  const name = `${owner} ${messageId}`;
  const known = pointIds.get(name) ?? derivedId("point", owner, messageId);
  pointIds.set(name, known);
  return known;
}

export function toPayload(owner: Owner, message: HistoryMessage, terms: string): Payload {
  const { custom_metadata, external_id, ...rest } = message;
  return {
    v: 1,
    user_id: owner,
    ...rest,
    created_at_ts: secondsOf(message.created_at),
    terms,
    ...(external_id === undefined ? {} : { external_id }),
    ...(custom_metadata === undefined ? {} : { custom_metadata }),
  };
}

/** Null for a point that is not this owner's or not a message: it is left out, whatever the filter said. */
export function fromPayload(owner: Owner, payload: unknown): HistoryMessage | null {
  const parsed = payloadSchema.safeParse(payload);
  if (!parsed.success || parsed.data.user_id !== owner) return null;
  const { session_id, turn, position, message_id, external_id, role, name, channel, content, created_at, custom_metadata } = parsed.data;
  // By name, and without spreads: a search does this for hundreds of candidates.
  const message: { -readonly [Key in keyof HistoryMessage]: HistoryMessage[Key] } = {
    session_id,
    turn,
    position,
    message_id,
    role,
    name,
    channel,
    content,
    created_at,
  };
  if (external_id !== undefined) message.external_id = external_id;
  if (custom_metadata !== undefined) message.custom_metadata = custom_metadata;
  return message;
}

/** Whole seconds since the epoch, rounded down; 0 for what is no date. */
export function secondsOf(iso: string): number {
  const ms = Date.parse(iso);
  return Number.isFinite(ms) ? Math.floor(ms / 1000) : 0;
}

/** Everything of one owner, or of one of their sessions. */
export function ownFilter(owner: Owner, sessionId?: string): Filter {
  const must: Condition[] = [{ key: "user_id", match: { value: owner } }];
  if (sessionId !== undefined) must.push({ key: "session_id", match: { value: sessionId } });
  return { must };
}

/** Everything of these sessions, each of which is one owner's. */
export function sessionsFilter(sessions: readonly { readonly owner: Owner; readonly sessionId: string }[]): Filter {
  const owners = [...new Set(sessions.map(({ owner }) => owner))];
  return {
    must: [
      { key: "user_id", match: { any: owners } },
      { key: "session_id", match: { any: sessions.map(({ sessionId }) => sessionId) } },
    ],
  };
}

/** What a search may find. Times are compared in whole seconds: `from` rounds down, `to` rounds up. */
export function searchFilter(owner: Owner, search: HistorySearch): Filter {
  const must: Condition[] = [...(ownFilter(owner, search.session_id).must ?? [])];
  if (search.role !== undefined) must.push({ key: "role", match: { value: search.role } });
  const range: RangeCondition = {};
  if (search.from !== undefined) range.gte = secondsOf(search.from);
  if (search.to !== undefined) range.lt = Math.ceil(Date.parse(search.to) / 1000);
  if (search.from !== undefined || search.to !== undefined) must.push({ key: "created_at_ts", range });
  const excluded = [...(search.excludeMessageIds ?? [])].map((id) => pointIdOf(owner, id));
  return excluded.length === 0 ? { must } : { must, must_not: [{ has_id: excluded }] };
}

/** What of it waits for its vector. */
export function unembeddedAmong(filter: Filter): Filter {
  return { ...filter, must: [...(filter.must ?? []), { key: UNEMBEDDED, match: { value: true } }] };
}

/** Messages of a session with `from <= position <= to`, in no order. */
export async function messagesBetween(
  client: VectorClient,
  collection: string,
  { owner, sessionId, from, to }: { readonly owner: Owner; readonly sessionId: string; readonly from: number; readonly to: number },
): Promise<HistoryMessage[]> {
  const filter = positionsFilter(owner, sessionId, from, to);
  const { points } = await client.scroll(collection, { filter, limit: to - from + 1, with_payload: true });
  return points.flatMap(({ payload }) => fromPayload(owner, payload) ?? []);
}

function positionsFilter(owner: Owner, sessionId: string, from: number, to: number): Filter {
  return { must: [...(ownFilter(owner, sessionId).must ?? []), { key: "position", range: { gte: from, lte: to } }] };
}
