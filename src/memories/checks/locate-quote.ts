import { isTypoOf, isUnspaced, type Lettered, lettersOf, mayBeTypoOf, type Span, type Word, wordsOf } from "../../domain/compared-words.js";
import { fold } from "../../domain/folded-text.js";
import { editDistance } from "../../platform/nearest-name.js";

/** Longer quotes are located by their beginning. */
const MAX_QUOTE_CHARS = 8_000;
/** Words of a quote that are compared where it doesn't stand as it is. */
const MAX_WORDS = 60;
/** Places in the message that are looked at closely, and how many occurrences of a word vote for one. */
const MAX_PLACES = 4;
const MAX_OCCURRENCES = 40;
/** Words of the quote that are looked for with typos where none stands in the message as it is. */
const MAX_TYPO_WORDS = 2;
const SLACK_WORDS = 4;

/**
 * A message that quotes are looked for in: after folding as they are, else with words that are misspelt, left out or put in. Folding is
 * done once; each search is linear in the message's length, its careful part bounded.
 */
export class QuotedMessage {
  readonly text: string;
  readonly words: readonly Word[];
  readonly #folded: ReturnType<typeof fold>;
  readonly #places = new Map<string, number[]>();

  constructor(text: string) {
    this.text = text;
    this.#folded = fold(text);
    this.words = wordsOf(text);
    this.words.forEach((word, index) => {
      const places = this.#places.get(word.text);
      if (places === undefined) this.#places.set(word.text, [index]);
      else if (places.length < MAX_OCCURRENCES) places.push(index);
    });
  }

  /** Where the quote stands, or null where it doesn't. */
  locate(proposed: string): Span | null {
    const quote = fold(proposed.slice(0, MAX_QUOTE_CHARS)).text;
    if (quote === "") return this.#asItIs(proposed.trim());
    return this.#folding(quote) ?? this.#nearly(wordsOf(proposed.slice(0, MAX_QUOTE_CHARS)).slice(0, MAX_WORDS));
  }

  /** What has neither letter nor number. */
  #asItIs(quote: string): Span | null {
    const start = quote === "" ? -1 : this.text.indexOf(quote);
    return start === -1 ? null : { start, end: start + quote.length };
  }

  #folding(quote: string): Span | null {
    const { text, starts, ends } = this.#folded;
    let at = text.indexOf(quote);
    for (let tries = 0; at !== -1 && tries < MAX_OCCURRENCES; tries++) {
      const [before, after] = [text[at - 1] ?? " ", text[at + quote.length] ?? " "];
      if ((before === " " || isUnspaced(before)) && (after === " " || isUnspaced(after)))
        return { start: starts[at] ?? 0, end: ends[at + quote.length - 1] ?? 0 };
      at = text.indexOf(quote, at + 1);
    }
    return null;
  }

  #nearly(quote: readonly Word[]): Span | null {
    let best: { readonly cost: number; readonly span: Span } | null = null;
    for (const place of this.#placesFor(quote)) {
      const from = Math.max(0, place - SLACK_WORDS);
      const window = this.words.slice(from, place + quote.length + SLACK_WORDS);
      const found = align(quote, window);
      if (found !== null && (best === null || found.cost < best.cost)) best = found;
    }
    return best?.span ?? null;
  }

  /** Where the quote's first word would be, by the words of it that stand in the message: the most voted for first. */
  #placesFor(quote: readonly Word[]): readonly number[] {
    const votes = new Map<number, number>();
    const vote = (index: number, offset: number, weight: number) => {
      // Neighbouring diagonals are one place.
      const place = Math.max(0, Math.floor((index - offset) / 2) * 2);
      votes.set(place, (votes.get(place) ?? 0) + weight);
    };
    quote.forEach((word, offset) => {
      const places = this.#places.get(word.text) ?? [];
      for (const index of places) vote(index, offset, 1 / places.length);
    });
    if (votes.size === 0) for (const word of quote.slice(0, MAX_TYPO_WORDS)) this.#voteForTypos(word, quote.indexOf(word), vote);
    return [...votes]
      .sort((a, b) => b[1] - a[1] || a[0] - b[0])
      .slice(0, MAX_PLACES)
      .map(([place]) => place);
  }

  #voteForTypos(word: Word, offset: number, vote: (index: number, offset: number, weight: number) => void): void {
    for (const [text, places] of this.#places)
      if (isTypoOf(text, word.text)) for (const index of places) vote(index, offset, 1 / places.length);
  }
}

/** Whether words stand in a text, whoever says them there: typos and all. Linear. */
export function isSaidIn(words: string, text: string): boolean {
  return new QuotedMessage(text).locate(words) !== null;
}

/** What a difference costs: a word of the message that the quote left out, one that it put in, another one, a misspelt one. */
const LEFT_OUT = 1;
const PUT_IN = 1.4;
const ANOTHER = 1.5;
const MISSPELT = 0.3;
/** Two words of one that were written as one word of the other: "I am" for "I'm", "can not" for "cannot". */
const PARTED = 0.4;

/** The best place of the quote among the words of the window, or null where it costs too much. */
function align(quote: readonly Word[], window: readonly Word[]): { readonly cost: number; readonly span: Span } | null {
  // What a place costs, and with which word of the window it began.
  let previous: Cell[] = Array.from({ length: window.length + 1 }, (_, j) => ({ cost: 0, from: j }));
  let beforePrevious: Cell[] = [];
  const others = window.map(lettered);
  for (const [i, word] of quote.map(lettered).entries()) {
    const row: Cell[] = [{ cost: (i + 1) * PUT_IN, from: 0 }];
    for (let j = 1; j <= window.length; j++) {
      const unlike = unlikeness(word, others[j - 1]);
      const one = cheapest(plus(previous[j - 1], unlike), plus(previous[j], PUT_IN), plus(row[j - 1], LEFT_OUT));
      const quoteParted = isParted(quote[i - 1], quote[i], window[j - 1]) ? plus(beforePrevious[j - 1], PARTED) : one;
      const textParted = isParted(window[j - 2], window[j - 1], quote[i]) ? plus(previous[j - 2], PARTED) : one;
      row.push(cheapest(one, quoteParted, textParted));
    }
    [beforePrevious, previous] = [previous, row];
  }
  let end = 0;
  for (let j = 1; j < previous.length; j++) if ((previous[j]?.cost ?? 0) < (previous[end]?.cost ?? 0)) end = j;
  const found = previous[end];
  const [first, last] = [window[found?.from ?? 0], window[end - 1]];
  if (found === undefined || first === undefined || last === undefined || found.cost > costAllowed(quote)) return null;
  return first.start < last.end ? { cost: found.cost, span: { start: first.start, end: last.end } } : null;
}

function lettered({ text }: Word): Lettered {
  return { text, letters: lettersOf(text) };
}

function unlikeness(word: Lettered, other: Lettered | undefined): number {
  if (other === undefined) return ANOTHER;
  if (other.text === word.text) return 0;
  return mayBeTypoOf(other, word) && isTypoOf(other.text, word.text) ? MISSPELT : ANOTHER;
}

/** Letters that may be missing where two words are written as one. */
const SHORTENED = 2;

/** Whether two words are one: the same letters but one or two that were left out where they meet, the first and the last among them. */
function isParted(first: Word | undefined, second: Word | undefined, one: Word | undefined): boolean {
  if (first === undefined || second === undefined || one === undefined) return false;
  const missing = first.text.length + second.text.length - one.text.length;
  if (missing < 0 || missing > SHORTENED || one.text.length < 2) return false;
  if (one.text[0] !== first.text[0] || one.text.at(-1) !== second.text.at(-1)) return false;
  return editDistance(first.text + second.text, one.text, missing) <= missing;
}

interface Cell {
  readonly cost: number;
  readonly from: number;
}

function plus(cell: Cell | undefined, cost: number): Cell {
  return cell === undefined ? { cost: Number.POSITIVE_INFINITY, from: 0 } : { cost: cell.cost + cost, from: cell.from };
}

function cheapest(a: Cell, b: Cell, c: Cell): Cell {
  const least = a.cost <= b.cost ? a : b;
  return least.cost <= c.cost ? least : c;
}

/** One word left out or put in, in a long quote two; and a slip of the pen here and there. */
function costAllowed(quote: readonly Word[]): number {
  const words = quote.length;
  if (words < 2) return 0.3;
  return words < 4 ? 1.3 : words < 10 ? 1.6 : Math.min(4, words * 0.2);
}

/** What must hold stands in a sentence; a quote of more doesn't tell which words say it. */
const MAX_HARD_WORDS = 30;
/** In scripts without spaces a word is a character or two. */
const MAX_HARD_CHARS = 300;
const MAX_SENTENCES_WORDS = 12;

/** Whether a quote is short enough to tell which words say what must hold. */
export function isPrecise(quote: string): boolean {
  const words = quote.trim().split(/\s+/u).length;
  if (words > MAX_HARD_WORDS || quote.length > MAX_HARD_CHARS) return false;
  return words <= MAX_SENTENCES_WORDS || !/[.!?。！？]\s|\n/u.test(quote);
}
