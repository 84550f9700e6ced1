import { AppError } from "../platform/errors.js";
import type { FinishReason } from "../ports/chat-model.js";

/** Why a turn has no answer. */

/** The model ended without a word. */
export function emptyAnswer(finish: FinishReason): AppError {
  if (finish === "content_filter") return new AppError("MODEL_CONTENT_FILTER");
  const detail = finish === "length" ? "The model reached its limit before it answered." : "The model gave an empty answer.";
  return new AppError("MODEL_UNAVAILABLE", { detail });
}

/** It was told to call no tool any more, and called one all the same. */
export function neverAnswered(calls: number): AppError {
  return new AppError("MODEL_UNAVAILABLE", {
    detail: `The model called tools without end: ${calls} ${calls === 1 ? "call" : "calls"}, and no answer.`,
    hint: "Your message is kept. Ask for a part of it; if that ends so too, use a model that heeds `tool_choice: none`.",
  });
}
