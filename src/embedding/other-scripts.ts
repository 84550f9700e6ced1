import { wordSegments } from "../platform/language/word-segments.js";

/** A model of English reads other scripts by the letter, or not at all: what its opinion of a text without a Latin letter counts. */
const LEFT_OF_MEANING = 0.2;
/** Cosine of the n-grams of two texts that have nothing to do with each other: counters are shared. */
const GRAMS_OF_STRANGERS = 0.25;

const LETTER = /\p{L}/gu;
const OTHER_LETTER = /(?!\p{Script=Latin})\p{L}/gu;

/** What of a text a model of English doesn't know. */
export interface OtherScripts {
  /** The words in other scripts; empty where there is none. */
  readonly words: string;
  /** Their letters among all, 0 to 1. */
  readonly share: number;
}

export function otherScriptsIn(text: string): OtherScripts {
  const others = count(text, OTHER_LETTER);
  if (others === 0) return { words: "", share: 0 };
  const words = [...wordSegments(text)].filter(({ segment }) => count(segment, OTHER_LETTER) > 0);
  return { words: words.map(({ segment }) => segment).join(" "), share: others / count(text, LETTER) };
}

/** One vector of length 1: what the text means, and beside it the n-grams of the words whose meaning isn't known (null: there are none). */
export function joined(meaning: Float32Array, grams: Float32Array | null, share: number, dimension: number): Float32Array {
  const ofMeaning = meaningOf(share);
  const vector = new Float32Array(dimension);
  for (const [i, value] of meaning.entries()) vector[i] = value * Math.sqrt(ofMeaning);
  for (const [i, value] of (grams ?? []).entries()) vector[meaning.length + i] = value * Math.sqrt(1 - ofMeaning);
  return vector;
}

/** The meaning's part of a {@link joined} vector, of length 1 again, and its weight. */
export function meaningIn(vector: Float32Array, dimension: number): { readonly meaning: Float32Array; readonly weight: number } {
  const part = vector.subarray(0, dimension);
  const weight = part.reduce((sum, value) => sum + value * value, 0);
  return { meaning: part.map((value) => value / Math.sqrt(weight)), weight };
}

/** The least cosine of two joined vectors that have to do with each other, from that of their meanings alone. */
export function relevantWith(ofMeaning: number, weight: number): number {
  return ofMeaning * weight + GRAMS_OF_STRANGERS * (1 - weight);
}

function meaningOf(share: number): number {
  return 1 - share * (1 - LEFT_OF_MEANING);
}

function count(text: string, letters: RegExp): number {
  return text.match(letters)?.length ?? 0;
}
