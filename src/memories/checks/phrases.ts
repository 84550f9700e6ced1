import { isUnspaced } from "../../domain/compared-words.js";
import { folded, WordList, wordsIn } from "../../platform/phrase-list.js";

/** A text, and its words as phrases are looked for among them. */
export class Words {
  readonly text: string;
  readonly words: readonly string[];

  constructor(text: string) {
    this.text = folded(text);
    this.words = bare(text);
  }
}

/** Of "Dad's nut-free" three words: whose it is doesn't make another one. */
function bare(text: string): readonly string[] {
  return wordsIn(text.replaceAll("-", " ")).map((word) => (word.endsWith("'s") ? word.slice(0, -2) : word));
}

/** Phrases of all scripts, and signs. */
export class Phrases {
  readonly list: WordList;
  readonly #unspaced: readonly string[];

  constructor(phrases: readonly string[]) {
    this.list = new WordList(phrases.map((phrase) => bare(phrase).join(" ")));
    this.#unspaced = phrases.filter((phrase) => isUnspaced(phrase) || wordsIn(phrase).length === 0);
  }

  unspacedIn({ text }: Words): string | undefined {
    return this.#unspaced.find((phrase) => text.includes(folded(phrase)));
  }

  isSignedIn(clause: Words): boolean {
    return this.unspacedIn(clause) !== undefined;
  }

  in(clause: Words): boolean {
    return this.list.in(clause.words) !== -1 || this.isSignedIn(clause);
  }

  /** The same, a slip or two forgiven in long words. */
  mayBeIn(clause: Words): boolean {
    return this.list.in(clause.words, { slips: true }) !== -1 || this.isSignedIn(clause);
  }

  /** The places of all words that are part of one. */
  covered({ words }: Words): ReadonlySet<number> {
    const covered = new Set<number>();
    for (const [at] of words.entries()) for (let next = at; next < at + this.list.at(words, at); next++) covered.add(next);
    return covered;
  }

  /** A text without those of scripts without spaces, and without the signs. */
  unspacedLeft({ text }: Words): string {
    return this.#unspaced.reduce((left, phrase) => left.replaceAll(folded(phrase), " "), text);
  }

  places({ words }: Words): readonly number[] {
    return words.flatMap((_, at) => (this.list.at(words, at) > 0 ? [at] : []));
  }

  /** Whether one begins there: `to` is no longer part of it. */
  within({ words }: Words, from: number, to: number): boolean {
    for (let at = Math.max(0, from); at < to; at++) if (this.list.at(words, at) > 0) return true;
    return false;
  }
}
