import { z } from "zod";
import {
  MEMORY_STATES,
  MEMORY_TYPES,
  type Memory,
  type MemoryEvent,
  memorySourceSchema,
  OPEN_END_TS,
  type RestorableMemory,
} from "../long-term.js";
import type { Owner } from "../owner.js";

/** A memory with what only the store and the rules need to know of it. */
export interface MemoryRecord extends Memory {
  /** False for what was only inferred: a candidate, in `review` until it was seen often enough. */
  readonly explicit: boolean;
  /** Null when it was never recalled for its likeness to a message. */
  readonly last_recalled_at: string | null;
  /** The messages that said it again, oldest first, at most {@link MAX_CONFIRMATIONS}: a replay doesn't confirm twice. */
  readonly confirmed_by: readonly string[];
  /** What happened to it since it was added. Holds no text. */
  readonly events: readonly StoredEvent[];
}

interface StoredEvent {
  readonly at: string;
  readonly event: MemoryEvent["event"];
}

export const MAX_CONFIRMATIONS = 100;
export const MAX_EVENTS = 200;
/** Stands for "nothing" in payloads, as filters never ask for absence. */
const NONE = "";

const storedEvent = z.object({
  at: z.string(),
  event: z.enum(["added", "confirmed", "edited", "superseded", "approved", "expired", "forgotten"]),
});

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
  events: z.array(storedEvent),
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

/** What clients see of a record. */
export function memoryOf(record: MemoryRecord): Memory {
  const { explicit: _explicit, last_recalled_at: _recalled, confirmed_by: _confirmed, events: _events, ...memory } = record;
  return memory;
}

/** A memory of an export as a record again: what only the store knew starts anew, but for what happened to it. */
export function recordOf({ history = [], ...memory }: RestorableMemory): MemoryRecord {
  const own = history.flatMap(({ at, event, memory_id }) => {
    const parsed = storedEvent.safeParse({ at, event });
    // That it expired follows from its end.
    return memory_id === memory.id && parsed.success && parsed.data.event !== "expired" ? [parsed.data] : [];
  });
  return {
    ...memory,
    explicit: true,
    last_recalled_at: null,
    confirmed_by: [],
    events: own.length > 0 ? own.slice(-MAX_EVENTS) : [{ at: memory.created_at, event: "added" }],
  };
}

/** True while a memory holds: active, begun, and not over. */
export function holdsAt(record: Memory, now: Date): boolean {
  return record.status === "active" && isValidAt(record, now);
}

export function isValidAt(record: Memory, at: Date): boolean {
  const end = record.valid_until === null ? Number.POSITIVE_INFINITY : Date.parse(record.valid_until);
  return Date.parse(record.valid_from) <= at.getTime() && at.getTime() < end;
}

export function seconds(iso: string): number {
  return Math.floor(Date.parse(iso) / 1000);
}
