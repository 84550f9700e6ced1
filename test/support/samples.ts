import { partsOf } from "../../src/domain/answer-part.js";
import type { Memory } from "../../src/domain/memory.js";
import type { Session } from "../../src/domain/session.js";
import { NO_USAGE } from "../../src/domain/tokens.js";
import type { ChatAnswer } from "../../src/ports/resources.js";

/** Plausible values of what the API hands out, for tests that are about how it is handed out. */

export const SESSION_ID = "01936b2e-7c00-7000-8000-000000000001";
export const MEMORY_ID = "01936b2e-7c00-7000-8000-0000000000aa";
export const MESSAGE_ID = "01936b2e-7c00-7000-8000-0000000000bb";
export const IMAGE_ID = "0f".repeat(32);
/** The smallest thing that begins as a PNG does. */
export const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
export const AT = "2026-03-02T10:00:00.000Z";

export function sampleSession(change: Partial<Session> = {}): Session {
  return {
    id: SESSION_ID,
    external_id: null,
    title: "An evening out",
    status: "active",
    status_since: AT,
    created_at: AT,
    updated_at: AT,
    expires_at: null,
    message_count: 2,
    summary: null,
    summary_updated_at: null,
    topic: null,
    tags: [],
    agent_type: "concierge",
    metadata: {},
    write_back: { pending_turns: 0, failed_turns: 0 },
    usage: NO_USAGE,
    ...change,
  };
}

export function sampleMemory(change: Partial<Memory> = {}): Memory {
  return {
    id: MEMORY_ID,
    text: "Likes the quiet rows at the back",
    category: "seating",
    aspect: "row",
    condition: "",
    about: "",
    need: null,
    type: "preference",
    strength: "soft",
    subject: "self",
    scope: "standing",
    status: "active",
    stated_at: AT,
    valid_from: AT,
    valid_until: null,
    superseded_by: null,
    confidence: 0.9,
    seen_count: 1,
    last_confirmed_at: AT,
    entities: [],
    tags: [],
    channel: "",
    reason: null,
    pending_change: null,
    source: { session_id: SESSION_ID, turn: 1, message_id: MESSAGE_ID, quote: "I like the quiet rows at the back" },
    created_at: AT,
    updated_at: AT,
    ...change,
  };
}

export function sampleAnswer(change: Partial<ChatAnswer> = {}): ChatAnswer {
  const answer = {
    session_id: SESSION_ID,
    turn: 1,
    message: { id: MESSAGE_ID, role: "assistant", content: "Good evening.", created_at: AT },
    steps: [],
    elements: [],
    memory: { status: "ok", write_back: "pending", to_confirm: [], recalled: [], used: [] },
    usage: { input_tokens: 12, output_tokens: 3, cost: null },
    timing: { window_ms: 0.2, recall_ms: 1.1, model_ms: 2.5, total_ms: 4.2 },
    ...change,
  } as const;
  const { message, elements, memory } = answer;
  return { parts: partsOf({ content: message.content, elements, toConfirm: memory.to_confirm }), ...answer };
}
