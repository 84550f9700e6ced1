import { type Candidate, inOrderOfSpeech, inOrderOfTime, opens, sessionNumbers, speakersOf } from "./candidate.js";
import { askedOrder, fits, namedTimes } from "./signals/dates.js";
import { lexicalScores, likenessScores, type QuestionTerm, sessionScores } from "./signals/lexical.js";
import { newWords, recency, substance } from "./signals/novelty.js";
import { askedSpeaker, asks, expectedAnswer, holdsAnswer, saidByAsked } from "./signals/question.js";
import type { RankingWeights } from "./weights.js";

export interface RankedQuestion {
  readonly text: string;
  readonly terms: readonly QuestionTerm[];
  readonly now: Date;
  /** The hashed terms of a name, so that a speaker's name can be told from what is asked about. */
  readonly termsOf: (name: string) => readonly number[];
}

export interface Ranked {
  readonly candidate: Candidate;
  readonly score: number;
}

/**
 * The candidates, best first. Pure, in one pass: what the words say of each message with its surroundings and its session, plus what the
 * likeness of meaning says of them, times what speaks for the message as an answer (who said it, when, of what kind, how much it says).
 */
export function rank(question: RankedQuestion, found: readonly Candidate[], weights: RankingWeights): Ranked[] {
  const candidates = inOrderOfSpeech(found);
  const sessions = sessionNumbers(candidates);
  const asked = askedSpeaker(question.text, speakersOf(candidates));
  const nameTerms = new Set(asked.names.flatMap((name) => question.termsOf(name)));
  const terms = question.terms.map((term) => (nameTerms.has(term.index) ? { ...term, weight: term.weight * weights.speakerName } : term));

  const asking = candidates.map(({ message }) => asks(message.content));
  const { scores: lexical, best } = lexicalScores(candidates, sessions, terms, weights, asking);
  const ofSession = sessionScores(sessions, lexical);
  const likeness = likenessScores(candidates, sessions, weights);
  const byTime = inOrderOfTime(candidates);
  const newness = recency(byTime);
  const news = weights.newWords === 0 ? null : newWords(candidates, byTime);
  const scale = best > 0 ? best : 1;

  const times = namedTimes(question.text, question.now);
  const order = askedOrder(question.text);
  const kind = expectedAnswer(question.text);

  const factorOf = (candidate: Candidate, i: number, newer: number): number => {
    const { message, atMs } = candidate;
    let factor = 1;
    if (saidByAsked(message, asked)) factor += weights.speaker;
    if (holdsAnswer(message.content, kind)) factor += weights.expectedAnswer;
    if (asking[i] === true) factor -= weights.question;
    const fit = fits(atMs, times);
    if (fit !== null) factor += fit === "day" ? weights.namedDay : weights.namedTime;
    if (order !== null) factor += weights.order * (order === "last" ? newer : 1 - newer);
    const told = 1 + weights.newWords * (news?.[i] ?? 0) + (opens(message) ? weights.opening : 0);
    return factor * told * (1 - weights.substance * (1 - substance(candidate)));
  };

  return candidates
    .map((candidate, i) => {
      const byWords = ((lexical[i] ?? 0) + weights.sessionScore * (ofSession[i] ?? 0)) / scale;
      const base = byWords + weights.likeness * (likeness[i] ?? 0);
      const newer = newness[i] ?? 0;
      return { candidate, score: base * factorOf(candidate, i, newer) + weights.recency * newer };
    })
    .sort((a, b) => b.score - a.score || (a.candidate.message.message_id < b.candidate.message.message_id ? -1 : 1));
}
