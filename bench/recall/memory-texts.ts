/** What many memories say, and what they are asked for: the same on every run. */

const KINDS = ["jazz", "opera", "folk", "ballet", "theatre", "football", "tapas", "ramen", "cinema", "poetry", "blues", "choir"];
const WHERE = [
  "downtown",
  "by the river",
  "near the station",
  "in the old town",
  "at the harbour",
  "on the hill",
  "outdoors",
  "in small halls",
];
const WHEN = ["on weekends", "in the evening", "after work", "on Sundays", "in summer", "at noon", "with friends", "with family"];
const HOW = ["Prefers", "Likes", "Avoids", "Often books", "Asks for", "Enjoys"];
const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;

/** What memory number `n` says; no two say the same. */
export function textOf(n: number): string {
  return `${pick(HOW, n)} ${pick(KINDS, Math.floor(n / 6))} ${pick(WHERE, Math.floor(n / 72))} ${pick(WHEN, Math.floor(n / 576))}, choice ${n}`;
}

/** A question that some of them answer. */
export function questionOf(n: number): string {
  return `Anything with ${pick(KINDS, n)} ${pick(WHERE, n + 3)} ${pick(WHEN, n + 1)}?`;
}
