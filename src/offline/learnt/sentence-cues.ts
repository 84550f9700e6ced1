import { wordsIn } from "../../platform/phrase-list.js";
import type { Vocabulary } from "../reading/domain-words.js";
import { anyLanguage, english, type Language, relationAt } from "../reading/language.js";

/** Which of the reader's word lists a sentence has something of: what they mean is learnt. */

const OF_LANGUAGE = [
  ...(["first", "mine", "others", "pronouns", "avoid", "not", "unsure", "past", "once", "always", "like", "dislike", "home"] as const),
  ...(["would", "if"] as const),
];
const IN_ENGLISH = [
  ...(["bystanders", "ends", "standing", "dated", "requests", "contact", "numbers", "harms", "conditions", "seldom", "moved"] as const),
  ...(["parted", "again", "gave_up", "you", "diets"] as const),
];
const IN_ANY = ["laugh", "joke", "bringing", "instruction"] as const;

/** In an order that is that of training: who changes a list or this trains anew. */
export function cuesIn(text: string, message: string, language: Language, vocabulary: Vocabulary): readonly boolean[] {
  const words = wordsIn(text).map((word) => word.replace(/'s$/u, ""));
  const ofMessage = wordsIn(message);
  const [first] = words;
  const begins = language.mine.has(first);
  const relations = words.flatMap((_, at) => (relationAt(words, at) === undefined ? [] : [at]));
  return [
    ...OF_LANGUAGE.map((cue) => language[cue].in(words) !== -1),
    ...IN_ENGLISH.map((cue) => english[cue].in(words) !== -1),
    ...IN_ANY.flatMap((cue) => [anyLanguage(cue, words), anyLanguage(cue, ofMessage)]),
    language.first.at(words, 0) > 0 && !begins,
    begins,
    begins && english.bystanders.in(words.slice(1, 4)) !== -1,
    begins && relations.some((at) => at <= 2),
    relations.length > 0,
    language.others.has(first),
    language.pronouns.has(first),
    vocabulary.needsIn(words).length > 0,
    vocabulary.isEmpty || vocabulary.categoryOf(words) !== undefined,
    /["“”«»]/u.test(text),
    /\d/u.test(text),
    /\p{Sc}/u.test(text),
    language.name === "en" && !words.some((word) => language.markers.has(word)),
  ];
}
