import { folded, latinLanguageOf, type WordList, wordsIn } from "maitred/stand-in";
import cuesOfLanguages from "../data/cues.json" with { type: "json" };
import englishWords from "../data/english.json" with { type: "json" };
import relationWords from "../data/relations.json" with { type: "json" };
import spellings from "../data/spelt.json" with { type: "json" };
import { isMadeOf, wordLists } from "./word-lists.js";

/** The small words of a language by which a plain statement is told from all else. */

const { any: cuesOfAny, ...cuesByLanguage } = cuesOfLanguages;
type Cues = Readonly<Record<keyof typeof cuesByLanguage.en, readonly string[]>>;

export type Language = { readonly [cue in keyof Cues]: WordList } & {
  readonly name: string;
  /** Whom the pronoun from `at` on can mean, and nobody where it is none or means nobody ("il faut"). */
  pronounAt(words: readonly string[], at: number): readonly Meant[];
  /** Whether words begin a statement of their own. */
  begins(words: readonly string[]): boolean;
};

/** Of whom a pronoun is said: a man, a woman, or several; "they" may be one whose pronoun nobody knows. */
export const MEANT = ["he", "she", "they"] as const;
export type Meant = (typeof MEANT)[number];

function languageOf(name: string, cues: Cues): Language {
  const lists = wordLists(cues);
  const people = [lists.first, lists.mine, lists.others, lists.he, lists.she, lists.they, lists.one_of_us, lists.one_of_them];
  const starters = [...people, lists.like, lists.dislike, lists.avoid, lists.not, lists.home, lists.always];
  // In the first person alone: "and needs" goes on to say something of whoever was spoken of.
  const says = new Set(cues.says.flatMap((words) => words.split(", ")));
  const pronounAt = (words: readonly string[], at: number) =>
    lists.nobody.at(words, at) > 0 ? [] : MEANT.filter((meant) => lists[meant].at(words, at) > 0);
  return { ...lists, name, pronounAt, begins: (words) => says.has(words[0] ?? "") || starters.some((list) => list.at(words, 0) > 0) };
}

const LANGUAGES: readonly Language[] = Object.entries(cuesByLanguage).map(([name, cues]) => languageOf(name, cues));
const ENGLISH = LANGUAGES[0] as Language;
/** One of which no small word is known. */
export const UNKNOWN = "und";
const OF_UNKNOWN = languageOf(UNKNOWN, Object.fromEntries(Object.keys(cuesByLanguage.en).map((cue) => [cue, []])) as unknown as Cues);

const ANY = wordLists(cuesOfAny);

/** Told in whatever language a message is written: somebody else's words, an instruction, laughter. */
export function anyLanguage(cue: keyof typeof ANY, words: readonly string[]): boolean {
  return ANY[cue].in(words) !== -1;
}

/** "Due posti per sabato, per favore", "bitte": no more than polite words, and what is booked. */
export function asksForSeats(words: readonly string[]): boolean {
  return isMadeOf(words, [ANY.booking]);
}

/** Whom the first pronoun in words can mean. */
export function pronounIn(words: readonly string[], language: Language): readonly Meant[] {
  for (const at of words.keys()) {
    const meant = language.pronounAt(words, at);
    if (meant.length > 0) return meant;
  }
  return [];
}

/** "Prefers", "hate": it says how something is meant, not what. */
export function saysLiking(word: string): boolean {
  return LANGUAGES.some(({ like, dislike }) => like.has(word) || dislike.has(word));
}

/**
 * The language whose small words a text has most of; English where nothing tells another. What an English name may be tells none by itself:
 * "Ben is deaf" is no Dutch.
 */
export function languageIn(text: string): Language {
  const words = wordsIn(text).slice(0, 120);
  let best = ENGLISH;
  const smallIn = ({ markers, mine }: Language) => words.filter((word) => markers.has(word) || mine.has(word));
  let most = smallIn(ENGLISH).length;
  for (const language of LANGUAGES) {
    const small = smallIn(language);
    if (small.length > most && small.some((word) => !ANY.names.has(word))) [best, most] = [language, small.length];
  }
  return most === 0 && isOfAnother(text, words) ? OF_UNKNOWN : best;
}

/** In other letters, or with more small words of another language than of English. */
function isOfAnother(text: string, words: readonly string[]): boolean {
  return /\p{L}/u.test(text) && (!/\p{sc=Latin}/u.test(text) || latinLanguageOf(words) !== "english");
}

const spellingsOf = (lines: readonly string[]) => new Map(lines.map((line) => line.split(": ") as [string, string]));
const { en, ...abroad } = spellings;
/** English as it is typed in a hurry, by what it stands for. */
export const SPELT: ReadonlyMap<string, string> = spellingsOf(en);
const SPELT_ABROAD = new Map(Object.entries(abroad).map(([language, lines]) => [language, spellingsOf(lines)]));

/** The words of a text; what another language means otherwise ("man", "prima") by a word that means no more than that. */
export function wordsOf(text: string, { name }: Language): readonly string[] {
  const spellings = SPELT_ABROAD.get(name);
  return spellings === undefined ? wordsIn(text) : wordsIn(text).map((word) => spellings.get(word) ?? word);
}

/** A word as it is spelt, where that is one word too. */
export function spelt(word: string): string {
  const full = SPELT.get(word);
  return full === undefined || full.includes(" ") ? word : full;
}

const ALLERGY = "allerg";

/** "D'escaliers", "all'uovo". */
const ELIDED = /^(?<before>d|l|all|dall|dell|sull)'(?<word>\p{L}{3,})$/u;

/** "Nussallergie" is an allergy to nuts. */
export function uncompounded(word: string): readonly string[] {
  const elided = ELIDED.exec(word)?.groups;
  if (elided !== undefined) return [elided.before ?? "", elided.word ?? ""];
  const at = word.indexOf(ALLERGY);
  return at > 2 ? [word.slice(at), word.slice(0, at).replace(/-$/u, "")] : [word];
}

const RELATIONS = Object.entries(wordLists(relationWords));

/** The relation that words from `at` on name, and how many words it takes. */
export function relationAt(words: readonly string[], at: number): { readonly relation: string; readonly length: number } | undefined {
  const named = (of: readonly string[], from: number) => {
    for (const [relation, list] of RELATIONS) {
      const length = list.at(of, from);
      if (length > 0) return { relation, length };
    }
    return undefined;
  };
  // "Hubbys knee", "mums hip": of whom there is one, without their apostrophe.
  const one = named([(words[at] ?? "").replace(/s$/u, "")], 0);
  return named(words, at) ?? (one !== undefined && english.only_ones.has(one.relation) ? one : undefined);
}

/** Where the first word stands that is no filler; behind the last where all are. */
export function beginsAt(words: readonly string[]): number {
  const at = words.findIndex((word) => !english.fillers.has(word));
  return at === -1 ? words.length : at;
}

/** Whether a subject ("companion:mum") is a relation that goes by other words too, and which. */
export function relationOf(name: string): string | undefined {
  return relationAt(wordsIn(folded(name)), 0)?.relation;
}

export const english = wordLists(englishWords);

/** "Just kidding", "haha": what a message says beside it is not meant. */
export function isInJest(words: readonly string[]): boolean {
  return anyLanguage("laugh", words) || english.unmeant.in(words) !== -1;
}
