import { wordsIn } from "../../platform/phrase-list.js";
import type { Sentence } from "./clauses.js";
import type { Vocabulary } from "./domain-words.js";
import { asSaid, type Draft } from "./draft.js";
import { english, type Language, relationAt } from "./language.js";
import { hardDraft } from "./needs.js";

const ALLERGY = /all?erg|uczul/u;
const MAX_WORDS = 30;
/** A negation this close before a word denies it. */
const REACH = 3;

/**
 * What may be a need though nobody said so plainly: something named beside what it does to the guest ("X makes me ill"), or a condition
 * ("I've MS"). Always unsure, so that the guest is asked. English.
 */
export function hintsOf(sentence: Sentence, language: Language, vocabulary: Vocabulary): readonly Draft[] {
  const words = wordsIn(sentence.text);
  const told = [language.would, language.past, language.if, english.ends, english.again, english.bystanders];
  // Of a language that isn't known here, the word for an allergy is known nearly always.
  const unknown = !words.some((word) => word.length > 1 && language.markers.has(word)) && words.some((word) => ALLERGY.test(word));
  if (language.name !== "en" || words.length > MAX_WORDS || told.some((list) => list.in(words) !== -1)) return [];
  if (language.first.in(words) === -1 && !unknown) return [];
  const condition = english.conditions.in(words);
  const denied = words.slice(Math.max(0, condition - REACH), condition).some((word) => language.not.has(word));
  const harmed = english.harms.in(words) !== -1;
  const thing = vocabulary
    .needsIn(words)
    .find(({ kind, at, length }) => harmed || (kind === "be" && !sentence.asks && isOfThem(words, at, length, language)));
  if (thing === undefined && !unknown && (condition === -1 || denied)) return [];
  const relation = words.map((_, at) => relationAt(words, at)?.relation).find((each) => each !== undefined);
  const who = relation === undefined ? { kind: "self" as const } : { kind: "companion" as const, relation, name: null };
  const clause = { text: sentence.text, start: sentence.start, words, index: 0 };
  return [
    {
      ...hardDraft({ clause, language, who }, asSaid(sentence.text)),
      about:
        thing === undefined
          ? (words[condition] ?? words.find((word) => ALLERGY.test(word)) ?? "")
          : words.slice(thing.at, thing.at + thing.length).join(" "),
      category: thing?.category ?? (unknown ? "dietary" : "accessibility"),
      need: thing?.need ?? "other",
      unsure: true,
    },
  ];
}

/** Neither denied nor of a place: "a vegan restaurant". */
function isOfThem(words: readonly string[], at: number, length: number, { not }: Language): boolean {
  return !english.nouns_after.has(words[at + length]) && !words.slice(Math.max(0, at - REACH), at).some((word) => not.has(word));
}
