import { isStopWord } from "maitred/stand-in";
import { folded, wordSet } from "./phrases.js";

const ASKING = wordSet("asking_words");

/** The words that say what a sentence is about, each once. */
export function contentWords(text: string): readonly string[] {
  const words = folded(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.filter((word) => word.length > 1 && !ASKING.has(word) && !isStopWord(word, "english")))];
}

/** The part of the wanted words that a text holds, 0 to 1; the ends of longer words may differ. */
export function sharedPart(wanted: readonly string[], text: string): number {
  const held = contentWords(text);
  return wanted.filter((word) => held.some((other) => alike(word, other))).length / Math.max(1, wanted.length);
}

function alike(a: string, b: string): boolean {
  return a === b || (Math.min(a.length, b.length) >= 4 && a.slice(0, 4) === b.slice(0, 4) && Math.abs(a.length - b.length) <= 4);
}
