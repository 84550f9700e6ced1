import { folded } from "maitred/stand-in";
import { english } from "./language.js";

/** How a name is told from other words. */

const WITH = "with";

/** The words of a text as they stand in it. */
export function rawWords(text: string): readonly string[] {
  return text.match(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu) ?? [];
}

export function isName(word: string): boolean {
  return /^\p{Lu}\p{Ll}/u.test(word) && folded(word) !== "i";
}

/** Where a name stands that is pointed out: "it's Beth with the peanuts"; -1 where none does. */
export function pointedOutIn({ text, words }: { readonly text: string; readonly words: readonly string[] }): number {
  const at = english.points_out.at(words, 0);
  return at > 0 && words[at + 1] === WITH && isName(rawWords(text)[at] ?? "") ? at : -1;
}
