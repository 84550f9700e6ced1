import { z } from "zod";
import { type ReadOnly, time } from "./schema.js";

/** A memory: a distilled, gated fact about a user. */

/** What may be stated: all but the narrative, which is told of the others. */
export const STATED_TYPES = ["preference", "fact", "constraint", "episodic", "procedural", "summary"] as const;
export const MEMORY_TYPES = [...STATED_TYPES, "narrative"] as const;
export const MEMORY_STATES = ["active", "superseded", "review", "forgotten"] as const;
export type StatedType = (typeof STATED_TYPES)[number];
export type MemoryType = (typeof MEMORY_TYPES)[number];
export type MemoryState = (typeof MEMORY_STATES)[number];

/** Seconds since the epoch that stand for "no end". */
export const OPEN_END_TS = 253402300799;

export const memorySourceSchema = z.object({ session_id: z.string(), turn: z.number().int(), message_id: z.string(), quote: z.string() });
export type MemorySource = z.infer<typeof memorySourceSchema>;

/** Counted as JSON Schema counts: in characters, not in halves of them. */
function characters(min: number, max: number) {
  return z
    .string()
    .refine((text) => text.length >= min, "is empty")
    .refine((text) => text.length <= max || [...text].length <= max, `at most ${max} characters`);
}

/** What a statement says, as an extractor or a user puts it. */
export const statementSchema = z.object({
  /** One plain sentence in the third person without a subject: "Prefers jazz concerts". 1 to 500 characters. */
  text: characters(1, 500),
  category: characters(1, 64),
  /** What of the category: "row", "party size". */
  aspect: characters(0, 64).default(""),
  /** When it holds, where it doesn't always: "for opera", "on trains". Empty: always. */
  condition: characters(0, 120).default(""),
  /** The words that name the thing itself: the substance, the aid, the place. */
  about: characters(0, 200).default(""),
  /** For hard ones: one of the domain's needs (`step_free`, `no_nuts`), or `other`. Null for what is no need. */
  need: z.string().max(64).nullable().default(null),
  type: z.enum(STATED_TYPES).default("preference"),
  strength: z.enum(["hard", "soft"]).default("soft"),
  /** `self` or `companion:<name>`. */
  subject: z
    .string()
    .regex(/^(self|companion:.{1,64})$/u)
    .default("self"),
  scope: z.enum(["standing", "trip"]).default("standing"),
  /** ISO 8601; null: from when it was said. */
  valid_from: z.string().nullable().default(null),
  /** ISO 8601; null where there is no end. */
  valid_until: z.string().nullable().default(null),
  confidence: z.number().min(0).max(1).default(1),
  /** False when the user did not say it but something suggests it: stored once it was seen three times. */
  explicit: z.boolean().default(true),
  entities: z.array(z.string()).default([]),
  tags: z.array(z.string()).default([]),
  /** Through which channel it was said: `api`, `cli`, `voice`. Empty where nothing tells. */
  channel: characters(0, 64).default(""),
});
export type Statement = ReadOnly<z.infer<typeof statementSchema>>;
/**
 * A statement as a user adds it by hand: what is left out is its category's default. `category`: default what a reader makes of the text,
 * else `other`.
 */
export type NewStatement = ReadOnly<Omit<z.input<typeof statementSchema>, "category" | "type">> & {
  readonly category?: string | undefined;
  /** A narrative is refused. */
  readonly type?: MemoryType | undefined;
};

/** Why a memory, or a change of one, waits for the guest's word. */
export const WAITING_REASONS = [
  "unsure",
  "hypothetical",
  "reported",
  "joking",
  /** It stood in text that the guest brought along: a quotation, a code block, a forwarded mail. */
  "brought_along",
  /** It tells the assistant what to do. */
  "instruction",
  /** The words that name the thing are not in the quote. */
  "not_named",
  /** Only suggested by what the guest does. */
  "inferred",
  /** A need in a message that the guest asked not to keep. */
  "off_record",
  /** It ends or replaces what must hold, and the guest's own words don't clearly say so. */
  "unclear_change",
] as const;
export type WaitingReason = (typeof WAITING_REASONS)[number];

/** An end, a replacement or a forgetting of a memory that waits for the guest's word. The memory itself stays active meanwhile. */
export const pendingChangeSchema = z.object({
  op: z.enum(["end", "supersede", "forget"]),
  /** What would hold instead; null for an end and a forgetting. */
  statement: statementSchema.nullable(),
  reason: z.enum(WAITING_REASONS),
  source: memorySourceSchema.nullable(),
  stated_at: z.string(),
  /** How often the guest was asked about it in talk. */
  asked: z.number().int().default(0),
});
export type PendingChange = ReadOnly<z.infer<typeof pendingChangeSchema>>;

/** A memory as clients see it (the payload in the `memory` collection; Mem0 calls `text` data). Times are ISO 8601 UTC. */
export const memorySchema = z
  .object({
    id: z.string(),
    text: z.string(),
    category: z.string(),
    aspect: z.string(),
    condition: z.string(),
    about: z.string(),
    /** One of the domain's needs, or `other`; null for what is no need. */
    need: z.string().nullable(),
    type: z.enum(MEMORY_TYPES),
    strength: z.enum(["hard", "soft"]),
    subject: z.string(),
    scope: z.enum(["standing", "trip"]),
    status: z.enum(MEMORY_STATES),
    stated_at: time,
    valid_from: time,
    /** Null where there is no end. */
    valid_until: time.nullable(),
    superseded_by: z.string().nullable(),
    confidence: z.number(),
    seen_count: z.number().int(),
    last_confirmed_at: time,
    entities: z.array(z.string()),
    tags: z.array(z.string()),
    channel: z.string(),
    /** Why it waits, while its status is `review`; else null. */
    reason: z.enum(WAITING_REASONS).nullable(),
    /** An end or a replacement of it that waits for the guest's word. */
    pending_change: pendingChangeSchema.nullable(),
    /** Null for memories that the user added by hand. */
    source: memorySourceSchema.nullable(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Memory" });
export type Memory = ReadOnly<z.output<typeof memorySchema>>;

export const MEMORY_EVENTS = ["added", "confirmed", "edited", "superseded", "approved", "expired", "forgotten"] as const;

/** One event in a memory's life, oldest first. */
export const memoryEventSchema = z
  .object({ at: time, event: z.enum(MEMORY_EVENTS), text: z.string().nullable(), memory_id: z.string() })
  .meta({ id: "MemoryEvent" });
export type MemoryEvent = ReadOnly<z.output<typeof memoryEventSchema>>;

/** A memory as an export has it: with what happened to it and to the versions before it, as `history` told. */
export interface RestorableMemory extends Memory {
  readonly history?: readonly (Omit<MemoryEvent, "event"> & { readonly event: string })[];
  /** The user's message that its quote stands in, and the answer before it, where the export holds them. */
  readonly said?: { readonly text: string; readonly before: string | null };
}

/** A user's own edit. A changed text is a new memory that supersedes the old one. */
export type MemoryPatch = Partial<
  Pick<Statement, "text" | "category" | "aspect" | "strength" | "subject" | "scope" | "valid_until" | "tags"> & {
    /** A narrative is refused. */
    readonly type: MemoryType;
  }
>;
