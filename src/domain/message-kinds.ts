import type { MessageRecord } from "./session.js";

/** The mark of a failed turn that never came to a word: journalled, but nothing that was said, and no message to a client. */
export function isBlankFailure({ body }: Pick<MessageRecord, "body">): boolean {
  return hasNoAnswer({ body }) && body.content === "";
}

/** Whether an assistant's message tells that its turn failed, was interrupted, or waits for its caller's tools. */
export function hasNoAnswer({ body }: Pick<MessageRecord, "body">): boolean {
  return body.role === "assistant" && (body.outcome ?? "completed") !== "completed";
}

/** Whether an assistant's message answers its turn: not one that failed, nor one on the way to the answer. */
export function isAnswer({ body }: MessageRecord): boolean {
  return body.role === "assistant" && (body.outcome ?? "completed") === "completed" && body.interim !== true;
}
