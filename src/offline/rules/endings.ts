import type { Memory } from "../../long-term.js";
import { queryTermsOf, termsOf } from "../../platform/language/tokens.js";
import type { Draft } from "./draft.js";
import type { Language } from "./language.js";
import { type AboutWhom, aboutWhom, type KnownNames } from "./subjects.js";

/** What is over, or never was. A need that ended is found by the words that stated it, so that the same shapes read both. */

const OVER: Readonly<Record<Language, readonly (readonly [pattern: RegExp, stillHolding: string])[]>> = {
  en: [
    // "I can't eat nuts any more" begins something: only a plain "not" ends.
    [/^(?<a>.*?)\s+no longer\s+(?<b>.+)$/iu, "$<a> $<b>"],
    [
      /^(?<a>.*?(?:'m|'re|'s|\bam|\bare|\bis))(?:n't| not)\s+(?<b>.+?),?\s+(?:any ?more|any longer|these days|now|after all)\b.*$/iu,
      "$<a> $<b>",
    ],
    [/^(?<a>.*?)\s+(?:do|does)(?:n't| not)\s+(?<b>.+?),?\s+(?:any ?more|any longer|these days|after all)\b.*$/iu, "$<a> $<b>"],
    [/^(?:i|we)(?:'ve| have)? (?:stopped|quit|given up|gave up) being (?<b>.+)$/iu, "I am $<b>"],
    [/^(?:i|we) used to be (?<b>.+)$/iu, "I am $<b>"],
    [/^(?:i|we) (?:was|were|have) never (?:been )?(?<b>.+)$/iu, "I am $<b>"],
    [/^(?:i|we) never had (?<b>(?:an? )?.*allergy.*)$/iu, "I have $<b>"],
    [/^(?:i|we) can (?<b>(?:eat|have|drink|tolerate|climb|manage) .+?),? (?:again|now|these days)\b.*$/iu, "I can not $<b>"],
    [/^(?:i|we)(?:'ve| have)? (?:outgrown|outgrew|got(?:ten)? over|lost) (?:my|our) (?<b>.*allergy(?: to .+)?)$/iu, "I have a $<b>"],
    [/^(?:my|our) (?<b>.*allergy(?: to .+)?) (?:is|has) (?:gone|gone away|over|disappeared|been cured|cured)\b.*$/iu, "I have a $<b>"],
    [
      /^(?!.* to )(?:i|we)(?:'ve| have)? (?:just |recently |now )?(?:moved|moving) (?:away |out )*(?:from|of) (?<b>\p{L}[\p{L} .'-]+?)(?: (?:last|in|this|a|two|years|for)\b.*)?$/iu,
      "I live in $<b>",
    ],
    [/^(?:i|we) left (?<b>\p{Lu}[\p{L}'-]+) (?:for good|last|years|months|in).*$/u, "I live in $<b>"],
  ],
  de: [
    [/^(?<a>.*?)\s+(?:nicht|keine?n?)\s+mehr(?:\s+(?<b>.+))?$/iu, "$<a> $<b>"],
    [/^(?<a>ich habe) keine?n?\s+(?<b>.+?)\s+mehr$/iu, "$<a> eine $<b>"],
  ],
  fr: [[/^(?<a>.*?)\s*\bn(?:e |['’])(?<b>(?:suis|ai|habite|vis|utilise).*?)\s+plus(?<c>\s.+)?$/iu, "$<a> $<b>$<c>"]],
  es: [[/^(?<a>.*?)\bya no\s+(?<b>.+)$/iu, "$<a>$<b>"]],
  it: [[/^(?<a>.*?)\bnon\s+(?<b>(?:sono|ho|abito|vivo|uso).*?)\s+più(?<c>\s.+)?$/iu, "$<a>$<b>$<c>"]],
};
/** A plain "not": ends what is stored, and says nothing where nothing is. */
const DENIED: Readonly<Record<Language, readonly (readonly [pattern: RegExp, stillHolding: string])[]>> = {
  en: [
    [/^(?<a>.*?(?:'m|'re|'s|\bam|\bare|\bis))(?:n't| not)\s+(?:actually |really |at all )?(?<b>.+)$/iu, "$<a> $<b>"],
    [/^(?<a>.*?)\s+(?:do|does)(?:n't| not)\s+(?:actually |really )?(?<b>(?:need|use|have|keep|live|require) .+)$/iu, "$<a> $<b>"],
  ],
  de: [
    [/^(?<a>ich bin) (?:doch |gar |eigentlich )*nicht (?<b>.+)$/iu, "$<a> $<b>"],
    [/^(?<a>ich habe) (?:doch |gar |eigentlich )*keine (?<b>.+)$/iu, "$<a> eine $<b>"],
  ],
  fr: [[/^je ne suis pas (?<b>.+)$/iu, "je suis $<b>"]],
  es: [[/^no (?<a>soy|tengo) (?<b>.+)$/iu, "$<a> $<b>"]],
  it: [[/^non (?<a>sono|ho) (?<b>.+)$/iu, "$<a> $<b>"]],
};
/** Said before a correction. */
const CORRECTING =
  /^(?:(?:no|sorry|actually|wait|hold on|correction|well|but|and|that's (?:wrong|not right|incorrect|not true|a mistake)|that is (?:wrong|not right|incorrect|not true)|you(?:'ve| have)? got (?:that|it) wrong|(?:it )?(?:turns|turned) out(?: that)?|as it turns out|it seems(?: that)?)[\s,.:;!–—-]+)+/iu;
/** A taste that is over is a statement of its own ("No longer likes opera"): it tells what not to suggest. */
const TASTES: ReadonlySet<string> = new Set(["genre", "artist", "venue"]);
/** Needs and wishes whose object names the memory where no shape reads the clause. */
const OBJECT = /^(?:i|we) (?:really )?(?:need|want|require|use|insist on|care about|ask for) (?:an? |the |any |my )?(?<what>.+)$/iu;

/**
 * The ids of the stored memories that the clause says are over; null for a clause that says so of none, and is to be read as any
 * other. `read` gives what the clause would say if it still held.
 */
export function endedBy(
  clause: string,
  language: Language,
  related: readonly Memory[],
  names: KnownNames,
  read: (about: AboutWhom) => readonly Draft[],
): string[] | null {
  const said = clause
    .replace(/[’‘]/gu, "'")
    .replace(/[\s.!…]+$/u, "")
    .trim();
  const plain = language === "en" ? said.replace(CORRECTING, "") : said;
  const over = rewritten(plain, OVER[language]);
  const denied = over === null ? rewritten(plain.replace(/,? (?:after all|at all|actually)$/iu, ""), DENIED[language]) : null;
  const stillHolding = over ?? denied;
  if (stillHolding === null) return null;
  const abouts = language === "en" ? aboutWhom(stillHolding, names) : [{ subject: "self", clause: stillHolding, name: null, label: "" }];
  const ended: string[] = [];
  let understood = false;
  for (const about of abouts) {
    const drafts = read(about).filter(({ category }) => !TASTES.has(category));
    understood ||= drafts.length > 0;
    const own = related.filter((memory) => memory.status === "active" && memory.subject === about.subject);
    const found = own.filter((memory) => drafts.some((draft) => isSameNeed(memory, draft)));
    ended.push(...(found.length > 0 ? found : own.filter((memory) => isNamedIn(about.clause, memory))).map(({ id }) => id));
  }
  if (ended.length > 0) return [...new Set(ended)];
  return over !== null && understood ? [] : null;
}

function rewritten(said: string, table: readonly (readonly [RegExp, string])[]): string | null {
  for (const [pattern, stillHolding] of table)
    if (pattern.test(said)) return said.replace(pattern, stillHolding).replace(/\s+/gu, " ").trim();
  return null;
}

/** A diet is one aspect for all diets, a home for all places: there the words tell which. */
function isSameNeed(memory: Memory, draft: Draft): boolean {
  if (memory.category !== draft.category) return false;
  if (memory.text.toLowerCase().endsWith(draft.text.toLowerCase())) return true;
  if (draft.category === "location") return (draft.entities ?? []).some((place) => memory.text.toLowerCase().includes(place.toLowerCase()));
  return memory.aspect === draft.aspect && memory.aspect !== "" && !/diet$/u.test(draft.aspect);
}

/** "I no longer need a high floor" of "Likes a room on a high floor": every telling word of the one is in the other. */
function isNamedIn(clause: string, memory: Memory): boolean {
  const what = OBJECT.exec(clause)?.groups?.what;
  if (what === undefined || TASTES.has(memory.category)) return false;
  const terms = new Set(termsOf(memory.text));
  const wanted = queryTermsOf(what);
  return wanted.length > 0 && wanted.every((term) => terms.has(term));
}
