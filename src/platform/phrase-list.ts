import { readFileSync } from "node:fs";
import { z } from "zod";
import { addTo } from "./lists.js";
import { editDistance } from "./nearest-name.js";

/** Words as they are compared: folded, and with a slip or two forgiven in long ones. */

const ASCII = /^[\0-\x7f]*$/u;

/** Lower case without accents; `ß` is `ss`. */
export function folded(text: string): string {
  // Most phrases of the lists, of which a start reads tens of thousands.
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[’‘]/gu, "'")
    .replace(/ß/gu, "ss")
    .replace(/œ/gu, "oe")
    .toLowerCase();
}

/** The words of a text, folded, in order. */
export function wordsIn(text: string): readonly string[] {
  return folded(text).match(/[\p{L}\p{N}]+(?:['-][\p{L}\p{N}]+)*/gu) ?? [];
}

/**
 * The phrases of a data file's list: lines of phrases with commas between, a phrase of words with a space between, of which one may have
 * alternatives: "don't save|keep this|that" is four phrases.
 */
export function phrasesIn(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(", ").flatMap(phrasesOf));
}

function phrasesOf(pattern: string): readonly string[] {
  if (!pattern.includes("|")) return [pattern];
  let phrases = [""];
  for (const word of pattern.split(" ")) {
    const choices = word.split("|");
    phrases = phrases.flatMap((phrase) => choices.map((choice) => (phrase === "" ? choice : `${phrase} ${choice}`)));
  }
  return phrases;
}

/** Phrases that are looked up by their first word: one list of a data file, see {@link phrasesIn}. */
export class WordList {
  readonly #phrases = new Map<string, (readonly string[])[]>();
  readonly #long: readonly string[];

  constructor(lines: readonly string[]) {
    const phrases = phrasesIn(lines);
    const singles: string[] = [];
    for (const phrase of phrases) {
      const words = wordsIn(phrase);
      const [first] = words;
      if (first === undefined) continue;
      addTo(this.#phrases, first, words);
      if (words.length === 1 && first.length >= 6) singles.push(first);
    }
    this.#long = singles;
  }

  /** How many words from `at` on are a phrase of the list; 0: none. With `slips`, a long single word may be misspelt. */
  at(words: readonly string[], at: number, options: { readonly slips?: boolean } = {}): number {
    const word = words[at];
    if (word === undefined) return 0;
    let longest = 0;
    for (const form of [word, word.endsWith("s") && word.length > 3 ? word.slice(0, -1) : word])
      for (const phrase of this.#phrases.get(form) ?? [])
        if (phrase.length > longest && phrase.slice(1).every((part, index) => words[at + 1 + index] === part)) longest = phrase.length;
    if (longest === 0 && options.slips === true && word.length >= 6) return this.#long.some((known) => nearly(word, known)) ? 1 : 0;
    return longest;
  }

  /** Exactly so, no plural. */
  is(word: string): boolean {
    return this.#phrases.get(word)?.some((phrase) => phrase.length === 1) === true;
  }

  has(word: string | undefined): boolean {
    return word !== undefined && this.at([word], 0) === 1;
  }

  /** Where the first phrase of the list begins; -1: nowhere. */
  in(words: readonly string[], options: { readonly slips?: boolean } = {}): number {
    return words.findIndex((_, at) => this.at(words, at, options) > 0);
  }
}

/** One edit apart, or two in words of eight letters and more; two neighbours that changed places are one edit. */
function nearly(a: string, b: string): boolean {
  const allowed = Math.min(a.length, b.length) >= 8 ? 2 : 1;
  if (Math.abs(a.length - b.length) > allowed || a.length > 24 || a[0] !== b[0]) return false;
  return editDistance(a, b, allowed) <= allowed;
}

/** Lower case, without accents: for comparing names. */
export function plain(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
}

/** Letters of scripts that put no space between words. */
export const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** These, and Hangul, which glues particles to its words: a word is looked for within what stands between spaces. */
export const UNSPACED_OR_GLUED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

const listsSchema = z.record(z.string(), z.array(z.string().min(1)));

/** Named lists of words and phrases from a JSON file, read once where a module loads. */
export function wordLists(url: URL): Readonly<Record<string, readonly string[]>> {
  return listsSchema.parse(JSON.parse(readFileSync(url, "utf8")));
}

/**
 * A pattern that finds any of the phrases as whole words, whatever their case; linear in the text. Phrases of scripts without spaces are
 * found anywhere. `begins`: a phrase may go on into a longer word ("mon" finds "Monday").
 */
export function anyPhrase(phrases: readonly string[] = [], { begins = false }: { readonly begins?: boolean } = {}): RegExp {
  const escaped = (of: readonly string[]) =>
    of.map((phrase) => phrase.replace(/[\\^$.*+?()[\]{}|]/gu, "\\$&").replaceAll(" ", "\\s+")).join("|");
  // One look at the letters beside for all phrases: a class of letters for each takes a compiler a hundred times as long.
  const parts = runsOf(phrases).map(({ spaced, run }) =>
    spaced ? `(?<!\\p{L})(?:${escaped(run)})${begins ? "\\p{L}*" : ""}(?!\\p{L})` : escaped(run),
  );
  return new RegExp(parts.length === 0 ? "(?!)" : parts.join("|"), "iu");
}

/** In their order, those with spaces between words apart from the others. */
function runsOf(phrases: readonly string[]): readonly { readonly spaced: boolean; readonly run: string[] }[] {
  const runs: { readonly spaced: boolean; readonly run: string[] }[] = [];
  for (const phrase of phrases) {
    const spaced = !UNSPACED_OR_GLUED.test(phrase);
    const last = runs.at(-1);
    if (last?.spaced === spaced) last.run.push(phrase);
    else runs.push({ spaced, run: [phrase] });
  }
  return runs;
}
