import { namesOf, RELATIONS } from "../companions.js";
import { folded, phrase, says, saysOnly } from "../phrases.js";

/** Who comes along and who stays behind, by the words of a message: what a model would read, for the script. */

const RELATION_WORDS = [...new Set(RELATIONS.flat())].sort((a, b) => b.length - a.length).join("|");
const THEIRS = new RegExp(`(?:${phrase("mine").source})\\s+(${RELATION_WORDS})(?!\\p{L})`, "giu");

/** Relations that the guest speaks of as theirs, as they call them: "my mum", "unsere Tochter". Not those who stay behind. */
export function companionsIn(words: string): readonly string[] {
  const found = [...folded(words).matchAll(THEIRS)].flatMap(([, relation]) => relation ?? []);
  return [...new Set(found)].filter((name) => !staysBehind(name, words));
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
