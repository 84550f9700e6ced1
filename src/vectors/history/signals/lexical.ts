import { type Candidate, forEachTerm } from "../candidate.js";
import type { RankingWeights } from "../weights.js";

/** A term of the question: its hash, and how much it counts (stop words less). */
export interface QuestionTerm {
  readonly index: number;
  readonly weight: number;
}

interface LexicalScores {
  /** One for each candidate. */
  readonly scores: Float64Array;
  /** What a message would score that holds every term of the question, saturated: scores divided by it compare between questions. */
  readonly best: number;
}

/**
 * The number of messages that inverse document frequency is reckoned with. How many the owner really has would cost a second round-trip,
 * and only the logarithm counts: between 500 and 5,000 recall moves by less than half a point.
 */
const ASSUMED_MESSAGES = 2000;
/** Saturation over the window. Low: in short messages that a term occurs counts, not how often. */
const K1 = 0.3;
/** A session uses a term fully when it does so in this many messages. */
const FULL_USE = 3;
/** A term that occurs more often than this in one message lends no more to its neighbours. */
const MOST_LENT = 2;
/** Messages before and after one that count as its surroundings. */
const REACH = 2;

/**
 * BM25 over each message with its surroundings as weighted fields: term frequencies of the message, its neighbours and its session are
 * added before they saturate, so that a question's terms may be spread over a question and its answer.
 * Source: BM25F, Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", CIKM 2004.
 * `candidates` in order of speech, `sessions` as numbered; `asking` says of each whether it asks something. The document frequency of a
 * term is what it is among the candidates.
 */
export function lexicalScores(
  candidates: readonly Candidate[],
  sessions: Int32Array,
  terms: readonly QuestionTerm[],
  weights: Pick<RankingWeights, "neighbour" | "answer" | "sessionTerm">,
  asking: readonly boolean[],
): LexicalScores {
  const scores = new Float64Array(candidates.length);
  const positions = Float64Array.from(candidates, ({ message }) => message.position);
  const postings = postingsOf(candidates, terms);
  let best = 0;
  for (const [term, { weight }] of terms.entries()) {
    const uses = postings[term] ?? [];
    const idf = weight * Math.log(1 + Math.max(0, ASSUMED_MESSAGES - uses.length + 0.5) / (uses.length + 0.5));
    best += idf * (K1 + 1);
    const frequency = new Float64Array(candidates.length);
    const usesBySession = new Uint32Array(candidates.length);
    for (const { at, value } of uses) {
      const lent = Math.min(value, MOST_LENT);
      const session = sessions[at] ?? 0;
      usesBySession[session] = (usesBySession[session] ?? 0) + 1;
      frequency[at] = (frequency[at] ?? 0) + value;
      for (let near = at - REACH; near <= at + REACH; near++) {
        if (near === at || sessions[near] !== session) continue;
        const share = shareLent((positions[near] ?? 0) - (positions[at] ?? 0), asking[at] === true, weights);
        if (share > 0) frequency[near] = (frequency[near] ?? 0) + share * lent;
      }
    }
    for (let i = 0; i < candidates.length; i++) {
      const inSession = usesBySession[sessions[i] ?? 0] ?? 0;
      const f = (frequency[i] ?? 0) + weights.sessionTerm * Math.min(1, inSession / FULL_USE);
      if (f > 0) scores[i] = (scores[i] ?? 0) + (idf * f * (K1 + 1)) / (f + K1);
    }
  }
  return { scores, best };
}

/** `steps`: how far the neighbour stands behind, in messages. */
function shareLent(steps: number, asked: boolean, weights: Pick<RankingWeights, "neighbour" | "answer">): number {
  if (Math.abs(steps) > REACH) return 0;
  return weights.neighbour + (asked && steps === 1 ? weights.answer : 0);
}

interface Use {
  readonly at: number;
  readonly value: number;
}

/** Where each term of the question is used. Compared one by one: hashes are too large to be quick keys of a map, and terms are few. */
function postingsOf(candidates: readonly Candidate[], terms: readonly QuestionTerm[]): Use[][] {
  const wanted = Uint32Array.from(terms, ({ index }) => index);
  const postings: Use[][] = terms.map(() => []);
  candidates.forEach((candidate, at) => {
    forEachTerm(candidate.terms, (index, value) => {
      for (let term = 0; term < wanted.length; term++) if (wanted[term] === index) postings[term]?.push({ at, value });
    });
  });
  return postings;
}

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
