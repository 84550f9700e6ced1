import { isUnspaced } from "../domain/compared-words.js";
import { folded, WordList, wordsIn } from "../platform/phrase-list.js";
import type { Need } from "../ports/agent.js";

/** The domain's needs whose words stand in a text; where none does, those whose words are misspelt there. */
export function needsNamedIn(text: string, needs: readonly Need[]): ReadonlySet<string> {
  const words = wordsIn(text);
  const line = folded(text);
  const all = [...wordsOfNeeds(needs)];
  const named = all.filter(([, { list, unspaced }]) => list.in(words) !== -1 || unspaced.some((word) => line.includes(word)));
  const or = named.length > 0 ? named : all.filter(([, { list }]) => list.in(words, { slips: true }) !== -1);
  return new Set(or.map(([name]) => name));
}

interface WordsOfNeed {
  readonly list: WordList;
  /** Of scripts that put no space between words. */
  readonly unspaced: readonly string[];
}

/** Made once for a domain: they are asked for again and again. */
const WORDS = new WeakMap<readonly Need[], ReadonlyMap<string, WordsOfNeed>>();

function wordsOfNeeds(needs: readonly Need[]): ReadonlyMap<string, WordsOfNeed> {
  const known = WORDS.get(needs);
  if (known !== undefined) return known;
  const made = new Map(
    needs.map(({ name, words = [], spellings = [] }) => {
      const all = [...words, ...spellings];
      return [name, { list: new WordList(all), unspaced: all.filter(isUnspaced).map(folded) }];
    }),
  );
  WORDS.set(needs, made);
  return made;
}
