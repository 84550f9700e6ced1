import { setImmediate as nextTick, setTimeout as pause } from "node:timers/promises";
import type { Category } from "../domain/categories.js";
import { BROUGHT, ownText } from "../platform/own-text.js";
import { folded, wordsIn } from "../platform/phrase-list.js";
import type { Need } from "../ports/agent.js";
import type { MessageReader, MessageToRead, ProposedOperation, Reading } from "../ports/extraction.js";
import type { DomainWords } from "../ports/offline-script.js";
import { believed, keptAsSaid, unreadIn } from "./learnt/judged-drafts.js";
import type { SentenceJudge } from "./learnt/sentence-judge.js";
import { changesOf, operationsFor, outdatedBy } from "./reading/changes.js";
import { type Clause, clausesOf, type Sentence, sentencesOf } from "./reading/clauses.js";
import { type Dates, datesIn } from "./reading/dates.js";
import { Vocabulary } from "./reading/domain-words.js";
import type { Draft, ReadClause } from "./reading/draft.js";
import { parseEnglish, type Who } from "./reading/english-clause.js";
import { hintsOf } from "./reading/hints.js";
import { anyLanguage, english, type Language, languageIn, relationAt } from "./reading/language.js";
import { needsOf } from "./reading/needs.js";
import { statementsOf } from "./reading/statements.js";

/** What of a message is read; what is beyond is not. */
const MAX_CHARS = 2_000;
/** Sentences that are read without a pause: what most messages have. */
const AT_ONCE = 4;
/** How long a pause is, as a multiple of what the sentence before it took. */
const PAUSE = 2;

export interface OfflineReaderOptions {
  /** The domain's; default none: every need is `other`. */
  readonly needs: readonly Need[];
  readonly categories: readonly Category[];
  /** The domain's words for them. */
  readonly words?: DomainWords | undefined;
  /** Weighs what the rules understood, and keeps what they didn't. Default null: rules alone. */
  readonly judge?: Pick<SentenceJudge, "judge"> | null;
}

/**
 * Reads messages where no model is configured: clause by clause, plain first-person statements only, English by `compromise`, the
 * plainest forms of some other languages by small words. Not clever: what it doesn't understand it leaves; what it doubts it calls
 * unsure, and the guest is asked. Deterministic.
 */
export class OfflineReader implements MessageReader {
  readonly name = "stand-in";
  readonly #vocabulary: Vocabulary;
  readonly #categories: ReadonlySet<string>;
  readonly #judge: Pick<SentenceJudge, "judge"> | null;

  constructor({ needs, categories, words = { needs: [], categories: {} }, judge = null }: OfflineReaderOptions) {
    this.#judge = judge;
    this.#vocabulary = new Vocabulary(words, new Set(needs.map(({ name }) => name)));
    this.#categories = new Set(categories.map(({ name }) => name));
  }

  async read(input: MessageToRead, { signal }: { readonly signal: AbortSignal }): Promise<Reading> {
    const own = ownText(input.text.slice(0, MAX_CHARS));
    const language = languageIn(own.replaceAll(BROUGHT, ""));
    const changes = changesOf(own, input.known, language);
    if (changes.off_record === "this") return { operations: [], off_record: "this", unreadable: 0 };
    const read: ReadSentence[] = [];
    const story = new Story(own);
    const sentences = sentencesOf(own, (word) => english.titles.has(word));
    const jokes = sentences.map(({ text }) => anyLanguage("joke", wordsIn(text)) || EYES.test(text));
    let tookMs = 0;
    for (const [at, sentence] of sentences.entries()) {
      signal.throwIfAborted();
      // The library takes some milliseconds a sentence: others get their turn, and in a long message most of the time.
      await (at < AT_ONCE ? nextTick() : pause(PAUSE * tookMs, undefined, { signal }));
      const began = performance.now();
      if (jokes[at] || jokes[at + 1] || changes.covers(sentence)) continue;
      const said = this.#inSentence(sentence, language, story);
      if (said === "foreign") break;
      // What follows a joke may be one more.
      if (said !== null)
        read.push({ ...said, place: at, ...(jokes[at - 1] && { drafts: said.drafts.filter(({ hard }) => hard), unread: null }) });
      tookMs = performance.now() - began;
    }
    const believable = await this.#judged(read, { message: own.replaceAll(BROUGHT, ""), sentences: sentences.length, language }, signal);
    const drafts = believable.map((draft) => ({ draft, dates: datesIn(draft.clause.text, input) }));
    const outdated = drafts.length === 0 && story.tells ? outdatedBy(wordsIn(own), input.known, this.#vocabulary) : [];
    const asked = [
      ...changes.asked,
      ...outdated.map((target) => ({ op: "end" as const, target, quote: own.trim().slice(0, 200), plain: false })),
    ];
    const operations = operationsFor(withoutReasons(drafts), input.known, { ...changes, asked }, (category) =>
      this.#categories.has(category) ? category : "other",
    );
    return { operations: withoutRepeats(operations), off_record: changes.off_record, unreadable: 0 };
  }

  /** As it was read, where nobody judges it. */
  async #judged(
    read: readonly ReadSentence[],
    { message, sentences, language }: { readonly message: string; readonly sentences: number; readonly language: Language },
    signal: AbortSignal,
  ): Promise<readonly Draft[]> {
    const drafts = read.flatMap((each) => each.drafts);
    if (this.#judge === null || read.length === 0) return drafts;
    const texts = read.flatMap(({ whole, unread, place }) => [whole, unread ?? whole].map(({ text }) => ({ text, place })));
    const judged = await this.#judge.judge(texts, { message, sentences, english: language.name === "en" }, signal);
    if (judged === null) return drafts;
    return read.flatMap(({ drafts: of, unread }, at) => {
      const [ofWhole, ofUnread] = [judged[2 * at], judged[2 * at + 1]];
      if (ofWhole === undefined || ofUnread === undefined) return of;
      const kept = unread === null ? null : keptAsSaid(unread, ofUnread, language, this.#vocabulary);
      return [...believed(of, ofWhole), ...(kept === null ? [] : [kept])];
    });
  }

  /** Null: it tells nothing. `foreign`: from here on somebody else's words stand. */
  #inSentence(sentence: Sentence, language: Language, story: Story): Omit<ReadSentence, "place"> | null | "foreign" {
    const words = wordsIn(sentence.text);
    if (anyLanguage("instruction", words)) return null;
    // "Translate this: …" without marks around it: where that ends can't be told.
    if (anyLanguage("bringing", words)) return sentence.text.includes(":") && !sentence.text.includes(BROUGHT) ? "foreign" : null;
    if (sentence.text.includes(BROUGHT) || supposes(words, language)) return null;
    const clauses = clausesOf(sentence, language);
    const drafts: Draft[] = [];
    const standing = story.standing || english.standing.in(words) !== -1;
    for (const clause of clauses) {
      if (supposes(clause.words, language)) break;
      const { clause: rest, asked } = withoutAsking(clause);
      if (asked) story.standing = true;
      // What is over is no statement that it holds; "I can't … anymore" and "I gave up …" are.
      if (rest === null || (english.ends.in(rest.words) !== -1 && !saysWhatHolds(rest.words))) continue;
      const read = story.next(rest, language, {
        asks: sentence.asks && !asked && !story.standing,
        standing: standing || story.standing,
        laughs: anyLanguage("laugh", words),
        goesOn: story.tells && story.told,
      });
      if (read === null) continue;
      const needs = needsOf(read, this.#vocabulary);
      drafts.push(...needs);
      const tastes = needs.length === 0 && !read.asks ? statementsOf(read, this.#vocabulary) : [];
      story.told ||= [...needs, ...tastes].some(({ subject, unsure }) => subject === "self" && !unsure);
      drafts.push(...tastes);
    }
    story.endSentence();
    const hard = drafts.some((draft) => draft.hard);
    const all = hard ? drafts : [...drafts, ...hintsOf(sentence, language, this.#vocabulary)];
    const whole = { text: sentence.text, start: sentence.start, words, index: 0 };
    return { drafts: all, whole, unread: unreadIn(clauses, whole, all) };
  }
}

/** What the rules made of a sentence, and what they left of it. */
interface ReadSentence {
  readonly drafts: readonly Draft[];
  readonly whole: Clause;
  readonly unread: Clause | null;
  readonly place: number;
}

interface DatedDraft {
  readonly draft: Draft;
  readonly dates: Dates;
}

/** "If …", "let's say …": within the first words. */
function supposes(words: readonly string[], language: Language): boolean {
  return [0, 1, 2].some((at) => language.if.at(words, at) > 0 && (at === 0 || language.name === "en"));
}

/** "I don't eat meat anymore" tells what holds; "I'm not vegan anymore" and "I no longer live there" don't. */
function saysWhatHolds(words: readonly string[]): boolean {
  return english.gave_up.in(words) !== -1 || english.cannot.in(words) !== -1;
}

/** Rolled eyes: what stands beside them is not meant. */
const EYES = /[🙄🙃😒😜🤪😏]/u;

/** "Please remember that …": what follows is a statement, and meant to last. */
function withoutAsking(clause: Clause): { readonly clause: Clause | null; readonly asked: boolean } {
  const at = english.remember.in(clause.words);
  if (at === -1 || at > 8) return { clause, asked: false };
  let next = at + Math.max(1, english.remember.at(clause.words, at));
  while (english.after_asking.has(clause.words[next])) next++;
  const raw = [...clause.text.matchAll(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu)][next];
  if (raw === undefined) return { clause: null, asked: true };
  return {
    clause: { ...clause, text: clause.text.slice(raw.index), start: clause.start + raw.index, words: clause.words.slice(next) },
    asked: true,
  };
}

/** What was said before a clause: who was named last, and whether the guest speaks of themselves. */
class Story {
  standing = false;
  /** Something lasting was said of the guest. */
  told = false;
  /** The message asks for nothing and names no day: it tells. */
  readonly tells: boolean;
  #companion: Extract<Who, { kind: "companion" }> | null = null;
  #before: ReadClause["who"] = { kind: "nobody" };

  readonly #names = new Map<string, string>();

  constructor(text: string) {
    const words = wordsIn(text);
    this.tells = !text.includes("?") && english.requests.in(words) === -1 && !words.some((word) => english.dated.is(word));
    for (const { groups } of text
      .slice(0, MAX_CHARS)
      .matchAll(/\b(?:with|mit|avec|con|met)\s+(?<with>\p{Lu}\p{Ll}+)|(?<aged>\p{Lu}\p{Ll}+)\s\(\d{1,2}\)/gu)) {
      const name = groups?.with ?? groups?.aged ?? "";
      this.#names.set(folded(name), name);
    }
  }

  endSentence(): void {
    this.#before = { kind: "nobody" };
  }

  /** Null where a clause tells nothing of the guest or theirs. */
  next(clause: Clause, language: Language, how: Pick<ReadClause, "asks" | "goesOn" | "laughs" | "standing">): ReadClause | null {
    const parsed = language.name === "en" ? parseEnglish(clause.text, language) : null;
    const named = parsed === null ? this.#abroad(clause, language) : parsed.who;
    const called = this.#calledIn(clause.words);
    if (called !== undefined && named.kind !== "companion") this.#companion = called;
    const who = named.kind === "pronoun" ? (this.#companion ?? { kind: "other" as const }) : named;
    if (named.kind === "companion") {
      this.#companion = named;
      if (named.name !== null) this.#names.set(folded(named.name), named.name);
    }
    const before = this.#before;
    this.#before = who;
    if (language.would.in(clause.words) !== -1 && !(parsed !== null && how.standing)) return null;
    // Of a question only what is told beside it: "…, my wife is allergic to nuts?"
    if (how.asks && (clause.index === 0 || who.kind === "nobody" || who.kind === "other")) return null;
    // "… and hates garlic" goes on about the one before.
    const meant = who.kind === "nobody" && (before.kind === "companion" || before.kind === "other") ? before : who;
    if (parsed === null && language.past.in(clause.words) !== -1) return null;
    return { clause, language, parsed, who: meant, ...how };
  }

  #calledIn(words: readonly string[]): Extract<Who, { kind: "companion" }> | undefined {
    const name = words.map((word) => this.#names.get(word)).find((each) => each !== undefined);
    return name === undefined ? undefined : { kind: "companion", relation: name, name: null };
  }

  #abroad(clause: Clause, language: Language): Who {
    const { words } = clause;
    for (const [at, word] of words.slice(0, 4).entries()) {
      if (!language.mine.has(word)) continue;
      const relation = relationAt(words, at + 1);
      if (relation === undefined) return language.first.in(words) === -1 || at <= 1 ? { kind: "other" } : { kind: "self" };
      return { kind: "companion", relation: relation.relation, name: null };
    }
    if (language.pronouns.has(words[0]) && language.first.in(words) === -1) return { kind: "pronoun" };
    if (language.first.in(words) !== -1) return { kind: "self" };
    if (language.others.has(words[0])) return { kind: "other" };
    return clause.index > 0 && this.#before.kind === "self" ? { kind: "self" } : { kind: "nobody" };
  }
}

/** Of what a message says about how to reach somebody, the channel; of two mentions of one need, the allergy. */
function withoutReasons(said: readonly DatedDraft[]): readonly DatedDraft[] {
  const drafts = said.map(({ draft }) => draft);
  const channel = drafts.find(({ aspect }) => aspect === "channel");
  return said.filter(({ draft }) => {
    if (channel !== undefined && draft !== channel && draft.category === "communication") return false;
    const plainer = drafts.find(
      (other) => other.need === draft.need && other.subject === draft.subject && other.text.startsWith("Is allergic"),
    );
    return draft.need === null || draft.need === "other" || plainer === undefined || plainer.clause.start === draft.clause.start;
  });
}

function withoutRepeats(operations: readonly ProposedOperation[]): readonly ProposedOperation[] {
  const seen = new Set<string>();
  return operations.filter(({ op, subject, need, about, target_id, text }) => {
    const key = `${op}|${subject}|${target_id ?? ""}|${need ?? text}|${about.toLowerCase()}`;
    return seen.has(key) ? false : seen.add(key);
  });
}
