import { AppError } from "../../src/platform/errors.js";
import type { Studio } from "../../src/ports/studio.js";
import type { ConversationRow, TurnRow } from "../../src/ports/studio-views.js";
import { AT, MEMORY_ID, SESSION_ID } from "./samples.js";

const ROW: ConversationRow = {
  ...{
    tenant: "default",
    user: "ada",
    session_id: SESSION_ID,
    title: null,
    title_chars: 12,
    status: "active",
    turns: 1,
    last_active_at: AT,
  },
  ...{ cost: null, tokens: 110, memory_status: "ok", failed_turns: 0, pending_turns: 0 },
};
const TURN: TurnRow = {
  ...{ turn: 1, at: AT, message: null, message_chars: 5, answer: null, answer_chars: 5, memory_status: "ok", outcome: "completed" },
  ...{ error_code: null, cost: null, duration_ms: 12 },
};

/** Answers whatever it is asked of one session. */
export function answeringStudio(): Studio {
  const known = (sessionId: string) => {
    if (sessionId !== SESSION_ID) throw new AppError("SESSION_NOT_FOUND");
  };
  return {
    about: async () => ({ content: false, currency: "EUR", version: "1.0.0", model: "m", tenants: null }),
    conversations: async () => ({ data: [ROW], nextCursor: null }),
    conversation: async ({ sessionId }) => {
      known(sessionId);
      const { turns: turn_count, ...row } = ROW;
      return { ...row, turn_count, turns: [TURN], next_cursor: null };
    },
    turn: async ({ sessionId }) => {
      known(sessionId);
      return {
        ...TURN,
        ...{ tenant: "default", user: "ada", session_id: SESSION_ID, model: "m", incognito: false, first_token_ms: null },
        prompt_blocks: [{ name: "prompt", tokens: 10, cached: null, text: null, text_chars: 40, same_as_before: null }],
        recalled: [
          {
            ...{ id: MEMORY_ID, text: null, text_chars: 4, category: "dietary", strength: "hard", subject: "self" },
            ...{ why: "own_need", score: null, used: null },
          },
        ],
        held_back: { idle: 1 },
        proposals: [
          { op: "add", text: null, text_chars: null, quote: null, quote_chars: 3, outcome: "refused", reason: "secret", memory_id: null },
        ],
        parts: null,
        steps: [],
        timings: [{ name: "window", started_ms: 0, duration_ms: 1, error: null }],
        usage: { input_tokens: 1, cached_tokens: null, output_tokens: 1, calls: null, estimated: false },
        write_back: { state: "done", attempts: 1, error_code: null },
      };
    },
    replay: async ({ sessionId }) => {
      known(sessionId);
      const answer = { ...{ answer: null, answer_chars: 5, model: "m", tools: ["search"], memory_status: "ok" as const }, duration_ms: 12 };
      const recalled = [{ id: MEMORY_ID, text: null, text_chars: 4, strength: "hard" as const, used: null }];
      const replayed = { ...answer, recalled, tokens: 11, cost: null };
      return { recorded: { ...replayed, recalled: null }, replayed, difference: { tokens: 0, cost: null } };
    },
    guest: async ({ tenant, user }) => ({
      ...{ tenant, user, sessions: 1, memories: null, waiting: null, bookings: null, bookings_count: 0, booking_receipts: null },
      receipts: [{ receipt_id: "r", completed_at: AT, erased: { sessions: 1 }, verified: true }],
    }),
    timeline: async () => ({
      data: [
        {
          ...{ at: AT, event: "added", memory_id: MEMORY_ID, text: null, text_chars: 4, quote: null, quote_chars: 4, replaces: [] },
          ...{ reason: null, session_id: SESSION_ID, turn: 1 },
        },
      ],
      nextCursor: null,
    }),
    waiting: async () => ({
      data: [{ tenant: "default", user: "ada", memory_id: MEMORY_ID, text: null, text_chars: 4, reason: "unsure", since: AT, asked: 0 }],
      nextCursor: null,
    }),
    queues: async () => [{ name: "write_back", due: 0, waiting: 0, failed: 1, oldest_at: null }],
    writeBacks: async () => ({
      data: [
        {
          ...{ tenant: "default", user: "ada", session_id: SESSION_ID, turn: 1, state: "failed", attempts: 5 },
          ...{ error_code: "EXTRACTION_FAILED", due_at: AT },
        },
      ],
      nextCursor: null,
    }),
    retry: async ({ sessionId }) => known(sessionId),
    plots: async () => [
      {
        ...{ at: AT, turns: 1, failed: 0, p50_first_token_ms: null, p95_first_token_ms: null, recall: { ok: 1 }, given: 1, held_back: 0 },
        ...{ proposals: { kept: 1, asked: 0, refused: 0 }, cost: null, cost_by_model: {}, cost_by_tenant: { default: null }, tokens: 1 },
        erasures: 0,
      },
    ],
    health: async () => ({
      now: { status: "ok", parts: { model: { status: "ok", detail: "m" } } },
      history: [{ at: AT, status: "ok", parts: { model: "ok" } }],
    }),
  };
}
