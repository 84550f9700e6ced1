import type { Role } from "../../../domain/session.js";
import { anyPhrase } from "../../../platform/word-list.js";
import type { HistoryMessage } from "../../../ports/history.js";
import { WORDS } from "./words.js";

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
