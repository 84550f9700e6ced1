import { z } from "zod";
import type { Owner } from "./owner.js";
import type { RecalledMemory, RecallStatus } from "./session.js";
import type { Page } from "./session-store.js";

/** Long-term memory: distilled, gated facts about a user. */

export const MEMORY_TYPES = ["preference", "fact", "constraint", "episodic", "procedural", "summary", "narrative"] as const;
export const MEMORY_STATES = ["active", "superseded", "review", "forgotten"] as const;
export type MemoryType = (typeof MEMORY_TYPES)[number];
export type MemoryState = (typeof MEMORY_STATES)[number];

/** Seconds since the epoch that stand for "no end". */
export const OPEN_END_TS = 253402300799;

export const memorySourceSchema = z.object({ session_id: z.string(), turn: z.number().int(), message_id: z.string(), quote: z.string() });
export type MemorySource = z.infer<typeof memorySourceSchema>;

/** What a statement says, as an extractor or a user puts it. */
export const statementSchema = z.object({
  /** One plain sentence in the third person without a subject: "Prefers jazz concerts". 1 to 500 characters. */
  text: z.string().min(1).max(500),
  category: z.string().min(1).max(64),
  /** What of the category: "row", "party size". One standing soft preference per (subject, category, aspect). */
  aspect: z.string().max(64).default(""),
  type: z.enum(MEMORY_TYPES).default("preference"),
  strength: z.enum(["hard", "soft"]).default("soft"),
  /** `self` or `companion:<name>`. */
  subject: z
    .string()
    .regex(/^(self|companion:.{1,64})$/u)
    .default("self"),
  scope: z.enum(["standing", "trip"]).default("standing"),
  /** ISO 8601; null where there is no end. */
  valid_until: z.string().nullable().default(null),
  confidence: z.number().min(0).max(1).default(1),
  /** False when the user did not say it but something suggests it: stored once it was seen three times. */
  explicit: z.boolean().default(true),
  entities: z.array(z.string()).default([]),
  tags: z.array(z.string()).default([]),
});
export type Statement = z.infer<typeof statementSchema>;
/** A statement as a user adds it by hand: what is left out is its category's default. */
export type NewStatement = z.input<typeof statementSchema>;

/**
 * What an extractor proposes and a plan holds. `memory_id` is UUIDv5(owner, session, message, index), fixed before the first call to a store.
 * `stated_at` (ISO 8601) and `source` are the user message's.
 */
export const memoryOperationSchema = z.discriminatedUnion("op", [
  z.object({
    op: z.literal("add"),
    memory_id: z.string(),
    stated_at: z.string(),
    source: memorySourceSchema,
    statement: statementSchema,
    review: z.boolean().default(false),
  }),
  /** Says that `target_id` no longer holds and, with a statement, what holds instead. */
  z.object({
    op: z.literal("supersede"),
    memory_id: z.string(),
    target_id: z.string(),
    stated_at: z.string(),
    source: memorySourceSchema,
    statement: statementSchema.nullable(),
  }),
  z.object({ op: z.literal("confirm"), target_id: z.string(), stated_at: z.string(), source: memorySourceSchema }),
  z.object({ op: z.literal("forget"), target_id: z.string(), stated_at: z.string(), source: memorySourceSchema }),
]);
export type MemoryOperation = z.infer<typeof memoryOperationSchema>;

/** A memory as clients see it (the payload in the `memory` collection; Mem0 calls `text` data). Times are ISO 8601 UTC. */
export interface Memory {
  readonly id: string;
  readonly text: string;
  readonly category: string;
  readonly aspect: string;
  readonly type: MemoryType;
  readonly strength: "hard" | "soft";
  readonly subject: string;
  readonly scope: "standing" | "trip";
  readonly status: MemoryState;
  readonly stated_at: string;
  readonly valid_from: string;
  /** Null where there is no end. */
  readonly valid_until: string | null;
  readonly superseded_by: string | null;
  readonly confidence: number;
  readonly seen_count: number;
  readonly last_confirmed_at: string;
  readonly entities: readonly string[];
  readonly tags: readonly string[];
  /** Null for memories that the user added by hand. */
  readonly source: MemorySource | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface RecallRequest {
  readonly text: string;
  readonly now: Date;
  /** At most this many by similarity. Default MEM0_SEARCH_LIMIT (5). */
  readonly limit?: number;
  /** Bound of the whole recall. What arrived in time is used. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

export interface RecallResult {
  readonly status: Exclude<RecallStatus, "disabled"> | "disabled";
  /** Hard constraints first, then standing preferences, then by similarity; no id twice. */
  readonly memories: readonly RecalledMemory[];
  /** A short summary of the user kept by code from the memories: constraints, standing preferences, companions. Empty string where there is none. */
  readonly profile: string;
}

export interface MemoryQuery {
  readonly category?: string;
  readonly type?: MemoryType;
  readonly status?: MemoryState;
  /** What held at that time, superseded ones included. ISO 8601. */
  readonly as_of?: string;
  readonly includeSuperseded?: boolean;
  /** 1 to 200. Default 20. */
  readonly limit?: number;
  readonly cursor?: string;
  readonly signal?: AbortSignal;
}

export interface MemorySearch extends Omit<MemoryQuery, "cursor"> {
  readonly text: string;
}

/** One event in a memory's life, oldest first. */
export interface MemoryEvent {
  readonly at: string;
  readonly event: "added" | "confirmed" | "edited" | "superseded" | "approved" | "expired" | "forgotten";
  readonly text: string | null;
  readonly memory_id: string;
}

/** A memory as an export has it: with what happened to it and to the versions before it, as `history` told. */
export interface RestorableMemory extends Memory {
  readonly history?: readonly (Omit<MemoryEvent, "event"> & { readonly event: string })[];
}

/** A user's own edit. A changed text is a new memory that supersedes the old one. */
export type MemoryPatch = Partial<
  Pick<Statement, "text" | "category" | "aspect" | "type" | "strength" | "subject" | "scope" | "valid_until" | "tags">
>;

export interface AppliedOperations {
  /** Ids that were read back after the write. */
  readonly stored: readonly string[];
  readonly confirmed: readonly string[];
  readonly superseded: readonly string[];
  readonly forgotten: readonly string[];
  /** Dropped by a rule (older than what is there, below the confidence gate, forgotten before). */
  readonly dropped: number;
}

/**
 * The long-term store. All methods but `recall` and `health` throw LONG_TERM_MEMORY_DISABLED when it is off and
 * LONG_TERM_MEMORY_UNAVAILABLE when it is out of reach. A memory of somebody else is MEMORY_NOT_FOUND.
 */
export interface LongTermMemory {
  /** Never throws: what went wrong is in `status`. Ends within `deadlineMs`. */
  recall(owner: Owner, request: RecallRequest): Promise<RecallResult>;
  /** All active hard constraints, by filter, outside any limit: the constraint gate's own read. */
  constraints(
    owner: Owner,
    options: { readonly now: Date; readonly categories?: readonly string[]; readonly signal?: AbortSignal },
  ): Promise<readonly Memory[]>;
  /** Active memories near to a text, for the extractor. */
  related(owner: Owner, text: string, options: { readonly limit: number; readonly signal?: AbortSignal }): Promise<readonly Memory[]>;
  /**
   * Reconciles the operations with what is stored, under the owner's lock, writes, and reads back what was written.
   * Safe to repeat: the same operations give the same memories. @throws when any write can't be verified
   */
  apply(
    owner: Owner,
    operations: readonly MemoryOperation[],
    options: { readonly now: Date; readonly signal?: AbortSignal },
  ): Promise<AppliedOperations>;
  /**
   * A memory that the user states by hand. `id` makes a retry harmless. What tells the assistant what to do waits for review.
   * @throws MEMORY_REFUSED for a secret
   */
  add(
    owner: Owner,
    statement: NewStatement,
    options: { readonly id?: string; readonly now: Date; readonly source?: MemorySource },
  ): Promise<Memory>;
  get(owner: Owner, id: string, options?: { readonly signal?: AbortSignal }): Promise<Memory>;
  list(owner: Owner, query: MemoryQuery): Promise<Page<Memory>>;
  /** Best first. */
  search(owner: Owner, query: MemorySearch): Promise<readonly (Memory & { readonly score: number })[]>;
  /** @throws MEMORY_REFUSED for a text that holds a secret or tells the assistant what to do */
  patch(owner: Owner, id: string, patch: MemoryPatch, options: { readonly now: Date }): Promise<Memory>;
  approve(owner: Owner, id: string, options: { readonly now: Date }): Promise<Memory>;
  history(owner: Owner, id: string): Promise<readonly MemoryEvent[]>;
  /**
   * For good: leaves a tombstone, takes the older versions that it superseded along. `askedIn`: the messages that asked for it, which are
   * hidden like those that it came from. Returns what was forgotten.
   */
  forget(owner: Owner, id: string, options: { readonly now: Date; readonly askedIn?: readonly string[] }): Promise<readonly Memory[]>;
  /** Forgets all. Returns how many. */
  forgetAll(owner: Owner, options: { readonly now: Date }): Promise<number>;
  /** After a session's purge: deletes the memories that came from it, or drops their quotes. Returns how many it touched. */
  detachSession(owner: Owner, sessionId: string, how: "delete" | "drop-quotes"): Promise<number>;
  /** Every memory of the owner, all states, streamed: for export. */
  all(owner: Owner): AsyncIterable<Memory>;
  /** Takes memories of an export back, ids and what happened to them kept. Returns how many are new. */
  restore(owner: Owner, memories: readonly RestorableMemory[]): Promise<number>;
  erase(owner: Owner): Promise<{ readonly memories: number; readonly history_entries: number }>;
  residue(owner: Owner): Promise<number>;
  health(): Promise<{ readonly status: "ok" | "degraded" | "down" | "disabled"; readonly detail?: string }>;
  close(): Promise<void>;
}

/** Proposes operations from one user message. The guards (promotable.ts) pass every output. */
export interface Extractor {
  /** Goes into the plan: "rules", or the model's name. */
  readonly name: string;
  extract(input: ExtractionInput, options: { readonly signal: AbortSignal }): Promise<readonly ProposedOperation[]>;
}

export interface ExtractionInput {
  readonly owner: Owner;
  readonly session_id: string;
  readonly turn: number;
  readonly message_id: string;
  /** The user's own words: the only text that a memory may come from. */
  readonly text: string;
  readonly stated_at: Date;
  readonly time_zone: string;
  /** What was said before, for references ("that one"): never quoted from. */
  readonly context: readonly { readonly role: "user" | "assistant"; readonly content: string }[];
  readonly related: readonly Memory[];
}

/** An extractor's proposal, before ids and guards. `quote` must stand in the user's message. */
export const proposedOperationSchema = z.discriminatedUnion("op", [
  /** `review` is the guards' own: kept and shown, never recalled until the user approves. An extractor's is passed over. */
  z.object({ op: z.literal("add"), quote: z.string(), statement: statementSchema, review: z.boolean().optional() }),
  z.object({ op: z.literal("supersede"), quote: z.string(), target_id: z.string(), statement: statementSchema.nullable() }),
  z.object({ op: z.literal("confirm"), quote: z.string(), target_id: z.string() }),
  z.object({ op: z.literal("forget"), quote: z.string(), target_id: z.string() }),
]);
export type ProposedOperation = z.infer<typeof proposedOperationSchema>;
