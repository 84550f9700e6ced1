import { conceptOf, conceptsIn, foldText } from "../../platform/language/lexicon.js";
import { wordsOf } from "../../platform/language/tokens.js";
import { turnsRound } from "./distaste.js";

/**
 * Whether a quote says what a statement says: so that a model can't hang "Recommend X" on an innocent quote. Every telling
 * word of the statement is in the quote (by stem, by its beginning, by a number's digits, or as another language's word for
 * it) or is one of the plain words that statements are built of.
 */

/** Words that a statement may add: they frame what was said and name nobody and nothing of their own. */
const FRAME = new Set(
  (
    "prefer prefers preferred preference preferably like likes liked love loves enjoy enjoys enjoyed dislike dislikes hate hates avoid avoids " +
    "usually normally generally mostly often sometimes always never typically regularly currently now still only also rather instead especially mainly " +
    "book books booking booked buy buys need needs want wants require requires use uses have has had hold holds keep keeps take takes get gets go goes going " +
    "come comes bring brings travel travels attend attends visit visits sit sits sitting seat seats seated seating ticket tickets row rows place places table spot spots " +
    "be is are was were being allergic allergy allergies intolerant intolerance sensitive sensitivity eat eats eating drink drinks food foods cuisine dish dishes diet dietary meal meals " +
    "cannot can can't not no don't doesn't do does without free access accessible accessibility mobility user disability impairment impaired vision sight " +
    "concert concerts show shows performance performances event events music genre venue venues restaurant restaurants hotel hotels theatre live lives living lived based resides home " +
    "person people party group size together alone companion companions accompanied family member membership member's card subscription subscriber fan follow follows admirer " +
    "name named called addressed address contact contacted contacts confirmation confirmations answer answers reply replies response responses message messages communication language speak speaks speaking channel style short brief detailed " +
    "spend spends budget maximum max limit up about around approximately per each most least under over below above more than less at cost costs price priced " +
    "day days time times evening evenings morning afternoon night week weekend start starts starting end ends until before after from to between on in of for with and or but by near close within the a an this that their his her its own " +
    "available unavailable free works work suit suits suitable trip visit stay stays staying occasion temporarily temporary during while any all some every everything other than as due because reason must able unable longer anymore any more " +
    "born birthday anniversary date year years old aged age job profession works hobby plays owns pet drive drives car train transport public strictly severe severely strong medical religious keeps follows observant " +
    "trouble problem problems climb climbs manage ill gets hurt difficulty difficulties bear bears afraid brings wears walks walk chooses choose lasting must disease finds find found boring bored interested interest happy comfortable uncomfortable fond keen into taste " +
    "ist hat wird mag est aime es tiene son ha " +
    "very much really extra good better best favourite favorite main regular user's they them who one two bit"
  ).split(" "),
);

const NUMBER = /^\d+(?:[.,:]\d+)*$/u;
export type Support = "supported" | "partly" | "unsupported";

/**
 * `supported`: all that it says is in the quote. `partly`: it adds plain words or turns them round, so the user should look.
 * `unsupported`: it names or counts what the quote doesn't, or shares nothing with it.
 */
export function supportOf(statement: string, quote: string, related: readonly string[] = []): Support {
  const sources = [quote, ...related];
  const known = new Set(sources.flatMap((source) => wordsOf(source).flatMap((word) => [word.text, ...word.terms])));
  const concepts = new Set(sources.flatMap((source) => conceptsIn(source).map((concept) => concept.name)));
  const squeezed = foldText(sources.join(" ")).replace(/[^\p{L}\p{N}]+/gu, "");
  const statementConcepts = conceptsIn(statement);
  const covered = new Set(
    statementConcepts.filter((concept) => concepts.has(concept.name)).flatMap((concept) => wordsOf(concept.name).map((word) => word.text)),
  );

  let shared = statementConcepts.some((concept) => concepts.has(concept.name)) ? 1 : 0;
  let added = 0;
  for (const { text, terms } of wordsOf(statement)) {
    if (
      known.has(text) ||
      terms.some((term) => known.has(term)) ||
      covered.has(text) ||
      covers(squeezed, text) ||
      sharesStem(known, text)
    ) {
      if (!FRAME.has(text)) shared++;
      continue;
    }
    const concept = conceptOf(text);
    if (concept !== null && concepts.has(concept.name)) {
      shared++;
      continue;
    }
    if (FRAME.has(text)) continue;
    if (NUMBER.test(text) || isName(statement, text)) return "unsupported";
    // Two letters are articles, pronouns and the like in whatever language.
    if ([...text].length <= 2 || isInflected(known, text)) continue;
    added++;
  }
  if (shared === 0) return allFrame(statement, quote) ? (added === 0 ? "supported" : "partly") : "unsupported";
  if (added > 0) return added > shared ? "unsupported" : "partly";
  return turnsRound(statement, quote) ? "partly" : "supported";
}

/** Scripts without spaces: the word stands somewhere in the quote, however it was cut. */
function covers(squeezed: string, word: string): boolean {
  return /[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]/u.test(word) && squeezed.includes(foldText(word));
}

/** `vegetari|er` and `vegetari|sch`: five letters and two thirds of the shorter word. */
function sharesStem(known: ReadonlySet<string>, word: string): boolean {
  if (word.length < 5) return false;
  for (const other of known) {
    if (other.length < 5) continue;
    const least = Math.max(5, Math.ceil((Math.min(word.length, other.length) * 2) / 3));
    if (word.slice(0, least) === other.slice(0, least)) return true;
  }
  return false;
}

/** Short verbs change their endings ("люблю", "любит"), in Arabic their beginnings: three letters in common, or two behind the prefix. */
function isInflected(known: ReadonlySet<string>, word: string): boolean {
  if (word.length > 6) return false;
  const arabic = /^\p{Script=Arabic}+$/u.test(word);
  const core = (text: string): string => (arabic ? text.replace(/^[يأتنا]/u, "") : text.slice(0, 3));
  return [...known].some(
    (other) => other.length <= 6 && core(other).length >= 2 && core(other) === core(word) && (arabic || other.length >= 3),
  );
}

function isName(statement: string, word: string): boolean {
  const found = new RegExp(`(?<=\\S\\s+)\\p{Lu}${word.slice(1).replace(/[.*+?^$\\{}()|[\]]/gu, "\\$&")}`, "iu").exec(statement);
  return found !== null && /^\p{Lu}/u.test(found[0]) && /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]/u.test(found[0]);
}

/** "Usually comes alone" for "it's just me": nothing but frame on both sides can't carry anything in. */
function allFrame(statement: string, quote: string): boolean {
  return wordsOf(statement).every((word) => word.stop || FRAME.has(word.text)) && wordsOf(quote).length > 0 && wordsOf(quote).length <= 12;
}
