import type { Candidate } from "../candidate.js";
import { forEachTerm } from "../term-code.js";

/** So many new terms are as good as more. */
const MANY = 8;

/**
 * How much each candidate brings up that none before it said, 0 to 1, by its terms. What is told for the first time is what is asked about
 * later; what goes on about it repeats its words. The very same words again count as they did at first, so that of equals the newest is found. `byTime`: the candidates'
 * places, the oldest first.
 * Source: novelty of a sentence as its number of new words, Allan, Wade and Bolivar, "Retrieval and novelty detection at the sentence
 * level", SIGIR 2003.
 */
export function newWords(candidates: readonly Candidate[], byTime: readonly number[]): Float64Array {
  const said = new Set<number>();
  const byTerms = new Map<string, number>();
  const shares = new Float64Array(candidates.length);
  for (const i of byTime) {
    const terms = candidates[i]?.terms ?? "";
    let share = byTerms.get(terms);
    if (share === undefined) {
      const before = said.size;
      // As a signed number, which is a quicker key than an unsigned one of 32 bits.
      forEachTerm(terms, (index) => said.add(index | 0));
      share = Math.min(1, (said.size - before) / MANY);
      byTerms.set(terms, share);
    }
    shares[i] = share;
  }
  return shares;
}
