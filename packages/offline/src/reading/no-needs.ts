import { folded, phrasesIn, WordList } from "maitred/stand-in";
import lists from "../data/no-needs.json" with { type: "json" };
import { type Clause, clausesOf, type Sentence } from "./clauses.js";
import type { Vocabulary } from "./domain-words.js";
import { english, type Language, relationAt, uncompounded } from "./language.js";
import { isName, rawWords } from "./names.js";
import { namedIn } from "./needs.js";

/*
 * Plain sentences by which nobody has a need: "ich sitze nicht im Rollstuhl", "mia moglie non è celiaca", "I can climb stairs",
 * "ナッツアレルギーはありません". As they silence, each of their words is listed, and whatever else a sentence says may tell that a need holds:
 * it is read as before. In every language that has small words here, and in Japanese.
 */

type Part = keyof typeof lists.spaced.en;
const PARTS = Object.keys(lists.spaced.en) as readonly Part[];
const SPACED: ReadonlyMap<string, Readonly<Record<Part, WordList>>> = new Map(
  Object.entries(lists.spaced).map(([name, of]) => [
    name,
    Object.fromEntries(PARTS.map((part) => [part, new WordList(of[part])])) as Record<Part, WordList>,
  ]),
);
const asWritten = (lines: readonly string[]) => phrasesIn(lines).map(folded);
const UNSPACED = {
  people: asWritten(lists.unspaced.people),
  denied: asWritten(lists.unspaced.denied),
  lacked: asWritten(lists.unspaced.lacked),
  able: asWritten(lists.unspaced.able),
  harmed: asWritten(lists.unspaced.harmed),
};

const AVOID = "avoid";
/** "Nein", "hallo", before it. */
const MAX_CALL_WORDS = 1;

/** Whether all that a sentence says is that somebody has no need, or can do what others can't. */
export function tellsNoNeed(sentence: Sentence, language: Language, vocabulary: Vocabulary): boolean {
  if (sentence.asks) return false;
  const clauses = clausesOf(sentence, language);
  const told = clauses.filter((clause) => isNoNeed(clause, language, vocabulary));
  const isCall = (clause: Clause) => clause.words.length <= MAX_CALL_WORDS && relationAt(clause.words, 0) === undefined;
  if (told.length > 0) return clauses.every((clause) => told.includes(clause) || isCall(clause));
  return isNoNeedUnspaced(sentence.text, vocabulary);
}

function isNoNeed(clause: Clause, language: Language, vocabulary: Vocabulary): boolean {
  const of = SPACED.get(language.name);
  if (of === undefined) return false;
  const words = withoutPeople(clause, language, vocabulary);
  const needs = namedIn(words, language, vocabulary);
  const rest = words.filter((_, index) => !needs.some(({ at, length }) => index >= at && index < at + length));
  const madeOf = (...parts: readonly Part[]) => rest.every((word) => parts.some((part) => of[part].is(word)) || language.first.is(word));
  const says = (part: Part) => rest.some((word) => of[part].is(word));
  if (needs.length === 0) return false;
  if (needs.every(({ kind }) => kind !== AVOID)) return says("denies") && says("is") && madeOf("is", "denies", "glue");
  if (!needs.every(({ kind }) => kind === AVOID)) return false;
  return says("harmed")
    ? says("denies") && says("is") && madeOf("is", "denies", "harmed", "glue")
    : says("can") && !says("denies") && madeOf("can", "glue");
}

/** Without the guest and theirs, by relation and name: "la mia amica Anna". */
function withoutPeople({ text, words }: Clause, language: Language, vocabulary: Vocabulary): readonly string[] {
  const raw = rawWords(text);
  const people = new Set<number>();
  const needs = namedIn(words, language, vocabulary);
  for (const [at, word] of words.entries()) {
    // A "chien guide" is neither a dog of theirs nor somebody's guide.
    if (needs.some((need) => at >= need.at && at < need.at + need.length)) continue;
    const length = relationAt(words, at)?.length ?? (english.bystanders.has(word) ? 1 : 0);
    for (let place = at; place < at + length; place++) people.add(place);
    if (length > 0 && raw.length === words.length && isName(raw[at + length] ?? "") && at + length < words.length - 1)
      people.add(at + length);
    if (language.mine.has(word) || (at === 0 && language.pronounAt(words, at).length > 0)) people.add(at);
  }
  return words.flatMap((word, at) => (people.has(at) ? [] : uncompounded(word).map((part) => part.replace(/'$/u, ""))));
}

/** Of Japanese: whose it is, the need by its word, and an ending. */
function isNoNeedUnspaced(text: string, vocabulary: Vocabulary): boolean {
  const said = folded(text).replace(/[\s。．.！!]+$/u, "");
  const isOf = (endings: readonly string[], kinds: readonly string[]) =>
    endings.some((ending) => said.endsWith(ending) && kinds.includes(kindOf(said.slice(0, -ending.length), vocabulary)));
  return isOf(UNSPACED.denied, ["be", "harm"]) || isOf(UNSPACED.lacked, ["be", "harm"]) || isOf(UNSPACED.able, [AVOID]);
}

function kindOf(told: string, vocabulary: Vocabulary): string {
  const whose = UNSPACED.people.find((person) => ["は", "には", "も"].some((particle) => told.startsWith(person + particle)));
  const thing = whose === undefined ? told : told.slice(whose.length).replace(/^(?:には|は|も)/u, "");
  const harm = UNSPACED.harmed.find((word) => thing.endsWith(word));
  const kind = vocabulary.kindOfWord(harm === undefined ? thing : thing.slice(0, -harm.length));
  if (harm === undefined) return kind ?? "";
  return kind === AVOID ? "harm" : "";
}
