import type { Memory } from "maitred";
import { isAbout } from "./changes.js";
import type { Vocabulary } from "./domain-words.js";
import { english, type Language } from "./language.js";

/** What takes nothing back of what the message before told, however a judge hears it. English. */

/** Longer messages tell more than an answer to what was offered. */
const MAX_ANSWER_WORDS = 6;

/**
 * Whether words may take back what was said before them: no condition ("yes, but only if it suits my allergy"), no agreement ("yes, keep
 * that"), no choice among what was offered ("ok, the first one then", "make it three"), and no order ("cancel it").
 */
export function mayTakeBack(words: readonly string[], language: Language): boolean {
  if (language.name !== "en") return true;
  if (english.conditions.in(words) !== -1 || isMadeOf(words, (at) => english.agreeing.at(words, at))) return false;
  const told = words.filter((word) => !english.fillers.has(word) && !english.tails.has(word));
  const isOrder = english.orders.at(told, 0) > 0;
  return told.length > MAX_ANSWER_WORDS || english.takes_back.in(words) !== -1 || !(isOrder || told.some((_, at) => chooses(told, at)));
}

/**
 * Whether words that a judge hears as taking a memory back are of something else: "never mind the budget" ends no liking for jazz,
 * "I might be allergic to nuts, not sure" doubts no wheelchair.
 */
export function leavesAlone(target: Memory, words: readonly string[], language: Language, vocabulary: Vocabulary): boolean {
  if (target.strength === "hard") return doubtsAnother(target, words, language, vocabulary);
  const named = vocabulary.categoryOf(words);
  return (named !== undefined && named !== target.category) || (english.drops.in(words) !== -1 && !isAbout(target, words));
}

function doubtsAnother({ need }: Memory, words: readonly string[], language: Language, vocabulary: Vocabulary): boolean {
  if (need === null || language.name !== "en" || language.unsure.in(words) === -1) return false;
  if ([english.misspoken, english.change].some((list) => list.in(words) !== -1)) return false;
  const named = vocabulary.needsIn(words);
  return named.length > 0 && named.every((each) => each.need !== need);
}

/** A place on a list, a number of seats, a day, a price. */
function chooses(words: readonly string[], at: number): boolean {
  const word = words[at] ?? "";
  return /^\d/u.test(word) || [english.chosen, english.numbers, english.dated].some((list) => list.at(words, at) > 0);
}

/** Whether words are phrases of a list, and nothing else. `phraseAt`: how many words the one at a place takes. */
function isMadeOf(words: readonly string[], phraseAt: (at: number) => number): boolean {
  for (let at = 0; at < words.length; ) {
    const length = phraseAt(at);
    if (length === 0) return false;
    at += length;
  }
  return words.length > 0;
}
