import { queryVector } from "../../src/embedding/sparse-vectors.js";
import type { Candidate } from "../../src/vectors/history/candidate.js";
import { type RankedQuestion, rank } from "../../src/vectors/history/ranking.js";
import { RANKING_WEIGHTS, type RankingWeights } from "../../src/vectors/history/weights.js";
import type { Conversation, Question } from "./dataset.js";
import { type Fixture, ownerOfConversation } from "./fixture.js";
import { count, HEADER, newTally, row, type Tally } from "./metrics.js";

const GRID: Partial<Record<keyof RankingWeights, readonly number[]>> = {
  neighbour: [0.1, 0.2, 0.4],
  answer: [0, 0.3, 0.6],
  sessionTerm: [0.025, 0.05, 0.1],
  sessionScore: [0.1, 0.2, 0.4],
  speaker: [0.3, 0.6, 1.2],
  speakerName: [0, 0.1, 0.3],
  expectedAnswer: [0.15, 0.3, 0.6],
  namedTime: [0.4, 0.8, 1.6],
  namedDay: [1, 2, 4],
  question: [0, 0.1, 0.2],
  likeness: [0.35, 0.5, 0.7, 1],
  likenessBefore: [0, 0.1, 0.2, 0.4],
  likenessAfter: [0, 0.2, 0.4, 0.6],
  likenessSession: [0, 0.2, 0.4],
  substance: [0, 0.1, 0.2, 0.3, 0.45],
  newWords: [0, 0.12, 0.25, 0.5],
  opening: [0, 0.1, 0.2],
};

interface Fetched {
  readonly question: RankedQuestion;
  readonly evidence: readonly string[];
  readonly category: string;
  readonly candidates: readonly Candidate[];
}

/**
 * Leave one conversation out: the weights are chosen on the others, one after the other from the defaults on a coarse grid, and
 * measured on the one left out. The sum over all left-out conversations is what the choosing is worth on conversations it never saw.
 */
export async function crossValidate(
  fixture: Fixture,
  conversations: readonly Conversation[],
  report: (line: string) => void,
): Promise<void> {
  const fetched = await Promise.all(conversations.map((conversation) => fetchAll(fixture, conversation)));
  const known = new Map<string, Tally[]>();
  const measure = (weights: RankingWeights): Tally[] => {
    const key = JSON.stringify(weights);
    const tallies = known.get(key) ?? fetched.map((questions) => tallyOf(questions, weights));
    known.set(key, tallies);
    return tallies;
  };
  const [leftOut, defaults] = [newTally(), newTally()];
  const byCategory = new Map<string, Tally>();
  report(`\nLeave one conversation out, turn level\n${HEADER}`);
  for (let out = 0; out < conversations.length; out++) {
    const weights = choose((candidate) => objective(measure(candidate), out));
    const changed = Object.entries(weights).filter(([name, value]) => value !== RANKING_WEIGHTS[name as keyof RankingWeights]);
    const [chosen, standard] = [measure(weights)[out], measure(RANKING_WEIGHTS)[out]];
    if (chosen === undefined || standard === undefined) continue;
    report(row(`left out ${out + 1}: ${changed.map(([name, value]) => `${name}=${value}`).join(" ") || "as shipped"}`, chosen));
    add(leftOut, chosen);
    add(defaults, standard);
    for (const question of fetched[out] ?? []) {
      const sum = byCategory.get(question.category) ?? newTally();
      byCategory.set(question.category, sum);
      add(sum, tallyOf([question], weights));
    }
  }
  report(row("all, each left out", leftOut));
  for (const [category, tally] of [...byCategory].sort()) report(row(`category ${category}, each left out`, tally));
  report(row("all, weights as shipped", defaults));
}

function choose(score: (weights: RankingWeights) => number): RankingWeights {
  let best: RankingWeights = RANKING_WEIGHTS;
  let most = score(best);
  for (const [name, values] of Object.entries(GRID))
    for (const value of values) {
      const next = { ...best, [name]: value };
      const reached = score(next);
      if (reached > most) [best, most] = [next, reached];
    }
  return best;
}

/** What is found in the first ten, with a soft edge, so that chance moves it less. */
function objective(tallies: readonly Tally[], leftOut: number): number {
  return tallies.reduce((sum, tally, i) => (i === leftOut ? sum : sum + tally.soft), 0);
}

function tallyOf(questions: readonly Fetched[], weights: RankingWeights): Tally {
  const tally = newTally();
  for (const { question, candidates, evidence } of questions)
    count(
      tally,
      rank(question, candidates, weights).map(({ candidate: { message } }) => message.external_id ?? message.message_id),
      evidence,
    );
  return tally;
}

/** Searches once for each question and keeps what the store gave: the candidates don't depend on the weights. */
async function fetchAll(fixture: Fixture, conversation: Conversation): Promise<Fetched[]> {
  const owner = ownerOfConversation(conversation);
  const fetched: Fetched[] = [];
  for (const { question, evidence, category } of conversation.questions as readonly Question[]) {
    const terms = queryVector(question);
    fetched.push({
      evidence,
      category,
      candidates: await fixture.candidatesFor(owner, question),
      question: {
        text: question,
        terms: terms.indices.map((index, i) => ({ index, weight: terms.values[i] ?? 1 })),
        now: new Date(),
        termsOf: (name) => queryVector(name).indices,
      },
    });
  }
  return fetched;
}

function add(sum: Tally, tally: Tally): void {
  sum.questions += tally.questions;
  sum.soft += tally.soft;
  for (const key of ["fraction", "any", "all"] as const)
    tally[key].forEach((value, i) => {
      sum[key][i] = (sum[key][i] ?? 0) + value;
    });
}
