import { setImmediate as nextTick } from "node:timers/promises";
import { AppError } from "../platform/errors.js";
import { wordSegments } from "../platform/language/word-segments.js";
import type { Embedder } from "../ports/embedding.js";
import { termIndex } from "./sparse-vectors.js";

/** Bumped whenever a text's vector changes, so that stored vectors ask for a reindex. */
const FEATURES_VERSION = 1;
const DEFAULT_DIMENSION = 768;

const WORD_WEIGHT = 1;
/** Length of the vector of all the character n-grams of one word, so that long words don't drown short ones. */
const GRAM_WEIGHT = 0.9;
const PAIR_WEIGHT = 0.3;
/** Words of up to three letters in alphabetic scripts, and of Hiragana alone, are mostly function words, whatever the language. */
const SHORT_WORD_FACTOR = 0.25;
const GRAM_SIZES = [3, 4] as const;

/** Scripts that write words without spaces, where one character carries a meaning of its own. */
const DENSE_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const FUNCTION_WORD = /^(?:\p{Script=Hiragana}+|[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]{1,3})$/u;
const MARKS = /\p{M}+/gu;

/**
 * The stand-in embedder: needs no model, no download and no key. A text's words, neighbouring word pairs and character
 * n-grams are hashed into a fixed number of counters (the "hashing trick", Weinberger et al. 2009, without its signs, so
 * that no cosine is negative), weighted sublinearly and normalised to length 1. It sees shared words, stems and spellings
 * in any script (`Intl.Segmenter` finds the words of Chinese, Japanese, Korean and Thai), and no meanings: "seat" and
 * "chair" are strangers to it.
 */
export class HashingEmbedder implements Embedder {
  static readonly MIN_DIMENSION = 8;
  static readonly MAX_DIMENSION = 4_096;
  readonly id: string;
  readonly dimension: number;
  readonly lexical = true;

  /** @param options.dimension counters in a vector; 8 to 4096, default 768. @throws INVALID_CONFIG */
  constructor(options: { readonly dimension?: number } = {}) {
    const dimension = options.dimension ?? DEFAULT_DIMENSION;
    if (!Number.isInteger(dimension) || dimension < HashingEmbedder.MIN_DIMENSION || dimension > HashingEmbedder.MAX_DIMENSION)
      throw new AppError("INVALID_CONFIG", { detail: "The hashing embedder's dimension is a whole number from 8 to 4096." });
    this.dimension = dimension;
    this.id = `hashing-v${FEATURES_VERSION}-lexical-${dimension}`;
  }

  async embed(texts: readonly string[], options: { readonly signal?: AbortSignal } = {}): Promise<readonly Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (const text of texts) {
      if (options.signal?.aborted) throw new AppError("ABORTED", { cause: options.signal.reason });
      vectors.push(await vectorOf(text, this.dimension));
    }
    return vectors;
  }
}

async function vectorOf(text: string, dimension: number): Promise<Float32Array> {
  const features = await featuresOf(text);
  // A text without words still gets a direction: a zero vector has no cosine.
  if (features.size === 0) features.set("\u0000empty", 1);
  const vector = new Float32Array(dimension);
  for (const [feature, weight] of features) {
    const slot = termIndex(feature) % dimension;
    vector[slot] = (vector[slot] ?? 0) + Math.log1p(weight);
  }
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares);
  for (let i = 0; i < dimension; i++) vector[i] = (vector[i] ?? 0) / length;
  return vector;
}

/** Words between which others get their turn. */
const WORDS_AT_ONCE = 200;

async function featuresOf(text: string): Promise<Map<string, number>> {
  const features = new Map<string, number>();
  const count = (feature: string, weight: number) => features.set(feature, (features.get(feature) ?? 0) + weight);
  let before: string | null = null;
  for (const [at, word] of wordsOf(text).entries()) {
    if (at % WORDS_AT_ONCE === WORDS_AT_ONCE - 1) await nextTick();
    const dense = DENSE_SCRIPT.test(word);
    const letters = [...word];
    const factor = FUNCTION_WORD.test(word) ? SHORT_WORD_FACTOR : 1;
    count(`w${word}`, WORD_WEIGHT * factor);
    if (before !== null) count(`p${before} ${word}`, PAIR_WEIGHT * factor);
    const grams = dense ? denseGrams(letters) : boundedGrams(letters);
    for (const gram of grams) count(`g${gram}`, (GRAM_WEIGHT * factor) / Math.sqrt(grams.length));
    before = word;
  }
  return features;
}

/** One character may fold into eighteen: what is beyond this is not compared. */
const MAX_FOLDED = 16_000;

function wordsOf(text: string): string[] {
  const folded = text.normalize("NFKD").replace(MARKS, "").normalize("NFKC").toLowerCase().slice(0, MAX_FOLDED);
  const words: string[] = [];
  for (const part of wordSegments(folded)) if (part.isWordLike) words.push(part.segment);
  return words;
}

/** `jazz` → `<ja`, `jaz`, `azz`, `zz>`, `<jaz`, …: the marks tell beginnings and ends from middles. */
function boundedGrams(letters: readonly string[]): string[] {
  const marked = ["<", ...letters, ">"];
  const grams: string[] = [];
  for (const size of GRAM_SIZES)
    for (let i = 0; i + size <= marked.length; i++) if (size < marked.length) grams.push(marked.slice(i, i + size).join(""));
  return grams;
}

function denseGrams(letters: readonly string[]): string[] {
  const pairs = letters.slice(1).map((letter, i) => `${letters[i]}${letter}`);
  return [...letters, ...pairs];
}
