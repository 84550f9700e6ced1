import { numberIn } from "maitred/domain";
import type { Vocabulary } from "./domain-words.js";
import type { Draft, ReadClause } from "./draft.js";
import { isDenial } from "./endings.js";
import { english } from "./language.js";
import { told } from "./said.js";
import { subjectFor } from "./who.js";

/** What it may cost, as a category and what it is of. */
const BUDGET = "budget";
/** "A budget of ten million" is a joke. */
const MILLION = 1_000_000;

/** "My budget is 50", "about 50 at most": said without insisting. */
function isLoose(words: readonly string[]): boolean {
  return words.includes(BUDGET) || english.roughly.in(words) !== -1;
}

/** "80 a night", "60 quid", "EUR 60": not "2 bags per person". */
function isPriced(words: readonly string[]): boolean {
  return words.some(
    (word, at) =>
      numberIn(word) !== null &&
      (english.money.has(words[at - 1]) || [english.money, english.per].some((list) => list.at(words, at + 1) > 0)),
  );
}

/**
 * "Never more than 60 euros", "my budget is 40 a ticket": a limit that is meant to last, by its one number. Of the domain's limits it is
 * one that must hold; a budget that is told loosely, or for which the domain has no words, is a taste. What something cost once is none,
 * and what is asked for now is a search.
 */
export function limitsOf({ clause, language, who }: ReadClause, vocabulary: Vocabulary): readonly Draft[] {
  const { words } = clause;
  const denied = words.some((word) => isDenial(word, language));
  const isLimit = english.limits.in(words) !== -1 || (denied && english.exceeding.in(words) !== -1);
  const always = denied || language.always.in(words) !== -1;
  const passing = !always && [english.dated, english.requests, language.once].some((list) => list.in(words) !== -1);
  const number = numberIn(clause.text);
  if (!isLimit || passing || number === null || number >= MILLION || english.spent.in(words) !== -1 || language.unsure.in(words) !== -1)
    return [];
  const isMoney = /\p{Sc}/u.test(clause.text) || isPriced(words) || vocabulary.isOf(BUDGET, words);
  const named = vocabulary.limitIn(words);
  const limit = named ?? (isMoney ? vocabulary.limitOf(BUDGET) : undefined);
  if (limit === undefined && !isMoney) return [];
  const text = told(clause.text, who, language);
  // Of a need by its name it would have to hold.
  const isTaste = limit === undefined || (limit.category === BUDGET && !always && isLoose(words));
  const need = isTaste ? null : limit.need;
  return [
    {
      clause,
      text,
      about: (named === undefined ? String(number) : words[named.at]) ?? "",
      category: limit?.category ?? BUDGET,
      aspect: need ?? BUDGET,
      condition: "",
      need,
      hard: !isTaste,
      whole: true,
      ...subjectFor(who.kind === "companion" ? who : { kind: "self" }),
      unsure: false,
      trip: false,
    },
  ];
}
