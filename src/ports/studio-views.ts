import { z } from "zod";
import { bookingReceiptSchema } from "../domain/booking-receipt.js";
import { MEMORY_EVENTS } from "../domain/memory.js";
import { anyJson, type ReadOnly, time } from "../domain/schema.js";
import {
  answerPartsSchema,
  HELD_BACK_REASONS,
  type HeldBack,
  MEMORY_STATUSES,
  RECALL_REASONS,
  SESSION_STATUSES,
} from "../domain/session.js";
import { PROPOSAL_OUTCOMES, TURN_OUTCOMES } from "../domain/turn-record.js";
import { erasureReceiptSchema, PART_STATUSES, readinessSchema } from "./resources.js";

/**
 * What an operator is shown. A text is null where texts are not to be shown, where it was forgotten, and where it isn't kept; its length
 * stands beside it. A number that isn't known is null, never 0.
 */

const text = z.string().nullable().meta({ description: "Null unless STUDIO_CONTENT=true; its length stands beside it." });
const chars = z.number().int().nullable();
const number = z.number().nullable();
const count = z.number().int().nullable();
const memoryStatus = z.enum(MEMORY_STATUSES).nullable();
const counts = z.record(z.string(), z.number()).nullable();
const strength = z.enum(["hard", "soft"]).nullable();
const guestName = { tenant: z.string(), user: z.string() };
const conversationName = { ...guestName, session_id: z.string() };

export const studioSchema = z
  .object({
    content: z.boolean().meta({ description: "Whether texts are shown." }),
    currency: z.string().nullable().meta({ description: "Of costs; null where no prices are known." }),
    version: z.string(),
    model: z.string(),
    /** Those with turns in the last week; null where none had any. */
    tenants: z.array(z.string()).nullable(),
  })
  .meta({ id: "StudioInfo" });
export type StudioInfo = ReadOnly<z.output<typeof studioSchema>>;

const conversation = {
  ...conversationName,
  title: text,
  title_chars: chars,
  status: z.enum(SESSION_STATUSES),
  last_active_at: time,
  cost: number,
  tokens: count,
  memory_status: memoryStatus.meta({ description: "Of the last turn." }),
  failed_turns: z.number().int().meta({ description: "That failed, or whose write-back was given up." }),
  pending_turns: z.number().int().meta({ description: "That wait for their write-back." }),
};
export const conversationRowSchema = z.object({ ...conversation, turns: count }).meta({ id: "Conversation" });
export type ConversationRow = ReadOnly<z.output<typeof conversationRowSchema>>;

const turnRow = {
  turn: z.number().int(),
  at: time,
  message: text,
  message_chars: chars,
  answer: text,
  answer_chars: chars,
  memory_status: memoryStatus,
  outcome: z.enum(TURN_OUTCOMES).nullable().meta({ description: "Null while it runs, and where another agent leads the conversation." }),
  error_code: z.string().nullable(),
  cost: number.meta({ description: "Of the answer and of what followed it, so far." }),
  duration_ms: number,
};
const turnRowSchema = z.object(turnRow).meta({ id: "OperatorTurn" });
export type TurnRow = ReadOnly<z.output<typeof turnRowSchema>>;

export const conversationSchema = z
  .object({
    ...conversation,
    turn_count: count,
    turns: z.array(turnRowSchema).meta({ description: "Newest first." }),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: "ConversationDetail" });
export type ConversationDetail = ReadOnly<z.output<typeof conversationSchema>>;

const timing = z
  .object({
    name: z.string().meta({ description: "`window`, `recall`, `model`, `gate`, `write_back`, or a tool's." }),
    started_ms: z.number().meta({ description: "From the turn's beginning." }),
    duration_ms: z.number(),
    error: z.string().nullable(),
  })
  .meta({ id: "Timing" });
export type ShownTiming = ReadOnly<z.output<typeof timing>>;

const block = z.object({
  name: z.string(),
  tokens: z.number().int(),
  cached: z.boolean().nullable(),
  text: text.meta({ description: "As far as it can be made again from what is kept." }),
  text_chars: z.number().int(),
  same_as_before: z.boolean().nullable().meta({ description: "As in the turn before; null where that left no record." }),
});
export type ShownBlock = ReadOnly<z.output<typeof block>>;

const recalled = z.object({
  id: z.string(),
  text,
  text_chars: chars,
  category: z.string().nullable(),
  strength,
  subject: z.string().nullable(),
  why: z.enum(RECALL_REASONS).nullable(),
  score: number,
  /** Whether it shaped the answer; null where that wasn't told. */
  used: z.boolean().nullable(),
});
export type ShownRecalled = ReadOnly<z.output<typeof recalled>>;

const proposal = z.object({
  op: z.string(),
  text,
  text_chars: chars,
  quote: text,
  quote_chars: chars,
  outcome: z.enum(PROPOSAL_OUTCOMES),
  reason: z.string().nullable(),
  memory_id: z.string().nullable(),
});
export type ShownProposal = ReadOnly<z.output<typeof proposal>>;

const heldBack = z.object(Object.fromEntries(HELD_BACK_REASONS.map((reason) => [reason, z.number().int().optional()])));

export const turnDetailSchema = z
  .object({
    ...conversationName,
    ...turnRow,
    model: z.string().nullable(),
    incognito: z.boolean(),
    first_token_ms: number,
    prompt_blocks: z.array(block).nullable(),
    recalled: z.array(recalled).nullable(),
    held_back: (heldBack as unknown as z.ZodType<HeldBack>).nullable(),
    proposals: z.array(proposal).nullable().meta({ description: "Null where the message was not read, or nothing is kept of it." }),
    parts: answerPartsSchema.nullable(),
    steps: z.array(timing),
    timings: z.array(timing).nullable(),
    usage: z
      .object({ input_tokens: z.number(), cached_tokens: number, output_tokens: z.number(), calls: count, estimated: z.boolean() })
      .nullable(),
    write_back: z
      .object({ state: z.enum(["none", "pending", "done", "failed"]), attempts: count, error_code: z.string().nullable() })
      .nullable(),
  })
  .meta({ id: "TurnDetail" });
export type TurnDetail = ReadOnly<z.output<typeof turnDetailSchema>>;

/** An answer by what it shows, and by what it came about. */
const shownAnswer = z
  .object({
    answer: text,
    answer_chars: chars,
    model: z.string().nullable(),
    tools: z.array(z.string()).meta({ description: "Of each step, in order." }),
    memory_status: memoryStatus,
    recalled: z.array(recalled.pick({ id: true, text: true, text_chars: true, strength: true, used: true })).nullable(),
    tokens: number,
    cost: number.meta({ description: "Of the answer alone." }),
    duration_ms: number,
  })
  .meta({ id: "ShownAnswer" });
export type ShownAnswer = ReadOnly<z.output<typeof shownAnswer>>;

export const turnReplaySchema = z
  .object({
    recorded: shownAnswer.nullable().meta({ description: "Null for a turn that was not answered." }),
    replayed: shownAnswer,
    difference: z.object({ tokens: number, cost: number }).meta({ description: "Replayed less recorded; null where either isn't known." }),
  })
  .meta({ id: "TurnReplay" });
export type TurnReplay = ReadOnly<z.output<typeof turnReplaySchema>>;

export const guestSchema = z
  .object({
    ...guestName,
    sessions: z.number().int(),
    memories: count.meta({ description: "That hold; null where long-term memory is off." }),
    waiting: count,
    bookings: z.array(anyJson).nullable().meta({ description: "As an export has them; null unless STUDIO_CONTENT=true." }),
    bookings_count: z.number().int(),
    booking_receipts: z
      .array(bookingReceiptSchema)
      .nullable()
      .meta({ description: "Newest first, the last 50. Null where texts are not shown." }),
    receipts: z.array(erasureReceiptSchema).meta({ description: "Of erasures." }),
  })
  .meta({ id: "Guest" });
export type GuestDetail = ReadOnly<z.output<typeof guestSchema>>;

/** What may happen to a memory: of its own life, that it waits, that the guest said no, that it ended, and with `asOf` that it holds. */
const timelineEvent = z.enum([...MEMORY_EVENTS, "waits", "rejected", "ended", "holds"]);
export type TimelineEvent = z.output<typeof timelineEvent>;

export const timelineEntrySchema = z
  .object({
    at: time,
    event: timelineEvent.meta({ description: "`holds` with `as_of`." }),
    memory_id: z.string(),
    text,
    text_chars: chars,
    quote: text,
    quote_chars: chars,
    /** Ids of the memories that it took the place of. */
    replaces: z.array(z.string()),
    reason: z.string().nullable(),
    session_id: z.string().nullable(),
    turn: count,
  })
  .meta({ id: "TimelineEntry" });
export type TimelineEntry = ReadOnly<z.output<typeof timelineEntrySchema>>;

export const waitingMemorySchema = z
  .object({
    ...guestName,
    memory_id: z.string(),
    text,
    text_chars: z.number().int(),
    reason: z.string().nullable(),
    since: time,
    /** How often the guest was asked; null where that isn't known. */
    asked: count,
  })
  .meta({ id: "WaitingMemory" });
export type WaitingMemory = ReadOnly<z.output<typeof waitingMemorySchema>>;

/** `due`: that could be done now; `failed`: given up. */
export const queueSchema = z.object({
  name: z.enum(["write_back", "webhooks"]),
  due: count,
  waiting: count,
  failed: count,
  oldest_at: time.nullable(),
});
export type QueueState = ReadOnly<z.output<typeof queueSchema>>;

export const queuedWriteBackSchema = z
  .object({
    ...conversationName,
    turn: z.number().int(),
    state: z.enum(["pending", "failed"]),
    attempts: z.number().int(),
    error_code: z.string().nullable(),
    due_at: time,
  })
  .meta({ id: "QueuedWriteBack" });
export type QueuedWriteBack = ReadOnly<z.output<typeof queuedWriteBackSchema>>;

/** Null where nothing was counted yet. */
export const plotStepSchema = z
  .object({
    at: time,
    turns: count,
    failed: count,
    p50_first_token_ms: number,
    p95_first_token_ms: number,
    recall: counts.meta({ description: "Turns by how recall went." }),
    given: count,
    held_back: count,
    proposals: z.object({ kept: z.number().int(), asked: z.number().int(), refused: z.number().int() }).nullable(),
    cost: number,
    cost_by_model: counts,
    cost_by_tenant: z.record(z.string(), number).nullable(),
    tokens: number,
    erasures: count,
  })
  .meta({ id: "PlotStep" });
export type PlotStep = ReadOnly<z.output<typeof plotStepSchema>>;

const partStatus = z.enum(PART_STATUSES);
const healthChange = z.object({ at: time, status: partStatus, parts: z.record(z.string(), partStatus) });
export type HealthChange = ReadOnly<z.output<typeof healthChange>>;

export const healthSchema = z
  .object({
    now: z.object(readinessSchema.shape),
    history: z.array(healthChange).meta({ description: "Newest first: each from when it was so." }),
  })
  .meta({ id: "HealthHistory" });
export type HealthView = ReadOnly<z.output<typeof healthSchema>>;
