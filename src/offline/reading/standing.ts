import { wordsIn } from "../../platform/phrase-list.js";
import type { Vocabulary } from "./domain-words.js";
import type { ReadClause } from "./draft.js";
import { capital, type EnglishClause } from "./english-clause.js";
import { english, relationAt } from "./language.js";
import { filed, isDated, isOwn, type Said, unfit } from "./said.js";

/** Plain English statements that last by their form: what recurs, what somebody is or has, what a thing is to them, what is ruled out. */

const MAX_WORDS = 12;

/** "Every spring", "twice a year", "on Mondays": it happens again and again. */
const OFTEN = /\b(?:every|each|most|(?:once|twice|times) (?:a|per)) \p{L}/u;
const ON_DAYS = /\bon (?:\p{L}{3,12}days|weekends|weeknights)\b/u;

export function recurs(words: readonly string[]): boolean {
  return (
    words.some((word) => english.seldom.has(word) || word === "whenever") || OFTEN.test(words.join(" ")) || ON_DAYS.test(words.join(" "))
  );
}

/** The clause as it was said, without what leads into it and polite words at its end. */
export function asSaid(text: string): string {
  return capital(
    text
      .replace(/^(?:(?:and|but|so|because|cos|also|please|pls|just|ok|okay|well|btw|honestly)\s+)+/iu, "")
      .replace(/(?:\s+(?:please|pls|lol|haha|tbh|btw|thx|sry))?[\s.!]*$/iu, ""),
  );
}

function said(read: ReadClause, words: readonly string[], vocabulary: Vocabulary): Said {
  const text = asSaid(read.clause.text);
  return { text, about: words.join(" "), ...filed(words, "", vocabulary) };
}

/** "Techno is my thing", "Sunday matinees suit me best", "the balcony is where we like to sit". */
export function evaluated(read: ReadClause, parsed: EnglishClause, vocabulary: Vocabulary): Said | null {
  const { who } = read;
  if (who.kind !== "nobody" && who.kind !== "other") return null;
  const words = parsed.words.filter((word, at) => at > 0 || !english.fillers.is(word));
  if (words.length > MAX_WORDS || isDated(parsed) || unfit(parsed)) return null;
  const at = words.findIndex((_, index) => index > 0 && english.suits.at(words, index) > 0);
  if (at === -1) return null;
  const theme = words.slice(0, at).filter((word) => !english.be.is(word) && !english.seldom.is(word) && word !== "not" && word !== "do");
  const [first = ""] = theme;
  // "The 8 pm one is not for me" is about what was shown; "the balcony is where we sit" lasts.
  const shown = english.shown.is(first) && english.where.at(words, at) === 0;
  if (
    theme.length === 0 ||
    theme.length > 5 ||
    shown ||
    !/^\p{L}{2,}/u.test(theme.at(-1) ?? "") ||
    ["i", "you", "we", "one"].includes(theme.at(-1) ?? "")
  )
    return null;
  return said(read, theme, vocabulary);
}

/** "I'm a night owl", "I'm a jazz person": what somebody is, by a noun that a category knows. Not what they are at the moment. */
export function being(read: ReadClause, parsed: EnglishClause, vocabulary: Vocabulary): Said | null {
  if (!isOwn(read, parsed) || parsed.verb !== "be" || parsed.negated || unfit(parsed) || isDated(parsed)) return null;
  const [article, ...told] = parsed.restWords;
  const end = told.findIndex((word) => english.bounds.is(word) || word === "from" || word === "who");
  const noun = end === -1 ? told : told.slice(0, end);
  if ((article !== "a" && article !== "an") || noun.length === 0 || noun.length > 4) return null;
  if (noun.some((word) => english.momentary.has(word) || /^\d|ing$/u.test(word))) return null;
  if (vocabulary.categoryOf(noun) === undefined) return null;
  return { text: parsed.thirdPerson, about: noun.join(" "), ...filed(noun, "", vocabulary) };
}

/** "I get anxious in crowds", "I've got a railcard". */
export function having(read: ReadClause, parsed: EnglishClause, vocabulary: Vocabulary): Said | null {
  const { restWords, verb } = parsed;
  if (!isOwn(read, parsed) || parsed.negated || unfit(parsed) || isDated(parsed) || restWords.length > 7) return null;
  const ails = verb === "get" && english.ails.at(restWords, 0) > 0;
  const holds = verb === "have" && (restWords[0] === "a" || restWords[0] === "an") && vocabulary.has("loyalty", restWords);
  return ails || holds ? { text: parsed.thirdPerson, about: parsed.rest, ...filed(restWords, "", vocabulary) } : null;
}

/** "I'd always rather take the tram", "I'll take jazz over opera any day". */
export function rather(read: ReadClause, parsed: EnglishClause, vocabulary: Vocabulary): Said | null {
  const { words, restWords } = parsed;
  const ever = recurs(words) || / any day$/u.test(words.join(" "));
  const chooses = parsed.adverbs.includes("rather") || (words.includes("over") && parsed.auxiliaries.includes("will"));
  if (!isOwn(read, parsed) || !ever || !chooses || parsed.negated || restWords.length < 2 || words.length > MAX_WORDS + 2) return null;
  return { text: asSaid(read.clause.text), about: parsed.rest, ...filed(restWords, "", vocabulary) };
}

/** "I've got three kids", "I travel with two toddlers", "it's nearly always just me and my sister". */
export function family(read: ReadClause, parsed: EnglishClause): Said | null {
  const { restWords, verb, words } = parsed;
  if (parsed.past || parsed.negated || isDated(parsed) || words.length > MAX_WORDS + 4) return null;
  const at = restWords.findIndex((_, index) => relationAt(restWords, index) !== undefined);
  if (at === -1) return null;
  const relation = relationAt(restWords, at)?.relation ?? "";
  const has =
    isOwn(read, parsed) &&
    verb === "have" &&
    (/^\d/u.test(restWords[0] ?? "") || english.numbers.has(restWords[0]) || restWords[0] === "a");
  const along = isOwn(read, parsed) && english.join.has(verb) && words.includes("with") && !unfit(parsed);
  const usual = recurs(words) && words.includes("me") && read.who.kind === "other";
  if (!has && !along && !usual) return null;
  return {
    text: usual ? asSaid(read.clause.text) : parsed.thirdPerson,
    about: restWords.slice(at, at + 1).join(" "),
    category: "companions",
    aspect: relation,
  };
}

/** "Nothing before 11", "never on Mondays", "not the front three rows": what is ruled out, where no one evening is spoken of. */
export function ruledOut(read: ReadClause, parsed: EnglishClause, vocabulary: Vocabulary): Said | null {
  const words = parsed.words.filter((word) => !english.fillers.is(word));
  if (read.who.kind !== "nobody" || words.length < 3 || words.length > 9 || isDated(parsed) || read.laughs) return null;
  const [first, second = ""] = words;
  const bounded = english.bounds.is(second);
  const known = vocabulary.categoryOf(words.slice(1)) !== undefined;
  const plain =
    (first === "nothing" && bounded) ||
    (first === "never" && bounded && known) ||
    (first === "not" && (bounded || second === "the") && known);
  if (!plain || words.some((word) => word === "one" || /^\d+(?:st|nd|rd|th)$/u.test(word))) return null;
  return said(read, words.slice(1), vocabulary);
}

/** "I can't do Mondays", "we can't manage late nights". */
export function unable(read: ReadClause, parsed: EnglishClause, vocabulary: Vocabulary): Said | null {
  const { restWords, verb } = parsed;
  const self = isOwn(read, parsed) || read.who.kind === "nobody";
  if (!self || !parsed.negated || parsed.past || parsed.auxiliaries.join() !== "can" || !english.managed.has(verb)) return null;
  if (restWords.length === 0 || restWords.length > 5 || isDated(parsed) || vocabulary.categoryOf(restWords) === undefined) return null;
  return { text: parsed.thirdPerson, about: parsed.rest, ...filed(restWords, "", vocabulary) };
}

/** "I gave up alcohol", "I no longer eat out on Sundays": what ended is a statement of what holds now. */
export function ended(read: ReadClause, parsed: EnglishClause, vocabulary: Vocabulary): Said | null {
  const at = english.gave_up.in(parsed.words);
  if (at === -1 || read.who.kind !== "self" || at > 4 || parsed.words.length > MAX_WORDS) return null;
  const thing = parsed.words.slice(at + english.gave_up.at(parsed.words, at));
  if (thing.length === 0 || vocabulary.categoryOf(thing) === undefined) return null;
  return { text: `No longer: ${wordsIn(thing.join(" ")).slice(0, 4).join(" ")}`, about: thing[0] ?? "", ...filed(thing, "", vocabulary) };
}

/** "My favourite band is Big Thief", "my seat is always C12". */
export function ownThing(read: ReadClause, parsed: EnglishClause, vocabulary: Vocabulary): Said | null {
  const favourite = parsed.words.slice(0, 4).find((word) => english.favourite.has(word));
  const usual = read.who.kind === "self" && english.owned.has(parsed.thing) && recurs(parsed.words);
  const at = parsed.words.indexOf("is") === -1 ? parsed.words.indexOf("are") : parsed.words.indexOf("is");
  if ((favourite === undefined && !usual) || at < 1 || at > 6 || unfit(parsed) || isDated(parsed) || read.who.kind === "companion")
    return null;
  if (read.who.kind === "other" || parsed.words.length > MAX_WORDS || at === parsed.words.length - 1) return null;
  const thing = parsed.words.slice(at + 1);
  if (english.vague.at(thing, 0) > 0) return null;
  return { text: asSaid(read.clause.text), about: thing.join(" "), ...filed(parsed.words, parsed.rest, vocabulary) };
}
