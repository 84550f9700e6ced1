import { setImmediate as nextTick } from "node:timers/promises";
import type { Category, DomainWords, Memory, MessageReader, MessageToRead, Need, ProposedOperation, Reading } from "maitred";
import { BROUGHT, folded, type GiveWay, ownText, wordsIn } from "maitred/stand-in";
import {
  BACK_FROM,
  BACK_FROM_ABROAD,
  BACK_FROM_PLAIN,
  BELIEVE_HARD_FROM,
  isRead,
  keptAsSaid,
  PARTLY_READ_FROM,
  UNDERSTOOD_KEEP_FROM,
} from "./learnt/judged-drafts.js";
import type { SentenceJudge } from "./learnt/sentence-judge.js";
import { readAbroad } from "./reading/abroad.js";
import { alike } from "./reading/alike.js";
import { AskedNeeds } from "./reading/asked-needs.js";
import { type Changes, changesOf, saidBefore } from "./reading/changes.js";
import { type Clause, clausesOf, type Sentence, sentencesOf } from "./reading/clauses.js";
import { type Dates, datesIn } from "./reading/dates.js";
import { Vocabulary } from "./reading/domain-words.js";
import type { Draft } from "./reading/draft.js";
import { withHarms } from "./reading/harm.js";
import { english, type Language, languageIn, relationAt, UNKNOWN } from "./reading/language.js";
import { tellsNoNeed } from "./reading/no-needs.js";
import { operationsFor } from "./reading/operations.js";
import { isOver } from "./reading/over.js";
import { type ReadSentence, readSentence } from "./reading/read-sentence.js";
import { recoveredIn } from "./reading/recoveries.js";
import { asStated } from "./reading/remember.js";
import { withoutSpeltCode } from "./reading/spelt-codes.js";
import { Story } from "./reading/story.js";
import { leavesAlone, mayTakeBack } from "./reading/take-back.js";

/** What of a message is read; what is beyond is not. */
const MAX_CHARS = 2_000;
/** Sentences, and what they say, that are read without giving way: what most messages have. */
const AT_ONCE = 4;
/** The guest's messages before in which somebody may have been named. */
const MESSAGES_HEARD = 3;
/** What takes back what the message before told does so in its first sentences. */
const BACK_WITHIN = 2;
const NEVER = Number.NEGATIVE_INFINITY;

export interface OfflineReaderOptions {
  /** The domain's; default none: every need is `other`. */
  readonly needs: readonly Need[];
  readonly categories: readonly Category[];
  /** The domain's words for them. */
  readonly words?: DomainWords | undefined;
  /** Weighs what the rules understood, and keeps what they didn't. Default null: rules alone. */
  readonly judge?: SentenceJudge | null;
  /** Awaited between the sentences of a longer message. Default: the event loop's next turn. */
  readonly giveWay?: GiveWay;
}

/**
 * Reads messages where no model is configured: clause by clause, plain statements of the guest's only, by small words of some
 * languages, and by what a judge learnt of sentences. Not clever: what it doesn't understand it leaves; what it doubts it calls
 * unsure, and the guest is asked. Deterministic.
 */
export class OfflineReader implements MessageReader {
  readonly name = "stand-in";
  readonly #vocabulary: Vocabulary;
  readonly #categories: ReadonlySet<string>;
  readonly #judge: SentenceJudge | null;
  readonly #giveWay: GiveWay;

  constructor({ needs, categories, words = { needs: [], categories: {} }, judge = null, giveWay }: OfflineReaderOptions) {
    this.#judge = judge;
    this.#giveWay = giveWay ?? (() => nextTick());
    this.#vocabulary = new Vocabulary(words, new Set(needs.map(({ name }) => name)));
    this.#categories = new Set(categories.map(({ name }) => name));
  }

  async read(input: MessageToRead, { signal }: { readonly signal: AbortSignal }): Promise<Reading> {
    const own = ownText(input.text.slice(0, MAX_CHARS));
    const words = wordsIn(own);
    const language = languageIn(own.replaceAll(BROUGHT, ""));
    const changes = changesOf(own, input, language, this.#vocabulary);
    const read: ReadSentence[] = [];
    const story = new Story(own, { known: input.known, before: saidBefore(input) });
    // "She has hearing aids", where the message before said "my wife and I".
    for (const { content } of input.context.filter(({ role }) => role === "user").slice(-MESSAGES_HEARD))
      for (const sentence of sentencesOf(ownText(content.slice(0, MAX_CHARS)), isTitle).slice(0, AT_ONCE))
        story.heardBefore(clausesOf(sentence, language), language);
    const questions = new AskedNeeds(this.#vocabulary);
    const sentences = sentencesOf(own, isTitle).flatMap((whole) => {
      const parts = withoutSpeltCode(whole);
      // "My daughter's insulin pump pin is 4482 and she needs …": whom she means stands beside the code.
      if (parts[0]?.start !== whole.start) story.heardBefore(clausesOf(whole, language), language);
      return parts;
    });
    const over: Sentence[] = [];
    for (const [at, sentence] of sentences.entries()) {
      signal.throwIfAborted();
      await (at < AT_ONCE ? nextTick() : this.#giveWay(input.owner, signal));
      if (isOver(sentence, language, this.#vocabulary) || tellsNoNeed(sentence, sentences[at + 1], language, this.#vocabulary))
        over.push(sentence);
      if (changes.covers(sentence)) continue;
      const said = readSentence(sentence, { language, vocabulary: this.#vocabulary, story, questions });
      if (said === "foreign") break;
      if (said === null) continue;
      read.push({ ...said, place: at });
    }
    const message = { message: own.replaceAll(BROUGHT, ""), sentences: sentences.length, language };
    const { believable, back } = await this.#judged(read, message, signal);
    const drafts: DatedDraft[] = [];
    // What must hold is asked about all the same, where a need is named: "I'm seeing an oncologist, don't write it down" is left.
    const told = readAbroad(believable, { sentences, over, language, vocabulary: this.#vocabulary }).filter(
      (draft) => !(draft.hard && (this.#tellsEnd(draft, changes.asked, language) || this.#isKnown(draft, input, language))),
    );
    for (const draft of changes.off_record === "this"
      ? told.filter(({ hard, clause }) => hard && this.#vocabulary.needsIn(clause.words).length > 0)
      : told) {
      if (drafts.length >= AT_ONCE) await this.#giveWay(input.owner, signal);
      const holds = isAsSaid(draft, language, this.#vocabulary) ? { ...draft, unsure: true } : draft;
      drafts.push({ draft: holds, dates: datesIn(draft.clause.text, input) });
    }
    // Of a single word ("sí") nobody knows the language.
    const isEnglish = language.name === "en" && words.length > 1;
    const backFrom = english.unsays.in(words) === -1 ? BACK_FROM : BACK_FROM_PLAIN;
    // "I can't do steps any more" tells more of what must hold, and takes no allergy back.
    const takesNothingBack = isEnglish && [english.unsays, english.misspoken].every((list) => list.in(words) === -1);
    const goesOn = (target: Memory) =>
      takesNothingBack &&
      target.strength === "hard" &&
      told.some(({ hard, need, about }) => hard && !(need === target.need && alike(folded(about), folded(target.about))));
    const ended = saidBefore(input).filter(
      (target) =>
        back >= (isEnglish ? backFrom : BACK_FROM_ABROAD) &&
        !changes.asked.some((each) => each.target === target) &&
        !goesOn(target) &&
        !leavesAlone(target, words, language, this.#vocabulary),
    );
    const quote = own.trim().slice(0, 200);
    const asked = [...changes.asked, ...ended.map((target) => ({ op: "end" as const, target, quote, plain: false }))];
    const operations = operationsFor(withoutReasons(drafts), input.known, { ...changes, asked }, this.#vocabulary, (category) =>
      this.#categories.has(category) ? category : "other",
    );
    return {
      operations: withoutRepeats(operations),
      off_record: changes.off_record,
      unreadable: 0,
      over: over.map(({ text, start }) => ({ start, end: start + text.length })),
    };
  }

  /** As it was read, where nobody judges it. `back`: how likely it takes back what the message before told. */
  async #judged(
    read: readonly ReadSentence[],
    { message, sentences, language }: { readonly message: string; readonly sentences: number; readonly language: Language },
    signal: AbortSignal,
  ): Promise<{ readonly believable: readonly Draft[]; readonly back: number }> {
    const drafts = read.flatMap((each) => withHarms(each.drafts, each.harms));
    if (this.#judge === null || read.length === 0) return { believable: drafts, back: NEVER };
    const texts = read.flatMap(({ whole, unread, place }) => [whole, unread ?? whole].map(({ text }) => ({ text, place })));
    const held = drafts.filter((draft) => draft.hard && isRead(draft));
    const judged = await this.#judge.judge(texts, { message, sentences, english: ["en", UNKNOWN].includes(language.name) }, signal);
    const believed = (
      { drafts: of, whole, unread, parts, doubted, isPlain, asked, none, companion, called }: ReadSentence,
      at: number,
    ): readonly Draft[] => {
      const [ofWhole, ofUnread] = [judged[2 * at], judged[2 * at + 1]];
      if (ofWhole === undefined || ofUnread === undefined) return of;
      const needs = of
        .filter(isRead)
        .map((need) => (ofWhole.keep < BELIEVE_HARD_FROM && !need.whole && !asked && !isPlain ? { ...need, unsure: true } : need));
      // Beside what must hold, the rest of a sentence is kept where the whole of it tells something.
      const plain = of.length > needs.length;
      const tells = needs.length === 0 || ((plain || ofWhole.keep >= PARTLY_READ_FROM) && !whole.text.includes("?"));
      if (unread === null || !tells) return needs;
      const said = (part: Clause) =>
        keptAsSaid(asStated(part, language), ofUnread, {
          language,
          vocabulary: this.#vocabulary,
          plain,
          doubted,
          none,
          companion,
          called,
          beside: held,
          isRest: unread !== whole && needs.length > 0,
        });
      const together = said(unread);
      // "I love jazz and I am vegan": a taste that a rule understood by itself needs less.
      const understood = of.filter(({ hard, clause }) => !hard && clause.text === unread.text);
      if (needs.length > 0 && together.length === 0 && ofUnread.keep >= UNDERSTOOD_KEEP_FROM) return [...needs, ...understood];
      return [...needs, ...(parts.length === 1 || together.some(({ hard }) => hard) ? together : parts.flatMap(said))];
    };
    const believable = read.flatMap((each, at) => withHarms(withPlain(believed(each, at), each.drafts), each.harms));
    const takesBack = ({ place, whole }: ReadSentence) => place < BACK_WITHIN && mayTakeBack(whole.words, language);
    const firsts = read.map((each, at) => (takesBack(each) ? (judged[2 * at]?.back ?? NEVER) : NEVER));
    return { believable, back: Math.max(...firsts) };
  }

  /** "I'm not vegan any more", "stairs are no problem now": it ends what is known, and is no need of its own. */
  #tellsEnd({ clause }: Draft, asked: Changes["asked"], language: Language): boolean {
    const isOf = (quote: string) => quote.includes(clause.text.replace(/[.!?]+$/u, "")) || clause.text.includes(quote);
    const isOver =
      english.ends.in(clause.words) !== -1 ||
      recoveredIn(clausesOf({ ...clause, asks: false }, language), language, this.#vocabulary).size > 0;
    return isOver && asked.some(({ op, quote }) => op === "end" && isOf(quote));
  }

  /** "As long as they can handle my allergy": which one is known, and nothing new is told. */
  #isKnown({ clause, unsure, subject }: Draft, { known }: MessageToRead, language: Language): boolean {
    const words = wordsIn(clause.text);
    if (!unsure || subject !== "self" || language.name !== "en" || english.conditions.in(words) === -1) return false;
    if (words.some((_, at) => relationAt(words, at) !== undefined)) return false;
    const held = known.filter((memory) => memory.strength === "hard" && memory.subject === "self");
    const named = this.#vocabulary.needsIn(words);
    if (named.length > 0) return named.every(({ need }) => need !== "other" && held.some((memory) => memory.need === need));
    const points = words.some((word, at) => /^(?:all?erg|intoleran)/u.test(word) && language.mine.has(words[at - 1]));
    return points && held.some(({ category }) => category === "dietary");
  }
}

/** With the tastes that are told plainly, for what the judge made of just their words; what it made of more tells them too. */
function withPlain(kept: readonly Draft[], read: readonly Draft[]): readonly Draft[] {
  const holds = (one: Draft, other: Draft) =>
    one.clause.start <= other.clause.start && one.clause.start + one.clause.text.length >= other.clause.start + other.clause.text.length;
  const plain = read.filter((each) => each.plain === true && kept.every((other) => !holds(other, each) || holds(each, other)));
  return [...kept.filter((each) => !plain.some((other) => holds(other, each))), ...plain];
}

interface DatedDraft {
  readonly draft: Draft;
  readonly dates: Dates;
}

/** Of two mentions of one need, the allergy; else the one that a rule read, or that names both. */
function withoutReasons(said: readonly DatedDraft[]): readonly DatedDraft[] {
  const isOfSame = (one: Draft, other: Draft) => one !== other && one.need === other.need && one.subject === other.subject;
  const tellsLess = (one: Draft, other: Draft) =>
    isOfSame(one, other) && !other.unsure && (isRaw(one) ? !isRaw(other) : wordsIn(other.text).includes(folded(one.about)));
  return said.filter(({ draft }, at) => {
    if (draft.need === null || draft.need === "other") return true;
    if (said.some(({ draft: other }, place) => tellsLess(draft, other) && !(tellsLess(other, draft) && at < place))) return false;
    const plainer = said.find(
      ({ draft: other }) => other.need === draft.need && other.subject === draft.subject && other.text.startsWith("Is allergic"),
    );
    return plainer === undefined || plainer.draft.clause.start === draft.clause.start;
  });
}

function isTitle(word: string): boolean {
  return english.titles.has(word);
}

/** As it was said: no rule read what it is about. */
function isRaw({ about, text }: Draft): boolean {
  return about !== "" && text.startsWith(about);
}

/** What is plain is so short. */
const MAX_PLAIN_WORDS = 7;

/** A sentence, of no need that the domain has: "loo close by, got crohns". "I can't have grapefruit", of a thing by its name, is plain. */
function isAsSaid({ hard, need, text }: Draft, language: Language, vocabulary: Vocabulary): boolean {
  const words = wordsIn(text);
  if (!hard || need !== "other") return false;
  const isAvoided = language.avoid.in(words, { slips: true }) !== -1 && vocabulary.needsIn(words).some(({ kind }) => kind === "avoid");
  return !isAvoided && (words.length > MAX_PLAIN_WORDS || (language.name === "en" && english.first_person.in(words) !== -1));
}

function withoutRepeats(operations: readonly ProposedOperation[]): readonly ProposedOperation[] {
  const seen = new Set<string>();
  return operations.filter(({ op, subject, need, about, target_id, text }) => {
    const key = `${op}|${subject}|${target_id ?? ""}|${need ?? text}|${about.toLowerCase()}`;
    return seen.has(key) ? false : seen.add(key);
  });
}
