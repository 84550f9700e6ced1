/**
 * How much each signal counts. Chosen once by leave-one-conversation-out cross-validation (`npm run bench:recall -- --cross-validate`);
 * the plateau is wide: halving or doubling one of them moves recall@10 by 1.4 points at most, `likeness` by 2.6. 0 switches a signal off.
 */
export interface RankingWeights {
  /** Share of its terms that a message lends to the two before and the two after it in its session. */
  readonly neighbour: number;
  /** What a question lends to the next message, its answer, on top of that. */
  readonly answer: number;
  /** Share of a term that every message of a session has from the session's use of it. */
  readonly sessionTerm: number;
  /** Share of the mean of a session's three best scores that each of its messages has. */
  readonly sessionScore: number;
  /** Added to the factor of what was said by the one who is asked about. */
  readonly speaker: number;
  /** Share of a speaker's name among the question's terms: those who are spoken to are named, not those who speak. */
  readonly speakerName: number;
  /** Added to the factor of messages that hold a time for "when", a number for "how many". */
  readonly expectedAnswer: number;
  /** Added to the factor of messages from the month or year that is named; from the day that is named, `namedDay`. */
  readonly namedTime: number;
  readonly namedDay: number;
  /** Taken from the factor of messages that only ask. */
  readonly question: number;
  /** Added to the factor of the newest (oldest) candidate for "last time" ("the first time"), less for those further back. */
  readonly order: number;
  /** What a likeness of 1 counts beside words that are all there. */
  readonly likeness: number;
  /** Share of its own likeness that a message lends to the next one, to the one before it, and of the session's to each of it. */
  readonly likenessBefore: number;
  readonly likenessAfter: number;
  readonly likenessSession: number;
  /** Taken from the factor of a message of no words; less from one of few. */
  readonly substance: number;
  /** Added to the factor of a message that brings up many new words, and of one that opens its session. */
  readonly newWords: number;
  readonly opening: number;
  /** Added to the newest candidate's score: decides between equals only. */
  readonly recency: number;
}

export const RANKING_WEIGHTS: RankingWeights = {
  neighbour: 0.2,
  answer: 0.3,
  sessionTerm: 0.05,
  sessionScore: 0.2,
  speaker: 0.6,
  speakerName: 0.1,
  expectedAnswer: 0.6,
  namedTime: 0.8,
  namedDay: 2,
  question: 0.1,
  order: 0.5,
  likeness: 0.7,
  likenessBefore: 0.2,
  likenessAfter: 0.4,
  likenessSession: 0.2,
  substance: 0.2,
  newWords: 0.25,
  opening: 0.1,
  recency: 0.001,
};
