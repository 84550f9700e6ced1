import { wordsIn } from "../../platform/phrase-list.js";
import type { Sentence } from "./clauses.js";
import type { Vocabulary } from "./domain-words.js";
import type { Draft } from "./draft.js";
import { english, type Language, relationAt } from "./language.js";

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
  if (language.name !== "en" || words.length > MAX_WORDS || told.some((list) => list.in(words) !== -1)) return [];
  if (language.first.in(words) === -1) return [];
  const condition = english.conditions.in(words);
  const denied = words.slice(Math.max(0, condition - REACH), condition).some((word) => language.not.has(word));
  const thing = english.harms.in(words) === -1 ? undefined : vocabulary.needsIn(words)[0];
  if (thing === undefined && (condition === -1 || denied)) return [];
  const at = words.findIndex((_, index) => relationAt(words, index) !== undefined);
  const relation = at === -1 ? undefined : relationAt(words, at)?.relation;
  const text = sentence.text.replace(/[\s.!]+$/u, "");
  return [
    {
      clause: { text: sentence.text, start: sentence.start, words, index: 0 },
      text: text.charAt(0).toUpperCase() + text.slice(1),
      about: thing === undefined ? (words[condition] ?? "") : words.slice(thing.at, thing.at + thing.length).join(" "),
      category: thing?.category ?? "accessibility",
      aspect: "",
      condition: "",
      need: thing?.need ?? "other",
      hard: true,
      subject: relation === undefined ? "self" : `companion:${relation}`,
      name: null,
      unsure: true,
      trip: language.once.in(words) !== -1,
    },
  ];
}
