import { wordSegments } from "../platform/language/word-segments.js";
import type { Embedder, EmbeddingKind } from "../ports/embedding.js";

/** A model of English reads other scripts by the letter, or not at all: what its opinion of a text without a Latin letter counts. */
const LEFT_OF_MEANING = 0.2;
/** Cosine of the n-grams of two texts that have nothing to do with each other: counters are shared. */
const GRAMS_OF_STRANGERS = 0.25;
/** A query that is so near to idle talk asks for nothing that could be remembered. */
const IDLE_FROM = 0.6;
/** Share of the meaning in a vector from which the model could read the text. */
const READABLE = 0.6;

const LETTER = /\p{L}/gu;
const OTHER_LETTER = /(?!\p{Script=Latin})\p{L}/gu;

/** What of a text a model of English doesn't know. */
interface OtherScripts {
  /** The words in other scripts; empty where there is none. */
  readonly words: string;
  /** Their letters among all, 0 to 1. */
  readonly share: number;
}

function otherScriptsIn(text: string): OtherScripts {
  const others = count(text, OTHER_LETTER);
  if (others === 0) return { words: "", share: 0 };
  const words = [...wordSegments(text)].filter(({ segment }) => count(segment, OTHER_LETTER) > 0);
  return { words: words.map(({ segment }) => segment).join(" "), share: others / count(text, LETTER) };
}

/** One vector of length 1: what the text means, and beside it the n-grams of the words whose meaning isn't known. */
export async function withOtherScripts(
  meaning: Float32Array,
  text: string,
  grams: Embedder,
  { kind, signal }: { readonly kind: EmbeddingKind; readonly signal: AbortSignal | undefined },
): Promise<Float32Array> {
  const { words, share } = otherScriptsIn(text);
  const [known] = share === 0 ? [] : await grams.embed([words], { kind, ...(signal !== undefined && { signal }) });
  return joined(meaning, known ?? null, share, meaning.length + grams.dimension);
}

function joined(meaning: Float32Array, grams: Float32Array | null, share: number, dimension: number): Float32Array {
  const ofMeaning = meaningOf(share);
  const vector = new Float32Array(dimension);
  for (const [i, value] of meaning.entries()) vector[i] = value * Math.sqrt(ofMeaning);
  for (const [i, value] of (grams ?? []).entries()) vector[meaning.length + i] = value * Math.sqrt(1 - ofMeaning);
  return vector;
}

/** What a vector is judged by: whose it is, and what is near to it. */
export interface Meanings {
  /** Numbers of the model's own part of a vector. */
  readonly dimension: number;
  /** The least cosine of two meanings that have to do with each other. */
  readonly from: number;
  /** The cosine of a meaning to the nearest line of idle talk. */
  likenessToIdle(meaning: Float32Array): number;
}

/** The least cosine of two vectors of {@link withOtherScripts} that have to do with each other; infinity where the query is idle talk. */
export function relevantFor(query: Float32Array, { dimension, from, likenessToIdle }: Meanings): number {
  const { meaning, weight } = meaningIn(query, dimension);
  if (weight > READABLE && likenessToIdle(meaning) >= IDLE_FROM) return Number.POSITIVE_INFINITY;
  return from * weight + GRAMS_OF_STRANGERS * (1 - weight);
}

/** The meaning's part of a vector, of length 1 again, and its weight. */
function meaningIn(vector: Float32Array, dimension: number): { readonly meaning: Float32Array; readonly weight: number } {
  const part = vector.subarray(0, dimension);
  const weight = part.reduce((sum, value) => sum + value * value, 0);
  return { meaning: part.map((value) => value / Math.sqrt(weight)), weight };
}

function meaningOf(share: number): number {
  return 1 - share * (1 - LEFT_OF_MEANING);
}

function count(text: string, letters: RegExp): number {
  return text.match(letters)?.length ?? 0;
}
