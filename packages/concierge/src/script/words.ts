import { dropsOut, MONTHS, NUMBER, NUMBER_WORDS, namesBeside, partsOf } from "@maitred/offline";
import { anyPhrase, phrasesIn } from "maitred/stand-in";
import lists from "../data/events.json" with { type: "json" };
import { folded, phrase, says } from "../phrases.js";
import type { City, Diet, Genre, Kind } from "../vocabulary.js";

/** What single words of a message mean to the script. English. */

/** Finds the names for which one of their words stands in a text. */
function namesBy<Name extends string>(words: Readonly<Record<Name, readonly string[]>>): (text: string) => readonly Name[] {
  const patterns = (Object.keys(words) as Name[]).map((name) => ({ name, pattern: anyPhrase(phrasesIn(words[name])) }));
  return (text) => patterns.filter(({ pattern }) => pattern.test(folded(text))).map(({ name }) => name);
}

export const genresIn = namesBy<Genre>(lists.genres);
export const kindsIn = namesBy<Kind>(lists.kinds);
export const citiesIn = namesBy<City>(lists.cities);
export const dietsIn = namesBy<Diet>(lists.diets);

const BEFORE_GENRE = /^[\s,:]+(?:(?:any|more|another|the|a|an)\s+)*/;
const JOINS = new Set(["or", "nor", "and"]);

/** "No jazz", "anything but opera or ballet": genres that are to be left out. "Not too loud jazz" leaves none out. */
export function genresLeftOutIn(text: string): readonly Genre[] {
  const behind = folded(text).replaceAll("why not", "").split(phrase("leaves_out")).slice(1);
  return behind.flatMap((rest) => {
    const words = rest.replace(BEFORE_GENRE, "").split(/\s+/);
    const begins = words.flatMap((_, at) => (at === 0 || JOINS.has(words[at - 1] ?? "") ? [at] : []));
    return begins.flatMap((at) => genresAt(words.slice(at, at + 3)));
  });
}

/** Those whose words begin with the first of these. */
function genresAt(words: readonly string[]): readonly Genre[] {
  const behind = genresIn(words.slice(1).join(" "));
  return genresIn(words.join(" ")).filter((genre) => !behind.includes(genre) || genresIn(words[0] ?? "").includes(genre));
}

const LIMIT =
  "(?:under|below|at most|max(?:imum)?|up to|less than|(?:no|not|nothing|none) (?:more than|over|above)|within|budget(?: of| is|:)?)";
const LIMITED = new RegExp(`\\b${LIMIT}\\s*(?:€\\s*)?(\\d{1,4})(?!\\s*(?:tickets?|seats?|people|of us|days?|weeks?|pm|am|km|:))`);
/** "Something cheap", in euros. */
const CHEAP = 25;

/** "under 40 euros", "€30 or less", "nothing over 25"; a little where it is to be cheap. */
export function priceIn(text: string): number | undefined {
  return priceLimitIn(text) ?? (says(text, "cheap") ? CHEAP : undefined);
}

/** As {@link priceIn}, where a number is named. */
export function priceLimitIn(text: string): number | undefined {
  const words = folded(text);
  const [, euros] = LIMITED.exec(words) ?? /€\s*(\d{1,4})/.exec(words) ?? /\b(\d{1,4})\s*(?:€|euros?\b|eur\b)/.exec(words) ?? [];
  return euros === undefined ? undefined : Number(euros);
}

const SPANS = "(?:(?:more|whole|long|full)\\s+)?(?:years?|months?|weeks?|weekends?|days?|nights?|evenings?|hours?|minutes?|times)\\b";
/** Behind a number: money, a time, a date, a span. */
const NO_PARTY = `(?!\\s*(?:euros?|eur|€|pm|am|o'clock|:|st\\b|nd\\b|rd\\b|th\\b|${MONTHS}|one\\b|${SPANS}))(?!\\s*[:.]\\d)`;
const PARTIES: readonly RegExp[] = [
  // "Book Seven Courses for 2": a number in a title comes before.
  new RegExp(`\\bfor ${NUMBER}(?=,? (?:please|thanks)|\\W*$)`),
  new RegExp(`\\b${NUMBER}\\s+(?:more\\s+)?(?:tickets?|seats?|places?|people|persons?|guests?|adults?|of us|of them)\\b`),
  new RegExp(`\\b(?:for|party of|group of|make it|we are|book|reserve|take|get(?: me| us)?)\\s+(?:the\\s+)?${NUMBER}\\b${NO_PARTY}`),
  new RegExp(`^\\W*(?:just |only |the )?${NUMBER}(?:,? please|,? thanks)?\\W*$`),
  new RegExp(`\\b${NUMBER} of (?:the |that|those|it|number)`),
  new RegExp(`^\\W*${NUMBER} for (?:the|that|it|number|option)\\b`),
];

/** How many seats or people; never an ordinal, a price or a date. */
export function partyIn(text: string): number | undefined {
  // "One of us is vegan" counts nobody.
  const words = folded(text).replace(/\bone of (?:us|them|my|our|the guests)\b/g, " ");
  const [number] = PARTIES.flatMap((pattern) => pattern.exec(words)?.[1] ?? []);
  if (number !== undefined) return NUMBER_WORDS[number] ?? Number(number);
  if (says(words, "two_of_us") || /\bme and my \w+|\bmy \w+ and (?:me|i|myself)\b/.test(words) || namesBeside(text).length === 1) return 2;
  return says(words, "one_of_us") ? 1 : undefined;
}

/** The same where somebody may drop out: "two of us can't make it" are not those who come. */
export function partyLeftIn(text: string): number | undefined {
  if (!dropsOut(text)) return partyIn(text);
  return partsOf(text).reduce<number | undefined>((party, part) => (dropsOut(part) ? party : (partyIn(part) ?? party)), undefined);
}
