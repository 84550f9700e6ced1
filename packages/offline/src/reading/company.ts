import type { Clause } from "./clauses.js";
import type { Vocabulary } from "./domain-words.js";
import { english, type Language, relationAt } from "./language.js";
import { isName, rawWords } from "./names.js";

/**
 * "Dad is coming along", "for me and my friend Leanne", "there's me, my husband and the twins": who comes is no need, and nothing to ask
 * about. It names somebody, and has no word that tells more: of an illness or a faith nobody knows that it is no name. English.
 */
export function saysWhoComes({ text, words }: Pick<Clause, "text" | "words">, language: Language, vocabulary: Vocabulary): boolean {
  if (language.name !== "en" || vocabulary.needsIn(words).length > 0 || vocabulary.reasonsIn(words).length > 0) return false;
  const bare = words.map((word) => word.replace(/'s$/u, ""));
  const raw = rawWords(text);
  const comesAt = (at: number) => [english.comes_along, language.comes].some((list) => list.at(bare, at) > 0);
  const isSomebody = (at: number) => language.pronounAt(bare, at).length > 0 || english.friends.has(bare[at]);
  // "Me and Tom", "my friend Ann and Tom", "I bring Tom".
  const isNamed = (at: number) =>
    isSomebody(at) || language.first.has(bare[at]) || (at >= 0 && relationAt(bare, at) !== undefined) || isName(raw[at] ?? "");
  let isOfSomebody = false;
  let mayBeCalled = false;
  for (let at = 0; at < bare.length; ) {
    const relation = relationAt(bare, at);
    const small = [english.company, english.comes_along, language.comes, english.numbers].map((list) => list.at(bare, at));
    // "Is coming", "are both joining": what somebody is otherwise is told of them.
    const next = bare.findIndex((word, place) => place > at && !english.tallying.has(word));
    const isComing = english.be.has(bare[at]) && comesAt(next);
    const isSmall = isComing || [language.first, english.fillers, english.tails].some((list) => list.has(bare[at]));
    const isPerson = isSomebody(at) || (mayBeCalled && isName(raw[at] ?? ""));
    isOfSomebody ||= relation !== undefined || isPerson;
    const length = relation?.length ?? Math.max(...small, isSmall || isPerson || /^\d{1,2}$/u.test(bare[at] ?? "") ? 1 : 0);
    if (length === 0) return false;
    // "My friend Leanne", "me and Tom"; "old and Muslim" calls nobody.
    mayBeCalled = relation !== undefined || english.friends.has(bare[at]) || (english.adds_one.has(bare[at]) && isNamed(at - 1));
    at += length;
  }
  return isOfSomebody;
}
