import { phrasesIn } from "../platform/phrase-list.js";
import { plain } from "../platform/plain.js";
import { anyPhrase } from "../platform/word-list.js";
import lists from "./data/script.json" with { type: "json" };

/** The script's lists of phrases, each looked up by its name. */
type ListName = keyof typeof lists;

const found = new Map<string, RegExp>();

/** Finds any phrase of the lists as whole words in {@link folded} text, the longest first. */
export function phrase(...names: readonly ListName[]): RegExp {
  const key = names.join();
  const phrases = () => names.flatMap((name) => phrasesIn(lists[name])).map(folded);
  const made = found.get(key) ?? anyPhrase(phrases().toSorted((a, b) => b.length - a.length));
  found.set(key, made);
  return made;
}

/** Whether a text has a phrase of any of the lists. */
export function says(text: string, ...names: readonly ListName[]): boolean {
  return phrase(...names).test(folded(text));
}

export function beginsWith(text: string, ...names: readonly ListName[]): boolean {
  return (
    folded(text)
      .trimStart()
      .search(phrase(...names)) === 0
  );
}

/** Whether a text has phrases of the lists and nothing else. */
export function saysOnly(text: string, ...names: readonly ListName[]): boolean {
  return !/[\p{L}\p{N}]/u.test(
    folded(text)
      .split(phrase(...names))
      .join(" "),
  );
}

/** As the lists are compared: lower case without accents, apostrophes straight. */
export function folded(text: string): string {
  return plain(text).replace(/[\u2018\u2019\u02BC]/g, "'");
}

/** A list of single words with spaces between. */
export function wordSet(name: ListName): ReadonlySet<string> {
  return new Set(lists[name].flatMap((line) => line.split(" ")));
}
