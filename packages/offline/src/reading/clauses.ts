import { wordsIn } from "maitred/stand-in";
import { english, type Language, relationAt, saysLiking, spelt, wordsOf } from "./language.js";
import { pointedOutIn } from "./names.js";

/** A part of a sentence that can say one thing. Offsets are those of the message. */
export interface Clause {
  readonly text: string;
  readonly start: number;
  readonly words: readonly string[];
  /** Its place in the sentence. */
  readonly index: number;
}

export interface Sentence {
  readonly text: string;
  readonly start: number;
  readonly asks: boolean;
}

const MAX_SENTENCES = 60;
const MAX_CLAUSES = 20;
/** Who writes longer sentences joins several: such a sentence is read by parts of so many characters, which end at a comma. */
const MAX_SENTENCE_CHARS = 240;
const PART_CHARS = 120;
/** Longer ones are no plain statements. */
const MAX_CLAUSE_WORDS = 30;

/** At `. ! ? …` before white space, and at line breaks; not after a title or an initial. */
export function sentencesOf(text: string, isTitle: (word: string) => boolean): readonly Sentence[] {
  const sentences: Sentence[] = [];
  let start = 0;
  const push = (end: number) => {
    const part = text.slice(start, end);
    const trimmed = part.trim();
    if (trimmed !== "") sentences.push(...partsOf(trimmed, start + part.indexOf(trimmed)));
    start = end;
  };
  for (const { index, 0: mark } of text.matchAll(/[.!?…]+(?=\s|$)|[。！？]|\n/gu)) {
    const before = wordsIn(text.slice(Math.max(start, index - 12), index)).at(-1) ?? "";
    if (mark === "." && (isTitle(before) || before.length === 1)) continue;
    push(index + mark.length);
  }
  push(text.length);
  return sentences.slice(0, MAX_SENTENCES);
}

function partsOf(text: string, start: number): readonly Sentence[] {
  const ends = text.length <= MAX_SENTENCE_CHARS ? [] : [...text.matchAll(/[,;]\s+/gu)].map(({ index, 0: mark }) => index + mark.length);
  const parts: Sentence[] = [];
  let from = 0;
  for (const [at, end] of [...ends, text.length].entries()) {
    const isLast = at === ends.length;
    if (!isLast && (ends[at + 1] ?? text.length) - from <= PART_CHARS) continue;
    const part = text.slice(from, end).replace(/[,;\s]+$/u, "");
    parts.push({ text: part, start: start + from, asks: /[?？][!?\s"”’)]*$/u.test(part) });
    from = end;
  }
  return parts;
}

/** At marks, and at a joining word where what follows begins a statement of its own. */
export function clausesOf(sentence: Sentence, language: Language): readonly Clause[] {
  const clauses: Clause[] = [];
  let start = 0;
  const push = (end: number, next: number) => {
    const part = sentence.text.slice(start, end);
    const text = part.trim();
    const words = language.name === "en" ? wordsIn(text).map(spelt) : wordsOf(text, language);
    if (words.length > 0 && words.length <= MAX_CLAUSE_WORDS)
      clauses.push({ text, start: sentence.start + start + part.indexOf(text), words, index: clauses.length });
    start = next;
  };
  for (const { index, 0: mark } of sentence.text.matchAll(/[,;:()–—、。]+(?=\D|$)|\s-\s|(?<=\s)\p{L}+(?=\s)/gu)) {
    if (/\p{L}/u.test(mark)) {
      const [word = ""] = wordsIn(mark);
      const rest = wordsIn(sentence.text.slice(index + mark.length, index + mark.length + 40));
      // "I'm vegetarian my husband eats anything".
      if (language.mine.has(word) && relationAt(rest, 0) !== undefined && endsWithTrait(sentence.text.slice(start, index)))
        push(index, index);
      // Without its accent "è" is "and".
      const isAccented = mark.length === 1 && mark.toLowerCase() !== word;
      if (isAccented || !language.joins.has(word)) continue;
      // "It's Beth with the nuts and the wheelchair" goes on about her.
      const before = sentence.text.slice(start, index);
      if (language.others.has(rest[0]) && pointedOutIn({ text: before, words: wordsIn(before) }) !== -1) continue;
      // "As always" joins nothing.
      if (!(language.begins(rest) || tellsOfTheirs(rest, language)) || language.always.at(wordsIn(`${mark} ${rest[0]}`), 0) > 1) continue;
      push(index, index + mark.length);
    } else push(index, index + mark.length);
  }
  push(sentence.text.length, sentence.text.length);
  return clauses.slice(0, MAX_CLAUSES);
}

/** "I love musicals, any concerts?": the clauses up to the last liking that stands before the question are none. */
export function untilLiking(clauses: readonly Clause[], language: Language): readonly Clause[] {
  return clauses.slice(0, clauses.slice(0, -1).findLastIndex(({ words }) => statesLiking(words, language)) + 1);
}

/** What is said of somebody in a single word is all that is said: "I'm vegan". */
function endsWithTrait(text: string): boolean {
  const words = wordsIn(text);
  const last = words.at(-1);
  return english.i.has(words[0]) && english.traits.has(last) && !english.leads_on.has(last);
}

/** "Mum is coeliac", "dad uses a wheelchair". */
function tellsOfTheirs(words: readonly string[], { tells }: Language): boolean {
  const relation = relationAt(words, 0);
  return relation !== undefined && tells.has(words[relation.length]);
}

function statesLiking([first = "", ...rest]: readonly string[], language: Language): boolean {
  return language.first.has(first) && rest.some((word) => saysLiking(word));
}

/** What narrows a clause down behind a comma is so short. */
const NARROWING_WORDS = 4;

/** With what narrows it down behind a comma: "60 at most, except for football, in Vienna". A number there is another statement. */
export function withNarrowing(whole: Clause, clause: Clause, clauses: readonly Clause[]): Clause {
  let narrowed = clause;
  for (const next of clauses) {
    if (next.start <= clause.start) continue;
    const isNarrowing = english.narrows.at(next.words, 0) > 0 && next.words.length <= NARROWING_WORDS && !/\p{N}/u.test(next.text);
    if (!isNarrowing) break;
    const text = whole.text.slice(clause.start - whole.start, next.start - whole.start + next.text.length);
    narrowed = { ...clause, text, words: wordsIn(text) };
  }
  return narrowed;
}

/** All of a sentence up to the end of one of its clauses. */
export function through(whole: Clause, { start, text: last }: Clause): Clause {
  const text = whole.text.slice(0, start - whole.start + last.length);
  return { ...whole, text, words: wordsIn(text) };
}
