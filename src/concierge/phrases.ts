import { phrasesIn } from "../platform/phrase-list.js";
import { anyPhrase } from "../platform/word-list.js";
import lists from "./data/script.json" with { type: "json" };

/** The script's lists of phrases, each looked up by its name. */
type ListName = keyof typeof lists;

const phrasesOf = (name: ListName): readonly string[] => phrasesIn(lists[name]);
const found = new Map<string, RegExp>();

/** Finds any phrase of the lists as whole words; `start`: only where the text begins with it. */
export function phrase(name: ListName, { start = false }: { readonly start?: boolean } = {}): RegExp {
  const key = `${name}${start}`;
  const known = found.get(key);
  if (known !== undefined) return known;
  const any = anyPhrase(phrasesOf(name));
  const made = start ? new RegExp(`^(?:${any.source})`, "iu") : any;
  found.set(key, made);
  return made;
}

/** Whether a text has a phrase of any of the lists. */
export function says(text: string, ...names: readonly ListName[]): boolean {
  return names.some((name) => phrase(name).test(text));
}

/** What is left of a text without the phrases of the lists, longest first; the empty string where nothing is. */
export function without(text: string, ...names: readonly ListName[]): string {
  const key = names.join();
  const any = leftOut.get(key) ?? anyOf(names);
  leftOut.set(key, any);
  const left = text.replace(any, " ");
  return left.replace(/[\s.,;:!?'"-]+/gu, " ").trim();
}

const leftOut = new Map<string, RegExp>();

function anyOf(names: readonly ListName[]): RegExp {
  const longestFirst = names.flatMap(phrasesOf).toSorted((a, b) => b.length - a.length);
  return new RegExp(anyPhrase(longestFirst).source, "giu");
}

/** A list of single words with spaces between. */
export function wordSet(name: ListName): ReadonlySet<string> {
  return new Set(lists[name].flatMap((line) => line.split(" ")));
}
