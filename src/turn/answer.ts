import { partsOf } from "../domain/answer-part.js";
import type { Element, MessageMetadata, MessageRecord, Step } from "../domain/session.js";
import { AppError } from "../platform/errors.js";
import { dayOf } from "../platform/rendering.js";
import type { AnswerStep, ChatAnswer } from "../ports/resources.js";
import type { Recalled } from "./recall.js";

/** The answer that a client was given for a completed turn, from its records: the same bytes each time. */
export function answerFrom(sessionId: string, turn: { readonly assistant: MessageRecord; readonly steps: readonly Step[] }): ChatAnswer {
  const { assistant, steps } = turn;
  const { body } = assistant;
  if (!body.memory || !body.timing)
    throw new AppError("STORAGE_DAMAGED", { detail: "An answer was recorded without its memory and timing." });
  return {
    session_id: sessionId,
    turn: assistant.turn,
    message: { id: assistant.id, role: "assistant", content: body.content, created_at: assistant.at, metadata: { ...body.metadata } },
    steps: steps.map(answerStep),
    elements: body.elements ?? [],
    parts: partsOf({ ...body, toConfirm: body.memory.to_confirm }),
    memory: body.memory,
    usage: usageIn(body.metadata),
    timing: body.timing,
  };
}

function usageIn({ tokens }: MessageMetadata): ChatAnswer["usage"] {
  if (tokens === undefined) return { input_tokens: 0, output_tokens: 0, cost: null };
  const { input_tokens, cached_tokens, output_tokens, calls, estimated, cost = null } = tokens;
  return {
    input_tokens,
    ...(cached_tokens !== undefined && { cached_tokens }),
    output_tokens,
    ...(calls !== undefined && { calls }),
    ...(estimated && { estimated }),
    cost,
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

/** History turns that were recalled, as the elements that cite them. */
export function referencesTo(history: Recalled["history"], now: Date, timeZone: string): Element[] {
  return history.map((hit, index) => ({
    id: `message:${hit.id}`,
    type: "text",
    name: `Ref #${index + 1} — ${dayOf(new Date(hit.created_at), now, timeZone)}`,
    content: hit.content,
    display: "side",
  }));
}
