import { folded } from "./folded-text.js";
import type { SaidWords } from "./said-words.js";
import { wordsOf } from "./words.js";

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
