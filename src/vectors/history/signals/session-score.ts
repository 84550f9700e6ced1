const BEST_OF_A_SESSION = 3;

/**
 * The score of each candidate's session: the mean of its three best messages' scores. `sessions`: the number of each candidate's session,
 * those of one session beside each other.
 * Source: passage and document evidence combined, Callan, "Passage-level evidence in document retrieval", SIGIR 1994.
 */
export function sessionScores(sessions: Int32Array, scores: Float64Array): Float64Array {
  const means = new Float64Array(scores.length);
  for (let start = 0, end = 0; start < scores.length; start = end) {
    while (end < scores.length && sessions[end] === sessions[start]) end += 1;
    const best = scores.slice(start, end).sort().subarray(-BEST_OF_A_SESSION);
    const mean = best.reduceRight((sum, score) => sum + score, 0) / BEST_OF_A_SESSION;
    means.fill(mean, start, end);
  }
  return means;
}
