import { stemmer as arabic } from "@orama/stemmers/arabic";
import { stemmer as armenian } from "@orama/stemmers/armenian";
import { stemmer as danish } from "@orama/stemmers/danish";
import { stemmer as dutch } from "@orama/stemmers/dutch";
import { stemmer as english } from "@orama/stemmers/english";
import { stemmer as finnish } from "@orama/stemmers/finnish";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as greek } from "@orama/stemmers/greek";
import { stemmer as hindi } from "@orama/stemmers/indian";
import { stemmer as italian } from "@orama/stemmers/italian";
import { stemmer as norwegian } from "@orama/stemmers/norwegian";
import { stemmer as portuguese } from "@orama/stemmers/portuguese";
import { stemmer as romanian } from "@orama/stemmers/romanian";
import { stemmer as russian } from "@orama/stemmers/russian";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import { stemmer as swedish } from "@orama/stemmers/swedish";
import { stemmer as tamil } from "@orama/stemmers/tamil";
import { stemmer as turkish } from "@orama/stemmers/turkish";
import { stemmer as ukrainian } from "@orama/stemmers/ukrainian";
import { LRUCache } from "lru-cache";
import { UNSPACED_OR_GLUED } from "../phrase-list.js";
import { isStopWord, type LatinLanguage, latinLanguageOf } from "./stop-words.js";
import { wordSegments } from "./word-segments.js";

/** A word of a text, as search sees it. */
export interface Word {
  /** In lower case, NFKC, without accents. */
  readonly text: string;
  /**
   * What it is found by, most specific first, never empty: stems, and for scripts without spaces the word and its pairs of characters.
   * A Latin word has its English stem, and that of the text's own language where it is another: so a short query whose
   * language can't be told still meets the text.
   */
  readonly terms: readonly string[];
  /** One of the words that every text holds ("the", "und"): worth nothing in a query that holds others. */
  readonly stop: boolean;
}

const SPACED_WORD = /[\p{L}\p{N}\p{M}]+(?:['’][\p{L}\p{N}\p{M}]+)*/gu;
/** Scripts whose marks are accents that writers leave out. In others (Thai, Hindi, kana) a mark changes the word. */
const FOLDABLE = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}]/u;
const PLAIN = /^[a-z0-9]*$/;
const LETTERS_WITHOUT_DECOMPOSITION: Readonly<Record<string, string>> = { ß: "ss", ø: "o", ł: "l", đ: "d", æ: "ae", œ: "oe", ı: "i" };

/** Words that were met last, by language: a conversation says most of its words again and again, and stemming one takes microseconds. */
const lastWords = new LRUCache<string, Word>({ max: 5_000 });
/** Longer ones are not remembered: they are no words of a language. */
const MAX_REMEMBERED_CHARS = 32;

/** The words of a text, in order. The same text gives the same words. */
export function wordsOf(text: string): Word[] {
  const raw = segment(text.normalize("NFKC").toLowerCase());
  const folded = raw.map(fold);
  const language = latinLanguageOf(folded);
  return raw.map((word, i) => {
    const key = `${language} ${word}`;
    const before = lastWords.get(key);
    if (before !== undefined) return before;
    const plain = folded[i] ?? word;
    const made = { text: plain, terms: termsOfWord(word, plain, language), stop: isStopWord(plain, language) };
    if (word.length <= MAX_REMEMBERED_CHARS) lastWords.set(key, made);
    return made;
  });
}

/** All terms of a text, in order, with repeats. */
export function termsOf(text: string): string[] {
  return wordsOf(text).flatMap((word) => word.terms);
}

/** The different terms that a query is searched by: without stop words, unless it holds nothing else. */
export function queryTermsOf(text: string): string[] {
  const words = wordsOf(text);
  const telling = words.filter((word) => !word.stop);
  return [...new Set((telling.length > 0 ? telling : words).flatMap((word) => word.terms))];
}

function segment(text: string): string[] {
  if (!UNSPACED_OR_GLUED.test(text)) return spacedWords(text);
  const words: string[] = [];
  for (const part of wordSegments(text)) {
    if (!part.isWordLike) continue;
    if (UNSPACED_OR_GLUED.test(part.segment)) words.push(part.segment);
    else words.push(...spacedWords(part.segment));
  }
  return words;
}

function spacedWords(text: string): string[] {
  return (text.match(SPACED_WORD) ?? []).flatMap(splitApostrophes);
}

/** `l'hôtel` → l, hôtel; `anna's` → anna; `don't` → dont. */
function splitApostrophes(word: string): string[] {
  if (!/['’]/.test(word)) return [word];
  const [first = "", ...rest] = word.split(/['’]/);
  const last = rest.join("");
  if (last === "s") return [first];
  return first.length <= 2 && last.length >= 2 ? [first, last] : [first + last];
}

function fold(word: string): string {
  if (PLAIN.test(word) || !FOLDABLE.test(word)) return word;
  const bare = word.normalize("NFD").replace(/\p{M}+/gu, "");
  return bare.replace(/[ßøłđæœı]/g, (letter) => LETTERS_WITHOUT_DECOMPOSITION[letter] ?? letter).normalize("NFC");
}

function termsOfWord(word: string, folded: string, language: LatinLanguage): string[] {
  if (UNSPACED_OR_GLUED.test(word)) return [word, ...pairsOf(word)];
  if (/\p{Script=Latin}/u.test(folded)) {
    const own = fold(stemmers[language](word));
    const common = english(folded);
    return own === common ? [own] : [own, common];
  }
  return [stemOfScript(word, folded)];
}

/** Dictionaries split the same characters differently in different sentences; pairs meet all the same. */
function pairsOf(word: string): string[] {
  const letters = [...word];
  if (letters.length < 3) return [];
  return letters.slice(1).map((letter, i) => `${letters[i]}${letter}`);
}

function stemOfScript(word: string, folded: string): string {
  if (/\p{Script=Cyrillic}/u.test(word)) return fold((/[іїєґ]/.test(word) ? ukrainian : russian)(word));
  if (/\p{Script=Greek}/u.test(word)) return fold(greek(word));
  if (/\p{Script=Arabic}/u.test(word)) return arabic(folded);
  if (/\p{Script=Devanagari}/u.test(word)) return hindi(word);
  if (/\p{Script=Tamil}/u.test(word)) return tamil(word);
  if (/\p{Script=Armenian}/u.test(word)) return armenian(word);
  return folded;
}

const stemmers: Readonly<Record<LatinLanguage, (word: string) => string>> = {
  english,
  german,
  french,
  spanish,
  italian,
  portuguese,
  dutch,
  swedish,
  norwegian,
  danish,
  finnish,
  romanian,
  turkish,
};
