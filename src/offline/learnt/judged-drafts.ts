import { wordsIn } from "../../platform/phrase-list.js";
import type { Clause } from "../reading/clauses.js";
import type { Vocabulary } from "../reading/domain-words.js";
import type { Draft } from "../reading/draft.js";
import { english, type Language, relationAt } from "../reading/language.js";
import { told } from "../reading/said.js";
import { slotOf } from "../reading/statements.js";
import { subjectFor, whoIn } from "../reading/who.js";
import type { Judgement } from "./sentence-judge.js";

/** From here on words are kept that no rule understands: then 19 of 20 that are kept of conversations that were left out are right. */
const KEEP_FROM = 2.8;
/** From here on a sentence is kept of which a rule understood a part. */
export const PARTLY_READ_FROM = 1.2;
/** So much more in other languages, of which less was learnt. */
const ABROAD = 0.8;
/** From here on the guest is asked about what seems to have to hold, and where it may not be meant. */
const ASK_FROM = -1.5;
const DOUBTED_ASK_FROM = -0.7;
/** From here on what must hold is kept without a question. */
const HARD_KEEP_FROM = 1.7;
/** From here on it seems to have to hold. */
const HARD_FROM = -0.3;
/** From here on it may, where less is sure: it is asked about. */
const MAYBE_HARD_FROM = -1.5;
/** Below, the guest is asked about what must hold by the rules. */
export const BELIEVE_HARD_FROM = 0;
/** From here on a sentence takes back what the message before told; of what must hold the guest is asked. */
export const BACK_FROM = { soft: -3.5, hard: -4.7 };
/** Longer ones tell more than one thing, and what is asked beside it. */
const MAX_CHARS = 240;
const MIN_WORDS = 4;

/** A sentence without what must hold by the rules: all of it, or its longest run of clauses. Null where these have no four words. */
export function unreadIn(clauses: readonly Clause[], whole: Clause, drafts: readonly Draft[]): Clause | null {
  if (!drafts.some(({ hard }) => hard)) return whole;
  let [from, longest]: [Clause | null, Clause | null] = [null, null];
  for (const clause of clauses) {
    const isRead = drafts.some(({ hard, clause: { start, text } }) => hard && start <= clause.start && start + text.length > clause.start);
    from = isRead ? null : (from ?? clause);
    if (from === null) continue;
    const text = whole.text.slice(from.start - whole.start, clause.start - whole.start + clause.text.length);
    if (text.length > (longest?.text.length ?? 0)) longest = { text, start: from.start, words: wordsIn(text), index: from.index };
  }
  return longest !== null && longest.words.length >= MIN_WORDS ? longest : null;
}

export interface AsSaidOptions {
  readonly language: Language;
  readonly vocabulary: Vocabulary;
  /** A rule understood a part of it. */
  readonly plain: boolean;
  /** It may not be meant: nothing but a question comes of it. */
  readonly doubted: boolean;
}

/** What is kept of words as they were said. */
export function keptAsSaid(clause: Clause, judgement: Judgement, options: AsSaidOptions): readonly Draft[] {
  const { language, vocabulary, plain, doubted } = options;
  const { words } = clause;
  const keepFrom = (plain ? PARTLY_READ_FROM : KEEP_FROM) + (language.name === "en" ? 0 : ABROAD);
  const hard = judgement.hard >= (judgement.keep < keepFrom ? MAYBE_HARD_FROM : HARD_FROM);
  const who = whoIn(clause, language, false);
  // "The couple we met are both deaf" is not about the guest.
  const isPlain = who.kind === "companion" || (who.kind === "self" && !language.others.has(words[0]));
  // "Flashing lights set me off" must hold from less on than a taste is kept, where nothing denies it.
  const denied = language.name !== "en" || [language.not, english.ends].some((list) => list.in(words) !== -1);
  const sureFrom = denied || !isPlain ? Math.max(keepFrom, KEEP_FROM) : HARD_KEEP_FROM;
  const passing = doubted || language.once.in(words) !== -1 || english.again.in(words) !== -1;
  if (judgement.keep < (hard ? (passing ? DOUBTED_ASK_FROM : ASK_FROM) : keepFrom) || clause.text.length > MAX_CHARS || (passing && !hard))
    return [];
  // "Uncle's a platinum member": nobody says that he comes along.
  const isOfAnother = relationAt([words[0]?.replace(/'s$/u, "") ?? ""], 0) !== undefined && language.first.in(words) === -1;
  if (isOfAnother && !hard) return [];
  const meant = who.kind === "companion" ? who : ({ kind: "self" } as const);
  const text = told(clause.text, meant, language);
  const slot = slotOf(words, language, vocabulary);
  return [
    {
      clause,
      text,
      about: text.slice(0, 200),
      category: hard ? judgement.category : (slot?.category ?? judgement.category),
      aspect: slot?.aspect ?? "",
      condition: "",
      need: hard ? "other" : null,
      hard,
      ...subjectFor(meant),
      // What must hold is asked about where it is said of nobody, too.
      unsure: hard && (passing || isOfAnother || judgement.keep < sureFrom || judgement.hard < HARD_FROM),
      trip: false,
    },
  ];
}
