// Over 300 lines: one door, all that an operator is shown.

import type { BookingReceipt } from "../domain/booking-receipt.js";
import type { AnswerPart, HeldBack, JsonValue, RecallReason, RecallStatus, SessionStatus } from "../domain/session.js";
import type { ProposalOutcome } from "../domain/turn-record.js";
import type { PartStatus, Readiness } from "./application.js";
import type { ConversationQuery } from "./conversation-list.js";
import type { ErasureReceipt } from "./owner-ledger.js";
import type { Page } from "./session-store.js";

/**
 * What whoever runs a server sees of what happened, read-only but for a retry; a replay keeps nothing. A text is null where texts are not
 * to be shown, where it was forgotten, and where it isn't kept; its length stands beside it. A number that isn't known is null, never 0.
 */
export interface Studio {
  about(): Promise<StudioInfo>;
  /** Newest activity first. @throws INVALID_CURSOR, INVALID_USER_ID */
  conversations(query: ConversationQuery): Promise<Page<ConversationRow>>;
  /** With its turns, newest first. @throws SESSION_NOT_FOUND, INVALID_CURSOR, INVALID_USER_ID */
  conversation(name: ConversationName, page: PageQuery): Promise<ConversationDetail>;
  /** @throws SESSION_NOT_FOUND, NOT_FOUND for a turn that is not there, INVALID_USER_ID */
  turn(name: ConversationName, turn: number): Promise<TurnDetail>;
  /**
   * Answers a turn once more, over stores that are gone behind it. One at a time in each process.
   * @throws SESSION_NOT_FOUND, NOT_FOUND for a turn that is not there or has no message, INVALID_USER_ID, JOB_RUNNING while another is
   *   replayed, INVALID_REQUEST for a turn whose words are for nobody else or a model that can't be chosen, and what a turn throws
   */
  replay(name: ConversationName, turn: number, otherwise: ReplayOtherwise, signal: AbortSignal): Promise<TurnReplay>;
  /** @throws NOT_FOUND for one of whom nothing is kept, INVALID_USER_ID */
  guest(name: GuestName): Promise<GuestDetail>;
  /** Newest first; `asOf` (ISO 8601): what held then. @throws INVALID_CURSOR, INVALID_USER_ID, LONG_TERM_MEMORY_DISABLED */
  timeline(name: GuestName, query: PageQuery & { readonly asOf?: string }): Promise<Page<TimelineEntry>>;
  /** What waits for its guest's word. A page may hold less than `limit` where another follows. @throws INVALID_CURSOR */
  waiting(query: PageQuery & { readonly tenant?: string }): Promise<Page<WaitingMemory>>;
  queues(): Promise<readonly QueueState[]>;
  /** Of all users. @throws INVALID_CURSOR */
  writeBacks(query: PageQuery & { readonly state?: "pending" | "failed" }): Promise<Page<QueuedWriteBack>>;
  /** Turns that were given up are tried again. @throws SESSION_NOT_FOUND, INVALID_USER_ID */
  retry(name: ConversationName): Promise<void>;
  /** At most 1,000 steps. @throws INVALID_REQUEST for more, or a range that ends before it begins */
  plots(query: PlotQuery): Promise<readonly PlotStep[]>;
  health(): Promise<HealthView>;
}

export interface PageQuery {
  /** 1 to 200. */
  readonly limit: number;
  readonly cursor?: string;
}

export interface GuestName {
  readonly tenant: string;
  readonly user: string;
}

export interface ConversationName extends GuestName {
  readonly sessionId: string;
}

export interface StudioInfo {
  /** Whether texts are shown. */
  readonly content: boolean;
  /** Of costs; null where no prices are known. */
  readonly currency: string | null;
  readonly version: string;
  readonly model: string;
  /** Those with turns in the last week; null where none had any. */
  readonly tenants: readonly string[] | null;
}

export interface ConversationRow {
  readonly tenant: string;
  readonly user: string;
  readonly session_id: string;
  readonly title: string | null;
  readonly title_chars: number | null;
  readonly status: SessionStatus;
  readonly turns: number | null;
  readonly last_active_at: string;
  readonly cost: number | null;
  readonly tokens: number | null;
  readonly memory_status: RecallStatus | null;
  /** That failed, or whose write-back was given up. */
  readonly failed_turns: number;
  readonly pending_turns: number;
}

export interface ConversationDetail extends Omit<ConversationRow, "turns"> {
  readonly turn_count: number | null;
  /** Newest first. */
  readonly turns: readonly TurnRow[];
  readonly next_cursor: string | null;
}

export interface TurnRow {
  readonly turn: number;
  readonly at: string;
  readonly message: string | null;
  readonly message_chars: number | null;
  readonly answer: string | null;
  readonly answer_chars: number | null;
  readonly memory_status: RecallStatus | null;
  /** Null while it runs, and where another agent leads the conversation. */
  readonly outcome: "completed" | "interrupted" | "failed" | "suspended" | null;
  readonly error_code: string | null;
  readonly cost: number | null;
  readonly duration_ms: number | null;
}

export interface TurnDetail extends TurnRow {
  readonly tenant: string;
  readonly user: string;
  readonly session_id: string;
  readonly model: string | null;
  readonly incognito: boolean;
  readonly first_token_ms: number | null;
  readonly prompt_blocks: readonly ShownBlock[] | null;
  readonly recalled: readonly ShownRecalled[] | null;
  readonly held_back: HeldBack | null;
  readonly proposals: readonly ShownProposal[] | null;
  readonly parts: readonly AnswerPart[] | null;
  readonly steps: readonly ShownTiming[];
  readonly timings: readonly ShownTiming[] | null;
  readonly usage: {
    readonly input_tokens: number;
    readonly cached_tokens: number | null;
    readonly output_tokens: number;
    readonly calls: number | null;
    readonly estimated: boolean;
  } | null;
  readonly write_back: {
    readonly state: "none" | "pending" | "done" | "failed";
    readonly attempts: number | null;
    readonly error_code: string | null;
  } | null;
}

/** What is to be another than when the turn was recorded. */
export interface ReplayOtherwise {
  /** The name of one of the provider's. Default: the configured one. */
  readonly model?: string;
  /** In the place of the product's. Default: the product's. */
  readonly prompt?: string;
  /** Whether memories are recalled. Default true. */
  readonly memory?: boolean;
}

export interface TurnReplay {
  /** Null for a turn that was not answered. */
  readonly recorded: ShownAnswer | null;
  readonly replayed: ShownAnswer;
  /** Replayed less recorded; null where either isn't known. */
  readonly difference: { readonly tokens: number | null; readonly cost: number | null };
}

/** An answer by what it shows, and by what it came about. */
export interface ShownAnswer {
  readonly answer: string | null;
  readonly answer_chars: number | null;
  readonly model: string | null;
  /** Of each step, in order. */
  readonly tools: readonly string[];
  readonly memory_status: RecallStatus | null;
  readonly recalled: readonly Pick<ShownRecalled, "id" | "text" | "text_chars" | "strength" | "used">[] | null;
  readonly tokens: number | null;
  readonly cost: number | null;
  readonly duration_ms: number | null;
}

export interface ShownBlock {
  readonly name: string;
  readonly tokens: number;
  readonly cached: boolean | null;
  readonly text: string | null;
  readonly text_chars: number;
  /** Null where the turn before left no record. */
  readonly same_as_before: boolean | null;
}

export interface ShownRecalled {
  readonly id: string;
  readonly text: string | null;
  readonly text_chars: number | null;
  readonly category: string | null;
  readonly strength: "hard" | "soft" | null;
  readonly subject: string | null;
  readonly why: RecallReason | null;
  readonly score: number | null;
  /** Whether it shaped the answer; null where that wasn't told. */
  readonly used: boolean | null;
}

export interface ShownProposal {
  readonly op: string;
  readonly text: string | null;
  readonly text_chars: number | null;
  readonly quote: string | null;
  readonly quote_chars: number | null;
  readonly outcome: ProposalOutcome;
  readonly reason: string | null;
  readonly memory_id: string | null;
}

export interface ShownTiming {
  readonly name: string;
  readonly started_ms: number;
  readonly duration_ms: number;
  readonly error: string | null;
}

export interface GuestDetail {
  readonly tenant: string;
  readonly user: string;
  readonly sessions: number;
  /** That hold; null where long-term memory is off or can't be read. */
  readonly memories: number | null;
  readonly waiting: number | null;
  /** As an export has them; null where texts are not shown. */
  readonly bookings: readonly JsonValue[] | null;
  readonly bookings_count: number;
  /** Of bookings: what was checked before each, newest first, the last 50. Null where texts are not shown. */
  readonly booking_receipts: readonly BookingReceipt[] | null;
  /** Of erasures. */
  readonly receipts: readonly ErasureReceipt[];
}

/** What may happen to a memory: of its own life, that it waits, that the guest said no, that it ended, and with `asOf` that it holds. */
export const TIMELINE_EVENTS = [
  "added",
  "confirmed",
  "edited",
  "superseded",
  "approved",
  "expired",
  "forgotten",
  "waits",
  "rejected",
  "ended",
  "holds",
] as const;
export type TimelineEvent = (typeof TIMELINE_EVENTS)[number];

export interface TimelineEntry {
  readonly at: string;
  readonly event: TimelineEvent;
  readonly memory_id: string;
  readonly text: string | null;
  readonly text_chars: number | null;
  readonly quote: string | null;
  readonly quote_chars: number | null;
  /** Ids of the memories that it took the place of. */
  readonly replaces: readonly string[];
  readonly reason: string | null;
  readonly session_id: string | null;
  readonly turn: number | null;
}

export interface WaitingMemory {
  readonly tenant: string;
  readonly user: string;
  readonly memory_id: string;
  readonly text: string | null;
  readonly text_chars: number;
  readonly reason: string | null;
  readonly since: string;
  /** How often the guest was asked; null where that isn't known. */
  readonly asked: number | null;
}

export interface QueueState {
  readonly name: "write_back" | "webhooks";
  /** That could be done now. */
  readonly due: number | null;
  readonly waiting: number | null;
  /** Given up. */
  readonly failed: number | null;
  readonly oldest_at: string | null;
}

export interface QueuedWriteBack {
  readonly tenant: string;
  readonly user: string;
  readonly session_id: string;
  readonly turn: number;
  readonly state: "pending" | "failed";
  readonly attempts: number;
  readonly error_code: string | null;
  readonly due_at: string;
}

export interface PlotQuery {
  /** ISO 8601. Default: a day, or thirty with steps of a day, before `to`. */
  readonly from?: string;
  /** Default: now. */
  readonly to?: string;
  readonly step: "hour" | "day";
  readonly tenant?: string;
}

/** Null where nothing was counted yet. */
export interface PlotStep {
  readonly at: string;
  readonly turns: number | null;
  readonly failed: number | null;
  readonly p50_first_token_ms: number | null;
  readonly p95_first_token_ms: number | null;
  readonly recall: Readonly<Record<string, number>> | null;
  readonly given: number | null;
  readonly held_back: number | null;
  readonly proposals: Readonly<Record<"kept" | "asked" | "refused", number>> | null;
  readonly cost: number | null;
  readonly cost_by_model: Readonly<Record<string, number>> | null;
  readonly cost_by_tenant: Readonly<Record<string, number | null>> | null;
  readonly tokens: number | null;
  readonly erasures: number | null;
}

export interface HealthView {
  readonly now: Readiness;
  /** Newest first: each from when it was so. */
  readonly history: readonly HealthChange[];
}

export interface HealthChange {
  readonly at: string;
  readonly status: PartStatus;
  readonly parts: Readonly<Record<string, PartStatus>>;
}
