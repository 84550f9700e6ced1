import { z } from "zod";
import { shownImageSchema } from "../domain/image.js";
import { memorySchema, memorySourceSchema } from "../domain/memory.js";
import { anyJson, anyObject, type ReadOnly, time } from "../domain/schema.js";
import {
  answerPartsSchema,
  HELD_BACK_REASONS,
  type HeldBack,
  elementSchema as keptElementSchema,
  recalledSchema as keptRecalledSchema,
  sessionSchema as keptSessionSchema,
  MEMORY_STATUSES,
  type MessageMetadata,
  timingSchema,
  usageSchema,
} from "../domain/session.js";
import { toConfirmSchema as keptToConfirmSchema } from "../domain/to-confirm.js";
import type { ModelToolCall } from "./chat-model.js";

/** What the API answers with: the schemas are the types of what the use-cases give, and describe it in `/openapi.json`. */

export const elementSchema = z.object(keptElementSchema.shape).meta({ id: "Element" });
export const recalledSchema = z.object(keptRecalledSchema.shape).meta({ id: "RecalledMemory" });
export const toConfirmSchema = z.object({ ...keptToConfirmSchema.shape, subject: z.string() }).meta({ id: "ToConfirm" });

export const sessionSchema = z
  .object({
    ...keptSessionSchema.shape,
    title: z.string().meta({ description: "From the first message until it is named; `New conversation` before." }),
  })
  .meta({ id: "Session" });

const heldBackCounts = z.object(Object.fromEntries(HELD_BACK_REASONS.map((reason) => [reason, z.number().int().optional()])));
export const turnMemorySchema = z
  .object({
    status: z.enum(MEMORY_STATUSES),
    write_back: z.enum(["pending", "disabled"]),
    to_confirm: z.array(toConfirmSchema).meta({ description: "What waits for the user's word: at most 5, hard ones first." }),
    recalled: z.array(recalledSchema),
    used: z.array(z.string()).meta({
      description:
        "Ids of memories that shaped the answer: the model cited them, or a tool went by, marked, checked or found them. Empty until " +
        "there is an answer.",
    }),
    held_back: (heldBackCounts as unknown as z.ZodType<HeldBack>)
      .optional()
      .meta({ description: "How many memories were not given, by reason. Absent where nothing decides what is given." }),
  })
  .meta({ id: "TurnMemory" });

const threadStepSchema = z.object({
  id: z.string(),
  type: z.enum(["user_message", "assistant_message", "tool_call"]),
  name: z.string().optional(),
  input: anyJson.optional(),
  /** A message's text, or a tool's result. */
  output: anyJson,
  created_at: time,
  /** Of a user's message that has any. */
  images: z.array(shownImageSchema).optional(),
  /** Of an answer, as `memory` is. */
  parts: answerPartsSchema.optional(),
  memory: turnMemorySchema.optional(),
  outcome: z
    .enum(["interrupted", "failed"])
    .optional()
    .meta({ description: "Of an answer that is not whole: its client stopped it or went away, or the turn failed." }),
});
export type ThreadStep = ReadOnly<z.output<typeof threadStepSchema>>;

const threadElementSchema = elementSchema
  .and(z.object({ for_id: z.string().meta({ description: "The message under which it stood." }) }))
  .meta({ id: "ThreadElement" });
export type ThreadElement = ReadOnly<z.output<typeof threadElementSchema>>;

export const threadSchema = sessionSchema
  .and(z.object({ steps: z.array(threadStepSchema), elements: z.array(threadElementSchema) }))
  .meta({ id: "Thread" });

export const writeBackSchema = z.object({ pending_turns: z.number().int(), failed_turns: z.number().int() }).meta({ id: "WriteBack" });
export type WriteBackState = ReadOnly<z.output<typeof writeBackSchema>>;

export const stepSchema = z
  .object({
    id: z.string(),
    type: z.literal("tool_call"),
    name: z.string(),
    input: anyJson,
    output: anyJson,
    duration_ms: z.number(),
    error: z.string().nullable(),
  })
  .meta({ id: "Step" });
export type AnswerStep = ReadOnly<z.output<typeof stepSchema>>;

export const answerSchema = z
  .object({
    session_id: z.string(),
    turn: z.number().int(),
    message: z.object({
      id: z.string(),
      role: z.literal("assistant"),
      content: z.string(),
      created_at: time,
      metadata: (anyObject as unknown as z.ZodType<MessageMetadata>)
        .optional()
        .meta({ description: "`finish` is `length` or `content_filter` where the answer is cut." }),
    }),
    steps: z.array(stepSchema),
    elements: z.array(elementSchema),
    parts: answerPartsSchema,
    memory: turnMemorySchema,
    usage: z.object({
      ...usageSchema.shape,
      cost: z.number().nullable().meta({
        description: "Until the answer, in the currency of MODEL_PRICES_FILE; null where the price of a model is unknown.",
      }),
    }),
    timing: timingSchema,
  })
  .meta({ id: "ChatAnswer" });
export type ChatAnswer = ReadOnly<z.output<typeof answerSchema>> & {
  /** Calls of the caller's own tools, in order: the turn waits for their results. Absent: there are none, and the turn is over. */
  readonly calls?: readonly ModelToolCall[];
};

export const foundMemorySchema = memorySchema.and(z.object({ score: z.number() })).meta({ id: "FoundMemory" });

/** Why a memory is there. */
export const whySchema = z
  .object({
    memory: memorySchema,
    source: memorySourceSchema
      .extend({ message: z.string().nullable().meta({ description: "The user's own words; null once they are purged." }) })
      .nullable(),
    because: z.array(memorySchema).meta({ description: "What it was made of: the bookings of a habit, the memories of a narrative." }),
  })
  .meta({ id: "Why" });
export type Why = ReadOnly<z.output<typeof whySchema>>;

const historyMessageSchema = z
  .object({
    /** Gives the point its id: adding it again changes nothing. */
    message_id: z.string(),
    session_id: z.string(),
    turn: z.number().int(),
    /** Counts the messages of the session, from 0. */
    position: z.number().int(),
    role: z.enum(["user", "assistant", "system"]),
    name: z.string().nullable(),
    content: z.string(),
    channel: z.string(),
    created_at: time,
    /** The id that the message has where it was imported from: unique in its session, and what searches give back as `message_id`. */
    external_id: z.string().optional(),
    custom_metadata: anyObject.optional(),
  })
  .meta({ id: "HistoryMessage" });
export type HistoryMessage = ReadOnly<z.output<typeof historyMessageSchema>>;

export const historyHitSchema = z
  .object({
    session_id: z.string(),
    turn: z.number().int(),
    id: z.string().meta({ description: "The message's id in this API." }),
    message_id: z.string().meta({ description: "The importer's own id where there is one, else `id`." }),
    role: z.enum(["user", "assistant", "system"]),
    name: z.string().nullable(),
    content: z.string(),
    created_at: time,
    /** How much of what the question asks for the message and its surroundings hold: about 0 to 2, comparable between questions. */
    score: z.number(),
    custom_metadata: anyObject.optional(),
    before: z.array(historyMessageSchema).optional(),
    after: z.array(historyMessageSchema).optional(),
  })
  .meta({ id: "HistoryHit" });
export type HistoryHit = ReadOnly<z.output<typeof historyHitSchema>>;

export const addedMessagesSchema = z
  .object({
    messages: z.array(z.string()).meta({ description: "Ids, in the order given; of a tool's message, of its step in the thread." }),
    /** `disabled`: with long-term memory off, in an incognito session, with `remember: false`. */
    write_back: z.enum(["pending", "disabled"]),
  })
  .meta({ id: "AddedMessages" });
export type AddedMessages = ReadOnly<z.output<typeof addedMessagesSchema>>;

export const contextSchema = z
  .object({
    text: z.string().meta({
      description:
        "For your own prompt: one block, marked as data; empty where nothing is known. Within `max_tokens`, but for what must hold.",
    }),
    memory: z.object({
      status: z.enum(MEMORY_STATUSES),
      recalled: z.array(recalledSchema),
      to_confirm: z.array(toConfirmSchema).meta({ description: "Settled by POST /v1/memories/{id}/approve or /reject." }),
    }),
    history: z.array(historyHitSchema),
    summary: z.string().nullable(),
    usage: z.object({ tokens: z.number().int() }).meta({ description: "Of `text`." }),
  })
  .meta({ id: "Context" });
export type ContextForPrompt = ReadOnly<z.output<typeof contextSchema>>;

export const erasureReceiptSchema = z
  .object({
    receipt_id: z.string(),
    completed_at: time,
    erased: z.record(z.string(), z.number()),
    /** True only when every store was looked at after the deletion, held nothing, and leaves no deleted text in its files. */
    verified: z.boolean(),
    /** The stores in which something was still found. */
    residue: z.record(z.string(), z.number()).optional(),
    /** Why nobody can say that nothing is left, though nothing is found. */
    unverified: z.string().optional().meta({ description: "Which store's file may still hold deleted texts, and what takes them away." }),
    /** Ids of the keys that it was encrypted under, destroyed first: no copy of before can be read. Absent where nothing is encrypted. */
    destroyed_keys: z.array(z.string()).optional(),
  })
  .meta({ id: "ErasureReceipt" });
export type ErasureReceipt = ReadOnly<z.output<typeof erasureReceiptSchema>>;

export const importResultSchema = z
  .object({
    sessions: z.number().int(),
    messages: z.number().int(),
    skipped_duplicates: z.number().int(),
    memories: z.number().int().optional().meta({ description: "Memories that are new; only of a file that holds another product's." }),
    left_out: z
      .array(z.object({ pointer: z.string(), detail: z.string() }))
      .optional()
      .meta({
        description:
          "Messages of a ChatGPT export that are over 100,000 characters, images that can't be read, bookings that another user has " +
          "here, receipts of bookings; of another product's conversations how many steps, messages of others than user and assistant, " +
          "and elements. Only where there are any.",
      }),
  })
  .meta({ id: "ImportResult" });
export type ImportResult = ReadOnly<z.output<typeof importResultSchema>>;

export const PART_STATUSES = ["ok", "degraded", "down", "disabled"] as const;
export type PartStatus = (typeof PART_STATUSES)[number];
const partStatus = z.enum(PART_STATUSES);
export const readinessSchema = z
  .object({ status: partStatus, parts: z.record(z.string(), z.object({ status: partStatus, detail: z.string().optional() })) })
  .meta({ id: "Readiness" });
export type Readiness = ReadOnly<z.output<typeof readinessSchema>>;
