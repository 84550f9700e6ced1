import { addTo } from "./lists.js";
import { folded, phrasesIn, UNSPACED } from "./phrase-list.js";

/** Of a prefix, in letters: shorter ones would be found in too many words. */
const SHORTEST_PREFIX = 3;

export interface FoundPhrase<Label> {
  readonly label: Label;
  /** The first of its words, counted from 0; -1 for a phrase within a word of a script without spaces. */
  readonly at: number;
  /** In words. */
  readonly length: number;
}

interface Entry<Label> {
  readonly label: Label;
  readonly words: readonly string[];
}

/**
 * Phrases under labels, all found in one pass over a text's words, folded. `restaurant*` stands for every word that begins so; a plural
 * with s is found as its singular. Lists as `phrasesIn` reads them.
 */
export class PhraseIndex<Label> {
  readonly #words = new Map<string, Entry<Label>[]>();
  readonly #prefixes = new Map<string, Label[]>();
  readonly #unspaced: (readonly [string, Label])[] = [];
  /** By phrase, those that it is a part of, the longest first. */
  readonly #longer = new Map<string, readonly string[]>();
  #longestPrefix = 0;

  constructor(lists: Iterable<readonly [Label, readonly string[]]>) {
    for (const [label, lines] of lists) for (const phrase of phrasesIn(lines)) this.#add(label, phrase);
    const unspaced = [...new Set(this.#unspaced.map(([phrase]) => phrase))].sort((a, b) => b.length - a.length);
    for (const phrase of unspaced) {
      const longer = unspaced.filter((other) => other !== phrase && other.includes(phrase));
      if (longer.length > 0) this.#longer.set(phrase, longer);
    }
  }

  /**
   * Every phrase that stands in the words; of those of one label that begin at one word, the longest. Within a word of a script without
   * spaces a phrase is found where it is no part of a longer one.
   */
  find(words: readonly string[]): readonly FoundPhrase<Label>[] {
    const found: FoundPhrase<Label>[] = [];
    for (const [at, word] of words.entries()) {
      const here = new Map<Label, number>();
      const take = (label: Label, length: number) => here.set(label, Math.max(length, here.get(label) ?? 0));
      for (const form of formsOf(word))
        for (const entry of this.#words.get(form) ?? [])
          if (entry.words.slice(1).every((part, n) => formsOf(words[at + 1 + n] ?? "").includes(part)))
            take(entry.label, entry.words.length);
      for (let length = SHORTEST_PREFIX; length <= Math.min(word.length, this.#longestPrefix); length++)
        for (const label of this.#prefixes.get(word.slice(0, length)) ?? []) take(label, 1);
      if (UNSPACED.test(word))
        for (const [phrase, label] of this.#unspaced)
          if (word === phrase) take(label, 1);
          else if (this.#isWithin(word, phrase)) found.push({ label, at: -1, length: 0 });
      for (const [label, length] of here) found.push({ label, at, length });
    }
    return found;
  }

  #isWithin(word: string, phrase: string): boolean {
    if (!word.includes(phrase)) return false;
    const rest = (this.#longer.get(phrase) ?? []).reduce((left, longer) => left.replaceAll(longer, " "), word);
    return rest.includes(phrase);
  }

  #add(label: Label, phrase: string): void {
    const words = plainWords(phrase.replace(/\*$/u, ""));
    const [first] = words;
    if (first === undefined) return;
    if (UNSPACED.test(first)) this.#unspaced.push([first, label]);
    else if (phrase.endsWith("*") && words.length === 1) {
      addTo(this.#prefixes, first, label);
      this.#longestPrefix = Math.max(this.#longestPrefix, first.length);
    } else addTo(this.#words, first, { label, words });
  }
}

/** The words of a text as the index compares them: folded, parted at hyphens and apostrophes too. */
export function plainWords(text: string): readonly string[] {
  return folded(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

function formsOf(word: string): readonly string[] {
  return word.length > 3 && word.endsWith("s") ? [word, word.slice(0, -1)] : [word];
}
