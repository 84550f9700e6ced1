import { folded } from "maitred/stand-in";
import type { Clause } from "./clauses.js";
import type { FoundNeed, Vocabulary } from "./domain-words.js";
import type { Draft, ReadClause } from "./draft.js";
import { asksForSeats, english, type Language, relationAt, uncompounded } from "./language.js";
import { isName, pointedOutIn, rawWords } from "./names.js";
import { capital, told } from "./said.js";
import { type Companion, calledIn, isUnsure, relationBegun, subjectFor } from "./who.js";

/** What must hold, by words: a thing that is avoided, or what somebody is, has or uses. In every language that has small words here. */

/** Words that a bare "vegan" or "halal only" may have around it. */
const MAX_BARE_WORDS = 1;
/** A negation this close before a word denies it. */
const REACH = 4;
/** A cue this far before a thing is still about it. */
const MAX_BETWEEN = 6;

/** What words name, but for small words: Spanish "soy" is no bean, and "not" no Swedish nut. */
export function namedIn(words: readonly string[], { first, not }: Language, vocabulary: Vocabulary): readonly FoundNeed[] {
  const isSmall = (word = "") => first.is(word) || not.is(word);
  return vocabulary.needsIn(words).filter(({ at, length }) => length > 1 || !isSmall(words[at]));
}

export function needsOf(said: ReadClause, vocabulary: Vocabulary): readonly Draft[] {
  const { clause, language } = said;
  const words = clause.words.flatMap(uncompounded);
  const found = namedIn(words, language, vocabulary);
  const read = { ...said, who: whoseIn(said, found, words, vocabulary) };
  if (read.who.kind === "other") return [];
  const asked = pointedOutIn(clause) === -1 ? leftOutIn(words, found) : found;
  const avoidAt = language.avoid.in(words, { slips: true });
  const more = avoidAt === -1 && read.avoiding !== null && isList(words, found);
  const drafts = found.flatMap((need) => {
    if (asked.includes(need)) return [{ ...draftOf(read, need, words, -1, false), unsure: true }];
    const others = words.filter((_, at) => at < need.at || at >= need.at + need.length);
    // "Bitte glutenfrei": it may be for tonight, or for somebody else.
    const isBare = language.name !== "en" && found.length === 1 && need.kind === "be" && asksForSeats(others);
    if (isBare && read.who.kind === "nobody") return [{ ...draftOf(read, need, words, -1, false), unsure: true }];
    const holds = need.kind === "avoid" ? more || avoids(read, words, avoidAt, need.at) : isTrait(read, words, need);
    return holds ? [draftOf(read, need, words, avoidAt, more || found.length > 1)] : [];
  });
  return drafts.length > 0 ? drafts : unlisted(read, words);
}

/** "Eats everything except shellfish": it may be a taste, and the guest is asked. English. */
function leftOutIn(words: readonly string[], found: readonly FoundNeed[]): readonly FoundNeed[] {
  const at = english.leaving_out.in(words);
  return at === -1 ? [] : found.filter((need) => need.kind === "avoid" && need.at > at && need.at - at <= MAX_BETWEEN);
}

/** How a clause begins that tells of things to avoid, for what goes on with them. Null: it tells of none. */
export function avoidingIn({ clause, language }: ReadClause, drafts: readonly Draft[]): string | null {
  const at = language.avoid.in(clause.words, { slips: true });
  return at === -1 || !drafts.some(({ hard }) => hard) ? null : (clause.words[at] ?? null);
}

/** "Eggs and milk", "no fish". */
function isList(words: readonly string[], found: readonly FoundNeed[]): boolean {
  const rest = words.filter((_, index) => !found.some(({ at, length }) => index >= at && index < at + length));
  return found.length > 0 && rest.every((word) => [english.listing, english.tails, english.phases].some((list) => list.has(word)));
}

const denies = ({ language }: ReadClause, words: readonly string[], at: number) =>
  words.slice(Math.max(0, at - REACH), at).some((word) => language.not.has(word));
/** "I've been in a wheelchair" is over; "I've been vegan since May" isn't. */
const isOver = (words: readonly string[]) => words.includes("been") && !words.includes("since") && !words.includes("for");

/** The cue is no denied one ("not allergic"), and what it is about is near. */
function avoids(read: ReadClause, words: readonly string[], cueAt: number, thingAt: number): boolean {
  const { language, who } = read;
  if (cueAt === -1 || denies(read, words, cueAt)) return false;
  if (language.name !== "en") return Math.abs(thingAt - cueAt) <= MAX_BETWEEN;
  const before = words.slice(0, Math.min(cueAt, thingAt)).filter((word) => !english.fillers.has(word) && !language.unsure.has(word));
  // "No nuts", "possibly allergic to nuts": nobody stands before it.
  if (isOver(words) || (who.kind === "nobody" && before.length > 0)) return false;
  const cue = words[cueAt] ?? "";
  if (["no", "without", "free"].includes(cue)) return cue === "no" && thingAt - cueAt <= 2 && before.length === 0;
  const after = thingAt - cueAt - language.avoid.at(words, cueAt, { slips: true });
  return thingAt > cueAt ? after <= MAX_BETWEEN : cueAt - thingAt <= 2;
}

function isTrait(read: ReadClause, words: readonly string[], need: FoundNeed): boolean {
  const { language, who } = read;
  if (denies(read, words, need.at)) return false;
  const someone = who.kind === "self" || who.kind === "companion";
  const beside = [words[need.at - 1], words[need.at + need.length]];
  // "Un ristorante vegano", "ein veganes Restaurant".
  if (language.name !== "en") return need.category === "dietary" && beside.some((word) => english.things.has(word)) ? false : someone;
  // "I'm looking for a vegan place" is about the place.
  if (isOver(words) || english.nouns_after.has(words[need.at + need.length])) return false;
  const uses = words
    .slice(0, need.at)
    .some((word) => english.uses.has(word) || english.be.is(word) || /'(?:m|re|s|ve)$|^ive$|^im$/u.test(word));
  if (someone && uses && need.at <= 2 * REACH) return true;
  const bare = words.filter((word) => !english.fillers.has(word) && !english.tails.has(word) && !english.seldom.has(word));
  return bare.length === need.length || (bare.length <= need.length + MAX_BARE_WORDS && words.includes("keep"));
}

function draftOf(read: ReadClause, need: FoundNeed, words: readonly string[], avoidAt: number, several: boolean): Draft {
  const { clause, language } = read;
  const raw = rawWords(clause.text);
  const whole = raw.length === words.length;
  const about = (whole ? raw : words).slice(need.at, need.at + need.length).join(" ");
  const text =
    language.name === "en"
      ? englishText(read, need, about, words[avoidAt] ?? read.avoiding ?? "", several)
      : foreignText(read, need, whole ? raw : words, avoidAt, several);
  return {
    ...hardDraft(read, text),
    about: whole ? about : (raw.find((word) => word.toLowerCase().includes(about.slice(0, 4))) ?? about),
    category: need.category,
    aspect: ["halal", "kosher"].includes(need.need) ? "religious diet" : english.diets.is(need.need) ? "diet" : about.toLowerCase(),
    need: need.need,
  };
}

const TO = "to";

/** "I am allergic to peanuts", "he uses a wheelchair": who, and which thing, and nothing that would tell it is not meant. English. */
export function saysNoMore({ text, words }: Clause, language: Language, vocabulary: Vocabulary): boolean {
  if (language.name !== "en" || text.includes("?") || language.unsure.in(words) !== -1) return false;
  const needs = vocabulary.needsIn(words);
  const isOfNeed = (at: number) => needs.some((need) => at >= need.at && at < need.at + need.length);
  const begun = relationBegun(words);
  const isOfSomebody = language.first.has(words[0]) || language.pronounAt(words, 0).length > 0 || begun !== undefined;
  const small = [language.first, english.be, english.cued, english.listing, english.has, english.articles];
  const isSmall = (word: string, at: number) =>
    word === TO || isOfNeed(at) || small.some((list) => list.has(word)) || isPerson(words, at, language);
  return (
    isOfSomebody &&
    (!language.first.has(words[0]) || language.mine.has(words[0]) || english.cued.in(words) !== -1) &&
    needs.length > 0 &&
    needs.every(({ need }) => need !== "other") &&
    words.every(isSmall) &&
    !words.some((word) => language.not.has(word))
  );
}

/** "My wife's", "she's". */
function isPerson(words: readonly string[], at: number, language: Language): boolean {
  return language.pronounAt(words, at).length > 0 || relationAt([(words[at] ?? "").replace(/'s$/u, "")], 0) !== undefined;
}

/** Whose the needs of a clause are. */
function whoseIn(
  { clause, language, who }: ReadClause,
  found: readonly FoundNeed[],
  words: readonly string[],
  vocabulary: Vocabulary,
): ReadClause["who"] {
  // "Il mio cane guida": what the guest has.
  const isOwn = ({ kind, category, at }: FoundNeed) => kind === "be" && category === "accessibility" && language.mine.has(words[at - 1]);
  if (who.kind === "other" && language.name !== "en" && found.some(isOwn)) return { kind: "self" };
  // "It's Beth with the peanuts", "Pelle can't have milk": by a name that may be nobody's.
  const at = pointedOutIn(clause);
  const pointedOut = at === -1 ? "" : (rawWords(clause.text)[at] ?? "");
  const called: Companion | null = isName(pointedOut)
    ? { kind: "companion", relation: pointedOut, name: null, unsure: true }
    : calledIn(clause, language, vocabulary);
  // "Isla wears ear defenders, noises set her off": no "he" who was named before her.
  const isPointed = isUnsure(who) && called !== null && !(who.kind === "companion" && folded(called.relation) === folded(who.name ?? ""));
  const isBegun = clause.words.slice(0, 2).every((_, place) => language.pronounAt(clause.words, place).length === 0);
  return (who.kind === "nobody" || (isPointed && isBegun)) && found.every((need) => need.at > at) ? (called ?? who) : who;
}

/** A need of which it isn't known yet what it is about. */
export function hardDraft({ clause, language, who }: ReadClause, text: string): Draft {
  const unsure = language.unsure.in(clause.words) !== -1 || speaksOf(clause.words, language) || mayBeAnothers(clause, language);
  return {
    clause,
    text,
    about: "",
    category: "dietary",
    aspect: "",
    condition: "",
    need: "other",
    hard: true,
    ...subjectFor(who),
    unsure: isUnsure(who) || unsure,
    trip: language.once.in(clause.words) !== -1,
  };
}

const ALLERGY_NOUN = /^allerg(?:y|ies)$/u;
const OF_A_THING = new Set(["in", "for", "on", "about", "against"]);

/** "A doctor specialised in nut allergy", "works for a nut allergy charity": an allergy that is spoken of, and nobody's own. */
function speaksOf(words: readonly string[], language: Language): boolean {
  const cue = words.findIndex((word) => ALLERGY_NOUN.test(word));
  if (language.name !== "en" || cue === -1) return false;
  const from = words.findLastIndex((word, at) => at < cue && at >= cue - REACH && OF_A_THING.has(word));
  return from !== -1 && !words.slice(from, cue).some((word) => language.mine.has(word));
}

/** "No nuts for Ben", "I love how she is vegan". */
function mayBeAnothers({ text, words }: Clause, language: Language): boolean {
  if (language.name !== "en") return false;
  const raw = rawWords(text);
  const isForOne = words.some((word, at) => language.for.has(word) && isName(raw[at + 1] ?? "") && !language.first.has(words[at + 1]));
  const liked = language.like.in(words);
  return isForOne || (liked !== -1 && words.some((_, at) => at > liked && language.pronounAt(words, at).length > 0));
}

function englishText(read: ReadClause, need: FoundNeed, about: string, cue: string, several: boolean): string {
  const { clause, language, who } = read;
  const cued = need.kind === "avoid" ? english.cued.at([cue], 0) > 0 : false;
  if (need.kind === "be" || (!cued && !several)) return told(clause.text, who, language);
  return withWhom(who, `${avoidingBy(cue)} ${about}`);
}

/** How a memory tells of a thing that is avoided, by the word for that. */
export function avoidingBy(cue: string): string {
  if (cue.startsWith("react")) return "Reacts to";
  return cue.startsWith("al") ? "Is allergic to" : cue.startsWith("intol") ? "Is intolerant to" : "Can't have";
}

/** "Wife Ana is allergic to nuts": a companion's memories name them. */
export function withWhom(who: ReadClause["who"], text: string): string {
  if (who.kind !== "companion") return text;
  return `${capital(who.relation)}${who.name === null ? "" : ` ${who.name}`} ${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

/** Elsewhere than in English the words stand as they were said, of several things only those of the one. */
function foreignText(
  { clause, who, language }: ReadClause,
  need: FoundNeed,
  raw: readonly string[],
  avoidAt: number,
  several: boolean,
): string {
  if (who.kind === "companion" || (raw.length <= 2 * REACH && !several)) return told(clause.text, who, language);
  return capital(raw.slice(need.kind === "be" || avoidAt > need.at ? need.at : Math.max(0, avoidAt), need.at + need.length).join(" "));
}

/**
 * "Allergic to kiwi", "I don't eat mutton", of what no list has: the second may be a taste, and is asked about. What is laughed about is a
 * joke.
 */
function unlisted(read: ReadClause, words: readonly string[]): readonly Draft[] {
  const { laughs, who, clause } = read;
  const cue = words.findIndex((word, index) => english.cued.at([word], 0) > 0 && words[index + 1] === "to");
  const eaten = cue === -1 ? uneatenIn(words) : -1;
  const [at, length] = cue === -1 ? [eaten, 1] : [cue, 2];
  const thing = words.slice(at + length).filter((word) => !english.tails.has(word) && !english.fillers.has(word));
  const isThing = thing.length > 0 && thing.length <= 2 && english.vague.at(thing, 0) === 0 && !english.vague_things.has(thing[0]);
  if (at === -1 || laughs || isOver(words) || !isThing) return [];
  if (cue === -1) {
    if (who.kind === "nobody" || english.no_food.in(thing) !== -1) return [];
    return [{ ...hardDraft(read, told(clause.text, who, read.language)), about: thing.join(" "), aspect: thing.join(" "), unsure: true }];
  }
  if (denies(read, words, at) || (who.kind === "nobody" && at > 0)) return [];
  const about = thing.join(" ");
  return [{ ...hardDraft(read, withWhom(who, `Is allergic to ${about}`)), about, aspect: about, trip: false }];
}

/** Where "eat" stands that is denied: "don't eat", "can't eat". */
function uneatenIn(words: readonly string[]): number {
  return words.findIndex((word, at) => (word === "eat" || word === "eats") && english.uneaten.at(words, at - 1) > 0);
}
