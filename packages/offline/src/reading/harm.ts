import { wordsIn } from "maitred/stand-in";
import type { Clause, Sentence } from "./clauses.js";
import type { FoundNeed, Vocabulary } from "./domain-words.js";
import type { Draft } from "./draft.js";
import { isDenial } from "./endings.js";
import { english, type Language, pronounIn } from "./language.js";
import { rawWords } from "./names.js";
import { hardDraft } from "./needs.js";
import { told } from "./said.js";
import { type Companion, peopleIn, relationBegun, type Who, whoIn } from "./who.js";

/*
 * What must hold, out of what something does to somebody: "nuts could kill me", "I nearly died from a cashew", "I have given up gluten".
 * No such sentence says that it must: the guest is asked. English.
 */

export function harmsIn(
  sentence: Sentence,
  clauses: readonly Clause[],
  companion: Companion | null,
  { language, vocabulary }: { readonly language: Language; readonly vocabulary: Vocabulary },
): readonly Draft[] {
  if (language.name !== "en" || sentence.asks) return [];
  const harms = harmsBy(clauses, companion, { language, vocabulary });
  return harms.length > 0 ? harms : mayNeed(sentence, clauses, companion, language);
}

/** "The consultant says …", "seven months gone", "he needs a seat by the loo": nothing of it is a need of the domain's. */
function mayNeed(sentence: Sentence, clauses: readonly Clause[], companion: Companion | null, language: Language): readonly Draft[] {
  const whole = { ...sentence, words: wordsIn(sentence.text), index: 0 };
  if ([english.health, english.advice].some((list) => list.in(whole.words) !== -1)) {
    const who = whoMayNeed(whole, companion, language);
    return who === null ? [] : [asked(whole, who, language)];
  }
  return clauses.flatMap((clause) => {
    const needs = clause.words.findIndex((word) => english.needing.is(word.replace(/s$/u, "")) && word.endsWith("s"));
    const isOver = english.ends.in(clause.words) !== -1 || clause.words.some((word) => isDenial(word, language));
    if (needs < 1 || needs === clause.words.length - 1 || isOver) return [];
    const who = pronounIn(clause.words.slice(0, needs), language).length > 0 ? companion : whomIn(clause, language);
    return who === null || who.kind !== "companion" ? [] : [asked(clause, who, language)];
  });
}

const SELF = { kind: "self" } as const;

/** Whom words of somebody's health are about. Null: somebody else, or nobody known. */
function whoMayNeed(clause: Clause, companion: Companion | null, language: Language): Who | null {
  const { words } = clause;
  const advice = english.advice.in(words);
  const isOther = whoIn(clause, language, false).kind === "other";
  if (advice === -1) return isOther ? null : (whomIn(clause, language) ?? SELF);
  const named = words.map((word) => word.replace(/'s$/u, ""));
  const about = whomIn({ ...clause, words: named }, language);
  if (about !== null) return about;
  // "Mum's doctor says".
  const begun = relationBegun(words);
  if (begun !== undefined) return { kind: "companion", relation: begun, name: null };
  // "My boss's doctor says", "the doctor told her".
  if (words[advice - 1]?.endsWith("'s") === true || english.bystanders.in(named.slice(advice + 1)) !== -1) return null;
  const behind = words.slice(advice + english.advice.at(words, advice));
  if (pronounIn(behind.slice(0, 1), language).length > 0) return companion;
  if (pronounIn(words, language).length > 0) return companion ?? SELF;
  // "The hospital says it opens at nine".
  return isOther && !words.some((word) => isDenial(word, language)) ? null : SELF;
}

function asked(clause: Clause, who: Who, language: Language): Draft {
  const read = { clause, language, who, asks: false, laughs: false, standing: false, avoiding: null };
  const text = told(clause.text, who, language);
  return { ...hardDraft(read, text), about: text.slice(0, 200), unsure: true };
}

function harmsBy(
  clauses: readonly Clause[],
  companion: Companion | null,
  { language, vocabulary }: { readonly language: Language; readonly vocabulary: Vocabulary },
): readonly Draft[] {
  return clauses.flatMap((clause) => {
    const { words } = clause;
    const need = vocabulary.needsIn(words).find(({ kind, category }) => kind === "avoid" && category === "dietary");
    if (need === undefined || words.some((word) => isDenial(word, language))) return [];
    const harmed = doesHarm(words) || isTroubled(words, need);
    // "She has a lactose problem": who was named last.
    const who = whomIn(clause, language) ?? (pronounIn(words, language).length > 0 ? companion : null);
    if (who === null || !(harmed || isGivenUp(words, need))) return [];
    const about = rawWords(clause.text)[need.at] ?? "";
    const read = { clause, language, who, asks: false, laughs: false, standing: false, avoiding: null };
    const text = told(clause.text, who, language);
    return [{ ...hardDraft(read, text), about, aspect: about.toLowerCase(), need: need.need, category: need.category, unsure: true }];
  });
}

/** What a sentence tells, with what may have to hold: by itself, or as the need of what is kept as it was said. */
export function withHarms(drafts: readonly Draft[], harms: readonly Draft[]): readonly Draft[] {
  const [harm, another] = harms;
  if (!drafts.some(({ hard }) => hard)) return [...drafts.filter(({ text }) => harms.every((each) => each.text !== text)), ...harms];
  if (harm === undefined || another !== undefined || drafts.some(({ need }) => need === harm.need)) return drafts;
  const { need, about, aspect, category } = harm;
  return drafts.map((draft) => (draft.hard && draft.need === "other" ? { ...draft, need, about, aspect, category } : draft));
}

function doesHarm(words: readonly string[]): boolean {
  return words.some((_, at) => {
    const length = english.harms.at(words, at);
    // "Sick of eggs", "ill-advised".
    return length > 0 && !(length === 1 && words[at + 1] === "of");
  });
}

const PROBLEM = /^problems?$/u;

/** "A lactose problem", "trouble with dairy". */
function isTroubled(words: readonly string[], { at, length }: FoundNeed): boolean {
  return PROBLEM.test(words[at + length] ?? "") || words.some((_, place) => place < at && english.troubles.at(words, place) > 0);
}

/** "Stopped eating dairy", "gave up gluten". */
function isGivenUp(words: readonly string[], { at }: FoundNeed): boolean {
  const stop = english.stops.in(words);
  if (stop === -1 || stop > at || english.stops_by.at(words, stop) > 0) return false;
  return words.slice(stop + english.stops.at(words, stop), at).every((word) => english.glue.has(word) || word === "all");
}

/** The guest, or who of theirs is named. Null: nobody of whom it is known. */
function whomIn(clause: Clause, language: Language): Who | null {
  const [named] = peopleIn(clause, language);
  if (named !== undefined) return named;
  return clause.words.some((word) => language.first.has(word) && !language.mine.has(word)) ? SELF : null;
}
