import { readFileSync } from "node:fs";
import type { Embedder, EmbedOptions } from "../../ports/embedding.js";
import { relevantFor, withOtherScripts } from "../other-scripts.js";
import { ModelWorker } from "./model-worker.js";
import { IDLE_TALK, packagedModel } from "./packaged-files.js";
import type { ModelFiles } from "./thread-protocol.js";

/** Bumped whenever a text's vector changes, so that stored vectors ask for a reindex. */
const VERSION = 1;
/** Numbers of the model's own vectors. */
const OF_MODEL = 384;
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
    for (const text of texts) {
      const meaning = await this.#worker.embed(text, kind, signal);
      vectors.push(await withOtherScripts(meaning, text, this.#grams, { kind, signal }));
    }
    return vectors;
  }

  relevantFrom(query: Float32Array): number {
    const likenessToIdle = (meaning: Float32Array) => this.#idle.likeness(meaning);
    return relevantFor(query, { dimension: OF_MODEL, from: RELEVANT_FROM, likenessToIdle });
  }

  /** Texts that wait fail. */
  close(): Promise<void> {
    return this.#worker.close();
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
