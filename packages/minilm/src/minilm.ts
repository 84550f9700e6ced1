import { readFileSync } from "node:fs";
import { ModelThreads } from "./model-threads.js";
import { IDLE_TALK, packagedModel } from "./packaged-files.js";
import type { ModelFiles, TextOptions } from "./thread-protocol.js";

/** Bumped whenever a text's vector changes, so that stored vectors ask for a reindex. */
const VERSION = 1;
const DIMENSION = 384;
/** Of a question and what answers it less than one pair in ten is further apart; of strangers two thirds are. */
const RELEVANT_FROM = 0.12;

/**
 * all-MiniLM-L6-v2 (Apache-2.0; int8): no key, no download, no native code. It compares meanings, of English texts above all, and knows a
 * text by its first 128 tokens. It runs in a thread of its own, on one core: some 8 ms for a message. While others' texts are written,
 * queries have a second one.
 */
export class MiniLm {
  readonly id = `minilm-v${VERSION}`;
  readonly dimension = DIMENSION;
  readonly relevantFrom = RELEVANT_FROM;
  readonly #threads: ModelThreads;
  readonly #idle = new IdleTalk();

  /** The model is loaded by the first text, or by `load`. @param files default: those of the package */
  constructor(files: ModelFiles = packagedModel()) {
    this.#threads = new ModelThreads(files);
  }

  /** Why no text has a vector now; null where nothing is wrong. */
  get problem(): string | null {
    const { failure } = this.#threads;
    return failure === null ? null : `The model of the package does not run here (${failure}).`;
  }

  /** Resolves when the model is loaded, or can't be: see `problem`. */
  load(): Promise<void> {
    return this.#threads.start();
  }

  /** A text's vector, of length 1. Rejects with the signal's reason when it is given up, with an `Error` where there is none to be had. */
  embed(text: string, options: TextOptions): Promise<Float32Array> {
    return this.#threads.embed(text, options);
  }

  /** The cosine of a vector to the nearest line of idle talk: greetings, thanks, the time of day, keys that were hit. */
  likenessToIdle(vector: Float32Array): number {
    return this.#idle.likeness(vector);
  }

  /** Texts that wait fail. */
  close(): Promise<void> {
    return this.#threads.close();
  }
}

/** Read when it is first needed. */
class IdleTalk {
  #vectors: Float32Array | null = null;

  likeness(vector: Float32Array): number {
    this.#vectors ??= new Float32Array(Uint8Array.from(readFileSync(IDLE_TALK)).buffer);
    let best = -1;
    for (let at = 0; at < this.#vectors.length; at += DIMENSION) {
      let dot = 0;
      for (let i = 0; i < DIMENSION; i++) dot += (this.#vectors[at + i] ?? 0) * (vector[i] ?? 0);
      best = Math.max(best, dot);
    }
    return best;
  }
}
