import { z } from "zod";
import { AppError, pointerTo } from "../platform/errors.js";
import { isId } from "../platform/ids.js";
import { messageImageSchema } from "./image.js";
import { memorySchema, statementSchema } from "./memory.js";
import type { ReadOnly } from "./schema.js";
import { heldBackSchema, type JsonValue, jsonObject, messageBody, SESSION_STATUSES, stepSchema } from "./session.js";

/**
 * The document that an export is, and that an import takes back: JSON, UTF-8, one object
 *
 * ```
 * { "format": "maitred-export", "version": 1, "exported_at": …, "user": …,
 *   "sessions": [ … ], "memories": [ … ], "forgotten": [ … ], "records": { "<domain records>": [ … ] } }
 * ```
 *
 * with its keys in this order, so that it can be read as it streams in. It holds everything about one user; it does not name the
 * user, so that it can be taken back by whoever is signed in. What is in it twice over (message counts, the search index,
 * idempotency keys) is left out: it follows from the rest, or ends with its 24 hours.
 */
export const EXPORT_FORMAT = "maitred-export";
export const EXPORT_VERSION = 1;

const at = z.iso.datetime({ offset: true });
const setBy = z.enum(["user", "derived"]);

/** A message, in the journal's order, as its record has it. `null` stands for "not given". */
const exportedMessageSchema = z.object({
  id: z.string().min(1),
  /** From 1. A turn that was tried more than once has one user message and an answer for each try. */
  turn: z.number().int().nonnegative(),
  ...messageBody.pick({ role: true, content: true, name: true, channel: true }).shape,
  created_at: at,
  ...messageBody.pick({ metadata: true, outcome: true, error_code: true, elements: true, placed: true }).shape,
  memory: messageBody.shape.memory
    .unwrap()
    .pick({ status: true, write_back: true, recalled: true })
    .extend({ used: z.array(z.string()).optional(), held_back: heldBackSchema.optional() })
    .optional(),
  ...messageBody.pick({ timing: true, page_context: true, time_zone: true, remember: true, in_history: true, edit_of: true }).shape,
  /** `data`: its bytes in base64; absent for one that is kept by its address. */
  images: z.array(messageImageSchema.extend({ data: z.string().optional() })).optional(),
  ...messageBody.pick({ imported: true, external_id: true, ingested: true, interim: true, item: true, origin_id: true }).shape,
  /** True when the user took it back by saying the message again differently: kept, but no part of the conversation. */
  rewound: z.boolean().default(false),
});
export type ExportedMessage = z.infer<typeof exportedMessageSchema>;

/** A tool call, between the user message and the answer of its turn. */
const exportedStepSchema = z.object({
  turn: z.number().int().nonnegative(),
  rewound: z.boolean().default(false),
  ...stepSchema.shape,
});
export type ExportedStep = z.infer<typeof exportedStepSchema>;

const exportedSummarySchema = z.object({
  id: z.string().min(1),
  created_at: at,
  text: z.string(),
  from_turn: z.number().int(),
  to_turn: z.number().int(),
  by: z.string(),
  final: z.boolean().default(false),
  /** What of it may be found by a search, where that is less. */
  searchable: z.string().optional(),
});

export const exportedSessionSchema = z.object({
  id: z.string().min(1),
  external_id: z.string().nullable(),
  title: z.string().nullable(),
  title_by: setBy.nullable(),
  topic: z.string().nullable(),
  topic_by: setBy.nullable(),
  tags: z.array(z.string()),
  tags_by: setBy.nullable(),
  status: z.enum(SESSION_STATUSES),
  /** When the session got its status, and what a deleted one goes back to when it is restored. */
  status_since: at,
  status_before_delete: z.enum(["active", "archived"]).nullable(),
  created_at: at,
  /** Last activity. */
  updated_at: at,
  expires_at: at.nullable(),
  agent_type: z.string(),
  metadata: jsonObject,
  forked_from: z.object({ session_id: z.string(), message_id: z.string() }).nullable(),
  messages: z.array(exportedMessageSchema),
  steps: z.array(exportedStepSchema),
  /** The newest that stands, or none. */
  summary: exportedSummarySchema.nullable(),
});
export type ExportedSession = z.infer<typeof exportedSessionSchema>;

/** A memory as the API gives it, with what happened to it, oldest first. */
export const exportedMemorySchema = memorySchema.extend({
  id: z.string().refine(isId, "not a memory's id"),
  ...statementSchema.pick({ text: true, category: true, condition: true, about: true, need: true }).shape,
  aspect: statementSchema.shape.aspect.unwrap(),
  subject: statementSchema.shape.subject.unwrap(),
  stated_at: at,
  valid_from: at,
  valid_until: at.nullable(),
  last_confirmed_at: at,
  channel: memorySchema.shape.channel.default(""),
  reason: memorySchema.shape.reason.default(null),
  pending_change: memorySchema.shape.pending_change.default(null),
  created_at: at,
  updated_at: at,
  history: z.array(z.object({ at, event: z.string(), text: z.string().nullable(), memory_id: z.string() })),
});
export type ExportedMemory = ReadOnly<z.infer<typeof exportedMemorySchema>>;

/** What the user had forgotten, without its text: taken back, it stays forgotten. */
export const exportedTombstoneSchema = z.object({
  memory_id: z.string(),
  message_ids: z.array(z.string()),
  asked_in: z.array(z.string()).optional(),
  text_hash: z.string(),
  /** Whose hash it is, where it was taken over from a user who turned out to be this one. */
  hash_of: z.string().optional(),
  at,
});
export type ExportedTombstone = z.infer<typeof exportedTombstoneSchema>;

export const exportedUserSchema = z.object({
  display_name: z.string().nullable(),
  provider: z.string().nullable(),
  time_zone: z.string().nullable(),
  first_seen_at: at,
  last_seen_at: at,
});
export type ExportedUser = z.infer<typeof exportedUserSchema>;

const json = z.json() as unknown as z.ZodType<JsonValue>;

const exportSchema = z.object({
  format: z.literal(EXPORT_FORMAT),
  version: z.literal(EXPORT_VERSION),
  user: exportedUserSchema.nullable().default(null),
  sessions: z.array(exportedSessionSchema),
  memories: z.array(exportedMemorySchema).default([]),
  forgotten: z.array(exportedTombstoneSchema).default([]),
  records: z.record(z.string(), z.array(json)).default({}),
  receipts: z.array(json).default([]),
});
export type ExportDocument = z.infer<typeof exportSchema>;

const MAX_PROBLEMS = 10;

/** @throws INVALID_IMPORT, with JSON pointers to what is wrong */
export function parseExport(document: unknown): ExportDocument {
  const parsed = exportSchema.safeParse(document);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.slice(0, MAX_PROBLEMS).map((issue) => {
    const pointer = pointerTo(issue.path);
    return { pointer, detail: `${pointer || "the document"}: ${issue.message}` };
  });
  throw new AppError("INVALID_IMPORT", {
    detail: errors[0]?.detail ?? "The document is not an export.",
    hint: "Send what GET /v1/me/export gave, a ChatGPT, Chainlit, Firestore or Chroma export (docs/coming-from.md), or JSON lines.",
    errors,
  });
}
