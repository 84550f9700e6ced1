import { z } from "@hono/zod-openapi";
import { HELD_BACK_REASONS, MEMORY_STATUSES, RECALL_REASONS, SESSION_STATUSES } from "../domain/session.js";
import { PROPOSAL_OUTCOMES, TURN_OUTCOMES } from "../domain/turn-record.js";
import { TIMELINE_EVENTS } from "../ports/studio.js";
import { jsonValue, pageOf } from "./fields.js";
import { partsSchema } from "./parts.js";
import { bookingReceipt, receiptSchema } from "./resources.js";

/** What the operator is shown, as it is described in `/openapi.json`. A number that isn't known is null. */

const time = z.string().openapi({ format: "date-time" });
const text = z.string().nullable().openapi({ description: "Null unless STUDIO_CONTENT=true; its length stands beside it." });
const chars = z.number().int().nullable();
const number = z.number().nullable();
const count = z.number().int().nullable();
const memoryStatus = z.enum(MEMORY_STATUSES).nullable();
const counts = z.record(z.string(), z.number()).nullable();

export const studioSchema = z
  .object({
    content: z.boolean().openapi({ description: "Whether texts are shown." }),
    currency: z.string().nullable().openapi({ description: "Of costs; null where no prices are known." }),
    version: z.string(),
    model: z.string(),
    tenants: z.array(z.string()).nullable(),
  })
  .openapi("StudioInfo");

const conversation = {
  tenant: z.string(),
  user: z.string(),
  session_id: z.string(),
  title: text,
  title_chars: chars,
  status: z.enum(SESSION_STATUSES),
  last_active_at: time,
  cost: number,
  tokens: count,
  memory_status: memoryStatus.openapi({ description: "Of the last turn." }),
  failed_turns: z.number().int().openapi({ description: "That failed, or whose write-back was given up." }),
  pending_turns: z.number().int().openapi({ description: "That wait for their write-back." }),
};
export const conversationsSchema = pageOf(z.object({ ...conversation, turns: count }).openapi("Conversation")).openapi("Conversations");

const turnRow = {
  turn: z.number().int(),
  at: time,
  message: text,
  message_chars: chars,
  answer: text,
  answer_chars: chars,
  memory_status: memoryStatus,
  outcome: z.enum(TURN_OUTCOMES).nullable().openapi({ description: "Null while it runs, and where another agent leads the conversation." }),
  error_code: z.string().nullable(),
  cost: number.openapi({ description: "Of the answer and of what followed it, so far." }),
  duration_ms: number,
};

export const conversationSchema = z
  .object({
    ...conversation,
    turn_count: count,
    turns: z.array(z.object(turnRow).openapi("OperatorTurn")).openapi({ description: "Newest first." }),
    next_cursor: z.string().nullable(),
  })
  .openapi("ConversationDetail");

const timing = z
  .object({
    name: z.string().openapi({ description: "`window`, `recall`, `model`, `gate`, `write_back`, or a tool's." }),
    started_ms: z.number().openapi({ description: "From the turn's beginning." }),
    duration_ms: z.number(),
    error: z.string().nullable(),
  })
  .openapi("Timing");

export const turnDetailSchema = z
  .object({
    tenant: z.string(),
    user: z.string(),
    session_id: z.string(),
    ...turnRow,
    model: z.string().nullable(),
    incognito: z.boolean(),
    first_token_ms: number,
    prompt_blocks: z
      .array(
        z.object({
          name: z.string(),
          tokens: z.number().int(),
          cached: z.boolean().nullable(),
          text: text.openapi({ description: "As far as it can be made again from what is kept." }),
          text_chars: z.number().int(),
          same_as_before: z.boolean().nullable().openapi({ description: "As in the turn before; null where that left no record." }),
        }),
      )
      .nullable(),
    recalled: z
      .array(
        z.object({
          id: z.string(),
          text,
          text_chars: chars,
          category: z.string().nullable(),
          strength: z.enum(["hard", "soft"]).nullable(),
          subject: z.string().nullable(),
          why: z.enum(RECALL_REASONS).nullable(),
          score: number,
          used: z.boolean().nullable(),
        }),
      )
      .nullable(),
    held_back: z.object(Object.fromEntries(HELD_BACK_REASONS.map((reason) => [reason, z.number().int().optional()]))).nullable(),
    proposals: z
      .array(
        z.object({
          op: z.string(),
          text,
          text_chars: chars,
          quote: text,
          quote_chars: chars,
          outcome: z.enum(PROPOSAL_OUTCOMES),
          reason: z.string().nullable(),
          memory_id: z.string().nullable(),
        }),
      )
      .nullable()
      .openapi({ description: "Null where the message was not read, or nothing is kept of it." }),
    parts: partsSchema.nullable(),
    steps: z.array(timing),
    timings: z.array(timing).nullable(),
    usage: z
      .object({
        input_tokens: z.number(),
        cached_tokens: number,
        output_tokens: z.number(),
        calls: count,
        estimated: z.boolean(),
      })
      .nullable(),
    write_back: z
      .object({ state: z.enum(["none", "pending", "done", "failed"]), attempts: count, error_code: z.string().nullable() })
      .nullable(),
  })
  .openapi("TurnDetail");

const shownAnswer = z
  .object({
    answer: text,
    answer_chars: chars,
    model: z.string().nullable(),
    tools: z.array(z.string()).openapi({ description: "Of each step, in order." }),
    memory_status: memoryStatus,
    recalled: z
      .array(
        z.object({
          id: z.string(),
          text,
          text_chars: chars,
          strength: z.enum(["hard", "soft"]).nullable(),
          used: z.boolean().nullable(),
        }),
      )
      .nullable(),
    tokens: number,
    cost: number.openapi({ description: "Of the answer alone." }),
    duration_ms: number,
  })
  .openapi("ShownAnswer");
export const turnReplaySchema = z
  .object({
    recorded: shownAnswer.nullable().openapi({ description: "Null for a turn that was not answered." }),
    replayed: shownAnswer,
    difference: z
      .object({ tokens: number, cost: number })
      .openapi({ description: "Replayed less recorded; null where either isn't known." }),
  })
  .openapi("TurnReplay");

export const guestSchema = z
  .object({
    tenant: z.string(),
    user: z.string(),
    sessions: z.number().int(),
    memories: count.openapi({ description: "That hold; null where long-term memory is off." }),
    waiting: count,
    bookings: z.array(jsonValue).nullable().openapi({ description: "As an export has them; null unless STUDIO_CONTENT=true." }),
    bookings_count: z.number().int(),
    booking_receipts: z
      .array(bookingReceipt)
      .nullable()
      .openapi({ description: "Newest first, the last 50. Null where texts are not shown." }),
    receipts: z.array(receiptSchema).openapi({ description: "Of erasures." }),
  })
  .openapi("Guest");

export const timelineSchema = pageOf(
  z
    .object({
      at: time,
      event: z.enum(TIMELINE_EVENTS).openapi({ description: "`holds` with `as_of`." }),
      memory_id: z.string(),
      text,
      text_chars: chars,
      quote: text,
      quote_chars: chars,
      replaces: z.array(z.string()),
      reason: z.string().nullable(),
      session_id: z.string().nullable(),
      turn: count,
    })
    .openapi("TimelineEntry"),
).openapi("Timeline");

export const waitingSchema = pageOf(
  z
    .object({
      tenant: z.string(),
      user: z.string(),
      memory_id: z.string(),
      text,
      text_chars: z.number().int(),
      reason: z.string().nullable(),
      since: time,
      asked: count,
    })
    .openapi("WaitingMemory"),
).openapi("WaitingMemories");

export const queuesSchema = z
  .object({
    data: z.array(
      z.object({ name: z.enum(["write_back", "webhooks"]), due: count, waiting: count, failed: count, oldest_at: time.nullable() }),
    ),
  })
  .openapi("Queues");

export const writeBacksSchema = pageOf(
  z
    .object({
      tenant: z.string(),
      user: z.string(),
      session_id: z.string(),
      turn: z.number().int(),
      state: z.enum(["pending", "failed"]),
      attempts: z.number().int(),
      error_code: z.string().nullable(),
      due_at: time,
    })
    .openapi("QueuedWriteBack"),
).openapi("QueuedWriteBacks");

export const plotsSchema = z
  .object({
    steps: z.array(
      z
        .object({
          at: time,
          turns: count,
          failed: count,
          p50_first_token_ms: number,
          p95_first_token_ms: number,
          recall: counts.openapi({ description: "Turns by how recall went." }),
          given: count,
          held_back: count,
          proposals: z.object({ kept: z.number().int(), asked: z.number().int(), refused: z.number().int() }).nullable(),
          cost: number,
          cost_by_model: counts,
          cost_by_tenant: z.record(z.string(), number).nullable(),
          tokens: number,
          erasures: count,
        })
        .openapi("PlotStep"),
    ),
  })
  .openapi("Plots");

const partStatus = z.enum(["ok", "degraded", "down", "disabled"]);
export const healthSchema = z
  .object({
    now: z.object({
      status: partStatus,
      parts: z.record(z.string(), z.object({ status: partStatus, detail: z.string().optional() })),
    }),
    history: z
      .array(z.object({ at: time, status: partStatus, parts: z.record(z.string(), partStatus) }))
      .openapi({ description: "Newest first: each from when it was so." }),
  })
  .openapi("HealthHistory");
