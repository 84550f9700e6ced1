import { wordsOf } from "../platform/language/tokens.js";

/** Stands for words that were forgotten, where what was said around them stays. */
export const FORGOTTEN = "[forgotten at the user's request]";

/** Whether a text has a telling word (no stop word) of one of the others. `except`: texts whose words tell nothing. Pure. */
export function sharesWord(text: string, others: readonly string[], except: readonly string[] = []): boolean {
  const known = termsOf(except);
  const telling = termsOf(others);
  return wordsOf(text).some((word) => !word.stop && word.terms.some((term) => telling.has(term) && !known.has(term)));
}

function termsOf(texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => wordsOf(text).flatMap((word) => (word.stop ? [] : word.terms))));
}
