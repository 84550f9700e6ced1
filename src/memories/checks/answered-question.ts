import type { MessageToRead } from "../../ports/extraction.js";
import { wordsOf } from "./words.js";

/** A longer quote speaks for itself. */
const MAX_ANSWER_WORDS = 12;
/** Of the assistant's message, its end. */
const MAX_QUESTION_CHARS = 600;
const QUESTION_MARK = /[?？؟՞\u037e]/u;

/** The assistant's last message where it asks something; empty where nothing was asked. */
export function questionBefore(message: Pick<MessageToRead, "context">): string {
  const last = message.context.at(-1);
  if (last?.role !== "assistant") return "";
  const end = last.content.slice(-MAX_QUESTION_CHARS);
  // The sentence that asks and the one before it: "A vegetarian menu for both? As always?"
  const sentences = end.split(/(?<=[.!?？؟。！\n])/u);
  return sentences.filter((sentence, i) => QUESTION_MARK.test(sentence) || QUESTION_MARK.test(sentences[i + 1] ?? "")).join(" ");
}

/** The question, where the quote is short enough to be its answer: "yes, always". */
export function questionAnswered(question: string, quote: string): string {
  return wordsOf(quote.slice(0, 400)).length <= MAX_ANSWER_WORDS ? question : "";
}
