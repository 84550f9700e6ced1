import type { FoundNeed, Vocabulary } from "./domain-words.js";
import { asSaid, type Draft, type ReadClause, rawWords, subjectFor, withWhom } from "./draft.js";
import { capital, type EnglishClause } from "./english-clause.js";
import { english } from "./language.js";

/** What must hold, by words: a thing that is avoided, or what somebody is, has or uses. In every language that has small words here. */

const ALLERGY = "allerg";
/** Words that a bare "vegan" or "halal only" may have around it. */
const MAX_BARE_WORDS = 1;
/** A negation this close before a word denies it. */
const REACH = 4;
/** A cue this far before a thing is still about it. */
const MAX_BETWEEN = 6;

export function needsOf(read: ReadClause, vocabulary: Vocabulary): readonly Draft[] {
  const { clause, language } = read;
  const words = clause.words.flatMap(uncompounded);
  // Spanish "soy" is no bean, and "not" no Swedish nut.
  const isSmall = (word = "") => language.first.is(word) || language.not.is(word);
  const found = vocabulary.needsIn(words).filter(({ at, length }) => length > 1 || !isSmall(words[at]));
  const avoidAt = language.avoid.in(words, { slips: true });
  const drafts = found
    .filter((need) => (need.kind === "avoid" ? avoidAt !== -1 && avoids(read, words, avoidAt, need.at) : isTrait(read, words, need)))
    .map((need) => draftOf(read, need, words, avoidAt, found.length > 1));
  return drafts.length > 0 ? drafts : unlisted(read, words);
}

/** "Nussallergie" is an allergy to nuts. */
function uncompounded(word: string): readonly string[] {
  const at = word.indexOf(ALLERGY);
  return at > 2 ? [word.slice(at), word.slice(0, at).replace(/-$/u, "")] : [word];
}

const denies = ({ language }: ReadClause, words: readonly string[], at: number) =>
  words.slice(Math.max(0, at - REACH), at).some((word) => language.not.has(word));

/** The cue is no denied one ("not allergic"), and nothing between says the contrary. */
function avoids(read: ReadClause, words: readonly string[], cueAt: number, thingAt: number): boolean {
  const { language, parsed, who } = read;
  if (denies(read, words, cueAt) || who.kind === "other") return false;
  if (parsed === null) return Math.abs(thingAt - cueAt) <= MAX_BETWEEN;
  const { past, auxiliaries, thing, verb } = parsed;
  if (past || auxiliaries.includes("been") || (thing !== "" && !["allergy", "intolerance", "diet"].includes(thing))) return false;
  // Where nobody is named, what comes first must be it: "Pelle can't have milk" is about Pelle.
  if (who.kind === "nobody" && words.slice(0, Math.min(cueAt, thingAt)).some((word) => !english.fillers.is(word))) return false;
  const cue = words[cueAt] ?? "";
  // "No nuts": only by itself, and not as what a request is for.
  if (["no", "without", "free"].includes(cue)) return cue === "no" && thingAt - cueAt <= 2 && ["", "have", "eat"].includes(verb);
  const after = thingAt - cueAt - language.avoid.at(words, cueAt, { slips: true });
  return thingAt > cueAt ? after <= MAX_BETWEEN : cueAt - thingAt <= 2;
}

function isTrait(read: ReadClause, words: readonly string[], need: FoundNeed): boolean {
  const { parsed, who } = read;
  if (denies(read, words, need.at)) return false;
  const someone = who.kind === "self" || who.kind === "companion";
  if (parsed === null) return someone;
  const { negated, past, auxiliaries, thing, verb, adverbs } = parsed;
  const over = auxiliaries.includes("been") && !words.includes("since") && !words.includes("for");
  if (negated || past || over || (who.kind === "self" && thing !== "")) return false;
  // "I'm looking for a vegan place" is about the place.
  if (someone)
    return english.uses.is(verb) && !english.nouns_after.has(words[need.at + need.length]) && need.at <= 2 * REACH - 1 + adverbs.length;
  if (who.kind !== "nobody") return false;
  // "Food has to be kosher": told of what they eat.
  if (english.meals.is(words[0] ?? "") && english.must_be.in(words) !== -1) return true;
  const bare = words.filter((word) => !english.fillers.has(word) && !english.tails.has(word) && !english.seldom.has(word));
  return bare.length === need.length || (bare.length <= need.length + MAX_BARE_WORDS && words.includes("keep"));
}

function draftOf(read: ReadClause, need: FoundNeed, words: readonly string[], avoidAt: number, several: boolean): Draft {
  const { clause, parsed, who } = read;
  const raw = rawWords(clause.text);
  const whole = raw.length === words.length;
  const about = (whole ? raw : words).slice(need.at, need.at + need.length).join(" ");
  const text =
    parsed === null ? foreignText(read, need, whole ? raw : words, avoidAt, several) : englishText(read, need, about, words[avoidAt]);
  return {
    ...hardDraft(read, parsed === null ? text : withWhom(who, text)),
    about: whole ? about : (raw.find((word) => word.toLowerCase().includes(about.slice(0, 4))) ?? about),
    category: need.category,
    aspect: ["halal", "kosher"].includes(need.need) ? "religious diet" : english.diets.is(need.need) ? "diet" : about.toLowerCase(),
    need: need.need,
  };
}

/** A need of which it isn't known yet what it is about. */
export function hardDraft({ clause, language, who }: Pick<ReadClause, "clause" | "language" | "who">, text: string): Draft {
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
    unsure: language.unsure.in(clause.words) !== -1 || (who.kind === "companion" && who.stranger === true),
    trip: language.once.in(clause.words) !== -1,
  };
}

function englishText({ parsed, who }: ReadClause, need: FoundNeed, about: string, cue = ""): string {
  if (need.kind === "avoid") {
    if (cue.startsWith("al")) return `Is allergic to ${about}`;
    if (cue.startsWith("intoleran")) return `Is intolerant to ${about}`;
    if (cue.startsWith("react")) return `Reacts to ${about}`;
    if (parsed === null || !english.takes.is(parsed.verb) || who.kind === "nobody")
      return cue === "no" ? `No ${about}` : `Can't have ${about}`;
  } else if (english.diets.is(need.need) && need.need.endsWith("n")) return `Is ${need.need}`;
  return parsed === null || parsed.who.kind === "nobody" ? capital(about) : parsed.thirdPerson;
}

/** Elsewhere than in English the words stand as they were said, of several things only those of the one. */
function foreignText({ clause, who }: ReadClause, need: FoundNeed, raw: readonly string[], avoidAt: number, several: boolean): string {
  if (who.kind === "companion" || (raw.length <= 2 * REACH && !several)) return asSaid(clause.text);
  return capital(raw.slice(need.kind === "be" || avoidAt > need.at ? need.at : avoidAt, need.at + need.length).join(" "));
}

/** "Allergic to kiwi", of what no list has; "cannot manage a bathtub", which is asked about. What is laughed about is a joke. */
function unlisted(read: ReadClause, words: readonly string[]): readonly Draft[] {
  const { parsed, who, laughs, asks } = read;
  if (parsed === null || laughs || parsed.past || parsed.auxiliaries.includes("been") || parsed.thing !== "" || who.kind === "other")
    return [];
  const at = words.findIndex((word, index) => /^(?:allerg|intoleran|react)/u.test(word) && words[index + 1] === "to");
  if (at === -1) return asks ? [] : unable(read, parsed);
  const thing = words.slice(at + 2).filter((word) => !english.tails.has(word) && !english.fillers.has(word));
  if (parsed.negated || !isThing(thing) || thing.length > 2) return [];
  const about = thing.join(" ");
  return [{ ...hardDraft(read, withWhom(who, `Is allergic to ${about}`)), about, aspect: about, trip: false }];
}

function unable(read: ReadClause, { verb, auxiliaries, negated, restWords, rest, thirdPerson, words }: EnglishClause): readonly Draft[] {
  const limits = negated && auxiliaries.join() === "can" && english.bodily.is(verb);
  if (!limits || !isThing(restWords) || restWords.length > MAX_BETWEEN || words.some((word) => english.dated.is(word))) return [];
  const category = english.eaten.is(verb) ? "dietary" : "accessibility";
  return [
    { ...hardDraft(read, withWhom(read.who, thirdPerson)), about: rest, aspect: rest.toLowerCase().slice(0, 64), category, unsure: true },
  ];
}

const isThing = (words: readonly string[]) => words.length > 0 && english.vague.at(words, 0) === 0 && !english.vague_things.has(words[0]);
