import { anyPhrase } from "../../../platform/word-list.js";
import { WORDS } from "./words.js";

/**
 * What kind of answer a question wants, and which messages hold one of that kind.
 * Source: answer types, Li and Roth, "Learning question classifiers", COLING 2002; here by the question's first words alone.
 */
export type AnswerKind = "time" | "number" | null;

const WANTS_TIME_AT_ITS_START = anyPhrase(WORDS.asks_for_a_time_at_its_start);
const WANTS_TIME = anyPhrase(WORDS.asks_for_a_time_anywhere);
const WANTS_NUMBER = anyPhrase(WORDS.asks_for_a_number);

const LOCALES = ["en", "de", "fr", "es", "it", "pt", "nl"];
const HOLDS_TIME = anyPhrase([...calendarWords(), ...(WORDS.relative_times ?? [])]);
const HOLDS_NUMBER = anyPhrase(WORDS.numbers);
const DIGIT = /\p{N}/u;

export function expectedAnswer(question: string): AnswerKind {
  if (startsWith(WANTS_TIME_AT_ITS_START, question) || WANTS_TIME.test(question)) return "time";
  return WANTS_NUMBER.test(question) ? "number" : null;
}

/** Whether the text begins with one of the phrases, signs aside. */
function startsWith(phrases: RegExp, text: string): boolean {
  const words = text.replace(/^[^\p{L}\p{N}]+/u, "");
  return phrases.exec(words)?.index === 0;
}

/** True when the text holds an expression of that kind. */
export function holdsAnswer(text: string, kind: AnswerKind): boolean {
  if (kind === null) return false;
  return DIGIT.test(text) || (kind === "time" ? HOLDS_TIME : HOLDS_NUMBER).test(text);
}

const QUESTION_MARKS = ["?", "？", "؟", "⁇"];

/** True when the text ends by asking, in any script; what stands in brackets at its end is passed over. */
export function asks(text: string): boolean {
  // Most say nothing of the kind, which is seen at once.
  if (!QUESTION_MARKS.some((mark) => text.includes(mark))) return false;
  return /[?？؟⁇]\s*["'”’»)]*\s*(?:\[[^\]]*\]\s*)?$/u.test(text.slice(-400));
}

/** Names of months and weekdays, long forms, as the platform's locale data have them. */
function calendarWords(): string[] {
  const words = new Set<string>();
  for (const locale of LOCALES) {
    const month = new Intl.DateTimeFormat(locale, { month: "long", timeZone: "UTC" });
    const weekday = new Intl.DateTimeFormat(locale, { weekday: "long", timeZone: "UTC" });
    for (let i = 0; i < 12; i++) words.add(month.format(Date.UTC(2024, i, 15)).toLowerCase());
    for (let i = 1; i <= 7; i++) words.add(weekday.format(Date.UTC(2024, 0, i)).toLowerCase());
  }
  return [...words];
}
