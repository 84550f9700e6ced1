import { wordsIn } from "../../platform/phrase-list.js";
import type { Clause } from "../reading/clauses.js";
import type { Vocabulary } from "../reading/domain-words.js";
import { asSaid, type Draft, subjectFor } from "../reading/draft.js";
import { type Language, relationAt } from "../reading/language.js";
import type { Judgement } from "./sentence-judge.js";

/** From here on words are kept that no rule understands: then 19 of 20 that are kept of conversations that were left out are right. */
const KEEP_FROM = 1.6;
/** From here on the guest is asked about what seems to have to hold. */
const ASK_FROM = 0.4;
const HARD_FROM = 0;
/** Below, what a rule understood is not believed: soft things are left, and of what must hold the guest is asked. */
const BELIEVE_FROM = 0.2;
/** Longer ones tell more than one thing, and what is asked beside it. */
const MAX_CHARS = 240;
const MIN_WORDS = 3;

/** The words of a sentence that no rule understood: all of it, or its longest run of clauses. Null where there are no three. */
export function unreadIn(clauses: readonly Clause[], whole: Clause, drafts: readonly Draft[]): Clause | null {
  if (drafts.length === 0) return whole;
  let [from, longest]: [Clause | null, Clause | null] = [null, null];
  for (const clause of clauses) {
    const isRead = drafts.some(
      (draft) => draft.clause.start <= clause.start && draft.clause.start + draft.clause.text.length > clause.start,
    );
    from = isRead ? null : (from ?? clause);
    if (from === null) continue;
    const text = whole.text.slice(from.start - whole.start, clause.start - whole.start + clause.text.length);
    if (text.length > (longest?.text.length ?? 0)) longest = { text, start: from.start, words: wordsIn(text), index: from.index };
  }
  return longest !== null && longest.words.length >= MIN_WORDS ? longest : null;
}

/** What rules understood of a sentence, as far as that is believed. */
export function believed(drafts: readonly Draft[], { keep }: Judgement): readonly Draft[] {
  return keep >= BELIEVE_FROM ? drafts : drafts.flatMap((draft) => (draft.hard ? [{ ...draft, unsure: true }] : []));
}

/** What is kept of words that no rule understood, as they were said. Null: nothing. */
export function keptAsSaid(clause: Clause, judgement: Judgement, language: Language, vocabulary: Vocabulary): Draft | null {
  const { words } = clause;
  const hard = judgement.hard >= HARD_FROM;
  if (judgement.keep < (hard ? ASK_FROM : KEEP_FROM) || clause.text.length > MAX_CHARS || language.once.in(words) !== -1) return null;
  const text = asSaid(clause.text);
  const who = subjectIn(words, language);
  return {
    clause,
    text,
    about: text.slice(0, 200),
    category: hard ? judgement.category : (vocabulary.categoryOf(words) ?? judgement.category),
    aspect: "",
    condition: "",
    need: hard ? "other" : null,
    hard,
    ...subjectFor(who ?? { kind: "self" }),
    // What must hold is asked about where it is said of nobody, too.
    unsure: hard && (who === null || judgement.keep < KEEP_FROM),
    trip: false,
  };
}

/** "My wife …" before any "I": it is told of her. Null: of nobody. */
function subjectIn(words: readonly string[], language: Language): Parameters<typeof subjectFor>[0] | null {
  const at = words.findIndex((word, index) => language.mine.has(word) && relationAt(words, index + 1) !== undefined);
  const relation = at === -1 ? undefined : relationAt(words, at + 1);
  const own = words.findIndex((word) => language.first.has(word) && !language.mine.has(word));
  if (relation !== undefined && (own === -1 || own > at)) return { kind: "companion", relation: relation.relation, name: null };
  return own === -1 ? null : { kind: "self" };
}
