import { NUMBER_WORDS } from "../number-words.js";
import { ALL_GENRES, CITY_NAMES, type City, DIETS, type Diet, type Genre, type Kind, plain } from "../vocabulary.js";

/** What single words of a message mean to the script. English. */

const GENRE_WORDS: Readonly<Record<Genre, RegExp>> = {
  jazz: /\b(?:jazz|jazzy|swing|bebop|big band|saxophone)\b/,
  classical: /\b(?:classical|symphon\w*|orchestra\w*|chamber music|philharmonic|concerto|recital|string quartet|choir|choral)\b/,
  opera: /\b(?:opera|operas|operatic|aria|arias)\b/,
  rock: /\b(?:rock|indie|punk|guitar bands?|grunge)\b/,
  folk: /\b(?:folk|ceili|ceilidh|singer.songwriter|shant(?:y|ies))\b/,
  electronic: /\b(?:electronic|electronica|techno|dj|djs|rave|club night|clubbing)\b/,
  world: /\b(?:world music|fado|rumba|flamenco|percussion)\b/,
  drama: /\b(?:dramas?|tragedy|stage plays?|(?:a|see|watch|any|some|good|which) plays?)\b/,
  comedy: /\b(?:comed(?:y|ies|ian|ians)|stand.?up|funny|laughs?|farce)\b/,
  musical: /\bmusicals?\b/,
  dance: /\b(?:ballet|dance (?:piece|show|performance|company|evening)|contemporary dance|dance)\b/,
  puppetry: /\b(?:puppet\w*|marionettes?)\b/,
  football: /\b(?:football|soccer)\b/,
  basketball: /\b(?:basketball|hoops)\b/,
  tennis: /\btennis\b/,
  athletics: /\b(?:athletics|track and field|running event)\b/,
  "tasting menu": /\b(?:tasting menus?|fine dining|degustation|seven courses)\b/,
  seafood: /\b(?:seafood|oysters?|fish restaurant)\b/,
  "vegetarian cuisine": /\b(?:vegetarian (?:cuisine|restaurant|cooking|food)|veggie (?:place|restaurant))\b/,
  grill: /\b(?:grills?|steaks?|barbecue|bbq)\b/,
  brunch: /\bbrunch\b/,
};

const KIND_WORDS: Readonly<Record<Kind, RegExp>> = {
  music: /\b(?:concerts?|gigs?|music|live bands?|bands?)\b/,
  theatre: /\b(?:theat(?:re|er)s?|on stage|stage)\b/,
  sport: /\b(?:sports?|sporting|match|matches|fixtures?|ball games?)\b/,
  dining: /\b(?:restaurants?|dinner|dine|dining|eat|eating|lunch|supper|table for|food|meal|hungry)\b/,
};

const CITY_ALIASES: Readonly<Record<City, RegExp>> = {
  Lisbon: /\b(?:lisbon|lisboa)\b/,
  Vienna: /\b(?:vienna|wien)\b/,
  Hamburg: /\bhamburg\b/,
  Dublin: /\bdublin\b/,
  Barcelona: /\bbarcelona\b/,
};

const DIET_WORDS: Readonly<Record<Diet, RegExp>> = {
  vegetarian: /\b(?:vegetarian|veggie|meat.?free)\b/,
  vegan: /\b(?:vegan|plant.based)\b/,
  halal: /\bhalal\b/,
  kosher: /\bkosher\b/,
  pescatarian: /\bpescatarian\b/,
};

const NUMBERS: Readonly<Record<string, number>> = { a: 1, an: 1, single: 1, couple: 2, pair: 2, ...NUMBER_WORDS };
const NUMBER = `(\\d{1,2}|${Object.keys(NUMBER_WORDS).join("|")})`;

/** Matching words, with which they were found, so that they can be taken out of a text search. */
export function genresIn(text: string): readonly Genre[] {
  const words = plain(text);
  return ALL_GENRES.filter((genre) => GENRE_WORDS[genre].test(words));
}

export function kindIn(text: string): Kind | undefined {
  const words = plain(text);
  return (Object.keys(KIND_WORDS) as Kind[]).find((kind) => KIND_WORDS[kind].test(words));
}

export function cityIn(text: string): City | undefined {
  const words = plain(text);
  return CITY_NAMES.find((city) => CITY_ALIASES[city].test(words));
}

export function dietIn(text: string): Diet | undefined {
  const words = plain(text);
  return DIETS.find((diet) => DIET_WORDS[diet].test(words));
}

export function wantsStepFree(text: string): boolean {
  return /\b(?:step.?free|wheelchair|(?:no|without|without any|avoid) (?:stairs|steps)|accessible)\b/.test(plain(text));
}

const LIMIT =
  "(?:under|below|at most|max(?:imum)?|up to|less than|(?:no|not|nothing|none) (?:more than|over|above)|within|cheaper than" +
  "|budget(?: of| is|:)?|spend(?: about| up to)?)";
const LIMITED = new RegExp(
  `\\b${LIMIT}\\s*(?:€|eur(?:os?)?)?\\s*(\\d{1,4})(?!\\s*(?:tickets?|seats?|people|of us|days?|weeks?|pm|am|km|:))`,
);

/** "under 40 euros", "€30 or less", "nothing over 25". */
export function priceIn(text: string): number | undefined {
  const words = plain(text);
  const limited =
    LIMITED.exec(words) ?? /(?:€|\beur(?:os?)?)\s*(\d{1,4})/.exec(words) ?? /\b(\d{1,4})\s*(?:€|euros?\b|eur\b|bucks\b)/.exec(words);
  if (limited?.[1] !== undefined) return Number(limited[1]);
  return /\b(?:cheap|inexpensive|affordable|low.?cost|bargain)\b/.test(words) ? 25 : undefined;
}

const MONTHS = "(?:january|february|march|april|may|june|july|august|september|october|november|december)";
const SPANS = "(?:(?:more|whole|long|full)\\s+)?(?:years?|months?|weeks?|weekends?|days?|nights?|evenings?|hours?|minutes?|times)\\b";
const BEFORE_PARTY = "(?:for|party of|group of|make it|we are|we're|there are|book(?: me| us)?|reserve|take|get(?: me| us)?)";
/** Behind a number: money, a time, a date, a span. */
const NO_PARTY = `(?!\\s*(?:euros?|eur|€|pm|am|o'clock|:|st\\b|nd\\b|rd\\b|th\\b|${MONTHS}|one\\b|${SPANS}))(?!\\s*[:.]\\d)`;

/** How many seats or people; never an ordinal, a price or a date. */
export function partyIn(text: string): number | undefined {
  // "One of us is vegan" counts nobody.
  const words = plain(text).replace(/\bone of (?:us|them|my|our|the guests)\b/g, " ");
  const found =
    new RegExp(
      `\\b${NUMBER}\\s+(?:more\\s+|of\\s+the\\s+)?(?:tickets?|seats?|places?|people|persons?|guests?|adults?|covers|of us|of them)\\b`,
    ).exec(words) ??
    new RegExp(`\\b${BEFORE_PARTY}\\s+(?:the\\s+)?${NUMBER}\\b${NO_PARTY}`).exec(words) ??
    new RegExp(`^\\W*(?:just |only |the )?${NUMBER}(?:,? please|,? thanks)?\\W*$`).exec(words) ??
    new RegExp(`\\b${NUMBER} of (?:the |that|those|it|number)`).exec(words);
  if (found?.[1] !== undefined) return NUMBERS[found[1]] ?? Number(found[1]);
  if (/\b(?:a couple of|a pair of|both of us|the two of us|me and my \w+|my \w+ and (?:me|i|myself)|us both)\b/.test(words)) return 2;
  if (/\b(?:a (?:single )?(?:ticket|seat)|just (?:for )?me|only me|by myself|on my own|for myself|for me alone|solo)\b/.test(words))
    return 1;
  return undefined;
}

const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"] as const;

const ORDINAL = ORDINALS.join("|");
/** "2nd", not of a month. */
const NUMBERED = new RegExp(`\\b([1-9])(?:st|nd|rd|th)\\b(?!\\s+(?:of\\s+)?${MONTHS})`, "g");

/** Position in a list, from 0; -1 for the last. */
export function ordinalIn(text: string): number | undefined {
  const words = plain(text).replace(NUMBERED, (_, digit: string) => ORDINALS[Number(digit) - 1] ?? "");
  const before = "(?:the|your|that|my|option|number|for|of|and)";
  const named =
    new RegExp(`\\b${before}\\s+(${ORDINAL})\\b`).exec(words) ??
    new RegExp(`\\b(${ORDINAL})\\s+(?:one|option|event|booking)|^\\W*(${ORDINAL})\\b`).exec(words);
  const name = named?.[1] ?? named?.[2];
  if (name !== undefined) return ORDINALS.indexOf(name as (typeof ORDINALS)[number]);
  const number = new RegExp(`(?:#|\\b(?:number|option|no\\.|nr\\.|item|choice)\\s*)${NUMBER}\\b`).exec(words)?.[1];
  if (number !== undefined) return (NUMBERS[number] ?? Number(number)) - 1;
  if (/\b(?:the )?(?:last one|bottom one|last option|last on the list)\b/.test(words)) return -1;
  return undefined;
}

/** "it", "that one", "this concert": whatever was spoken of last. */
export function pointsBack(text: string): boolean {
  return /\b(?:it|its|that|this|those|them|there|they|that one|this one|same one)\b/.test(plain(text));
}
