import { isNamedIn, namesOf, RELATIONS } from "../companions.js";
import { folded, phrase, says, saysOnly } from "../phrases.js";

/** Who comes along and who stays behind, by the words of a message: what a model would read, for the script. */

const RELATION_WORDS = [...new Set(RELATIONS.flat())].sort((a, b) => b.length - a.length).join("|");
const THEIRS = new RegExp(`(?:${phrase("mine").source})\\s+(${RELATION_WORDS})(?!\\p{L})`, "giu");

/** "Me and Mia", "Mia and I". */
const BEHIND_ME = /(?<![\p{L}\p{N}])(?:me|I|myself|us) and (\p{Lu}\p{Ll}+)(?![\p{L}\p{N}])/gu;
const BEFORE_ME = /(?<![\p{L}\p{N}])(\p{Lu}\p{Ll}+) and (?:me|I|myself)(?![\p{L}\p{N}])/gu;

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
  const parts = words.split(/[,;.!]\s+|\s+(?:but|and|aber|und|mais|et|pero|y)\s+/u);
  const says = (name: string) => parts.some((part) => isNamedIn([name], [part]) && staysBehind(name, part));
  return names.filter((name) => staysBehind(name, words) || says(name));
}

/** Whether a message takes a companion out of the party and says nothing else: "without my mother", "Sam isn't coming", "just me". */
export function staysBehind(companion: string, words: string): boolean {
  if (words.includes("?")) return false;
  const text = folded(words);
  const name = namesOf(companion)
    .map(naming)
    .find((each) => each.test(text));
  if (name === undefined) return says(text, "alone") && saysOnly(text, "alone", "beside_alone", "polite");
  return says(text, "not_coming") && saysOnly(text.replace(name, " "), "not_coming", "mine", "beside_alone", "polite");
}

function naming(name: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\p{L}\\p{N}])`, "u");
}
