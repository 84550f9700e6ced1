import { COMPARED, editDistance } from "../platform/nearest-name.js";
import { UNSPACED } from "../platform/phrase-list.js";
import { fold } from "./folded-text.js";

/** A stretch of a text: `start` is in, `end` is out. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A word of a text; in scripts that put no space between words, a character. */
export interface Word extends Span {
  /** Folded; the span is the original's. */
  readonly text: string;
}

/** Whether a text begins in a script without spaces between words. */
export function isUnspaced(text: string): boolean {
  return text > "\u0dff" && UNSPACED.test(String.fromCodePoint(text.codePointAt(0) ?? 0));
}

/** Linear in the text's length. */
export function wordsOf(original: string): readonly Word[] {
  const { text, starts, ends } = fold(original);
  const words: Word[] = [];
  let from = -1;
  const close = (to: number) => {
    if (from !== -1) words.push({ text: text.slice(from, to), start: starts[from] ?? 0, end: ends[to - 1] ?? 0 });
    from = -1;
  };
  let at = 0;
  for (const letter of text) {
    const next = at + letter.length;
    if (letter === " ") close(at);
    else if (isUnspaced(letter)) {
      close(at);
      from = at;
      close(next);
    } else if (from === -1) from = at;
    at = next;
  }
  close(at);
  return words;
}

/** Which letters a word holds, as bits: of two words whose letters differ much, none is a misspelling of the other. */
export function lettersOf(word: string): number {
  let letters = 0;
  for (let i = 0; i < word.length; i++) letters |= 1 << (word.charCodeAt(i) & 31);
  return letters;
}

export interface Lettered {
  readonly text: string;
  /** {@link lettersOf} it. */
  readonly letters: number;
}

/** False where {@link isFormOf} is false for certain: cheaper than asking it. */
export function mayBeFormOf(a: Lettered, b: Lettered): boolean {
  return a.text.startsWith(b.text.slice(0, STEM_LETTERS)) || a.text.includes(b.text) || b.text.includes(a.text) || mayBeTypoOf(a, b);
}

/** False where {@link isTypoOf} is false for certain: cheaper than asking it. */
export function mayBeTypoOf(a: Lettered, b: Lettered): boolean {
  const most = typosAllowed(Math.min(a.text.length, b.text.length));
  if (Math.abs(a.text.length - b.text.length) > most) return false;
  // One letter that is changed takes a bit away and puts one in.
  return a.text.length > COMPARED || bitsIn(a.letters ^ b.letters) <= 2 * most;
}

function bitsIn(set: number): number {
  let count = 0;
  for (let rest = set; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** Letters that may be wrong in a word of this length. */
export function typosAllowed(length: number): number {
  return length < 4 ? 0 : length < 8 ? 1 : 2;
}

/** The same word but for a slip of the pen. */
export function isTypoOf(a: string, b: string): boolean {
  if (a === b) return true;
  if (/\p{N}/u.test(a) || /\p{N}/u.test(b)) return false;
  const most = typosAllowed(Math.min(a.length, b.length));
  return most > 0 && editDistance(a, b, most) <= most;
}

/** A common beginning of so many letters makes two words forms of one: "allergy" and "allergic". */
const STEM_LETTERS = 3;
const STEM_PART = 0.6;
/** A word of so many letters may be part of a compound: "gluten" in "glutenfrei". */
const COMPOUND_LETTERS = 4;

/** Whether a word that was said is a form of the one that is looked for. What is only its ending says less: "nuts" is not "chestnuts". */
export function saysWord(said: string, wanted: string): boolean {
  return (
    isFormOf(said, wanted) && (said.length >= wanted.length || wanted.startsWith(said.slice(0, STEM_LETTERS)) || isTypoOf(said, wanted))
  );
}

/** Two forms of one word, in any language that writes its words' beginnings alike, or a slip of the pen. */
export function isFormOf(a: string, b: string): boolean {
  if (isTypoOf(a, b)) return true;
  if (/\p{N}/u.test(a) || /\p{N}/u.test(b)) return false;
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length >= COMPOUND_LETTERS && long.includes(short)) return true;
  let common = 0;
  while (common < short.length && short[common] === long[common]) common++;
  return common >= STEM_LETTERS && common >= long.length * STEM_PART;
}
