import { folded } from "maitred/stand-in";
import lists from "../data/no-needs.json" with { type: "json" };
import { type Clause, clausesOf, type Sentence } from "./clauses.js";
import type { Vocabulary } from "./domain-words.js";
import { english, type Language, relationAt, uncompounded, wordsOf } from "./language.js";
import { isName, rawWords } from "./names.js";
import { namedIn } from "./needs.js";
import { phraseLists, wordLists } from "./word-lists.js";

/*
 * Plain sentences by which nobody has a need: "ich sitze nicht im Rollstuhl", "mia moglie non è celiaca", "I can climb stairs",
 * "ナッツアレルギーはありません". As they silence, each of their words is listed, and whatever else a sentence says may tell that a need holds:
 * it is read as before. In every language that has small words here, and in Japanese.
 */

type Part = keyof typeof lists.spaced.en;
const SPACED = new Map(Object.entries(lists.spaced).map(([name, of]) => [name, wordLists<Part>(of)]));
const UNSPACED = phraseLists(lists.unspaced);

const AVOID = "avoid";
/** "Nein", "hallo", before it. */
const MAX_CALL_WORDS = 1;
/** "My wife is though", behind it. */
const MAX_CONTRAST_WORDS = 4;

/** "Allergic", "allergy". */
export function namesHarm(words: readonly string[], { name }: Language): boolean {
  const harmed = SPACED.get(name)?.harmed;
  return words.some((word) => harmed?.is(word) === true);
}

/** Whether all that a sentence says, and what follows on it, is that somebody has no need, or can do what others can't. */
export function tellsNoNeed(sentence: Sentence, next: Sentence | undefined, language: Language, vocabulary: Vocabulary): boolean {
  if (sentence.asks || (next !== undefined && contrasts(next, language, vocabulary))) return false;
  const clauses = clausesOf(sentence, language);
  const told = clauses.filter((clause) => isNoNeed(clause, language, vocabulary));
  const isCall = (clause: Clause) => clause.words.length <= MAX_CALL_WORDS && relationAt(clause.words, 0) === undefined;
  if (told.length > 0) return clauses.every((clause) => told.includes(clause) || isCall(clause));
  return isNoNeedUnspaced(sentence.text, vocabulary);
}

/** "I'm not vegan. My wife is.": who has it is told by a few words that don't name it. */
function contrasts({ text, asks }: Sentence, language: Language, vocabulary: Vocabulary): boolean {
  const words = wordsOf(text, language);
  const isSomebody = (word: string, at: number) =>
    language.first.is(word) || language.mine.is(word) || language.pronounAt(words, at).length > 0 || relationAt(words, at) !== undefined;
  return !asks && words.length <= MAX_CONTRAST_WORDS && words.some(isSomebody) && namedIn(words, language, vocabulary).length === 0;
}

function isNoNeed(clause: Clause, language: Language, vocabulary: Vocabulary): boolean {
  const of = SPACED.get(language.name);
  if (of === undefined) return false;
  const words = withoutPeople(clause, language, vocabulary);
  const needs = namedIn(words, language, vocabulary);
  const rest = words.filter((_, index) => !needs.some(({ at, length }) => index >= at && index < at + length));
  // "Ich habe meinen Rollstuhl nicht": theirs it is.
  const isFirst = (word: string) => language.first.is(word) && !language.mine.is(word);
  const madeOf = (...parts: readonly Part[]) => rest.every((word) => parts.some((part) => of[part].is(word)) || isFirst(word));
  const says = (part: Part) => rest.some((word) => of[part].is(word));
  const denials = rest.filter((word) => of.denies.is(word));
  // "I'm not not allergic"; "não tenho muletas comigo" has them elsewhere.
  const isPlain = new Set(denials).size === denials.length && (denials.length === 0 || !isFirst(words.at(-1) ?? ""));
  if (needs.length === 0 || !isPlain) return false;
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
  // A "chien guide" is neither a dog of theirs nor somebody's guide.
  const isOfNeed = (at: number) => needs.some((need) => at >= need.at && at < need.at + need.length);
  const personAt = (at: number) => (isOfNeed(at) ? 0 : (relationAt(words, at)?.length ?? (english.bystanders.has(words[at]) ? 1 : 0)));
  for (const [at, word] of words.entries()) {
    if (isOfNeed(at)) continue;
    const length = personAt(at);
    for (let place = at; place < at + length; place++) people.add(place);
    if (length > 0 && raw.length === words.length && isName(raw[at + length] ?? "") && at + length < words.length - 1)
      people.add(at + length);
    if ((language.mine.has(word) && personAt(at + 1) > 0) || (at === 0 && language.pronounAt(words, at).length > 0)) people.add(at);
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
