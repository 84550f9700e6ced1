import type { AnswerStep, ChatAnswer } from "../application.js";
import { AppError } from "../errors.js";
import type { JournalRecord, MessageRecord, Step } from "../session.js";

/** How the journal tells a turn: its user message, and how its last attempt ended. */
export interface RecordedTurn {
  readonly user: MessageRecord;
  readonly steps: readonly Step[];
  /** Null while it runs, or when the process died before it ended. */
  readonly assistant: MessageRecord | null;
}

/** Puts a turn together from its records; steps of an attempt that failed are left out. Null where there is no such turn. */
export function recordedTurn(records: Iterable<JournalRecord>, turn: number): RecordedTurn | null {
  let user: MessageRecord | null = null;
  let steps: Step[] = [];
  let assistant: MessageRecord | null = null;
  for (const record of records) {
    if (record.turn !== turn) continue;
    if (record.type === "step") steps.push(record.body);
    if (record.type !== "message") continue;
    if (record.body.role === "user") user = record;
    if (record.body.role !== "assistant") continue;
    assistant = record;
    if (record.body.outcome !== "completed") steps = [];
  }
  return user && { user, steps, assistant };
}

export function isCompleted(turn: RecordedTurn): turn is RecordedTurn & { assistant: MessageRecord } {
  return turn.assistant?.body.outcome === "completed";
}

/** The answer that a client was given for a completed turn, from its records: the same bytes each time. */
export function answerFrom(sessionId: string, turn: { readonly assistant: MessageRecord; readonly steps: readonly Step[] }): ChatAnswer {
  const { assistant, steps } = turn;
  const { body } = assistant;
  if (!body.memory || !body.timing)
    throw new AppError("STORAGE_DAMAGED", { detail: "An answer was recorded without its memory and timing." });
  return {
    session_id: sessionId,
    turn: assistant.turn,
    message: { id: assistant.id, role: "assistant", content: body.content, created_at: assistant.at },
    steps: steps.map(answerStep),
    elements: body.elements ?? [],
    memory: body.memory,
    usage: body.metadata.tokens ?? { input_tokens: 0, output_tokens: 0 },
    timing: body.timing,
  };
}

export function answerStep(step: Step): AnswerStep {
  return {
    id: step.id,
    type: "tool_call",
    name: step.name,
    input: step.input,
    output: step.output,
    duration_ms: step.duration_ms,
    error: step.error,
  };
}
