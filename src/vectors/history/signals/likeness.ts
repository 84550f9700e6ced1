import type { Candidate } from "../candidate.js";
import type { RankingWeights } from "../weights.js";
import { sessionScores } from "./lexical.js";

/** Share of the candidates whose likeness is taken for no likeness. */
const ORDINARY = 0.1;

/**
 * How near each candidate is to the question in meaning, 0 to about 1.5: its own nearness, what the messages just before and after it
 * lend, and its session's. `candidates` in order of speech, `sessions` as numbered. Scores are fused, not ranks: how much nearer one is
 * counts.
 * Source: convex combination of lexical and semantic scores, Bruch, Gai and Ingber, "An analysis of fusion functions for hybrid
 * retrieval", TOIS 2023.
 */
export function likenessScores(
  candidates: readonly Candidate[],
  sessions: Int32Array,
  weights: Pick<RankingWeights, "likenessBefore" | "likenessAfter" | "likenessSession">,
): Float64Array {
  const own = nearness(candidates);
  const lent = (from: number, to: number, share: number): number => {
    const steps = (candidates[to]?.message.position ?? 0) - (candidates[from]?.message.position ?? Number.NaN);
    return sessions[from] === sessions[to] && Math.abs(steps) === 1 ? share * (own[from] ?? 0) : 0;
  };
  const scores = Float64Array.from(
    own,
    (value, i) => value + lent(i - 1, i, weights.likenessBefore) + lent(i + 1, i, weights.likenessAfter),
  );
  const ofSession = sessionScores(sessions, scores);
  return scores.map((score, i) => score + weights.likenessSession * (ofSession[i] ?? 0));
}

/**
 * The share of the way from an ordinary cosine to 1; 0 below it. So models whose cosines are all high, and those whose cosines are all
 * low, count the same. Ordinary is what a tenth of the candidates stay under: most of the others were found for their words.
 */
function nearness(candidates: readonly Candidate[]): Float64Array {
  const known = Float64Array.from(candidates, ({ likeness }) => likeness)
    .filter((likeness) => likeness !== 0)
    .sort();
  const ordinary = known[Math.floor(ORDINARY * (known.length - 1))] ?? 0;
  const rest = Math.max(1 - ordinary, Number.EPSILON);
  return Float64Array.from(candidates, ({ likeness }) => (likeness === 0 ? 0 : Math.max(0, (likeness - ordinary) / rest)));
}
