import { type Candidate, forEachTerm, termCount } from "../candidate.js";

/** So many new terms are as good as more. */
const MANY = 8;
/** A bit for what terms leave when they are divided by it: of some thousands, one in 200 is taken for another. */
const BITS = 2 ** 20;
const bits = new Uint32Array(BITS / 32);

/**
 * How much each candidate brings up that none before it said, 0 to 1, by its terms. What is told for the first time is what is asked about
 * later; what goes on about it repeats its words. The very same words again count as they did at first, so that of equals the newest is
 * found. `byTime`: the candidates' places, the oldest first.
 * Source: novelty of a sentence as its number of new words, Allan, Wade and Bolivar, "Retrieval and novelty detection at the sentence
 * level", SIGIR 2003.
 */
export function newWords(candidates: readonly Candidate[], byTime: readonly number[]): Float64Array {
  bits.fill(0);
  const byTerms = new Map<string, number>();
  const shares = new Float64Array(candidates.length);
  for (const i of byTime) {
    const terms = candidates[i]?.terms ?? "";
    let share = byTerms.get(terms);
    if (share === undefined) {
      share = Math.min(1, firstSaid(terms) / MANY);
      byTerms.set(terms, share);
    }
    shares[i] = share;
  }
  return shares;
}

/** How many of the terms no call before had, since the bits were cleared. */
function firstSaid(terms: string): number {
  let count = 0;
  forEachTerm(terms, (index) => {
    const word = (index & (BITS - 1)) >>> 5;
    const bit = 1 << (index & 31);
    const known = bits[word] ?? 0;
    if ((known & bit) !== 0) return;
    bits[word] = known | bit;
    count += 1;
  });
  return count;
}

/** Terms from which on a message says enough to answer by itself. */
const ENOUGH_TERMS = 25;

/**
 * How much each message says by itself, 0 to 1, by the number of its different terms: what is short ("yes, totally!") lives of its
 * neighbours' words, and seldom answers.
 * Source: document length as a prior of relevance, Kraaij, Westerveld and Hiemstra, SIGIR 2002.
 */
export function substance({ terms }: Candidate): number {
  return Math.min(1, termCount(terms) / ENOUGH_TERMS);
}

/**
 * Each candidate's place in time among all of them: 1 for the newest, 0 for the oldest. `byTime`: their places, the oldest first.
 * Source: time as a prior, Li and Croft, "Time-based language models", CIKM 2003; by rank, as conversations pause for months.
 */
export function recency(byTime: readonly number[]): Float64Array {
  const places = new Float64Array(byTime.length);
  byTime.forEach((candidate, place) => {
    places[candidate] = byTime.length > 1 ? place / (byTime.length - 1) : 1;
  });
  return places;
}
