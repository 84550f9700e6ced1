import { z } from "zod";
import { MEMORY_STATES, MEMORY_TYPES, memorySourceSchema, OPEN_END_TS, pendingChangeSchema, WAITING_REASONS } from "../../domain/memory.js";
import { type MemoryRecord, seconds, storedEventSchema } from "../../domain/memory-record.js";
import type { Owner } from "../../domain/owner.js";

/** Stands for "nothing" in payloads, as filters never ask for absence. */
const NONE = "";

/** Instead of an embedder's id: the memory was written while the embedder failed, and has a vector of zeros. */
export const UNEMBEDDED = "none";

/**
 * The payload in the `memory` collection. Times are ISO 8601 UTC; a `_ts` beside one is the same in whole seconds, for filters. `data` is
 * what Mem0 calls the text.
 */
export const payloadSchema = z.object({
  v: z.literal(1),
  memory_id: z.uuid(),
  user_id: z.string().min(1),
  data: z.string().min(1),
  category: z.string(),
  aspect: z.string(),
  // Absent in what was written before there were any.
  condition: z.string().default(""),
  about: z.string().default(""),
  need: z.string().default(""),
  channel: z.string().default(""),
  reason: z.string().default(""),
  pending_change: pendingChangeSchema.nullable().default(null),
  asked: z.number().int().default(0),
  type: z.enum(MEMORY_TYPES),
  strength: z.enum(["hard", "soft"]),
  subject: z.string(),
  scope: z.enum(["standing", "trip"]),
  status: z.enum(MEMORY_STATES),
  stated_at: z.string(),
  valid_from: z.string(),
  valid_from_ts: z.number(),
  // A Qdrant server drops a key that setPayload gives as null: absent means null.
  valid_until: z.string().nullable().default(null),
  valid_until_ts: z.number(),
  superseded_by: z.string(),
  confidence: z.number(),
  seen_count: z.number().int(),
  last_confirmed_at: z.string(),
  last_recalled_at: z.string().nullable().default(null),
  explicit: z.boolean(),
  entities: z.array(z.string()),
  tags: z.array(z.string()),
  source: memorySourceSchema.nullable().default(null),
  source_session_id: z.string(),
  source_message_id: z.string(),
  confirmed_by: z.array(z.string()),
  events: z.array(storedEventSchema),
  /** The embedder that made the vector: another one asks for a reindex. */
  embedder: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type MemoryPayload = z.infer<typeof payloadSchema>;

export function toPayload(owner: Owner, record: MemoryRecord, embedder: string): MemoryPayload {
  const { id, text, need, reason, superseded_by, source, ...same } = record;
  return payloadSchema.parse({
    ...same,
    v: 1,
    memory_id: id,
    user_id: owner,
    data: text,
    need: need ?? NONE,
    reason: reason ?? NONE,
    valid_from_ts: seconds(record.valid_from),
    valid_until_ts: record.valid_until === null ? OPEN_END_TS : seconds(record.valid_until),
    superseded_by: superseded_by ?? NONE,
    source,
    source_session_id: source?.session_id ?? NONE,
    source_message_id: source?.message_id ?? NONE,
    embedder,
  });
}

/** The owner and the memory in a payload, or null for one that is no memory of ours. */
export function fromPayload(payload: unknown): { readonly owner: string; readonly record: MemoryRecord } | null {
  const parsed = payloadSchema.safeParse(payload);
  if (!parsed.success) return null;
  const { memory_id, user_id, data, need, reason, superseded_by, ...rest } = parsed.data;
  const { v: _v, embedder: _embedder, source_session_id: _session, source_message_id: _message, ...times } = rest;
  const { valid_from_ts: _from, valid_until_ts: _until, ...same } = times;
  const record: MemoryRecord = {
    ...same,
    id: memory_id,
    text: data,
    need: need === NONE ? null : need,
    reason: WAITING_REASONS.find((known) => known === reason) ?? null,
    superseded_by: superseded_by === NONE ? null : superseded_by,
  };
  return { owner: user_id, record };
}
