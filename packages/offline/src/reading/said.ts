import { folded, wordsIn } from "maitred/stand-in";
import { english, type Language, relationAt, wordsOf } from "./language.js";
import { type Companion, ONE_OF_US, partOfGroup, type Who } from "./who.js";

/** How what was said stands in memory. */

const SO_YOU_KNOW = /^(?:just\s+)?so\s+you(?:'re|\s+are)?\s+(?:know|aware)[,:]?\s+/iu;

/** The words without what leads into them and polite words at their end. */
export function asSaid(text: string): string {
  const from = text
    .replace(SO_YOU_KNOW, "")
    .replace(/^(?:(?:and|but|so|because|cos|also|please|pls|just|ok|okay|well|btw|by the way|honestly|hi|hello)[,\s]+)+/iu, "");
  return capital(from.replace(/(?:,?\s+(?:please|pls|lol|haha|tbh|btw|by the way|thx|sry|sorry))*[\s.!?]*$/iu, ""));
}

/** When somebody moved. */
const SINCE = /\s+(?:(?:last|this) (?:week|weekend|month|year|spring|summer|autumn|fall|winter)|recently)$/iu;

/**
 * "Loves jazz" of "I love jazz", "Wife Ana is vegan" of "my wife Ana's vegan"; where an English clause isn't so plain, as it was said. A
 * companion is named wherever the words don't: "Husband: no stairs for him".
 */
export function told(text: string, who: Who, language: Language): string {
  const said = retold(text, who, language);
  if (who.kind !== "companion" || who.relation === ONE_OF_US) return said;
  const words = wordsOf(said, language).map((word) => word.replace(/'s$/u, ""));
  const isNamed = words.some((word, at) => word === folded(who.name ?? who.relation) || relationAt(words, at)?.relation === who.relation);
  return isNamed || partOfGroup(words, language) !== null
    ? said
    : `${capital(calledAs(who))}: ${said.charAt(0).toLowerCase()}${said.slice(1)}`;
}

function retold(text: string, who: Who, language: Language): string {
  const said = asSaid(text);
  if (language.name !== "en" || /[,;:–—()]/u.test(said)) return said;
  // "Lives in York" of "we've moved to York": a place is a name.
  const here = said.replace(SINCE, "");
  const place = /\b(?:in|to|is)\s+(\p{Lu}[\p{L}'’-]*(?:\s+\p{Lu}[\p{L}'’-]*){0,3})$/u.exec(here)?.[1];
  if (place !== undefined && who.kind === "self" && isHome(wordsIn(here), wordsIn(place).length, language)) return `Lives in ${place}`;
  const plain = said.replace(/[’‘]/gu, "'").split(/\s+/u);
  if (who.kind === "companion" && partOfGroup(wordsIn(said), language) === "them") return ofGroup(plain, who.relation);
  while (plain.length > 2 && english.tails.has(folded(plain.at(-1) ?? ""))) plain.pop();
  const third = who.kind === "companion" ? ofCompanion(plain, who, language) : ofGuest(plain);
  if (third === null || language.first.in(wordsIn(third).filter((word) => !language.mine.has(word))) !== -1) return said;
  return capital(third.replace(/\b(?:my|our) /gu, "their "));
}

/** "One of the children is celiac" of "one of them is celiac", and of "one is celiac". */
function ofGroup([count = "", ...rest]: readonly string[], relation: string): string {
  const group = relation === ONE_OF_US ? "us" : `the ${relation}`;
  return capital([count, "of", group, ...(rest[0] === "of" ? rest.slice(2) : rest)].join(" "));
}

/** The place stands behind "live in" itself: "I live in Crewe but work in Leeds" is no home in Leeds. */
function isHome(words: readonly string[], placeWords: number, { home }: Language): boolean {
  return words.some((_, at) => home.at(words, at) > 0 && at + home.at(words, at) === words.length - placeWords);
}

const BEGINS: Readonly<Record<string, string>> = { "i'm": "is", im: "is", "we're": "is", "i've": "has", ive: "has", "we've": "has" };
const SECOND: Readonly<Record<string, string>> = {
  am: "is",
  are: "is",
  have: "has",
  "don't": "does not",
  dont: "does not",
  "doesn't": "does not",
  "can't": "cannot",
  cant: "cannot",
};
const DROPPED = new Set(["really", "also", "both", "all", "still", "do"]);

function ofGuest([first = "", ...rest]: readonly string[]): string | null {
  const begun = BEGINS[first.toLowerCase()];
  if (begun !== undefined) return [begun, ...(rest[0] === "got" ? rest.slice(1) : rest)].join(" ");
  // "And need step-free access": who is spoken of was said before.
  if (english.verbs.is(first.toLowerCase())) return [thirdOf(first.toLowerCase()), ...rest].join(" ");
  // "My budget is 40 euros": whose it is goes without saying.
  if (["my", "our"].includes(first.toLowerCase())) return rest.join(" ");
  if (!["i", "we"].includes(first.toLowerCase())) return null;
  const at = rest.findIndex((word) => !english.seldom.has(word) && !DROPPED.has(word));
  const verb = (rest[at] ?? "").toLowerCase();
  const third = thirdOf(verb);
  return third === null ? null : [...rest.slice(0, at).filter((word) => !DROPPED.has(word)), third, ...rest.slice(at + 1)].join(" ");
}

function thirdOf(verb: string): string | null {
  return SECOND[verb] ?? (english.modals.is(verb) ? verb : english.verbs.is(verb) ? withS(verb) : null);
}

/** "She's", "hes". */
const IS = /'(?:s|re)$|^s?hes$|^whos$/u;

function ofCompanion(words: readonly string[], who: Companion, language: Language): string | null {
  const [first = "", second = "", third = "", ...rest] = words;
  const called = calledAs(who);
  const pronoun = folded(first);
  if (english.theirs.has(pronoun)) return null;
  if (language.pronounAt([pronoun], 0).length > 0 || english.who.has(pronoun))
    return [called, ...(IS.test(pronoun) ? [second === "got" ? "has" : "is"] : []), SECOND[second] ?? second, third, ...rest]
      .join(" ")
      .trim();
  if (!["my", "our", "the"].includes(folded(first))) return null;
  const is = second.endsWith("'s") && (english.traits.in(wordsIn(third)) !== -1 || third === "a");
  return [is ? `${second.slice(0, -2)} is` : second, SECOND[third] ?? third, ...rest].join(" ").trim();
}

export function calledAs({ relation, name }: Companion): string {
  return name === null ? relation : `${relation} ${name}`;
}

function withS(verb: string): string {
  if (/(?:s|sh|ch|x|z|o)$/u.test(verb)) return `${verb}es`;
  return /[^aeiou]y$/u.test(verb) ? `${verb.slice(0, -1)}ies` : `${verb}s`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function lower(text: string): string {
  return /^(?:\p{Lu}\p{Lu}|I\b)/u.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
}
