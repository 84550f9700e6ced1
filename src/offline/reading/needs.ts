import type { FoundNeed, Vocabulary } from "./domain-words.js";
import { type Draft, type ReadClause, rawWords, subjectFor, withWhom } from "./draft.js";
import { capital } from "./english-clause.js";
import { english } from "./language.js";

/** What must hold, by words: a thing that is avoided, or what somebody is, has or uses. In every language that has small words here. */

const ALLERGY = "allerg";
/** Words that a bare "vegan" or "halal only" may have around it. */
const MAX_BARE_WORDS = 2;
/** A negation this close before a word denies it. */
const REACH = 4;

export function needsOf(read: ReadClause, vocabulary: Vocabulary): readonly Draft[] {
  const { clause, language, parsed, who } = read;
  const words = clause.words.flatMap(uncompounded);
  // Spanish "soy" is no bean, and "not" no Swedish nut.
  const found = vocabulary.needsIn(words).filter(({ at, length }) => length > 1 || !isSmall(words[at] ?? "", language));
  const avoidAt = language.avoid.in(words, { slips: true });
  const drafts: Draft[] = [];
  for (const need of found) {
    const before = words.slice(Math.max(0, need.at - REACH), need.at);
    const said = need.kind === "avoid" ? avoidAt !== -1 && avoids(read, words, avoidAt, need.at) : isTrait(read, words, before, need);
    if (!said) continue;
    drafts.push(draftOf(read, need, words, avoidAt, found.length > 1));
  }
  if (drafts.length > 0 || parsed === null) return drafts;
  const unknown = unknownAllergen(read, words);
  return unknown === null || who.kind === "other" ? [] : [unknown];
}

function isSmall(word: string, { first, not }: ReadClause["language"]): boolean {
  return first.is(word) || not.is(word);
}

/** "Nussallergie" is an allergy to nuts. */
function uncompounded(word: string): readonly string[] {
  const at = word.indexOf(ALLERGY);
  return at > 2 ? [word.slice(at), word.slice(0, at).replace(/-$/u, "")] : [word];
}

/** The cue is no denied one ("not allergic"), and nothing between says the contrary. */
function avoids(read: ReadClause, words: readonly string[], cueAt: number, thingAt: number): boolean {
  const { language, parsed, who } = read;
  const cueLength = language.avoid.at(words, cueAt, { slips: true });
  const denied = words.slice(Math.max(0, cueAt - REACH), cueAt).some((word) => language.not.has(word));
  if (denied) return false;
  if (parsed === null) return who.kind !== "other" && Math.abs(thingAt - cueAt) <= 6;
  if (parsed.past || parsed.auxiliaries.includes("been")) return false;
  const cue = words.slice(cueAt, cueAt + cueLength).join(" ");
  if (who.kind === "other" || (parsed.thing !== "" && !["allergy", "intolerance", "diet"].includes(parsed.thing))) return false;
  // Where nobody is named, what comes first must be it: "Pelle can't have milk" is about Pelle.
  if (who.kind === "nobody" && words.slice(0, Math.min(cueAt, thingAt)).some((word) => !english.fillers.is(word))) return false;
  // "No nuts": only by itself, and not as what a request is for.
  if (cue === "no" || cue === "without" || cue === "free")
    return cue === "no" && thingAt - cueAt <= 2 && (parsed.verb === "" || parsed.verb === "have" || parsed.verb === "eat");
  return thingAt > cueAt ? thingAt - cueAt - cueLength <= 6 : cueAt - thingAt <= 2;
}

function isTrait(read: ReadClause, words: readonly string[], before: readonly string[], need: FoundNeed): boolean {
  const { language, parsed, who } = read;
  if (before.some((word) => language.not.has(word))) return false;
  if (parsed === null) return who.kind === "self" || who.kind === "companion";
  if (parsed.negated || parsed.past || (parsed.auxiliaries.includes("been") && !words.includes("since") && !words.includes("for")))
    return false;
  // "Food has to be kosher": told of what they eat.
  if (who.kind === "nobody" && english.meals.is(words[0] ?? "") && english.must_be.in(words) !== -1) return true;
  if (who.kind === "self" && parsed.thing !== "") return false;
  if (who.kind === "self" || who.kind === "companion") {
    // "I'm looking for a vegan place" is about the place.
    const after = words.slice(need.at + need.length);
    const isNoun = after.length > 0 && english.nouns_after.has(after[0]);
    return english.uses.is(parsed.verb) && !isNoun && need.at <= REACH + parsed.adverbs.length + 3;
  }
  const bare = words.filter((word) => !english.fillers.has(word) && !english.tails.has(word) && !english.seldom.has(word));
  return (
    who.kind === "nobody" && bare.length <= need.length + MAX_BARE_WORDS - 1 && (bare.length === need.length || words.includes("keep"))
  );
}

function draftOf(read: ReadClause, need: FoundNeed, words: readonly string[], avoidAt: number, several: boolean): Draft {
  const { clause, language, parsed, who } = read;
  const raw = clause.words.length === words.length ? rawWords(clause.text) : words;
  const about = raw.slice(need.at, need.at + need.length).join(" ");
  return {
    clause,
    text: parsed === null ? foreignText(read, need, raw, avoidAt, several) : withWhom(who, englishText(read, need, about, words, avoidAt)),
    about:
      clause.words.length === words.length
        ? about
        : (rawWords(clause.text).find((word) => word.toLowerCase().includes(about.slice(0, 4))) ?? about),
    category: need.category,
    aspect: english.diets.is(need.need)
      ? need.need === "halal" || need.need === "kosher"
        ? "religious diet"
        : "diet"
      : about.toLowerCase(),
    condition: "",
    need: need.need,
    hard: true,
    ...subjectFor(who),
    unsure: language.unsure.in(clause.words) !== -1,
    trip: language.once.in(clause.words) !== -1,
  };
}

function englishText(read: ReadClause, need: FoundNeed, about: string, words: readonly string[], avoidAt: number): string {
  const { parsed } = read;
  const cue = words[avoidAt] ?? "";
  if (need.kind === "avoid") {
    if (cue.startsWith("al")) return `Is allergic to ${about}`;
    if (cue.startsWith("intoleran")) return `Is intolerant to ${about}`;
    if (cue.startsWith("react")) return `Reacts to ${about}`;
    if (parsed === null || !english.takes.is(parsed.verb) || read.who.kind === "nobody")
      return words[avoidAt] === "no" ? `No ${about}` : `Can't have ${about}`;
  } else if (["vegetarian", "vegan", "pescatarian"].includes(need.need)) return `Is ${need.need}`;
  else if (parsed === null || parsed.who.kind === "nobody") return capital(about);
  return parsed.thirdPerson;
}

/** Elsewhere than in English the words stand as they were said, of several things only those of the one. */
function foreignText(read: ReadClause, need: FoundNeed, raw: readonly string[], avoidAt: number, several: boolean): string {
  if (read.who.kind === "companion" || (raw.length <= 8 && !several)) return ownWords(read);
  return need.kind === "be" || avoidAt > need.at
    ? capital(raw.slice(need.at, need.at + need.length).join(" "))
    : capital(raw.slice(avoidAt, need.at + need.length).join(" "));
}

export function ownWords({ clause }: ReadClause): string {
  return capital(clause.text.replace(/[\s.!]+$/u, ""));
}

/** "Allergic to kiwi", of what no list has. What is laughed about is a joke. */
function unknownAllergen(read: ReadClause, words: readonly string[]): Draft | null {
  const { clause, language, parsed, who, laughs } = read;
  if (parsed === null || laughs || parsed.negated || parsed.past || parsed.auxiliaries.includes("been") || parsed.thing !== "") return null;
  const at = words.findIndex(
    (word, index) => (word.startsWith("allerg") || word.startsWith("react") || word === "intolerant") && words[index + 1] === "to",
  );
  if (at === -1) return null;
  const thing = words.slice(at + 2).filter((word) => !english.tails.has(word) && !english.fillers.has(word));
  if (thing.length === 0 || thing.length > 2 || english.vague.at(thing, 0) > 0 || english.vague_things.has(thing[0])) return null;
  const about = thing.join(" ");
  return {
    clause,
    text: withWhom(who, `Is allergic to ${about}`),
    about,
    category: "dietary",
    aspect: about,
    condition: "",
    need: "other",
    hard: true,
    ...subjectFor(who),
    unsure: language.unsure.in(clause.words) !== -1,
    trip: false,
  };
}
