import { BROUGHT } from "maitred/stand-in";
import { partsOf, unreadIn } from "../learnt/judged-drafts.js";
import type { AskedNeeds } from "./asked-needs.js";
import { type Clause, clausesOf, type Sentence, through, untilLiking, withNarrowing } from "./clauses.js";
import { saysWhoComes } from "./company.js";
import { isDenied, tellsOfNone } from "./denied-needs.js";
import type { Vocabulary } from "./domain-words.js";
import type { Draft } from "./draft.js";
import { harmsIn } from "./harm.js";
import { anyLanguage, english, type Language, wordsOf } from "./language.js";
import { limitsOf } from "./limits.js";
import { avoidingIn, needsOf, saysNoMore } from "./needs.js";
import { withoutAsking } from "./remember.js";
import { statementsOf } from "./statements.js";
import type { Story } from "./story.js";
import type { Companion } from "./who.js";

/** A message while its sentences are read, one after the other. */
export interface Reading {
  readonly language: Language;
  readonly vocabulary: Vocabulary;
  readonly story: Story;
  readonly questions: AskedNeeds;
}

/** What the rules made of a sentence, and what they left of it. */
export interface ReadSentence {
  readonly drafts: readonly Draft[];
  readonly whole: Clause;
  readonly unread: Clause | null;
  /** The same, by the things that it tells. */
  readonly parts: readonly Clause[];
  readonly place: number;
  /** It is supposed: of what must hold the guest is asked, and nothing else is kept. */
  readonly doubted: boolean;
  /** All of it is who comes, and plain needs of theirs. */
  readonly isPlain: boolean;
  /** The guest asked that it be remembered. */
  readonly asked: boolean;
  /** It tells that somebody has no need. */
  readonly none: boolean;
  /** What may have to hold where nothing else of it does. */
  readonly harms: readonly Draft[];
  /** Who was named last when it was said. */
  readonly companion: Companion | null;
  /** Whose name begins what is unread, who may be nobody's. */
  readonly called: Companion | null;
}

/** Null: it tells nothing. `foreign`: from here on somebody else's words stand. */
export function readSentence(
  sentence: Sentence,
  { language, vocabulary, story, questions }: Reading,
): Omit<ReadSentence, "place"> | null | "foreign" {
  const words = wordsOf(sentence.text, language);
  if (anyLanguage("instruction", words)) return null;
  const whole = { text: sentence.text, start: sentence.start, words, index: 0 };
  const nothing = {
    drafts: [],
    whole,
    unread: null,
    parts: [],
    doubted: false,
    isPlain: false,
    asked: false,
    none: false,
    harms: [],
    companion: null,
    called: null,
  };
  // "The doctor says no dairy": nobody else's words, and asked about.
  if (anyLanguage("bringing", words) && !sentence.text.includes(BROUGHT) && english.advice.in(words) !== -1)
    return {
      ...nothing,
      harms: harmsIn(sentence, clausesOf(sentence, language), story.companionIn(words, language), { language, vocabulary }),
    };
  // "Translate this: …" without marks around it: where that ends can't be told.
  if (anyLanguage("bringing", words)) return sentence.text.includes(":") && !sentence.text.includes(BROUGHT) ? "foreign" : null;
  if (sentence.text.includes(BROUGHT)) return null;
  if (supposes(words, language)) return { ...nothing, unread: whole, parts: [whole], doubted: true };
  const clauses = clausesOf(sentence, language);
  const beforeQuestion = sentence.asks ? untilLiking(clauses, language) : [];
  const drafts: Draft[] = [];
  const laughs = anyLanguage("laugh", words);
  let avoiding: string | null = null;
  let isAsked = false;
  /** Whose name began the clause before, and what must hold for them. */
  let called: Companion | null = null;
  for (const clause of clauses) {
    if (supposes(clause.words, language)) break;
    const { clause: rest, asked } = withoutAsking(clause);
    isAsked ||= asked;
    story.standing ||= asked || english.standing.in(words) !== -1;
    // What is over is no statement that it holds.
    const isEnd = rest !== null && english.ends.in(rest.words) !== -1 && english.limits.in(rest.words) === -1;
    if (rest === null || isEnd || isDenied(rest.words, language, vocabulary)) continue;
    if (called !== null && goesOn(rest, language)) story.goesOnOf(called);
    const asks = sentence.asks && !asked && !story.standing && !beforeQuestion.includes(clause);
    const read = story.next(rest, language, { asks, laughs, standing: story.standing, avoiding });
    if (read === null) continue;
    const needs = [
      ...needsOf(read, vocabulary),
      ...(asks ? [] : limitsOf({ ...read, clause: withNarrowing(whole, rest, clauses) }, vocabulary)),
    ];
    const calls = read.who.kind === "nobody" && needs.some(({ hard, unsure }) => hard && unsure);
    called = calls ? story.calledIn(rest, language, vocabulary) : null;
    avoiding = avoidingIn(read, needs) ?? (needs.length > 0 ? avoiding : null);
    drafts.push(...needs, ...(needs.length === 0 && !asks ? statementsOf(read, vocabulary) : []));
  }
  story.endSentence();
  drafts.push(
    ...questions.next(
      sentence,
      clauses,
      language,
      drafts.some(({ hard }) => hard),
    ),
  );
  const stating = beforeQuestion.at(-1);
  const unread = stating === undefined ? unreadIn(clauses, whole, drafts) : unreadIn(beforeQuestion, through(whole, stating), drafts);
  const parts = unread === null ? [] : partsOf(unread, clauses, drafts, language);
  const companion = story.companionIn(words, language);
  const harms = harmsIn(sentence, clauses, companion, { language, vocabulary });
  const none = tellsOfNone(clauses, language, vocabulary);
  const isPlain =
    saysNoMore(whole, language, vocabulary) ||
    (clauses.length > 0 &&
      clauses.every((clause) => saysNoMore(clause, language, vocabulary) || saysWhoComes(clause, language, vocabulary)));
  return {
    drafts,
    whole,
    unread,
    parts,
    doubted: false,
    isPlain,
    asked: isAsked,
    none,
    harms,
    companion,
    called: unread === null ? null : story.calledIn(unread, language, vocabulary),
  };
}

/** "…, latex neither", "…, latex thing": of whom the clause before told. What the guest asks for, or says of themselves, is their own. */
function goesOn({ words }: Clause, language: Language): boolean {
  const isOwn = language.first.in(words) !== -1 || english.own.in(words) !== -1;
  return language.name === "en" && english.second.in(words) !== -1 && !isOwn;
}

/** "If …", "let's say …": within the first words. */
function supposes(words: readonly string[], language: Language): boolean {
  return [0, 1, 2].some((at) => language.if.at(words, at) > 0 && (at === 0 || language.name === "en"));
}
