import { holdsSecret, ownText, wordsIn } from "maitred/stand-in";
import { AskedNeeds } from "./asked-needs.js";
import { changesOf } from "./changes.js";
import { sentencesOf } from "./clauses.js";
import type { Vocabulary } from "./domain-words.js";
import type { Draft } from "./draft.js";
import { english, isInJest, type Language, languageIn, relationOf } from "./language.js";
import { isName, rawWords } from "./names.js";
import { readSentence } from "./read-sentence.js";
import { lower } from "./said.js";
import { Story } from "./story.js";

/** Of a message; what is beyond is read after the answer alone. */
const MAX_CHARS = 500;

/**
 * What rules understand of a message without a doubt, in the words of the memories that may come of it, as they stand in a sentence: for an
 * answer that is given before anything is kept. Nothing of one that holds a secret, or is said in jest. Synchronous, and some milliseconds
 * at most.
 */
export function understoodIn(message: string, vocabulary: Vocabulary): readonly string[] {
  const own = ownText(message.slice(0, MAX_CHARS));
  if (holdsSecret(message) || isInJest(wordsIn(own))) return [];
  const language = languageIn(own);
  const changes = changesOf(own, { known: [], session_id: "", turn: 0 }, language, vocabulary);
  if (changes.off_record !== null) return [];
  const reading = { language, vocabulary, story: new Story(own, { known: [], before: [] }), questions: new AskedNeeds(vocabulary) };
  const drafts: Draft[] = [];
  for (const sentence of sentencesOf(own, (word) => english.titles.has(word))) {
    if (changes.covers(sentence)) continue;
    const read = readSentence(sentence, reading);
    if (read === "foreign") break;
    drafts.push(...(read?.drafts ?? []));
  }
  return [...new Set(drafts.filter(({ unsure }) => !unsure).map((draft) => inSentence(draft, language)))];
}

/** As it stands in the middle of a sentence: a name is written as it is. */
function inSentence({ text }: Draft, { tells }: Language): string {
  const [first = "", next = ""] = rawWords(text);
  return isName(first) && relationOf(first) === undefined && tells.has(next) ? text : lower(text);
}
