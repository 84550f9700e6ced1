import { hash } from "node:crypto";
import { z } from "zod";
import { HELD_BACK_REASONS, MEMORY_STATUSES, RECALL_REASONS } from "./session.js";

/**
 * What a turn leaves behind for whoever runs the server, beside what the journal and the memory log keep of it: ids, numbers and codes. No
 * words of anybody's: those are where they were said, and go with it.
 */

/** A piece of what the model was given: `cached`: whether its provider had it cached; null where that isn't told. */
export const promptBlockSchema = z.object({
  name: z.string(),
  tokens: z.number().int(),
  chars: z.number().int(),
  cached: z.boolean().nullable(),
  /** Of its text: the same hash is the same text. */
  hash: z.string(),
});
export type PromptBlock = z.infer<typeof promptBlockSchema>;

/** `started_ms`: from the turn's beginning. */
export const timingRecordSchema = z.object({
  name: z.string(),
  started_ms: z.number(),
  duration_ms: z.number(),
  /** The code of what it failed with. */
  error: z.string().optional(),
});
export type TimingRecord = z.infer<typeof timingRecordSchema>;

export const TURN_OUTCOMES = ["completed", "interrupted", "failed", "suspended"] as const;

/** How a turn went until its answer. */
export const turnRecordSchema = z.object({
  v: z.literal(1),
  /** When it ended: ISO 8601 UTC. */
  at: z.string(),
  outcome: z.enum(TURN_OUTCOMES),
  error_code: z.string().nullable(),
  model: z.string().nullable(),
  incognito: z.boolean(),
  memory_status: z.enum(MEMORY_STATUSES),
  /** Null where nothing was streamed before it ended. */
  first_token_ms: z.number().nullable(),
  total_ms: z.number(),
  prompt_blocks: z.array(promptBlockSchema),
  recalled: z.array(z.object({ id: z.string(), why: z.enum(RECALL_REASONS).nullable(), score: z.number().nullable() })),
  held_back: z.partialRecord(z.enum(HELD_BACK_REASONS), z.number().int()).nullable(),
  timings: z.array(timingRecordSchema),
});
export type TurnRecord = z.infer<typeof turnRecordSchema>;

export const PROPOSAL_OUTCOMES = ["kept", "confirmed", "asked", "refused"] as const;
export type ProposalOutcome = (typeof PROPOSAL_OUTCOMES)[number];

/** What the reading of a message proposed, and what became of it. */
export const proposalRecordSchema = z.object({
  op: z.enum(["add", "supersede", "end", "confirm", "forget"]),
  /** Where its quote stands in the message; null where it doesn't, or is not to be shown. */
  quote_at: z.object({ start: z.number().int(), end: z.number().int() }).nullable(),
  outcome: z.enum(PROPOSAL_OUTCOMES),
  /** Why it waits or was refused, by code. */
  reason: z.string().nullable(),
  /** The memory that stands for it, or that it is about. */
  memory_id: z.string().nullable(),
});
export type ProposalRecord = z.infer<typeof proposalRecordSchema>;

/** How a turn was written back. */
export const writeBackRecordSchema = z.object({
  v: z.literal(1),
  /** ISO 8601 UTC. */
  started_at: z.string(),
  duration_ms: z.number(),
  attempts: z.number().int(),
  /** The code of what its last try failed with. */
  error_code: z.string().nullable(),
  /** Null where the message was not read by this try. */
  proposals: z.array(proposalRecordSchema).nullable(),
});
export type WriteBackRecord = z.infer<typeof writeBackRecordSchema>;

/** Of a message that was read before its turn was written back. */
export const readingRecordSchema = z.object({ v: z.literal(1), proposals: z.array(proposalRecordSchema) });
export type ReadingRecord = z.infer<typeof readingRecordSchema>;

const HASH_DIGITS = 32;

/** The same for the same text, and never the text. */
export function textHash(text: string): string {
  return hash("sha256", text).slice(0, HASH_DIGITS);
}
