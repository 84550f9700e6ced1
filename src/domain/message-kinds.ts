import type { MessageRecord } from "./session.js";

/** The mark of a failed turn that never came to a word: journalled, but nothing that was said, and no message to a client. */
export function isBlankFailure({ body }: MessageRecord): boolean {
  return body.role === "assistant" && body.content === "" && (body.outcome ?? "completed") !== "completed";
}

/** Whether an assistant's message answers its turn: not one that failed, nor one on the way to the answer. */
export function isAnswer({ body }: MessageRecord): boolean {
  return body.role === "assistant" && (body.outcome ?? "completed") === "completed" && body.interim !== true;
}
