/** What a trained judge sees of a sentence, as numbers: its meaning, that of its message, the words of both, and its place. */

export interface SentenceSeen {
  readonly text: string;
  /** The guest's own words of the whole message. */
  readonly message: string;
  /** The message's, made once for all of its sentences. */
  readonly messageWords: Counters;
  /** From 0, of so many sentences. */
  readonly place: number;
  readonly sentences: number;
  /** Vectors of length 1, padded with zeros; all zeros where meanings are not known. */
  readonly meaning: Float32Array;
  readonly messageMeaning: Float32Array;
  readonly english: boolean;
}

/** Numbers of a meaning, of whichever embedder. */
export const MEANING = 384;
/** Words and their neighbours share so many counters, those of the sentence and those of its message: no list of them is kept. */
const COUNTERS = 16_384;
const MAX_RUN = 2;
/** Of a longer word so many letters count by themselves: an ending or a slip makes it no other word. */
const STEM_CHARS = 5;
const MEANING_WEIGHT = 2;
const COUNTERS_WEIGHT = 6;
const SHORT_CHARS = 30;
const LONG_CHARS = 90;
const MANY_SENTENCES = 3;

/** Where the numbers of each kind begin. */
const OF_MESSAGE = MEANING;
/** The number that is always 1. */
export const ALWAYS = 2 * MEANING;
const FACTS = ALWAYS + 1;
const WORDS = FACTS + 13;
/** From here on only the words of the whole message count. */
export const WORDS_OF_MESSAGE = WORDS + COUNTERS;
export const SIZE = WORDS_OF_MESSAGE + COUNTERS;

/** Numbers at counters, each as often as something is counted there. */
export interface Counters {
  readonly at: readonly number[];
  readonly values: readonly number[];
}

/** Numbers by their places, in no order; all others are 0. Of two for one place both count. */
export interface Features extends Counters {
  /** Places in all. */
  readonly size: number;
}

export function featuresOf(seen: SentenceSeen): Features {
  const at: number[] = [ALWAYS];
  const values: number[] = [1];
  const put = (place: number, value: number) => {
    if (value === 0) return;
    at.push(place);
    values.push(value);
  };
  for (let i = 0; i < MEANING; i++) {
    put(i, MEANING_WEIGHT * (seen.meaning[i] ?? 0));
    put(OF_MESSAGE + i, MEANING_WEIGHT * (seen.messageMeaning[i] ?? 0));
  }
  for (const [i, fact] of factsOf(seen).entries()) put(FACTS + i, fact ? 1 : 0);
  const words = wordsOf(seen.text);
  for (const [i, place] of words.at.entries()) put(WORDS + place, words.values[i] ?? 0);
  for (const [i, place] of seen.messageWords.at.entries()) put(WORDS_OF_MESSAGE + place, seen.messageWords.values[i] ?? 0);
  return { size: SIZE, at, values };
}

/** What the words of a sentence or of a message count. */
export function wordsOf(text: string): Counters {
  const hashes = [...runsOf(text)].map(hashOf);
  const weight = COUNTERS_WEIGHT / Math.sqrt(hashes.length);
  // Half of them count down: two that share a counter cancel out, instead of adding up.
  return { at: hashes.map((hash) => hash % COUNTERS), values: hashes.map((hash) => (hash >= 2 ** 31 ? weight : -weight)) };
}

/** What weights make of a sentence; those that end before a number leave it out. */
export function weighed(weights: Float64Array, { at, values }: Features): number {
  let sum = 0;
  for (let i = 0; i < at.length; i++) sum += (weights[at[i] ?? 0] ?? 0) * (values[i] ?? 0);
  return sum;
}

function factsOf({ text, message, place, sentences, english }: SentenceSeen): readonly boolean[] {
  return [
    asks(text),
    message.includes("?"),
    sentences > 1,
    sentences > MANY_SENTENCES,
    place === 0,
    place === sentences - 1,
    text.length < SHORT_CHARS,
    text.length > LONG_CHARS,
    !english,
    /\p{Emoji_Presentation}/u.test(text),
    /["“”«»]/u.test(text),
    /\d/u.test(text),
    /\p{Sc}/u.test(text),
  ];
}

/** It ends with a question mark, whatever marks follow. */
function asks(text: string): boolean {
  const end = Math.max(text.lastIndexOf("?"), text.lastIndexOf("？"));
  return end !== -1 && !/[\p{L}\p{N}_]/u.test(text.slice(end));
}

/** Words and marks, by one and by two that stand together, and how longer words begin; all numbers are one. */
function runsOf(text: string): ReadonlySet<string> {
  const words =
    text
      .toLowerCase()
      .replace(/[’‘]/gu, "'")
      .match(/[\p{L}\p{N}']+|[?!,:()]/gu) ?? [];
  const all = ["<", ...words.map((word) => (/^\p{N}/u.test(word) ? "#" : word)), ">"];
  const runs = new Set<string>();
  for (let at = 0; at < all.length; at++)
    for (let length = 1; length <= MAX_RUN && at + length <= all.length; length++) runs.add(all.slice(at, at + length).join(" "));
  for (const word of words) if (word.length > STEM_CHARS) runs.add(`^${word.slice(0, STEM_CHARS)}`);
  return runs;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 2_166_136_261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16_777_619);
  return hash >>> 0;
}
