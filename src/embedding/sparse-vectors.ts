import { queryTermsOf, wordsOf } from "../platform/language/tokens.js";
import type { SparseVector } from "../ports/vectors.js";

/**
 * BM25 as a dot product of sparse vectors (Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework"):
 * a document holds the term frequencies after saturation and length, a query ones; the backend multiplies by the IDF
 * of the collection (`modifier: "idf"`). Both backends are given the same vectors, so no server needs a tokenizer.
 */
export interface Bm25 {
  /** How soon repeating a word stops to help. */
  readonly k1: number;
  /** How much a text longer than the average pays, 0 to 1. */
  readonly b: number;
  /** Words in an average text. A constant, as stored weights can't follow an average that moves. */
  readonly averageWords: number;
}

/** k1 and b are the usual ones; 24 words is about a message of a chat, or a few memories. */
export const CHAT_BM25: Bm25 = { k1: 1.2, b: 0.75, averageWords: 24 };

/** Empty for a text without words. Indices are unique and ascend. */
export function documentVector(text: string, bm25: Bm25 = CHAT_BM25): SparseVector {
  const words = wordsOf(text);
  const counts = new Map<number, number>();
  for (const word of words)
    for (const term of word.terms) {
      const index = termIndex(term);
      counts.set(index, (counts.get(index) ?? 0) + 1);
    }
  const norm = bm25.k1 * (1 - bm25.b + (bm25.b * words.length) / bm25.averageWords);
  return sorted(counts, (count) => (count * (bm25.k1 + 1)) / (count + norm));
}

/** Every term once, weight 1; without stop words, unless there is nothing else. */
export function queryVector(text: string): SparseVector {
  return sorted(new Map(queryTermsOf(text).map((term) => [termIndex(term), 1])), (weight) => weight);
}

function sorted(weights: ReadonlyMap<number, number>, weigh: (weight: number) => number): SparseVector {
  const entries = [...weights].sort(([a], [b]) => a - b);
  return { indices: entries.map(([index]) => index), values: entries.map(([, weight]) => weigh(weight)) };
}

/**
 * Term → unsigned 32-bit index: FNV-1a over UTF-16 units, finished with murmur3's mixer, as its low bits alone are uneven. Stored data
 * depends on it.
 * Of 100,000 different terms about one pair shares an index, which costs those two words some precision.
 */
export function termIndex(term: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < term.length; i++) h = Math.imul(h ^ term.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
