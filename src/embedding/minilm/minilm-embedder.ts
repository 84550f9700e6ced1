import { readFileSync } from "node:fs";
import type { Embedder, EmbeddingKind, EmbedOptions } from "../../ports/embedding.js";
import { joined, meaningIn, otherScriptsIn, relevantWith } from "../other-scripts.js";
import { ModelWorker } from "./model-worker.js";
import { IDLE_TALK, packagedModel } from "./packaged-files.js";
import type { ModelFiles } from "./thread-protocol.js";

/** Bumped whenever a text's vector changes, so that stored vectors ask for a reindex. */
const VERSION = 1;
/** Numbers of the model's own vectors. */
const OF_MODEL = 384;
/** A query that is so near to idle talk asks for nothing that could be remembered. */
const IDLE_FROM = 0.6;
/** Share of the meaning in a vector from which the model could read the text. */
const READABLE = 0.6;
/** Of a question and what answers it less than one pair in ten is further apart; of strangers two thirds are. */
const RELEVANT_FROM = 0.12;

export interface MiniLmOptions {
  /** Compares the words of scripts that the model can't read; its numbers follow the model's. */
  readonly grams: Embedder;
  /** Default: those of the package. */
  readonly files?: ModelFiles;
}

/**
 * all-MiniLM-L6-v2 (Apache-2.0; int8), which comes with the package: no key, no download, no native code. It compares meanings, of English
 * texts above all, and knows a text by its first 128 tokens. It runs in a thread of its own, on one core: some 8 ms for a message.
 */
export class MiniLmEmbedder implements Embedder {
  readonly id: string;
  readonly dimension: number;
  readonly lexical = false;
  readonly #worker: ModelWorker;
  readonly #grams: Embedder;
  readonly #idle = new IdleTalk();

  /** The model is loaded by the first text, or by `load`. */
  constructor({ grams, files = packagedModel() }: MiniLmOptions) {
    this.#worker = new ModelWorker(files);
    this.#grams = grams;
    this.dimension = MiniLmEmbedder.dimensionWith(grams.dimension);
    this.id = `minilm-v${VERSION}-${this.dimension}`;
  }

  /** Of its vectors, with so many numbers for grams. */
  static dimensionWith(grams: number): number {
    return OF_MODEL + grams;
  }

  get problem(): string | null {
    const { failure } = this.#worker;
    return failure === null ? null : `The model of the package does not run here (${failure}). EMBEDDING_PROVIDER=hashing does without.`;
  }

  /** Resolves when the model is loaded, or can't be: see `problem`. */
  load(): Promise<void> {
    return this.#worker.start();
  }

  async embed(texts: readonly string[], { kind = "document", signal }: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (const text of texts) vectors.push(await this.#vectorOf(text, kind, signal));
    return vectors;
  }

  relevantFrom(query: Float32Array): number {
    const { meaning, weight } = meaningIn(query, OF_MODEL);
    const isIdle = weight > READABLE && this.#idle.likeness(meaning) >= IDLE_FROM;
    return isIdle ? Number.POSITIVE_INFINITY : relevantWith(RELEVANT_FROM, weight);
  }

  /** Texts that wait fail. */
  close(): Promise<void> {
    return this.#worker.close();
  }

  async #vectorOf(text: string, kind: EmbeddingKind, signal: AbortSignal | undefined): Promise<Float32Array> {
    const meaning = await this.#worker.embed(text, kind, signal);
    const { words, share } = otherScriptsIn(text);
    const [grams] = share === 0 ? [] : await this.#grams.embed([words], { kind, ...(signal !== undefined && { signal }) });
    return joined(meaning, grams ?? null, share, this.dimension);
  }
}

/** Greetings, thanks, the time of day, keys that were hit: read when it is first needed. */
class IdleTalk {
  #vectors: Float32Array | null = null;

  /** The cosine to the nearest of them. */
  likeness(query: Float32Array): number {
    this.#vectors ??= new Float32Array(Uint8Array.from(readFileSync(IDLE_TALK)).buffer);
    let best = -1;
    for (let at = 0; at < this.#vectors.length; at += OF_MODEL) {
      let dot = 0;
      for (let i = 0; i < OF_MODEL; i++) dot += (this.#vectors[at + i] ?? 0) * (query[i] ?? 0);
      best = Math.max(best, dot);
    }
    return best;
  }
}
