import type { Clause } from "./clauses.js";
import type { FoundNeed, Vocabulary } from "./domain-words.js";
import { isDenial } from "./endings.js";
import { english, type Language } from "./language.js";

/*
 * That a need is over, in words of what it came from or of what it kept from: "my knee is fine now", "stairs are no problem", "the vegan
 * thing is over", "I'm off the crutches". None says so for certain: the guest is asked. English.
 */

/** Words before a thing that may say that one is rid of it: "I'm off my crutches". */
const WORDS_BEFORE = 4;
/** "No more crutches": who says no more than that says it of themselves. */
const BRIEF = 4;

/** The needs that clauses say are over, or may be. */
export function recoveredIn(clauses: readonly Pick<Clause, "words">[], language: Language, vocabulary: Vocabulary): ReadonlySet<string> {
  if (language.name !== "en") return new Set();
  const read = clauses.map(({ words }) => ({ words, over: recovered(words, language, vocabulary) }));
  // "It's walnuts, almonds are OK": the need is told beside it.
  const told = read.flatMap(({ words, over }) => (over.length > 0 ? [] : vocabulary.needsIn(words).map(({ need }) => need)));
  return new Set(read.flatMap(({ over }) => over).filter((need) => !told.includes(need)));
}

function recovered(words: readonly string[], language: Language, vocabulary: Vocabulary): readonly string[] {
  if (english.not_yet.in(words) !== -1 || english.conditions.in(words) !== -1) return [];
  const needs = vocabulary.needsIn(words);
  return [...wellAgain(words, vocabulary, needs), ...ableAgain(words, language, needs), ...ridOf(words, language, needs)];
}

/** "My knee is fine now", "stairs are no problem for me", "the vegan thing is over", and no more than that. */
function wellAgain(words: readonly string[], vocabulary: Vocabulary, needs: readonly FoundNeed[]): readonly string[] {
  return words.flatMap((_, at) => {
    const [well, over] = [english.well.at(words, at), english.over.at(words, at)];
    const length = Math.max(well, over);
    if (length === 0 || !words.slice(at + length).every((word) => english.of_late.has(word) || english.tails.has(word))) return [];
    // "The vegan menu is fine" is about a menu; "the vegan thing" about being one.
    const named = english.phases.has(words[at - 1]) ? at - 1 : at;
    const last = needs.filter((need) => need.at + need.length === named && (over > 0 || need.kind === "avoid"));
    return [...vocabulary.reasonsIn(words.slice(Math.max(0, named - 1), named)), ...last.map(({ need }) => need)];
  });
}

/** "I can do stairs again". */
function ableAgain(words: readonly string[], language: Language, needs: readonly FoundNeed[]): readonly string[] {
  const can = english.able.in(words);
  if (can === -1 || !english.regained.has(words.at(-1)) || words.some((word) => isDenial(word, language))) return [];
  return needs.filter(({ kind, at }) => kind === "avoid" && at > can).map(({ need }) => need);
}

/** "I don't need the wheelchair any more", "I'm off the crutches", "no more crutches". */
function ridOf(words: readonly string[], language: Language, needs: readonly FoundNeed[]): readonly string[] {
  const isOwn = language.first.in(words) !== -1 || words.length <= BRIEF;
  if (!isOwn) return [];
  const ends = english.no_more.in(words) !== -1 && !words.includes("than");
  const needed = english.needing.in(words) !== -1;
  return needs
    .filter(({ kind, at }) => {
      const before = words.slice(Math.max(0, at - WORDS_BEFORE), at);
      return (ends && (kind === "be" || needed)) || (kind === "be" && english.rid.in(before) !== -1);
    })
    .map(({ need }) => need);
}
