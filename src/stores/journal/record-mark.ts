import { isAnswer, isBlankFailure } from "../../domain/message-kinds.js";
import type { JournalRecord } from "../../domain/session.js";

/** What a window looks for: u a user's message, a a completed answer, b a failed turn that never came to a word, m any other message. */
export function markOf(record: JournalRecord): "u" | "a" | "b" | "m" | null {
  if (record.type !== "message") return null;
  if (isBlankFailure(record)) return "b";
  if (record.body.role === "user") return "u";
  return isAnswer(record) ? "a" : "m";
}
