import { z } from "zod";

/**
 * The words of a conversation: session, turn, message, step, element, and the journal records that hold them.
 * What is persisted is defined by the zod schemas here; unknown keys of newer versions are kept as they are read.
 */

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };
export const jsonObject = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject, JsonObject>;
const json = z.json() as unknown as z.ZodType<JsonValue, JsonValue>;

export const SESSION_STATUSES = ["active", "archived", "deleted"] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];
export type Role = "user" | "assistant" | "system";

/** Where something that an answer names comes from: a catalogue entry, a past turn, a page. */
export const sourceSchema = z.object({ id: z.string(), title: z.string(), type: z.string(), url: z.string().optional() });
export type Source = z.infer<typeof sourceSchema>;

/** What a client shows beside an answer: a citation, an event card, a booking receipt. `content` is text or JSON as text. */
export const elementSchema = z.object({
  id: z.string(),
  type: z.string(),
  name: z.string(),
  content: z.string(),
  display: z.enum(["inline", "side"]),
});
export type Element = z.infer<typeof elementSchema>;

/** One tool call of the agent with its result. Calls with the same `iteration` were asked for together. */
export const stepSchema = z.object({
  id: z.string(),
  type: z.literal("tool_call"),
  name: z.string(),
  call_id: z.string(),
  /** From 0, counts the model calls of the turn. */
  iteration: z.number().int().nonnegative(),
  /** What the model said beside the calls of this iteration; on its first step only. */
  thought: z.string().optional(),
  input: json,
  output: json,
  error: z.string().nullable(),
  started_at: z.string(),
  duration_ms: z.number(),
});
export type Step = z.infer<typeof stepSchema>;

export const usageSchema = z.object({ input_tokens: z.number(), output_tokens: z.number() });
export type Usage = z.infer<typeof usageSchema>;

export const messageMetadataSchema = z.looseObject({
  model: z.string().optional(),
  tokens: usageSchema.optional(),
  sources: z.array(sourceSchema).optional(),
  tools_used: z.array(z.string()).optional(),
  duration_ms: z.number().optional(),
});
export type MessageMetadata = z.infer<typeof messageMetadataSchema>;

/** What a turn was given from long-term memory, as the answer reports it. */
export const recalledSchema = z.object({
  id: z.string(),
  text: z.string(),
  category: z.string(),
  strength: z.enum(["hard", "soft"]),
  /** `self` or `companion:<name>`. */
  subject: z.string().optional(),
  score: z.number().nullable(),
  source: z.object({ session_id: z.string(), turn: z.number(), message_id: z.string() }).nullable(),
  created_at: z.string(),
});
export type RecalledMemory = z.infer<typeof recalledSchema>;

export const MEMORY_STATUSES = ["ok", "empty", "disabled", "timeout", "degraded"] as const;
/** How long-term memory did in a turn; see DESIGN "The flow of one turn". */
export type RecallStatus = (typeof MEMORY_STATUSES)[number];

export const timingSchema = z.object({ window_ms: z.number(), recall_ms: z.number(), model_ms: z.number(), total_ms: z.number() });
export type Timing = z.infer<typeof timingSchema>;

// ---- journal ---------------------------------------------------------------------------------------------------

export const JOURNAL_VERSION = 1;
export const MAX_RECORD_BYTES = 1024 * 1024;

const sessionBody = z.looseObject({
  owner: z.string(),
  external_id: z.string().nullable().default(null),
  title: z.string().nullable().default(null),
  metadata: jsonObject.default({}),
  agent_type: z.string().default("concierge"),
  expires_at: z.string().nullable().default(null),
  /** Set on a fork: where it came from. */
  forked_from: z.object({ session_id: z.string(), message_id: z.string() }).nullable().default(null),
});

/** `completed` turns make rounds; `interrupted` and `failed` ones are kept, but stay out of the window. */
export type TurnOutcome = "completed" | "interrupted" | "failed";

const messageBody = z.looseObject({
  role: z.enum(["user", "assistant", "system"]),
  content: z.string(),
  name: z.string().nullable().default(null),
  channel: z.string().default("api"),
  metadata: messageMetadataSchema.default({}),
  /** Assistant messages only: how the turn ended. */
  outcome: z.enum(["completed", "interrupted", "failed"]).optional(),
  /** Assistant messages of failed turns: the code of what went wrong. */
  error_code: z.string().optional(),
  /** Assistant messages: what the answer showed beside its text, kept so that a replay gives the same answer. */
  elements: z.array(elementSchema).optional(),
  memory: z
    .object({ status: z.enum(MEMORY_STATUSES), write_back: z.enum(["pending", "disabled"]), recalled: z.array(recalledSchema) })
    .optional(),
  timing: timingSchema.optional(),
  /** User messages: the idempotency key with the hash of the request that it stands for. */
  idempotency: z.object({ key: z.string(), request_hash: z.string() }).optional(),
  /** User messages: what the user was looking at. Data, never a memory. */
  page_context: z.string().optional(),
  /** User messages: the id of the message that this one replaces. */
  edit_of: z.string().optional(),
  /** User messages: false keeps the round out of long-term memory and history ("don't remember this", incognito). */
  remember: z.boolean().default(true),
  /** User messages: false keeps a round that may be remembered out of history ("forget that …; by the way, I'm vegan"). */
  in_history: z.boolean().optional(),
  /** IANA time zone that held when the message was said. */
  time_zone: z.string().optional(),
  /** Imported messages: the importer's own id; they are indexed by the import, not by the write-back. */
  imported: z.boolean().optional(),
  external_id: z.string().optional(),
  /** Forked messages: the id that the message has in the session it came from. Not indexed or extracted again. */
  origin_id: z.string().optional(),
});

const summaryBody = z.looseObject({
  text: z.string(),
  from_turn: z.number().int(),
  to_turn: z.number().int(),
  by: z.string(),
  final: z.boolean().default(false),
});

const sessionPatchBody = z.looseObject({
  title: z.string().nullable().optional(),
  topic: z.string().nullable().optional(),
  tags: z.array(z.string()).optional(),
  metadata: jsonObject.optional(),
  status: z.enum(SESSION_STATUSES).optional(),
  expires_at: z.string().nullable().optional(),
  /** Who set it: the user's own values win over derived ones. */
  by: z.enum(["user", "derived", "retention"]),
});

/** Records with seq > to_seq and < this record's own are no longer part of the conversation. `to_offset`: byte offset of the end of record to_seq. */
const rewindBody = z.looseObject({ to_seq: z.number().int(), to_offset: z.number().int() });

/** `operations` are MemoryOperation values (long-term.ts); kept as JSON here so that the journal needs no other port. */
const planBody = z.looseObject({ message_id: z.string(), extractor: z.string(), operations: z.array(z.json()) });
const doneBody = z.looseObject({
  status: z.enum(["stored", "failed", "skipped"]),
  memory_ids: z.array(z.string()),
  attempts: z.number().int(),
  error_code: z.string().optional(),
});

const envelope = {
  v: z.literal(JOURNAL_VERSION),
  /** From 1, without gaps within a session; replaying a record is harmless. */
  seq: z.number().int().positive(),
  id: z.string(),
  /** From 1; 0 for records of the session itself. */
  turn: z.number().int().nonnegative(),
  /** ISO 8601 UTC. */
  at: z.string(),
};

export const journalRecordSchema = z.discriminatedUnion("type", [
  z.object({ ...envelope, type: z.literal("session"), body: sessionBody }),
  z.object({ ...envelope, type: z.literal("message"), body: messageBody }),
  z.object({ ...envelope, type: z.literal("step"), body: stepSchema }),
  z.object({ ...envelope, type: z.literal("summary"), body: summaryBody }),
  z.object({ ...envelope, type: z.literal("session_patch"), body: sessionPatchBody }),
  z.object({ ...envelope, type: z.literal("rewind"), body: rewindBody }),
  z.object({ ...envelope, type: z.literal("write_back_plan"), body: planBody }),
  z.object({ ...envelope, type: z.literal("write_back_done"), body: doneBody }),
]);
export type JournalRecord = z.infer<typeof journalRecordSchema>;
export type RecordOf<T extends JournalRecord["type"]> = Extract<JournalRecord, { type: T }>;
/** A record as it is handed to `append`, which numbers it. Bodies may leave out what has a default. */
export type NewRecord = Unnumbered<z.input<typeof journalRecordSchema>>;
type Unnumbered<R> = R extends unknown ? Omit<R, "v" | "seq"> : never;

export type MessageRecord = RecordOf<"message">;
export type StepRecord = RecordOf<"step">;

// ---- what is read from it --------------------------------------------------------------------------------------

/** A completed turn as the model sees it again. Never holds a tool call without its result. */
export interface Round {
  readonly turn: number;
  readonly user: MessageRecord;
  /** In the order in which they were called. */
  readonly steps: readonly Step[];
  readonly assistant: MessageRecord;
}

/** A session as the index knows it: the fold of its journal. */
export interface Session {
  readonly id: string;
  readonly external_id: string | null;
  readonly title: string | null;
  readonly status: SessionStatus;
  readonly created_at: string;
  /** Last activity. */
  readonly updated_at: string;
  readonly expires_at: string | null;
  /** As clients read them; see {@link isBlankFailure}. */
  readonly message_count: number;
  readonly summary: string | null;
  readonly summary_updated_at: string | null;
  readonly topic: string | null;
  readonly tags: readonly string[];
  readonly agent_type: string;
  readonly metadata: JsonObject;
  readonly write_back: { readonly pending_turns: number; readonly failed_turns: number };
}

/** The mark of a failed turn that never came to a word: journalled, but nothing that was said, and no message to a client. */
export function isBlankFailure({ body }: MessageRecord): boolean {
  return body.role === "assistant" && body.content === "" && (body.outcome ?? "completed") !== "completed";
}

/** A message as clients read it. */
export interface Message {
  readonly id: string;
  readonly turn: number;
  readonly role: Role;
  readonly content: string;
  readonly created_at: string;
  readonly metadata: JsonObject;
}
