import { isUnspaced } from "../domain/compared-words.js";
import { folded, phrasesIn, WordList } from "../platform/phrase-list.js";
import endings from "./endings.json" with { type: "json" };

const lists = Object.fromEntries(Object.entries(endings).map(([part, lines]) => [part, new WordList(lines)])) as Record<
  keyof typeof endings,
  WordList
>;
const unspacedIn = (lines: readonly string[]) => phrasesIn(lines).filter(isUnspaced).map(folded);
const unspaced = {
  formerly: unspacedIn(endings.formerly),
  over: unspacedIn(endings.over),
  still: unspacedIn(endings.still),
  ends: unspacedIn(endings.ends),
};

/** A need that words name, and where. `avoid`: it is a thing to be avoided, not what somebody is, has or uses. */
interface NamedNeed {
  readonly at: number;
  readonly length: number;
  readonly avoid: boolean;
}

/** Where what a need is over with comes before it: "ya no llevo bastón". */
const OVER_WITHIN = 4;
/** What parts a sentence. */
const MARKS = /[,;:–—()]/u;

/** Whether words say that something is over: "ya no", "nicht mehr". */
export function saysOver(words: readonly string[]): boolean {
  return lists.over.in(words) !== -1;
}

/**
 * Whether a sentence tells of its needs only that they are over: "früher hab ich kein Laktose vertragen, aber das ist vorbei", "ya no llevo
 * bastón". What can be done no more is a need: "antes subía escaleras pero ya no puedo". In German, French, Spanish, Italian, Portuguese,
 * Dutch, Polish and Japanese. @param needs all that the sentence names, by the places of its words: looked for where it says so
 */
export function areOver(text: string, wordsOf: (part: string) => readonly string[], needs: () => readonly NamedNeed[]): boolean {
  if (!saysOver(wordsOf(text)) && firstOf(unspaced.over, folded(text)) === -1) return false;
  const found = needs();
  const spaced = found.filter(({ at }) => at !== -1);
  if (found.length === 0) return false;
  if (spaced.length === 0) return isOverUnspaced(folded(text));
  const parts = text.split(MARKS).map(wordsOf);
  if (areNoMore(parts, spaced)) return true;
  const last = Math.max(...spaced.map(({ at, length }) => at + length));
  // What stands behind the mark after it has nothing to do with it: "ya no me hace falta, así que sin problema".
  let words: readonly string[] = [];
  for (const part of parts) {
    words = [...words, ...part];
    if (lists.over.in(words.slice(last)) !== -1) break;
  }
  return areOverSince(words, spaced, last);
}

/** Each in a part of the sentence that says so: "ya no llevo bastón". */
function areNoMore(parts: readonly (readonly string[])[], needs: readonly NamedNeed[]): boolean {
  let start = 0;
  return parts.every((words) => {
    const from = start;
    start += words.length;
    const inside = needs.filter(({ at }) => at >= from && at < start).map((need) => ({ ...need, at: need.at - from }));
    // "Nicht mehr Vegetarier, sondern vegan" is no end of both.
    return inside.every((need, index) => isNoMore(words, need, (inside[index - 1]?.at ?? -1) + 1));
  });
}

function isNoMore(words: readonly string[], { at, avoid }: NamedNeed, from: number): boolean {
  return !avoid && lists.still.in(words) === -1 && lists.over.in(words.slice(Math.max(from, at - OVER_WITHIN), at)) !== -1;
}

/** What was so formerly, and is over. */
function areOverSince(words: readonly string[], needs: readonly NamedNeed[], last: number): boolean {
  const from = lists.formerly.in(words);
  const behind = words.slice(last);
  if (from === -1 || last > words.length || lists.over.in(behind) === -1 || lists.still.in(behind) !== -1) return false;
  return needs.every(({ at, avoid }) => {
    const before = words.slice(from, at);
    const isDenied = lists.denied.in(before) !== -1;
    return at > from && (avoid ? isDenied || lists.harmed.in(words.slice(from)) !== -1 : !isDenied);
  });
}

function isOverUnspaced(text: string): boolean {
  const from = firstOf(unspaced.formerly, text);
  const over = firstOf(unspaced.over, text);
  if (from === -1 || over <= from) return false;
  const rest = text.slice(over);
  return firstOf(unspaced.ends, rest) !== -1 && firstOf(unspaced.still, rest) === -1;
}

function firstOf(phrases: readonly string[], text: string): number {
  const found = phrases.map((phrase) => text.indexOf(phrase)).filter((at) => at !== -1);
  return found.length === 0 ? -1 : Math.min(...found);
}
