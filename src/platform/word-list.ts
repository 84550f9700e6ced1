import { readFileSync } from "node:fs";
import { z } from "zod";

const listsSchema = z.record(z.string(), z.array(z.string().min(1)));

/** Named lists of words and phrases from a JSON file, read once where a module loads. */
export function wordLists(url: URL): Readonly<Record<string, readonly string[]>> {
  return listsSchema.parse(JSON.parse(readFileSync(url, "utf8")));
}

/** Scripts that put no space between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/**
 * A pattern that finds any of the phrases as whole words, whatever their case; linear in the text. Phrases of scripts without spaces are
 * found anywhere. `begins`: a phrase may go on into a longer word ("mon" finds "Monday").
 */
export function anyPhrase(phrases: readonly string[] = [], { begins = false }: { readonly begins?: boolean } = {}): RegExp {
  const escaped = phrases.map((phrase) => {
    const text = phrase.replace(/[\\^$.*+?()[\]{}|]/gu, "\\$&").replaceAll(" ", "\\s+");
    return UNSPACED.test(phrase) ? text : `(?<!\\p{L})${text}${begins ? "\\p{L}*" : ""}(?!\\p{L})`;
  });
  return new RegExp(escaped.length === 0 ? "(?!)" : escaped.join("|"), "iu");
}
