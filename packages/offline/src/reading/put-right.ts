import type { Memory } from "maitred";
import { wordsIn } from "maitred/stand-in";
import { alike } from "./alike.js";
import type { Sentence } from "./clauses.js";
import type { Vocabulary } from "./domain-words.js";
import { isDenial } from "./endings.js";
import { english, type Language, pronounIn } from "./language.js";

/*
 * "It's walnuts, not almonds", "not nuts, SESAME": what the guest puts right of what must hold. One thing is denied by its name, and
 * another is named in its place. The guest is asked whether it is so, as the words may be of an order.
 */

export interface PutRight {
  readonly target: Memory;
  /** The thing that was meant, as it was said. */
  readonly about: string;
  /** The memory's text with that thing in it. */
  readonly text: string;
  /** The sentence. */
  readonly quote: string;
  /** It tells of nothing else that may have to hold. */
  readonly isAll: boolean;
}

/** A thing that nobody denies is named in so few words. */
const MAX_THING_WORDS = 2;

/** Null where nothing is put right, or it can't be told which memory or which thing is meant. `known`: of whoever the words are about. */
export function putRightIn({ text }: Sentence, known: readonly Memory[], language: Language, vocabulary: Vocabulary): PutRight | null {
  // A denial in the middle begins what is denied: "its not nuts its sesame".
  const parts = text.split(BETWEEN).map((part) => ({ said: part.trim(), words: wordsIn(part) }));
  if (language.name === "de" && !wordsIn(text).includes("sondern")) return null;
  const denied = parts.flatMap(({ words }) => deniedThing(words));
  // "… I'm allergic to raspberries" tells it by itself.
  const isTold = parts.some(({ words }) => language.avoid.in(words) !== -1 && !words.some((word) => isDenial(word, language)));
  const named = isTold ? [] : parts.toSorted(bySaying).flatMap((part) => namedThing(part, language, vocabulary));
  const [target, another] = known.filter((memory) => memory.strength === "hard" && thingIn(memory, denied) !== undefined);
  const about = named.find((thing) => !wordsIn(thing).some((word) => denied.some((other) => alike(word, other))));
  if (target === undefined || another !== undefined || about === undefined) return null;
  const before = thingIn(target, denied);
  if (before === undefined) return null;
  const things = [...denied, ...wordsIn(about)];
  const isAll = vocabulary.needsIn(wordsIn(text)).every(({ at }) => things.includes(wordsIn(text)[at] ?? ""));
  return { target, about, text: target.text.replace(before, () => about), quote: text, isAll };
}

const BETWEEN = /[,;:.!?–—]+\s|\s-\s|\s(?=(?:it's|its|it is|sondern|but)\s)/iu;

/** "Not nuts", "it isn't the almonds": nothing else is denied by it. "No nuts" and "I do not eat nuts" are what somebody wants. */
function deniedThing(words: readonly string[]): readonly string[] {
  const at = english.refuses.in(words) === -1 ? english.denies_name.in(words) : -1;
  const thing = at === -1 ? [] : words.slice(at + 1).filter((word) => !isSmall(word));
  return thing.length > 0 && thing.length <= MAX_THING_WORDS ? thing : [];
}

interface Part {
  readonly said: string;
  readonly words: readonly string[];
}

/** "It's kiwi", "SESAME", "sondern Sesam": without a word that leads to it only what is a need to avoid. */
function namedThing({ said, words }: Part, language: Language, vocabulary: Vocabulary): readonly string[] {
  const needs = vocabulary.needsIn(words);
  // "Vegan, not nuts", "sesame is fine".
  if (needs.some(({ kind }) => kind === "be") || english.well.in(words) !== -1) return [];
  const from = english.named_by.in(words);
  if (words.some((word) => isDenial(word, language)) || (from === -1 && needs.length === 0)) return [];
  const rest = words.slice(from === -1 ? 0 : from + english.named_by.at(words, from));
  const thing = rest.filter((word) => !isSmall(word));
  if (thing.length === 0 || thing.length > MAX_THING_WORDS || [language.first, language.others].some((list) => list.in(thing) !== -1))
    return [];
  if (pronounIn(thing, language).length > 0) return [];
  return [rawOf(said, thing)];
}

/** What is said to be it, before what may be anything. */
function bySaying(a: Part, b: Part): number {
  return Number(english.named_by.in(b.words) !== -1) - Number(english.named_by.in(a.words) !== -1);
}

/** The words of the message themselves. */
function rawOf(said: string, thing: readonly string[]): string {
  const raw = said.split(/\s+/u).filter((word) => wordsIn(word).some((each) => thing.includes(each)));
  return raw
    .join(" ")
    .replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "")
    .toLowerCase();
}

function isSmall(word: string): boolean {
  return [english.fillers, english.tails, english.glue, english.pointers].some((list) => list.has(word));
}

/** The word of a memory that stands for what was denied. */
function thingIn({ about, text }: Memory, denied: readonly string[]): string | undefined {
  const raw = text.match(/[\p{L}\p{M}\p{N}'’-]+/gu) ?? [];
  const own = wordsIn(about);
  return raw.find((word) => wordsIn(word).some((each) => own.includes(each) && denied.some((other) => alike(each, other))));
}
