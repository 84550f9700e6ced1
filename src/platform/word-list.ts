import { readFileSync } from "node:fs";
import { z } from "zod";
import { UNSPACED_OR_GLUED } from "./phrase-list.js";

const listsSchema = z.record(z.string(), z.array(z.string().min(1)));

/** Named lists of words and phrases from a JSON file, read once where a module loads. */
export function wordLists(url: URL): Readonly<Record<string, readonly string[]>> {
  return listsSchema.parse(JSON.parse(readFileSync(url, "utf8")));
}

/**
 * A pattern that finds any of the phrases as whole words, whatever their case; linear in the text. Phrases of scripts without spaces are
 * found anywhere. `begins`: a phrase may go on into a longer word ("mon" finds "Monday").
 */
export function anyPhrase(phrases: readonly string[] = [], { begins = false }: { readonly begins?: boolean } = {}): RegExp {
  const escaped = (of: readonly string[]) =>
    of.map((phrase) => phrase.replace(/[\\^$.*+?()[\]{}|]/gu, "\\$&").replaceAll(" ", "\\s+")).join("|");
  // One look at the letters beside for all phrases: a class of letters for each takes a compiler a hundred times as long.
  const parts = runsOf(phrases).map(({ spaced, run }) =>
    spaced ? `(?<!\\p{L})(?:${escaped(run)})${begins ? "\\p{L}*" : ""}(?!\\p{L})` : escaped(run),
  );
  return new RegExp(parts.length === 0 ? "(?!)" : parts.join("|"), "iu");
}

/** In their order, those with spaces between words apart from the others. */
function runsOf(phrases: readonly string[]): readonly { readonly spaced: boolean; readonly run: string[] }[] {
  const runs: { readonly spaced: boolean; readonly run: string[] }[] = [];
  for (const phrase of phrases) {
    const spaced = !UNSPACED_OR_GLUED.test(phrase);
    const last = runs.at(-1);
    if (last?.spaced === spaced) last.run.push(phrase);
    else runs.push({ spaced, run: [phrase] });
  }
  return runs;
}
