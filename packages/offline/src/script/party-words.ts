import { isNamedIn, namesOf, RELATIONS } from "maitred/domain";
import { folded, phrase, says, saysOnly } from "./phrases.js";

/** Who comes along and who stays behind, by the words of a message: what a model would read, for the script. */

const MAX_BOWING_WORDS = 7;
const RELATION_WORDS = [...new Set(RELATIONS.flat())].sort((a, b) => b.length - a.length).join("|");
const THEIRS = new RegExp(`(?:${phrase("mine").source})\\s+(${RELATION_WORDS})(?!\\p{L})`, "giu");

/** "Me and Mia", "Mia und ich". */
const BEHIND_ME = /(?<![\p{L}\p{N}])(?:me|I|myself|us|mich|mir|ich|uns|moi|mí) (?:and|und|et|y) (\p{Lu}\p{Ll}+)(?![\p{L}\p{N}])/gu;
const BEFORE_ME = /(?<![\p{L}\p{N}])(\p{Lu}\p{Ll}+) (?:and|und|et|y) (?:me|I|myself|mich|mir|ich|moi|yo)(?![\p{L}\p{N}])/gu;

/** Names that stand beside the guest themself. */
export function namesBeside(words: string): readonly string[] {
  return [BEHIND_ME, BEFORE_ME].flatMap((pattern) => [...words.matchAll(pattern)].flatMap(([, name]) => name ?? []));
}

/**
 * Relations that the guest speaks of as theirs, as they call them: "my mum", "unsere Tochter", and names beside their own. Not those who
 * stay behind.
 */
export function companionsIn(words: string): readonly string[] {
  const found = [...folded(words).matchAll(THEIRS)].flatMap(([, relation]) => relation ?? []);
  const named = [...new Set([...found, ...namesBeside(words)])];
  const absent = leftOut(named, words);
  return named.filter((name) => !absent.includes(name));
}

/** Of these who stays behind, by any part of a message that says nothing else: "two seats, Mia isn't coming". */
export function leftOut(names: readonly string[], words: string): readonly string[] {
  const parts = partsOf(words);
  const says = (name: string) => parts.some((part) => isNamedIn([name], [part]) && staysBehind(name, part));
  return names.filter((name) => staysBehind(name, words) || says(name));
}

/** What a message says one after the other. */
export function partsOf(words: string): readonly string[] {
  return words.split(/[,;.!]\s+(?:(?:so|but|and)\s+)?|\s+(?:but|and|so|aber|und|mais|et|pero|y)\s+/u);
}

/** Whether a message takes a companion out of the party and says nothing else: "without my mother", "Sam isn't coming", "just me". */
export function staysBehind(companion: string, words: string): boolean {
  if (words.includes("?")) return false;
  const text = folded(words);
  const name = namesOf(companion)
    .map(naming)
    .find((each) => each.test(text));
  if (name === undefined) return says(text, "alone") && saysOnly(text, "alone", "beside_alone", "polite", "yes");
  const beside = text.replace(name, " ");
  return saysStaying(text, beside);
}

/** The same of whom the message only points to: "ok, without her then". */
export function oneStaysBehind(words: string): boolean {
  const text = folded(words);
  return !words.includes("?") && says(text, "them") && saysStaying(text, text.replace(phrase("them"), " "));
}

/** `beside`: the text without who it is about. */
function saysStaying(text: string, beside: string): boolean {
  return says(text, "not_coming", "without") && saysOnly(beside, "not_coming", "without", "mine", "beside_alone", "polite", "yes");
}

/** Whether somebody drops out of the party, whoever it is: "one of us has dropped out", "Sam can't make it". Not the guest themself. */
export function dropsOut(words: string): boolean {
  return !words.includes("?") && says(words, "not_coming", "drops_out") && !says(words, "not_us");
}

/** Whether it is the guest who drops out, and nothing else is said: "sorry, I can't come". */
export function bowsOut(words: string): boolean {
  return says(words, "not_us") && words.trim().split(/\s+/u).length <= MAX_BOWING_WORDS && !words.includes("?");
}

/** A message without the words by which somebody drops out: "my friend had to cancel" asks to cancel nothing. */
export function besidesDroppingOut(words: string): string {
  return dropsOut(words) ? folded(words).replace(phrase("drops_out"), " ") : words;
}

function naming(name: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\p{L}\\p{N}])`, "u");
}
