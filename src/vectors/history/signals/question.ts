import type { Role } from "../../../domain/session.js";
import { anyPhrase, wordLists } from "../../../platform/phrase-list.js";
import type { HistoryMessage } from "../../../ports/resources.js";

/** Words by which a question shows what it asks for. They only order what was found; nothing is decided by them. */
export const WORDS = wordLists(new URL("./words.json", import.meta.url));

/** Who is asked about: the speakers that a question names, or the role that its pronouns point to. */
export interface AskedSpeaker {
  /** Lower case. Empty when none is named. */
  readonly names: readonly string[];
  readonly role: Role | null;
}

/** "What did I tell you", "what was my idea": the user. "What did you suggest", "your tip": the assistant. */
const I_SAID = anyPhrase(WORDS.the_user_said);
const YOU_SAID = anyPhrase(WORDS.the_assistant_said);

/**
 * Reads who is asked about. `names`: of all who speak in the candidates. A name counts when one of its words is in the question.
 * Source: who speaks as a field of its own beside the text, as in expert and e-mail search (Balog, Azzopardi and de Rijke, SIGIR 2006).
 */
export function askedSpeaker(question: string, names: ReadonlySet<string>): AskedSpeaker {
  const words = new Set(wordsOf(question));
  const named = [...names].filter((name) => wordsOf(name).some((word) => words.has(word))).map((name) => name.toLowerCase());
  if (named.length > 0) return { names: named, role: null };
  const [user, assistant] = [I_SAID.test(question), YOU_SAID.test(question)];
  return { names: [], role: user === assistant ? null : user ? "user" : "assistant" };
}

/** True when the message was said by the one who is asked about. A question about two speakers prefers neither. */
export function saidByAsked(message: HistoryMessage, asked: AskedSpeaker): boolean {
  if (asked.names.length === 1) return message.name?.toLowerCase() === asked.names[0];
  return asked.role !== null && message.role === asked.role;
}

/** A word, and what an apostrophe joins to its end. */
const NAMED = /([\p{L}\p{N}]{2,})(?:['’]\p{L}+)?/gu;

/** The text without the words of these names. One that says nothing else stays as it is. */
export function withoutNames(text: string, names: ReadonlySet<string>): string {
  const words = new Set([...names].flatMap(wordsOf));
  if (words.size === 0) return text;
  const rest = text.replace(NAMED, (all, word: string) => (words.has(folded(word)) ? "" : all));
  return rest === text || wordsOf(rest).length === 0 ? text : rest.replace(/\s+/gu, " ").trim();
}

function wordsOf(text: string): string[] {
  return folded(text).match(/[\p{L}\p{N}]{2,}/gu) ?? [];
}

function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

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
