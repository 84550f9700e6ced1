import {
  JOURNAL_VERSION,
  type JsonValue,
  journalRecordSchema,
  type MessageRecord,
  type RecalledMemory,
  type Round,
  type Step,
} from "../../src/domain/session.js";

/** A completed round; every text names its turn, so that a test can tell them apart. */
export function round(
  turn: number,
  options: { readonly user?: string; readonly assistant?: string; readonly steps?: readonly Step[] } = {},
): Round {
  return {
    turn,
    user: message(turn, "user", options.user ?? `question ${turn}`),
    steps: options.steps ?? [],
    assistant: message(turn, "assistant", options.assistant ?? `answer ${turn}`),
  };
}

export function message(turn: number, role: "user" | "assistant", content: string): MessageRecord {
  const seq = turn * 2 + (role === "user" ? 0 : 1);
  const body = role === "user" ? { role, content } : { role, content, outcome: "completed" };
  const at = new Date(Date.UTC(2026, 0, 1, 12, turn)).toISOString();
  const record = journalRecordSchema.parse({ v: JOURNAL_VERSION, seq, type: "message", id: `${role}-${turn}`, turn, at, body });
  if (record.type !== "message") throw new TypeError("not a message");
  return record;
}

export function step(callId: string, iteration: number, output: JsonValue, error: string | null = null): Step {
  return {
    id: `step-${callId}`,
    type: "tool_call",
    name: "search_events",
    call_id: callId,
    iteration,
    input: { query: callId },
    output,
    error,
    started_at: "2026-01-01T12:00:00.000Z",
    duration_ms: 1,
  };
}

export function recalled(text: string, options: Partial<RecalledMemory> = {}): RecalledMemory {
  return {
    id: text,
    text,
    category: "genre",
    strength: "soft",
    score: 0.5,
    source: null,
    created_at: "2026-03-10T10:00:00.000Z",
    ...options,
  };
}
