import { z } from "@hono/zod-openapi";
import { IMAGE_TYPES } from "../domain/image.js";
import { MEMORY_EVENTS, MEMORY_STATES, MEMORY_TYPES, pendingChangeSchema, WAITING_REASONS } from "../domain/memory.js";
import { answerPartsSchema, SESSION_STATUSES } from "../domain/session.js";
import { jsonValue } from "./fields.js";
import { elementSchema } from "./parts.js";
import { turnMemorySchema } from "./turn-memory.js";
import { sessionUsage } from "./usage.js";

/** What the API answers with, as it is described in `/openapi.json`. */

const time = z.string().openapi({ format: "date-time" });
const object = z.record(z.string(), z.unknown());

export const sessionSchema = z
  .object({
    id: z.string(),
    external_id: z.string().nullable(),
    title: z.string().openapi({ description: "From the first message until it is named; `New conversation` before." }),
    status: z.enum(SESSION_STATUSES),
    status_since: time,
    created_at: time,
    updated_at: time,
    expires_at: time.nullable().openapi({
      description: "When it is deleted, or purged if it is deleted already, unless something happens to it before; null: never.",
    }),
    message_count: z.number().int(),
    summary: z.string().nullable(),
    summary_updated_at: time.nullable(),
    topic: z.string().nullable(),
    tags: z.array(z.string()),
    agent_type: z.string(),
    metadata: object,
    write_back: z.object({ pending_turns: z.number().int(), failed_turns: z.number().int() }),
    usage: sessionUsage.openapi({ description: "What the session has cost so far, in tokens by task." }),
  })
  .openapi("Session");

const imageSchema = z
  .object({
    id: z.string().openapi({ description: "SHA-256 of the image, or of its address where that is all that is kept." }),
    media_type: z.enum(IMAGE_TYPES).nullable(),
    bytes: z.number().int().nullable(),
    url: z
      .string()
      .optional()
      .openapi({ description: "Where it was sent by its address. Others: GET /v1/sessions/{id}/images/{image_id}." }),
  })
  .openapi("MessageImage");

export const messageSchema = z
  .object({
    id: z.string(),
    turn: z.number().int(),
    role: z.enum(["user", "assistant", "system"]),
    content: z.string(),
    created_at: time,
    metadata: object,
    images: z.array(imageSchema).optional(),
    parts: answerPartsSchema.optional().meta({ description: "Of an answer that showed elements: these are in the thread." }),
  })
  .openapi("Message");

export const threadSchema = sessionSchema
  .extend({
    steps: z.array(
      z.object({
        id: z.string(),
        type: z.enum(["user_message", "assistant_message", "tool_call"]),
        name: z.string().optional(),
        input: jsonValue.optional(),
        output: jsonValue,
        created_at: time,
        images: z.array(imageSchema).optional(),
        parts: answerPartsSchema.optional(),
        memory: turnMemorySchema.optional(),
        outcome: z
          .enum(["interrupted", "failed"])
          .optional()
          .openapi({ description: "Of an answer that is not whole: its client stopped it or went away, or the turn failed." }),
      }),
    ),
    elements: z.array(
      elementSchema.extend({ for_id: z.string().openapi({ description: "The message under which it stood." }) }).openapi("ThreadElement"),
    ),
  })
  .openapi("Thread");

export const writeBackSchema = z.object({ pending_turns: z.number().int(), failed_turns: z.number().int() }).openapi("WriteBack");

export const stepSchema = z
  .object({
    id: z.string(),
    type: z.literal("tool_call"),
    name: z.string(),
    input: jsonValue,
    output: jsonValue,
    duration_ms: z.number(),
    error: z.string().nullable(),
  })
  .openapi("Step");

export const answerSchema = z
  .object({
    session_id: z.string(),
    turn: z.number().int(),
    message: z.object({
      id: z.string(),
      role: z.literal("assistant"),
      content: z.string(),
      created_at: time,
      metadata: object.optional().openapi({ description: "`finish` is `length` or `content_filter` where the answer is cut." }),
    }),
    steps: z.array(stepSchema),
    elements: z.array(elementSchema),
    parts: answerPartsSchema,
    memory: turnMemorySchema,
    usage: z.object({
      input_tokens: z.number(),
      cached_tokens: z.number().optional().openapi({ description: "Of the input; absent where the model's provider doesn't tell." }),
      output_tokens: z.number(),
      calls: z.number().int().optional().openapi({ description: "Model calls of the answer." }),
      estimated: z.literal(true).optional().openapi({ description: "Some of it was counted here: the model's provider told nothing." }),
      cost: z.number().nullable().openapi({
        description: "Until the answer, in the currency of MODEL_PRICES_FILE; null where the price of a model is unknown.",
      }),
    }),
    timing: z.object({ window_ms: z.number(), recall_ms: z.number(), model_ms: z.number(), total_ms: z.number() }),
  })
  .openapi("ChatAnswer");

const sourceSchema = z.object({ session_id: z.string(), turn: z.number().int(), message_id: z.string(), quote: z.string() });

export const memorySchema = z
  .object({
    id: z.string(),
    text: z.string(),
    category: z.string(),
    aspect: z.string(),
    condition: z.string(),
    about: z.string(),
    need: z.string().nullable(),
    type: z.enum(MEMORY_TYPES),
    strength: z.enum(["hard", "soft"]),
    subject: z.string(),
    scope: z.enum(["standing", "trip"]),
    status: z.enum(MEMORY_STATES),
    stated_at: time,
    valid_from: time,
    valid_until: time.nullable(),
    superseded_by: z.string().nullable(),
    confidence: z.number(),
    seen_count: z.number().int(),
    last_confirmed_at: time,
    entities: z.array(z.string()),
    tags: z.array(z.string()),
    channel: z.string(),
    reason: z.enum(WAITING_REASONS).nullable(),
    pending_change: pendingChangeSchema.nullable(),
    source: sourceSchema.nullable(),
    created_at: time,
    updated_at: time,
  })
  .openapi("Memory");

export const foundMemorySchema = memorySchema.extend({ score: z.number() }).openapi("FoundMemory");

export const memoryEventSchema = z
  .object({
    at: time,
    event: z.enum(MEMORY_EVENTS),
    text: z.string().nullable(),
    memory_id: z.string(),
  })
  .openapi("MemoryEvent");

export const whySchema = z
  .object({
    memory: memorySchema,
    source: sourceSchema
      .extend({ message: z.string().nullable().openapi({ description: "The user's own words; null once they are purged." }) })
      .nullable(),
    because: z.array(memorySchema).openapi({ description: "What it was made of: the bookings of a habit, the memories of a narrative." }),
  })
  .openapi("Why");

const historyMessageSchema = z
  .object({
    message_id: z.string(),
    session_id: z.string(),
    turn: z.number().int(),
    position: z.number().int(),
    role: z.enum(["user", "assistant", "system"]),
    name: z.string().nullable(),
    content: z.string(),
    channel: z.string(),
    created_at: time,
    external_id: z.string().optional(),
    custom_metadata: object.optional(),
  })
  .openapi("HistoryMessage");

export const historyHitSchema = z
  .object({
    session_id: z.string(),
    turn: z.number().int(),
    id: z.string().openapi({ description: "The message's id in this API." }),
    message_id: z.string().openapi({ description: "The importer's own id where there is one, else `id`." }),
    role: z.enum(["user", "assistant", "system"]),
    name: z.string().nullable(),
    content: z.string(),
    created_at: time,
    score: z.number(),
    custom_metadata: object.optional(),
    before: z.array(historyMessageSchema).optional(),
    after: z.array(historyMessageSchema).optional(),
  })
  .openapi("HistoryHit");

export const meSchema = z
  .object({
    user: z.object({
      tenant: z.string(),
      id: z.string(),
      display_name: z.string().nullable(),
      provider: z.string().nullable(),
      time_zone: z.string().nullable(),
      first_seen_at: time.nullable(),
      last_seen_at: time.nullable(),
    }),
    server: z.object({
      version: z.string(),
      auth_mode: z.enum(["local", "header", "api-key", "jwt"]),
      model: z.object({ name: z.string(), stand_in: z.boolean() }),
      long_term: z.object({ enabled: z.boolean(), location: z.string().nullable() }),
      embedder: z.object({ id: z.string(), lexical: z.boolean() }),
      history: z.object({ backend: z.string() }),
      short_term: z.string(),
      storage_dir: z.string().nullable().openapi({ description: "Only in local mode, as `keys` is." }),
      keys: z.record(z.string(), z.boolean()).nullable().openapi({ description: "By variable: whether a key is set." }),
    }),
  })
  .openapi("Me");
