import { RANKING_WEIGHTS, type RankingWeights } from "../../src/vectors/history/weights.js";

/** What can be switched off together, for ablation. */
export const SIGNALS = {
  neighbours: { neighbour: 0, answer: 0 },
  session: { sessionTerm: 0, sessionScore: 0 },
  speaker: { speaker: 0, speakerName: 1 },
  "expected answer": { expectedAnswer: 0, question: 0 },
  dates: { namedTime: 0, namedDay: 0, order: 0 },
  likeness: { likeness: 0 },
  "neighbours' likeness": { likenessBefore: 0, likenessAfter: 0, likenessSession: 0 },
  substance: { substance: 0 },
  "new words": { newWords: 0 },
  opening: { opening: 0 },
  recency: { recency: 0 },
} as const satisfies Record<string, Partial<RankingWeights>>;
export type Signal = keyof typeof SIGNALS;

/** The weights with some signals switched off. */
export function without(signals: readonly Signal[], weights: RankingWeights = RANKING_WEIGHTS): RankingWeights {
  return Object.assign({}, weights, ...signals.map((signal) => SIGNALS[signal]));
}
