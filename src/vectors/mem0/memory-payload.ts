import { z } from "zod";
import { MEMORY_STATES, MEMORY_TYPES, memorySourceSchema, OPEN_END_TS, pendingChangeSchema, WAITING_REASONS } from "../../domain/memory.js";
import { type MemoryRecord, seconds, storedEventSchema } from "../../domain/memory-record.js";
import type { Owner } from "../../domain/owner.js";

/** Stands for "nothing" in payloads, as filters never ask for absence. */
const NONE = "";

/** Instead of an embedder's id: the memory was written while the embedder failed, and has a vector of zeros. */
export const UNEMBEDDED = "none";

/**
 * The payload in the `memory` collection. Times are ISO 8601 UTC; each `_ts` beside one is the same in whole seconds, for
 * filters and order. `data` is what Mem0 calls the text.
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
  stated_at_ts: z.number(),
  valid_from: z.string(),
  valid_from_ts: z.number(),
  // A Qdrant server drops a key that setPayload gives as null: absent means null.
  valid_until: z.string().nullable().default(null),
  valid_until_ts: z.number(),
  superseded_by: z.string(),
  confidence: z.number(),
  seen_count: z.number().int(),
  last_confirmed_at: z.string(),
  last_confirmed_at_ts: z.number(),
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
  return {
    v: 1,
    memory_id: record.id,
    user_id: owner,
    data: record.text,
    category: record.category,
    aspect: record.aspect,
    condition: record.condition,
    about: record.about,
    need: record.need ?? NONE,
    channel: record.channel,
    reason: record.reason ?? NONE,
    pending_change: record.pending_change,
    asked: record.asked,
    type: record.type,
    strength: record.strength,
    subject: record.subject,
    scope: record.scope,
    status: record.status,
    stated_at: record.stated_at,
    stated_at_ts: seconds(record.stated_at),
    valid_from: record.valid_from,
    valid_from_ts: seconds(record.valid_from),
    valid_until: record.valid_until,
    valid_until_ts: record.valid_until === null ? OPEN_END_TS : seconds(record.valid_until),
    superseded_by: record.superseded_by ?? NONE,
    confidence: record.confidence,
    seen_count: record.seen_count,
    last_confirmed_at: record.last_confirmed_at,
    last_confirmed_at_ts: seconds(record.last_confirmed_at),
    last_recalled_at: record.last_recalled_at,
    explicit: record.explicit,
    entities: [...record.entities],
    tags: [...record.tags],
    source: record.source,
    source_session_id: record.source?.session_id ?? NONE,
    source_message_id: record.source?.message_id ?? NONE,
    confirmed_by: [...record.confirmed_by],
    events: record.events.map((event) => ({ ...event })),
    embedder,
    created_at: record.created_at,
    updated_at: record.updated_at,
  };
}

/** The owner and the memory in a payload, or null for one that is no memory of ours. */
export function fromPayload(payload: unknown): { readonly owner: string; readonly record: MemoryRecord } | null {
  const parsed = payloadSchema.safeParse(payload);
  if (!parsed.success) return null;
  const p = parsed.data;
  const record: MemoryRecord = {
    id: p.memory_id,
    text: p.data,
    category: p.category,
    aspect: p.aspect,
    condition: p.condition,
    about: p.about,
    need: p.need === NONE ? null : p.need,
    channel: p.channel,
    reason: WAITING_REASONS.find((reason) => reason === p.reason) ?? null,
    pending_change: p.pending_change,
    asked: p.asked,
    type: p.type,
    strength: p.strength,
    subject: p.subject,
    scope: p.scope,
    status: p.status,
    stated_at: p.stated_at,
    valid_from: p.valid_from,
    valid_until: p.valid_until,
    superseded_by: p.superseded_by === NONE ? null : p.superseded_by,
    confidence: p.confidence,
    seen_count: p.seen_count,
    last_confirmed_at: p.last_confirmed_at,
    last_recalled_at: p.last_recalled_at,
    explicit: p.explicit,
    entities: p.entities,
    tags: p.tags,
    source: p.source,
    confirmed_by: p.confirmed_by,
    events: p.events,
    created_at: p.created_at,
    updated_at: p.updated_at,
  };
  return { owner: p.user_id, record };
}
