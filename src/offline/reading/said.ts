import { wordsIn } from "../../platform/phrase-list.js";
import type { Vocabulary } from "./domain-words.js";
import { type ReadClause, rawWords } from "./draft.js";
import type { EnglishClause } from "./english-clause.js";
import { english } from "./language.js";

/** What a plain form of statement is given, and what it tells. */

export interface Told {
  /** What it is about, as it was said. */
  readonly about: string;
  /** Default: what is said of the subject, in the third person; without a subject as it was said. */
  readonly text?: string;
  /** Default: by the words of `about`, else `other`. */
  readonly category?: string;
  readonly aspect?: string;
}

export interface Said extends EnglishClause {
  readonly read: ReadClause;
  readonly vocabulary: Vocabulary;
  /** The words without those that lead into a clause. */
  readonly plain: readonly string[];
  /** The guest is the subject, not a thing of theirs. */
  readonly own: boolean;
  /** The guest or a companion is. */
  readonly someone: boolean;
  /** It happens again and again. */
  readonly usual: boolean;
  /** What follows the verb is a thing: not "it", "that", "the first one". */
  readonly tellsOf: boolean;
}
export type Form = (said: Said) => Told | null;

const OFTEN = /\b(?:every|each|most|any|(?:once|twice|times) (?:a|per)) (?!thing|time soon)\p{L}/u;
const ON_DAYS = /\bon (?:\p{L}{3,12}days|weekends|weeknights)\b/u;

/** "Always", "every spring", "twice a year", "on Mondays". */
export function recurs(words: readonly string[]): boolean {
  return words.some((word) => english.seldom.has(word) && word !== "only") || often(words);
}

/** At times that come again: "every spring", "on Mondays". */
export function often(words: readonly string[]): boolean {
  const text = words.join(" ");
  return OFTEN.test(text) || ON_DAYS.test(text);
}

/** "The room", "the new seats": what the guest has before them. */
export function isShown(words: readonly string[]): boolean {
  return english.shown.is(words[0] ?? "") && english.here.has(words.at(-1));
}

/** The words as they stand in the clause. */
export function thingIn({ clause }: ReadClause, words: readonly string[]): string {
  const raw = rawWords(clause.text);
  const from = raw.findIndex((_, at) => words.slice(0, 2).every((word, index) => wordsIn(raw[at + index] ?? "")[0] === word));
  return from === -1 ? words.join(" ") : raw.slice(from, from + words.length).join(" ");
}
