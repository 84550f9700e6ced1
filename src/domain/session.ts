// Over 300 lines: one format, the records of a journal, and the session that follows from them.

import { z } from "zod";
import { messageImageSchema, shownImageSchema } from "./image.js";
import { anyObject, type JsonObject, type JsonValue, type ReadOnly, time } from "./schema.js";
import { toConfirmSchema } from "./to-confirm.js";
import { sessionUsageSchema, taskTokensSchema, tokensByTaskSchema } from "./tokens.js";

/**
 * The words of a conversation: session, turn, message, step, element, and the journal records that hold them.
 * What is persisted is defined by the zod schemas here; unknown keys of newer versions are kept as they are read.
 */

export type { JsonObject, JsonValue } from "./schema.js";
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

/** Where in an answer elements came: how much of its text, in UTF-16 code units, had been said before. By the elements' ids. */
export const placedElementsSchema = z.object({ after: z.number().int().nonnegative(), elements: z.array(z.string()) });
export type PlacedElements = z.infer<typeof placedElementsSchema>;

/** Parts that show elements: what was found, what is offered, what is booked, and what stands against it. */
export const SHOWN_PARTS = ["cards", "quote", "ticket", "warning"] as const;

export const shownPartSchema = z
  .object({ type: z.enum(SHOWN_PARTS), elements: z.array(z.string()) })
  .meta({ id: "ShownPart", description: "Elements by their ids: what was found, is offered, is booked, or stands against it." });
export type ShownPart = ReadOnly<z.output<typeof shownPartSchema>>;

const textPart = z.object({ type: z.literal("text"), text: z.string() }).meta({ id: "TextPart" });
const questionPart = z.object({ type: z.literal("question"), memory_id: z.string() }).meta({ id: "QuestionPart" });
const answerPartSchema = z.union([textPart, shownPartSchema, questionPart]).meta({ id: "AnswerPart" });
export const answerPartsSchema = z.array(answerPartSchema).meta({
  description:
    "The answer in the order in which it came. Joined, the texts are its content; `question`: what of `memory.to_confirm` waits for the " +
    "user's word.",
});
/** Made where the facts are. */
export type AnswerPart = ReadOnly<z.output<typeof answerPartSchema>>;

/** Opaque to all but the adapter named `by`, which made it and gives it back to the same provider and model. */
export const providerStateSchema = z.object({ by: z.string(), data: json });
export type ProviderState = z.infer<typeof providerStateSchema>;

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
  /** What the model's provider needs back with this iteration's calls (signed reasoning); on its first step only. Shown to nobody. */
  provider: providerStateSchema.optional(),
  input: json,
  output: json,
  error: z.string().nullable(),
  started_at: z.string(),
  duration_ms: z.number(),
});
export type Step = z.infer<typeof stepSchema>;

/** A turn that waits for what its caller's own tools give. `calls`: the ids of the steps that have no output yet. */
export const suspendedSchema = z.object({
  steps: z.array(stepSchema),
  calls: z.array(z.string()),
  elements: z.array(elementSchema),
  sources: z.array(sourceSchema),
  /** Ids of memories that shaped what was done. Absent in turns of before it was kept. */
  used: z.array(z.string()).optional(),
});
export type Suspended = z.infer<typeof suspendedSchema>;

export const usageSchema = z.object({
  input_tokens: z.number(),
  cached_tokens: z.number().optional().meta({ description: "Of the input; absent where the model's provider doesn't tell." }),
  output_tokens: z.number(),
  calls: z.number().int().optional().meta({ description: "Model calls of the answer." }),
  estimated: z.literal(true).optional().meta({ description: "Some of it was counted here: the model's provider told nothing." }),
});
export type Usage = z.infer<typeof usageSchema>;

/** Of an answer: the usage of its model calls, and what the turn cost by task. */
const messageTokensSchema = usageSchema.extend({
  chat: taskTokensSchema.optional(),
  extraction: taskTokensSchema.optional(),
  embeddings: taskTokensSchema.optional(),
  /** Of all tasks together, in the currency of the prices; null where it is unknown. Absent in answers of before it was counted. */
  cost: z.number().nullable().optional(),
});

export const messageMetadataSchema = z.looseObject({
  model: z.string().optional(),
  tokens: messageTokensSchema.optional(),
  sources: z.array(sourceSchema).optional(),
  tools_used: z.array(z.string()).optional(),
  duration_ms: z.number().optional(),
  /** Set when the answer is cut: at the model's limit, or by the provider's filter. */
  finish: z.enum(["length", "content_filter"]).optional(),
});
export type MessageMetadata = z.infer<typeof messageMetadataSchema>;

/**
 * Why a turn was given a memory: it must hold for the guest, or for somebody who comes or may come; the occasion calls for it; it is about
 * somebody who comes; it is like the message; or it is what the guest is known for, where the occasion isn't known.
 */
export const RECALL_REASONS = ["own_need", "companion_need", "occasion", "party", "likeness", "standing"] as const;
export type RecallReason = (typeof RECALL_REASONS)[number];

/**
 * Why a turn was not given a memory: the message asks for nothing; it is for another occasion; it is about somebody who doesn't come;
 * another value holds; others come before it.
 */
export const HELD_BACK_REASONS = ["idle", "occasion", "not_coming", "outdated", "limit"] as const;
export type HeldBackReason = (typeof HELD_BACK_REASONS)[number];
/** How many memories were not given, by reason; reasons without any are left out. */
export const heldBackSchema = z.partialRecord(z.enum(HELD_BACK_REASONS), z.number().int());
export type HeldBack = z.infer<typeof heldBackSchema>;

/** What a turn was given from long-term memory, as the answer reports it. */
export const recalledSchema = z.object({
  id: z.string(),
  text: z.string(),
  category: z.string(),
  strength: z.enum(["hard", "soft"]),
  /** `self` or `companion:<name>`. */
  subject: z.string().optional(),
  need: z.string().optional().meta({ description: "One of the domain's needs, or `other`; absent for what is no need." }),
  score: z.number().nullable(),
  source: z.object({ session_id: z.string(), turn: z.number().int(), message_id: z.string() }).nullable(),
  created_at: time,
  valid_from: time.optional().meta({ description: "Only where it lies ahead, or over a day before `created_at`." }),
  valid_until: time.optional().meta({ description: "Only where it has an end." }),
  condition: z.string().optional().meta({ description: "When it holds, where not always." }),
  why: z
    .enum(RECALL_REASONS)
    .optional()
    .meta({
      description:
        "Why it was given: it must hold for the user, or for somebody who comes or may come; the occasion calls for it; it is about " +
        "somebody who comes; it is like the message; the user is known for it. Absent where nothing decides what is given.",
    }),
});
export type RecalledMemory = z.infer<typeof recalledSchema>;

export const MEMORY_STATUSES = ["ok", "empty", "disabled", "timeout", "degraded"] as const;
/** How long-term memory did in a turn. */
export type RecallStatus = (typeof MEMORY_STATUSES)[number];

export const timingSchema = z.object({ window_ms: z.number(), recall_ms: z.number(), model_ms: z.number(), total_ms: z.number() });
export type Timing = z.infer<typeof timingSchema>;

// ---- journal ---------------------------------------------------------------------------------------------------

export const JOURNAL_VERSION = 1;
export const MAX_RECORD_BYTES = 1024 * 1024;

/** The id of the merge by which a record came from another user, who turned out to be its owner: what its undo takes out again. */
const mergeMark = z.string().optional();

const sessionBody = z.looseObject({
  owner: z.string(),
  external_id: z.string().nullable().default(null),
  title: z.string().nullable().default(null),
  metadata: jsonObject.default({}),
  agent_type: z.string().default("concierge"),
  expires_at: z.string().nullable().default(null),
  /** Set on a fork: where it came from. */
  forked_from: z.object({ session_id: z.string(), message_id: z.string() }).nullable().default(null),
  merged: mergeMark,
});

/** An idempotency key with the hash of the request that it stands for. */
const requestKey = z.object({ key: z.string(), request_hash: z.string() });

export const messageBody = z.looseObject({
  role: z.enum(["user", "assistant", "system"]),
  content: z.string(),
  name: z.string().nullable().default(null),
  channel: z.string().default("api"),
  metadata: messageMetadataSchema.default({}),
  /** Assistant messages only: how the turn ended. One that was `interrupted` or `failed` stays out of the window. */
  outcome: z.enum(["completed", "interrupted", "failed"]).optional(),
  /** Assistant messages of failed turns: the code of what went wrong. */
  error_code: z.string().optional(),
  /** Assistant messages: what the answer showed beside its text, kept so that a replay gives the same answer. */
  elements: z.array(elementSchema).optional(),
  /** Assistant messages: where the elements came. Absent: after the text. */
  placed: z.array(placedElementsSchema).optional(),
  memory: z
    .object({
      status: z.enum(MEMORY_STATUSES),
      write_back: z.enum(["pending", "disabled"]),
      /** Absent in answers of before there was something to confirm. */
      to_confirm: z.array(toConfirmSchema).default([]),
      recalled: z.array(recalledSchema),
      /** Ids of memories that shaped the answer. Absent in answers of before it was kept. */
      used: z.array(z.string()).default([]),
      /** Absent where nothing decided what is given. */
      held_back: heldBackSchema.optional(),
    })
    .optional(),
  /** Assistant messages: ids of the waiting memories that the model was shown: what the next message of that user may settle. */
  asked: z.array(z.string()).optional(),
  timing: timingSchema.optional(),
  /** Assistant messages of interrupted turns: what the turn has done, and which calls of its caller's tools it waits for. */
  suspended: suspendedSchema.optional(),
  idempotency: requestKey.optional(),
  /** User messages: what the user was looking at. Data, never a memory. */
  page_context: z.string().optional(),
  /** User messages: the images that came with it. Those that came as data are kept beside the journal. Data, never a memory. */
  images: z.array(messageImageSchema).optional(),
  /** User messages: the id of the message that this one replaces. */
  edit_of: z.string().optional(),
  /** User messages: false keeps the round out of long-term memory and history (incognito). */
  remember: z.boolean().default(true),
  /** False keeps a round out of history alone: on the answer where it tells what was forgotten, once on the user's message. */
  in_history: z.boolean().optional(),
  /** User messages: the turn reads no long-term memory either. */
  incognito: z.boolean().optional(),
  /** IANA time zone that held when the message was said. */
  time_zone: z.string().optional(),
  /** Imported messages: the importer's own id; they are indexed by the import, not by the write-back. */
  imported: z.boolean().optional(),
  external_id: z.string().optional(),
  /** Said in a conversation that another agent leads: the user's message forms memories without an answer, too. */
  ingested: z.boolean().optional(),
  /** Ingested messages of an assistant that don't answer their turn: beside a tool call, before another message. */
  interim: z.boolean().optional(),
  /** The item as another framework has it. */
  item: json.optional(),
  merged: mergeMark,
  /** Assistant messages: the id of a merge, undone since, that gave words which the answer repeats. */
  repeats_merge: z.string().optional(),
  /** Forked messages: the id that the message has in the session it came from. Not indexed or extracted again. */
  origin_id: z.string().optional(),
});

const summaryBody = z.looseObject({
  text: z.string(),
  from_turn: z.number().int(),
  to_turn: z.number().int(),
  by: z.string(),
  final: z.boolean().default(false),
  /** An extract that stands in until the day's tokens allow the model's own. */
  interim: z.boolean().optional(),
  tokens: tokensByTaskSchema.optional(),
});

const sessionPatchBody = z.looseObject({
  title: z.string().nullable().optional(),
  topic: z.string().nullable().optional(),
  tags: z.array(z.string()).optional(),
  agent_type: z.string().optional(),
  metadata: jsonObject.optional(),
  status: z.enum(SESSION_STATUSES).optional(),
  expires_at: z.string().nullable().optional(),
  /** Who set it: the user's own values win over derived ones. */
  by: z.enum(["user", "derived", "retention"]),
  /** The idempotency key of the request that gave the messages before it, or made the session. */
  idempotency: requestKey.optional(),
  tokens: tokensByTaskSchema.optional(),
  merged: mergeMark,
});

/** Takes back the records with seq > to_seq and < its own. `to_offset`: byte offset of the end of record to_seq. */
const rewindBody = z.looseObject({ to_seq: z.number().int(), to_offset: z.number().int() });

const doneBody = z.looseObject({
  status: z.enum(["stored", "failed", "skipped"]),
  memory_ids: z.array(z.string()),
  attempts: z.number().int(),
  error_code: z.string().optional(),
  /** What writing the turn back has cost; of a turn that others were read with, theirs too. */
  tokens: tokensByTaskSchema.optional(),
});

/** The user asked that a turn is not kept: it stays in the conversation, and out of history, summary and memories. */
const offRecordBody = z.looseObject({ of_turn: z.number().int(), message_ids: z.array(z.string()) });

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
  z.object({ ...envelope, type: z.literal("off_record"), body: offRecordBody }),
  z.object({ ...envelope, type: z.literal("write_back_done"), body: doneBody }),
]);
export type JournalRecord = z.infer<typeof journalRecordSchema>;
export type RecordOf<T extends JournalRecord["type"]> = Extract<JournalRecord, { type: T }>;
/** A record as it is handed to `append`, which numbers it. Bodies may leave out what has a default. */
export type NewRecord = Unnumbered<z.input<typeof journalRecordSchema>>;
type Unnumbered<R> = R extends unknown ? Omit<R, "v" | "seq"> : never;

export type MessageRecord = RecordOf<"message">;
export type StepRecord = RecordOf<"step">;

/** A completed turn as the model sees it again. Never holds a tool call without its result. */
export interface Round {
  readonly turn: number;
  readonly user: MessageRecord;
  /** In the order in which they were called. */
  readonly steps: readonly Step[];
  /** What an agent elsewhere said before its answer, in order; absent where nothing was. */
  readonly interim?: readonly MessageRecord[];
  readonly assistant: MessageRecord;
}

/** A session as the index knows it: the fold of its journal. */
export const sessionSchema = z.object({
  id: z.string(),
  external_id: z.string().nullable(),
  title: z.string().nullable(),
  status: z.enum(SESSION_STATUSES),
  /** When it got its status. */
  status_since: time,
  created_at: time,
  /** Last activity. */
  updated_at: time,
  /** In the index: its own expiry alone. */
  expires_at: time.nullable().meta({
    description: "When it is deleted, or purged if it is deleted already, unless something happens to it before; null: never.",
  }),
  /** As clients read them. */
  message_count: z.number().int(),
  summary: z.string().nullable(),
  summary_updated_at: time.nullable(),
  topic: z.string().nullable(),
  tags: z.array(z.string()),
  agent_type: z.string(),
  metadata: anyObject,
  write_back: z.object({ pending_turns: z.number().int(), failed_turns: z.number().int() }),
  /** Also of turns that were edited away. */
  usage: sessionUsageSchema,
});
export type Session = ReadOnly<z.output<typeof sessionSchema>>;

/** A message as clients read it. */
export const messageSchema = z
  .object({
    id: z.string(),
    turn: z.number().int(),
    role: z.enum(["user", "assistant", "system"]),
    content: z.string(),
    created_at: time,
    metadata: anyObject,
    /** Those that came with a user's message; absent where there are none. */
    images: z.array(shownImageSchema).optional(),
    parts: answerPartsSchema.optional().meta({ description: "Of an answer that showed elements: these are in the thread." }),
  })
  .meta({ id: "Message" });
export type Message = ReadOnly<z.output<typeof messageSchema>>;
