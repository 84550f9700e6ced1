import type { Clause } from "./clauses.js";
import type { FoundNeed, Vocabulary } from "./domain-words.js";
import { isDenial, trimmed } from "./endings.js";
import { english, type Language, relationAt } from "./language.js";

/*
 * Sentences that tell of no need: "I'm not vegan", "I used to be allergic to nuts", "my son doesn't have a nut allergy". What is more than
 * that, or could be, is none of them: "I don't eat nuts", "not just vegan", "I'm not allergic, my son is". English.
 */

/** Words before a denial that say of whom it is told: "my oldest son is". */
const MAX_SUBJECT_WORDS = 4;

/** Whether all that a sentence says of needs is that nobody has them. */
export function tellsOfNone(clauses: readonly Clause[], language: Language, vocabulary: Vocabulary): boolean {
  if (language.name !== "en") return false;
  const told = clauses.map(({ words }) => trimmed(words)).filter((words) => words.length > 0);
  const ofNeeds = told.filter((words) => isOfNeed(words, vocabulary));
  return (
    ofNeeds.length > 0 &&
    ofNeeds.every((words) => deniedFrom(words, language, vocabulary) !== null) &&
    told.every((words) => ofNeeds.includes(words) || !mayPointBack(words, language))
  );
}

/** Whether words deny the need that they name, or say that it is over. */
export function isDenied(words: readonly string[], language: Language, vocabulary: Vocabulary): boolean {
  return language.name === "en" && deniedFrom(trimmed(words), language, vocabulary) !== null;
}

function isOfNeed(words: readonly string[], vocabulary: Vocabulary): boolean {
  return vocabulary.needsIn(words).length > 0 || words.some(isCue);
}

/** It says that something does harm, or is avoided. */
function isCue(word: string): boolean {
  return english.cued.has(word) || english.no_needs.is(word) || word.startsWith("avoid");
}

/** "My son is", "but he can't": of a need that was named before. */
function mayPointBack(words: readonly string[], language: Language): boolean {
  const isOfAnother = words.some((_, at) => language.pronounAt(words, at).length > 0 || relationAt(words, at) !== undefined);
  return isOfAnother || english.unmeant.in(words) !== -1 || english.points_back.has(words.at(-1));
}

/** Where the denial begins of all that the words name; null where they name more, or deny something else. */
function deniedFrom(words: readonly string[], language: Language, vocabulary: Vocabulary): number | null {
  // "No, I'm not vegan" answers first.
  const [first, ...rest] = words;
  if (english.answers_no.has(first) && english.i.has(rest[0])) return deniedFrom(rest, language, vocabulary);
  const [from, next] = denialIn(words, language);
  if (from === -1 || withoutSubject(words.slice(0, from), language)) return null;
  const needs = vocabulary.needsIn(words);
  const cued = words.findIndex((word, at) => at >= next && isCue(word)) !== -1;
  // "I don't eat nuts" is a need.
  if (needs.some(({ at, kind }) => at < next || (kind === "avoid" && !cued)) || !(cued || needs.length > 0)) return null;
  const isNamed = (at: number) => isCue(words[at] ?? "") || needs.some((need: FoundNeed) => at >= need.at && at < need.at + need.length);
  const last = words.findLastIndex((_, at) => isNamed(at));
  const between = words
    .slice(next, last)
    .every(
      (word, at) => isNamed(next + at) || [english.glue, english.listing, english.kinds, english.groups].some((list) => list.has(word)),
    );
  const after = words.slice(last + 1);
  const isMore = english.exceptions.in(after) !== -1 || mayPointBack(after, language) || after.some((word) => isDenial(word, language));
  return between && !isMore ? from : null;
}

/** What stands before a denial is more than whose it is. */
function withoutSubject(before: readonly string[], language: Language): boolean {
  return before.length > MAX_SUBJECT_WORDS || language.unsure.in(before) !== -1 || before.some((word) => isDenial(word, language));
}

/** The first word that denies or ends, and where what it is about begins. */
function denialIn(words: readonly string[], language: Language): readonly [from: number, next: number] {
  for (const [at, word] of words.entries()) {
    const over = [english.no_longer, english.formerly, english.stops, english.grown].map((list) => list.at(words, at));
    const length = Math.max(...over, english.denies.has(word) || language.not.has(word) ? 1 : 0);
    if (length > 0) return [at, at + length];
  }
  return [-1, -1];
}
