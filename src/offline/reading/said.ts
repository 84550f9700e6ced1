import type { Vocabulary } from "./domain-words.js";
import type { Draft, ReadClause } from "./draft.js";
import type { EnglishClause } from "./english-clause.js";
import { english } from "./language.js";

/** What the rules for soft statements share. */

export type Said = Pick<Draft, "text" | "about" | "category" | "aspect">;
export type Rule = (read: ReadClause, parsed: EnglishClause, vocabulary: Vocabulary) => Said | null;

export const has = (parsed: EnglishClause, ...words: readonly string[]) => words.some((word) => parsed.words.includes(word));
export const isOwn = (read: ReadClause, parsed: EnglishClause) => read.who.kind === "self" && parsed.thing === "";
export const unfit = (parsed: EnglishClause) =>
  parsed.past || parsed.auxiliaries.some((word) => ["will", "would", "could", "should", "did", "shall"].includes(word));

/** Where a thing belongs: by its words, else a name in capitals is an artist. */
export function filed(words: readonly string[], raw: string, vocabulary: Vocabulary): { category: string; aspect: string } {
  const category = vocabulary.categoryOf(words) ?? (/^\p{Lu}/u.test(raw) ? "artist" : "other");
  return { category, aspect: words.slice(0, 4).join(" ").slice(0, 64) };
}

/** It names a day, and so is of one evening. */
export const isDated = (parsed: EnglishClause) => parsed.words.some((word) => english.dated.is(word));
