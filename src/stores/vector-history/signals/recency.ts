import type { Candidate } from "../candidate.js";

/**
 * Each candidate's place in time among all of them: 1 for the newest, 0 for the oldest.
 * Source: time as a prior, Li and Croft, "Time-based language models", CIKM 2003; by rank, as conversations pause for months.
 */
export function recency(candidates: readonly Candidate[]): Float64Array {
  const order = candidates.map((_, i) => i).sort((a, b) => (candidates[a]?.atMs ?? 0) - (candidates[b]?.atMs ?? 0));
  const places = new Float64Array(candidates.length);
  order.forEach((candidate, place) => {
    places[candidate] = candidates.length > 1 ? place / (candidates.length - 1) : 1;
  });
  return places;
}
