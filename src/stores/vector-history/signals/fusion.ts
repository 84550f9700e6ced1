import type { Candidate } from "../candidate.js";

/**
 * The store's own opinion: its fused score of the dense and sparse prefetches, relative to the best candidate's. 0 to 1.
 * Source: reciprocal rank fusion, Cormack, Clarke and Büttcher, SIGIR 2009.
 */
export function fusion(candidates: readonly Candidate[]): Float64Array {
  const most = candidates.reduce((max, { fused }) => Math.max(max, fused), 0);
  return Float64Array.from(candidates, ({ fused }) => (most > 0 ? fused / most : 0));
}
