import type { Clause, Sentence } from "./clauses.js";
import type { FoundNeed, Vocabulary } from "./domain-words.js";
import type { Draft } from "./draft.js";
import { isDenial } from "./endings.js";
import { english, type Language, relationAt } from "./language.js";
import { hardDraft } from "./needs.js";
import { told } from "./said.js";
import { rawWords, type Who, whoIn } from "./who.js";

/*
 * What must hold, out of what something does to somebody: "nuts could kill me", "I nearly died from a cashew", "I have given up gluten".
 * No such sentence says that it must: the guest is asked. English.
 */

export function harmsIn(sentence: Sentence, clauses: readonly Clause[], language: Language, vocabulary: Vocabulary): readonly Draft[] {
  if (language.name !== "en" || sentence.asks) return [];
  return clauses.flatMap((clause) => {
    const { words } = clause;
    const need = vocabulary.needsIn(words).find(({ kind, category }) => kind === "avoid" && category === "dietary");
    if (need === undefined || words.some((word) => isDenial(word, language))) return [];
    const who = whomIn(clause, language);
    if (who === null || !(doesHarm(words) || isGivenUp(words, need))) return [];
    const about = rawWords(clause.text)[need.at] ?? "";
    const read = { clause, language, who, asks: false, laughs: false, standing: false, avoiding: null };
    const text = told(clause.text, who, language);
    return [{ ...hardDraft(read, text), about, aspect: about.toLowerCase(), need: need.need, category: need.category, unsure: true }];
  });
}

/** What a sentence tells, with what may have to hold: by itself, or as the need of what is kept as it was said. */
export function withHarms(drafts: readonly Draft[], harms: readonly Draft[]): readonly Draft[] {
  const [harm, another] = harms;
  if (!drafts.some(({ hard }) => hard)) return [...drafts, ...harms];
  if (harm === undefined || another !== undefined || drafts.some(({ need }) => need === harm.need)) return drafts;
  const { need, about, aspect, category } = harm;
  return drafts.map((draft) => (draft.hard && draft.need === "other" ? { ...draft, need, about, aspect, category } : draft));
}

function doesHarm(words: readonly string[]): boolean {
  return words.some((_, at) => {
    const length = english.harms.at(words, at);
    // "Sick of eggs", "ill-advised".
    return length > 0 && !(length === 1 && words[at + 1] === "of");
  });
}

/** "Stopped eating dairy", "gave up gluten". */
function isGivenUp(words: readonly string[], { at }: FoundNeed): boolean {
  const stop = english.stops.in(words);
  if (stop === -1 || stop > at || english.stops_by.at(words, stop) > 0) return false;
  return words.slice(stop + english.stops.at(words, stop), at).every((word) => english.glue.has(word) || word === "all");
}

/** The guest, or who of theirs is named. Null: nobody of whom it is known. */
function whomIn(clause: Clause, language: Language): Who | null {
  const { words } = clause;
  const at = words.findIndex((word, place) => language.mine.has(word) && relationAt(words, place + 1) !== undefined);
  const relation = at === -1 ? undefined : relationAt(words, at + 1)?.relation;
  if (relation !== undefined) {
    const who = whoIn(clause, language, false);
    return who.kind === "companion" ? who : { kind: "companion", relation, name: null };
  }
  return words.some((word) => language.first.has(word) && !language.mine.has(word)) ? { kind: "self" } : null;
}
