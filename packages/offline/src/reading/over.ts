import { folded } from "maitred/stand-in";
import over from "../data/over.json" with { type: "json" };
import type { Sentence } from "./clauses.js";
import type { FoundNeed, Vocabulary } from "./domain-words.js";
import { type Language, wordsOf } from "./language.js";
import { namedIn } from "./needs.js";
import { isMadeOf, phraseLists, wordLists } from "./word-lists.js";

const lists = wordLists(over.spaced);
/** Of Japanese. */
const unspaced = phraseLists(over.unspaced);

/** What parts a sentence. */
const MARKS = /[,;:–—()]/u;
/** "Hola", before what is over. */
const MAX_CALL_WORDS = 1;
const AVOID = "avoid";

/** Whether words say that something is over: "ya no", "nicht mehr". */
export function saysOver(words: readonly string[]): boolean {
  return lists.over.in(words) !== -1 || lists.ceased.in(words) !== -1;
}

/**
 * Whether a sentence tells of its needs that they are over, and nothing else but what may stand beside that: "früher hab ich kein Laktose
 * vertragen, aber das ist vorbei", "ya no llevo bastón". What else is over ends no need: "ich bin im Rollstuhl, Laufen geht nicht mehr". In
 * German, French, Spanish, Italian, Portuguese, Dutch, Polish and Japanese.
 */
export function isOver({ text }: Sentence, language: Language, vocabulary: Vocabulary): boolean {
  const words = wordsOf(text, language);
  if (!saysOver(words)) return isOverUnspaced(folded(text));
  const needs = namedIn(words, language, vocabulary);
  return needs.length > 0 && areOverByClauses(partsOf(text, language), needs);
}

/** At marks, and before "but". */
function partsOf(text: string, language: Language): readonly (readonly string[])[] {
  const parts: (readonly string[])[] = [];
  for (const part of text.split(MARKS)) {
    const words = wordsOf(part, language);
    const starts = words.flatMap((word, at) => (at === 0 || lists.but.has(word) ? [at] : []));
    parts.push(...starts.map((at, index) => words.slice(at, starts[index + 1])));
  }
  return parts;
}

/** All that the clauses may be is listed; what isn't may tell that a need holds. */
function areOverByClauses(clauses: readonly (readonly string[])[], needs: readonly FoundNeed[]): boolean {
  let start = 0;
  let told = 0;
  // "Früher war ich Vegetarier": the clause behind it says that it is over.
  let isOpen = false;
  for (const words of clauses) {
    const inside = needs.filter(({ at }) => at >= start && at < start + words.length).map((need) => ({ ...need, at: need.at - start }));
    start += words.length;
    told += inside.length;
    const closes = inside.length === 0 && isClosing(words);
    if (isOpen !== closes) return false;
    isOpen = inside.length > 0 && !areNoMore(words, inside);
    if (isOpen && !wereFormerly(words, inside)) return false;
    if (isOpen) isOpen = !isClosing(behind(words, inside));
    else if (inside.length === 0 && !closes && !isBeside(words)) return false;
  }
  return !isOpen && told === needs.length;
}

/** "Ya no llevo bastón": each stands right behind what says so, and nothing else is told. */
function areNoMore(words: readonly string[], needs: readonly FoundNeed[]): boolean {
  let from = 0;
  return needs.every(({ at, length, kind }, index) => {
    const before = words.slice(from, at);
    const ceased = lists.ceased.in(before);
    const leads = before.slice(ceased + lists.ceased.at(before, ceased));
    const after = words.slice(at + length, needs[index + 1]?.at);
    from = at + length;
    return (
      kind !== AVOID &&
      ceased !== -1 &&
      leads.every((word) => lists.leads.has(word)) &&
      [before.slice(0, ceased), after].every(tellsNothing)
    );
  });
}

/** Each was so, and is told as no more than that: "kein Laktose vertragen", but not "war nicht allergisch", which they may be. */
function wereFormerly(words: readonly string[], needs: readonly FoundNeed[]): boolean {
  const from = lists.formerly.in(words);
  const rest = words.slice(from);
  if (from === -1 || [lists.living, lists.can].some((list) => list.in(words) !== -1) || lists.still.in(behind(words, needs)) !== -1)
    return false;
  return needs.every(({ at, kind }) => {
    const isDenied = lists.denied.in(words.slice(from, at)) !== -1;
    return at > from && isDenied === (kind === AVOID && lists.harmed.in(rest) === -1);
  });
}

function behind(words: readonly string[], needs: readonly FoundNeed[]): readonly string[] {
  return words.slice(Math.max(...needs.map(({ at, length }) => at + length)));
}

/** "Aber das ist seit Jahren vorbei", "mais plus maintenant". */
function isClosing(words: readonly string[]): boolean {
  return lists.over.in(words) !== -1 && isMadeOf(words, [lists.over, lists.closing]);
}

/** "Así que la visita a pie sin problema". */
function isBeside(words: readonly string[]): boolean {
  const goesOn = lists.goes_on.at(words, 0);
  if (goesOn === 0) return words.length <= MAX_CALL_WORDS && tellsNothing(words);
  const rest = words.slice(goesOn);
  const fine = lists.fine.in(rest);
  return tellsNothing(fine === -1 ? rest : [...rest.slice(0, fine), ...rest.slice(fine + lists.fine.at(rest, fine))]);
}

function tellsNothing(words: readonly string[]): boolean {
  return [lists.living, lists.auxiliary, lists.harmed, lists.denied, lists.can, lists.still].every((list) => list.in(words) === -1);
}

function isOverUnspaced(text: string): boolean {
  const from = firstOf(unspaced.formerly, text);
  const over = firstOf(unspaced.over, text);
  if (from === -1 || over <= from) return false;
  const rest = text.slice(over);
  const last = rest.split(/[\s。．！!]/u).findLast((part) => part !== "") ?? "";
  return unspaced.ends.some((end) => last.endsWith(end)) && firstOf(unspaced.still, rest) === -1;
}

function firstOf(phrases: readonly string[], text: string): number {
  const found = phrases.map((phrase) => text.indexOf(phrase)).filter((at) => at !== -1);
  return found.length === 0 ? -1 : Math.min(...found);
}
