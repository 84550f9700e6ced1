import { lettersOf, mayBeFormOf, saysWord, wordsOf } from "../../domain/compared-words.js";
import { folded } from "../../domain/folded-text.js";

/** What was said, as other words are looked for in it: parted into words once, however often it is asked. */
export class SaidWords {
  readonly text: string;
  #line: string | undefined;
  #distinct: readonly { readonly text: string; readonly letters: number }[] | undefined;
  /** Words that were asked for, and among how many of the first words a form of theirs was found; null for none. */
  readonly #found = new Map<string, number | null>();

  constructor(text: string) {
    this.text = text;
  }

  /** Whether the words stand here one after the other; `words` are folded. */
  holds(words: readonly string[]): boolean {
    this.#line ??= inOneLine(wordsOf(this.text).map((word) => word.text));
    return this.#line.includes(inOneLine(words));
  }

  /** Whether a form of the folded word, or a misspelling, is among the first `most` different words. */
  hasFormOf(word: string, most: number): boolean {
    const known = this.#found.get(word);
    const at = known === undefined ? this.#formOf(word) : known;
    this.#found.set(word, at);
    return at !== null && at < most;
  }

  #formOf(word: string): number | null {
    this.#distinct ??= [...new Set(wordsOf(this.text).map(({ text }) => text))].map((text) => ({ text, letters: lettersOf(text) }));
    const letters = lettersOf(word);
    const at = this.#distinct.findIndex((said) => mayBeFormOf(said, { text: word, letters }) && saysWord(said.text, word));
    return at === -1 ? null : at;
  }
}

function inOneLine(words: readonly string[]): string {
  return ` ${words.join(" ")} `;
}

/** Of the letters of what is named, so many must belong to words that were said. */
const PART_SAID = 0.6;
const MAX_NAMED_WORDS = 20;
/** Different words of a text that are compared with forms of the thing's: its first ones. */
const MAX_SAID_WORDS = 1_000;

/** Whether the words that name a thing stand in what was said: in another form, or misspelt, they do too. */
export function isNamedIn(thing: string, said: SaidWords): boolean {
  const wanted = wordsOf(folded(thing.slice(0, 200))).map((word) => word.text);
  if (wanted.length === 0) return false;
  return said.holds(wanted) || partSaid(wanted, said) >= PART_SAID;
}

function partSaid(wanted: readonly string[], said: SaidWords): number {
  let [all, found] = [0, 0];
  for (const word of wanted.slice(0, MAX_NAMED_WORDS)) {
    all += word.length;
    if (said.hasFormOf(word, MAX_SAID_WORDS)) found += word.length;
  }
  return all === 0 ? 0 : found / all;
}
