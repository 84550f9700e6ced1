import { setImmediate as nextTick } from "node:timers/promises";
import { AppError } from "../platform/errors.js";
import { wordSegments } from "../platform/language/word-segments.js";
import type { Embedder, EmbeddingKind, EmbedOptions } from "../ports/embedding.js";

/** A model of English reads other scripts by the letter, or not at all: what its opinion of a text without a Latin letter counts. */
const LEFT_OF_MEANING = 0.2;
/** Cosine of the n-grams of two texts that have nothing to do with each other: counters are shared. */
const GRAMS_OF_STRANGERS = 0.25;
/** A query that is so near to idle talk asks for nothing that could be remembered. */
const IDLE_FROM = 0.6;
/** Share of the meaning in a vector from which the model could read the text. */
const READABLE = 0.6;
/** Texts between which others get their turn. */
const TEXTS_AT_ONCE = 50;

const LETTER = /\p{L}/gu;
const OTHER_LETTER = /(?!\p{Script=Latin})\p{L}/gu;

/** `background`: nobody waits for it, and all else goes before it. */
type TextKind = EmbeddingKind | "background";

/** What gives an English text a vector of its meaning, on this machine: comes in a package of its own, which knows nothing of this one. */
export interface SentenceModel {
  /** Names the model and what shapes its vectors. */
  readonly id: string;
  readonly dimension: number;
  /** The least cosine of two meanings that have to do with each other. */
  readonly relevantFrom: number;
  /** Why no text has a vector now; null where nothing is wrong. */
  readonly problem: string | null;
  /** Resolves when it can embed, or can't: see `problem`. What isn't loaded before is by the first text. */
  load(): Promise<void>;
  /** A text's meaning, of length 1. Rejects with the signal's reason when it is given up, with an `Error` where there is none to be had. */
  embed(text: string, options: { readonly kind: TextKind; readonly signal?: AbortSignal | undefined }): Promise<Float32Array>;
  /** The cosine of a meaning to the nearest line of idle talk. */
  likenessToIdle(meaning: Float32Array): number;
  close(): Promise<void>;
}

/** One vector of length 1: what a text means, and beside it the n-grams of the words in scripts that the model can't read. */
export class SentenceEmbedder implements Embedder {
  readonly id: string;
  readonly dimension: number;
  readonly lexical = false;
  readonly #model: SentenceModel;
  readonly #grams: Embedder;

  /** @param grams compares the words of scripts that the model can't read; its numbers follow the model's */
  constructor(model: SentenceModel, grams: Embedder) {
    this.#model = model;
    this.#grams = grams;
    this.dimension = model.dimension + grams.dimension;
    this.id = `${model.id}-${this.dimension}`;
  }

  get problem(): string | null {
    const { problem } = this.#model;
    return problem && `${problem} EMBEDDING_PROVIDER=hashing does without.`;
  }

  /** Resolves when the model is loaded, or can't be: see `problem`. */
  load(): Promise<void> {
    return this.#model.load();
  }

  async embed(
    texts: readonly string[],
    { kind = "document", signal, background = false }: EmbedOptions = {},
  ): Promise<readonly Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (const [at, text] of texts.entries()) {
      if (at % TEXTS_AT_ONCE === TEXTS_AT_ONCE - 1) await nextTick();
      vectors.push(await this.#vectorOf(text, background ? "background" : kind, signal));
    }
    return vectors;
  }

  relevantFrom(query: Float32Array): number {
    const { dimension, relevantFrom } = this.#model;
    const { meaning, weight } = meaningIn(query, dimension);
    if (weight > READABLE && this.#model.likenessToIdle(meaning) >= IDLE_FROM) return Number.POSITIVE_INFINITY;
    return relevantFrom * weight + GRAMS_OF_STRANGERS * (1 - weight);
  }

  /** Texts that wait fail. */
  close(): Promise<void> {
    return this.#model.close();
  }

  async #vectorOf(text: string, kind: TextKind, signal: AbortSignal | undefined): Promise<Float32Array> {
    const meaning = await this.#meaningOf(text, kind, signal);
    const { words, share } = otherScriptsIn(text);
    const [grams] = share === 0 ? [] : await this.#grams.embed([words], { ...(signal !== undefined && { signal }) });
    return joined(meaning, grams ?? null, share, this.dimension);
  }

  async #meaningOf(text: string, kind: TextKind, signal: AbortSignal | undefined): Promise<Float32Array> {
    try {
      return await this.#model.embed(text, { kind, signal });
    } catch (cause) {
      if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
      const detail = this.problem ?? (cause instanceof Error ? cause.message : "The model gave no vector.");
      throw new AppError("EMBEDDING_UNAVAILABLE", { detail, cause });
    }
  }
}

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

function joined(meaning: Float32Array, grams: Float32Array | null, share: number, dimension: number): Float32Array {
  const ofMeaning = 1 - share * (1 - LEFT_OF_MEANING);
  const vector = new Float32Array(dimension);
  for (const [i, value] of meaning.entries()) vector[i] = value * Math.sqrt(ofMeaning);
  for (const [i, value] of (grams ?? []).entries()) vector[meaning.length + i] = value * Math.sqrt(1 - ofMeaning);
  return vector;
}

/** The meaning's part of a vector, of length 1 again, and its weight. */
function meaningIn(vector: Float32Array, dimension: number): { readonly meaning: Float32Array; readonly weight: number } {
  const part = vector.subarray(0, dimension);
  const weight = part.reduce((sum, value) => sum + value * value, 0);
  return { meaning: part.map((value) => value / Math.sqrt(weight)), weight };
}

function count(text: string, letters: RegExp): number {
  return text.match(letters)?.length ?? 0;
}
