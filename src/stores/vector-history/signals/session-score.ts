import type { Candidate } from "../candidate.js";

const BEST_OF_A_SESSION = 3;

/**
 * The score of each candidate's session: the mean of its three best messages' scores.
 * Source: passage and document evidence combined, Callan, "Passage-level evidence in document retrieval", SIGIR 1994.
 */
export function sessionScores(candidates: readonly Candidate[], scores: Float64Array): Float64Array {
  const bySession = new Map<string, number[]>();
  candidates.forEach(({ message }, i) => {
    const score = scores[i] ?? 0;
    const list = bySession.get(message.session_id);
    if (list === undefined) bySession.set(message.session_id, [score]);
    else list.push(score);
  });
  const means = new Map<string, number>();
  for (const [session, list] of bySession) {
    const top = list.sort((a, b) => b - a).slice(0, BEST_OF_A_SESSION);
    means.set(session, top.reduce((sum, score) => sum + score, 0) / BEST_OF_A_SESSION);
  }
  return Float64Array.from(candidates, ({ message }) => means.get(message.session_id) ?? 0);
}
