import { wordsIn } from "maitred/stand-in";
import type { Clause, Sentence } from "./clauses.js";
import type { FoundNeed, Vocabulary } from "./domain-words.js";
import type { Draft } from "./draft.js";
import { beginsAt, english, type Language, relationAt } from "./language.js";
import { isName, rawWords } from "./names.js";
import { avoidingBy, hardDraft, needsOf, withWhom } from "./needs.js";
import { capital, told } from "./said.js";
import { type Who, whoIn } from "./who.js";

/*
 * What must hold, out of questions: "can I bring my guide dog?", "I'm coeliac, can I eat there?", "is there room for a wheelchair? I use
 * one". A question may be about anybody, so that the guest is asked, whatever it says. In other languages than English what is told
 * before the question alone.
 */

/** A sentence that points back to a question is short. */
const MAX_POINTING_WORDS = 8;
/** Abroad a statement of the guest's has "I", or a verb that says it, among so many first words. */
const BEGUN_WITHIN = 2;
/** Whose a thing is stands so close before it: "my own guide dog". */
const WHOSE_WITHIN = 3;

type Someone = Extract<Who, { kind: "self" | "companion" }>;

/** What a question asked for, where that is one thing. */
interface AskedFor {
  readonly sentence: Sentence;
  readonly need: FoundNeed;
  readonly about: string;
}

/** The questions of one message, in order. */
export class AskedNeeds {
  readonly #vocabulary: Vocabulary;
  /** Of the sentence before. */
  #before: AskedFor | null = null;

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  /** `isRead`: the rules found what must hold in the sentence already. */
  next(sentence: Sentence, clauses: readonly Clause[], language: Language, isRead: boolean): readonly Draft[] {
    const before = this.#before;
    this.#before = null;
    const [first] = clauses;
    if (isRead || first === undefined) return [];
    if (language.name !== "en")
      return sentence.asks && clauses.length > 1 ? clauses.slice(0, -1).flatMap((clause) => this.#toldFirst(clause, language)) : [];
    if (!sentence.asks && english.openers.at(first.words, 0) === 0)
      return before === null ? [] : this.#pointing(before, sentence, first, language);
    const drafts = clauses.flatMap((clause) => {
      const said = clause === first && clauses.length > 1 ? this.#toldFirst(clause, language) : [];
      return said.length > 0 ? said : this.#ownThings(withWhoBefore(clause, clauses), language, sentence.asks);
    });
    const words = wordsIn(sentence.text);
    const [need, ...more] = this.#vocabulary.needsIn(words);
    if (drafts.length === 0 && need !== undefined && more.every((other) => other.need === need.need))
      this.#before = { sentence, need, about: words.slice(need.at, need.at + need.length).join(" ") };
    return drafts;
  }

  /** "I'm coeliac, can I eat there?": the first part of a question tells something by itself. */
  #toldFirst(clause: Clause, language: Language): readonly Draft[] {
    const who = whoIn(clause, language, false);
    // "No como pescado" begins with its denial.
    const begun = language.name === "en" ? [clause.words[beginsAt(clause.words)]] : clause.words.slice(0, BEGUN_WITHIN);
    if (who.kind === "pronoun" || !begun.some((word) => language.first.has(word) || language.mine.has(word))) return [];
    const read = { clause, language, who, asks: false, laughs: false, standing: false, avoiding: null };
    return needsOf(read, this.#vocabulary).map((draft) => ({ ...draft, unsure: true }));
  }

  /** What the guest or theirs have or are: "my guide dog", "my son's wheelchair", "my deaf aunt", "as a coeliac". */
  #ownThings(clause: Clause, language: Language, asks: boolean): readonly Draft[] {
    return this.#vocabulary.needsIn(clause.words).flatMap((need) => {
      const { at, length, kind, category } = need;
      const next = clause.words[at + length] ?? "";
      if (kind !== "be" || english.nouns_after.has(next) || english.bystanders.has(next.replace(/'s$/u, ""))) return [];
      const about = aboutOf(clause, need);
      const owner = ownerOf(clause, at, language);
      const isThing = category === "accessibility" || english.illnesses.has(clause.words[at + length - 1]);
      const is = saidToBe(clause, need, owner, language);
      const who = is?.who ?? (isThing ? owner : null);
      if (who === null) return [];
      const text = withWhom(who, capital(is === null ? `has ${withArticle(about, need)}` : `${is.how} ${about}`));
      // An order begins like a question: "can you find a place that lets my guide dog in".
      return [{ ...draftOf(clause, clause, who, need, about, text, language), unsure: asks || is !== null }];
    });
  }

  /** "I use one", "my husband can't eat those", "I'm allergic", behind a question for one thing. */
  #pointing({ sentence, need, about }: AskedFor, next: Sentence, clause: Clause, language: Language): readonly Draft[] {
    const words = clause.words.filter((word) => !english.tails.has(word));
    const who = whoIn(clause, language, false);
    const isSomeone = who.kind === "self" || who.kind === "companion";
    if (!isSomeone || words.length > MAX_POINTING_WORDS || this.#vocabulary.needsIn(words).length > 0) return [];
    const avoidAt = language.avoid.in(words);
    const denied = words.slice(0, avoidAt === -1 ? words.length : avoidAt).some((word) => language.not.has(word));
    if (denied || language.past.in(words) !== -1) return [];
    const both = `${sentence.text} ${next.text}`;
    const whole = { text: both, start: sentence.start, words: wordsIn(both), index: 0 };
    if (need.kind === "avoid" && avoidAt !== -1) {
      const cue = words[avoidAt] ?? "";
      const rest = words.slice(avoidAt + language.avoid.at(words, avoidAt));
      const points = rest.every((word) => english.pointers.has(word));
      return points ? [draftOf(whole, clause, who, need, about, withWhom(who, `${avoidingBy(cue)} ${about}`), language)] : [];
    }
    const uses = words.some((word) => english.uses.has(word) || /'(?:m|re|s|ve)$|^im$/u.test(word));
    const pointer = words.at(-1) ?? "";
    if (!uses || avoidAt !== -1 || !english.pointers.has(pointer) || (need.kind === "avoid" && need.category === "dietary")) return [];
    const said = told(clause.text, who, language).split(/\s+/u).slice(0, -1).join(" ");
    const thing = pointer === "one" ? about.replace(/s$/u, "") : about;
    const text = `${said} ${need.category === "dietary" ? `${thing} food` : withArticle(thing, need)}`;
    return [draftOf(whole, clause, who, need, about, text, language)];
  }
}

/** "My sister Ida, who's vegan": of whom that is told stands before the mark. */
function withWhoBefore(clause: Clause, clauses: readonly Clause[]): Clause {
  const before = clauses[clauses.indexOf(clause) - 1];
  if (before === undefined || !english.who.has(clause.words[0])) return clause;
  return { ...before, text: `${before.text}, ${clause.text}`, words: [...before.words, ...clause.words] };
}

/** Whose the thing at a place is: "my", "my son's", "can my mum bring her". Null: nobody's of whom it is known. */
function ownerOf({ text, words }: Clause, at: number, language: Language): Someone | null {
  const from = Math.max(0, at - WHOSE_WITHIN);
  const near = words.slice(from, at);
  const mine = near.findLastIndex((word) => language.mine.has(word));
  const bare = words.map((word) => word.replace(/'s$/u, ""));
  if (mine !== -1) {
    const next = from + mine + 1;
    // "My friend's": who is no family.
    if (english.bystanders.in(bare.slice(next, at)) !== -1) return null;
    const relation = next < at ? relationAt(bare, next) : undefined;
    return relation === undefined ? { kind: "self" } : companion(text, relation.relation, next + relation.length);
  }
  if (!near.some((word) => english.theirs.has(word))) return null;
  const who = whoIn({ text, words, start: 0, index: 0 }, language, false);
  return who.kind === "companion" ? who : null;
}

/** Of that relation, and of the name that stands at a place behind it. */
function companion(text: string, relation: string, at: number): Someone {
  const name = (rawWords(text)[at] ?? "").replace(/['’]s$/u, "");
  return { kind: "companion", relation, name: isName(name) ? name : null };
}

/** "My deaf aunt", "as a coeliac", "for a vegan like me", "my wife who's vegan". `owner`: whose it is as a thing. */
function saidToBe(
  { text, words }: Clause,
  { at, length }: FoundNeed,
  owner: Someone | null,
  language: Language,
): { readonly who: Someone; readonly how: string } | null {
  const behind = owner === null ? undefined : relationAt(words, at + length);
  if (behind !== undefined) return { who: companion(text, behind.relation, at + length + behind.length), how: "is" };
  if (owner !== null) return null;
  const [before, article] = words.slice(Math.max(0, at - 2), at);
  const like = words.slice(at).some((word, place, rest) => word === "like" && language.first.has(rest[place + 1]));
  if ((article === "a" || article === "an") && (before === "as" || (before === "for" && like)))
    return { who: { kind: "self" }, how: `is ${article}` };
  const from = words.findLastIndex((word, place) => place < at && place >= at - WHOSE_WITHIN && english.who.has(word));
  const mine = words.slice(0, Math.max(0, from)).findLastIndex((word) => language.mine.has(word));
  const relation = from === -1 || mine === -1 ? undefined : relationAt(words, mine + 1);
  if (relation === undefined) return null;
  const verbs = [...(words[from]?.endsWith("s") === true ? ["is"] : []), ...words.slice(from + 1, at)];
  if (!english.uses.has(verbs[0]) && !english.be.has(verbs[0])) return null;
  return { who: companion(text, relation.relation, mine + 1 + relation.length), how: verbs.join(" ") };
}

/** The words of the message for it, where each of them stands for one of the clause. */
function aboutOf({ text, words }: Clause, { at, length }: FoundNeed): string {
  const raw = rawWords(text);
  return (raw.length === words.length ? raw : words).slice(at, at + length).join(" ");
}

/** A thing is one; what somebody has otherwise, or several, is not. */
function withArticle(about: string, { need }: FoundNeed): string {
  if (need === "other" || /s$|access$|-free$/u.test(about)) return about;
  return `${/^[aeio]/iu.test(about) ? "an" : "a"} ${about}`;
}

function draftOf(quoted: Clause, said: Clause, who: Someone, need: FoundNeed, about: string, text: string, language: Language): Draft {
  const read = { clause: said, language, who, asks: true, laughs: false, standing: false, avoiding: null };
  const draft = hardDraft(read, text);
  return {
    ...draft,
    clause: quoted,
    about,
    category: need.category,
    aspect: about.toLowerCase(),
    need: need.need,
    unsure: true,
    trip: false,
  };
}
