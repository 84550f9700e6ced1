import { readFile } from "node:fs/promises";
import { setImmediate as nextTick } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { AppError } from "../../platform/errors.js";
import type { Embedder, EmbedOptions } from "../../ports/embedding.js";
import { IDLE_LINES, VOCABULARY } from "../minilm/packaged-files.js";
import { WordPieces } from "../minilm/word-pieces.js";
import { relevantFor, withOtherScripts } from "../other-scripts.js";
import { VectorTable } from "./vector-table.js";

/** Bumped whenever a text's vector changes, so that stored vectors ask for a reindex. */
const VERSION = 1;
/** Numbers of the table's own vectors. */
const OF_TABLE = 256;
/** A longer text is known by its beginning. */
const MAX_PIECES = 512;
/** Of a question and what answers it about one pair in eight is further apart; of strangers more than half are. */
const RELEVANT_FROM = 0.04;
/** Texts between which others get their turn. */
const TEXTS_AT_ONCE = 50;

export interface StaticOptions {
  /** Compares the words of scripts that the table can't read; its numbers follow the table's. */
  readonly grams: Embedder;
  /** Path of the table. Default: that of the package. */
  readonly table?: string;
}

/**
 * A vector for every piece of a word, learnt from those that all-MiniLM-L6-v2 gives whole sentences; a text's vector is their sum, of
 * length 1. It comes with the package: no key, no download, no thread. It compares meanings less well than the model, in a hundredth of
 * the time, and knows no order of words: "not" and "no" are words among others.
 */
export class StaticEmbedder implements Embedder {
  readonly id: string;
  readonly dimension: number;
  readonly lexical = false;
  readonly #grams: Embedder;
  readonly #path: string;
  #parts: Promise<Parts> | null = null;
  #idle: readonly Float32Array[] = [];
  #failure: string | null = null;

  /** The table is read by the first text, or by `load`. */
  constructor({ grams, table = fileURLToPath(new URL("table.bin", import.meta.url)) }: StaticOptions) {
    this.#grams = grams;
    this.#path = table;
    this.dimension = OF_TABLE + grams.dimension;
    this.id = `static-v${VERSION}-${this.dimension}`;
  }

  get problem(): string | null {
    return this.#failure && `The table of the package can't be read (${this.#failure}). EMBEDDING_PROVIDER=hashing does without.`;
  }

  /** Resolves when the table is read, or can't be: see `problem`. */
  async load(): Promise<void> {
    await this.#opened().catch(() => {});
  }

  async embed(texts: readonly string[], { kind = "document", signal }: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (const [at, text] of texts.entries()) {
      if (at % TEXTS_AT_ONCE === TEXTS_AT_ONCE - 1) await nextTick();
      if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
      vectors.push(await withOtherScripts(meaningOf(await this.#opened(), text), text, this.#grams, { kind, signal }));
    }
    return vectors;
  }

  relevantFrom(query: Float32Array): number {
    const likenessToIdle = (meaning: Float32Array) => Math.max(-1, ...this.#idle.map((line) => dot(line, meaning)));
    return relevantFor(query, { dimension: OF_TABLE, from: RELEVANT_FROM, likenessToIdle });
  }

  /** @throws EMBEDDING_UNAVAILABLE */
  #opened(): Promise<Parts> {
    this.#parts ??= this.#open();
    return this.#parts;
  }

  async #open(): Promise<Parts> {
    try {
      const [table, lines] = await Promise.all([VectorTable.open(this.#path), readFile(IDLE_LINES, "utf8")]);
      if (table.dimension !== OF_TABLE) throw new Error("It is of another size.");
      const parts = { table, pieces: new WordPieces(VOCABULARY) };
      this.#idle = lines
        .trimEnd()
        .split("\n")
        .map((line) => meaningOf(parts, line));
      this.#failure = null;
      return parts;
    } catch (error) {
      this.#parts = null;
      this.#failure = error instanceof Error ? error.message : "It failed.";
      throw new AppError("EMBEDDING_UNAVAILABLE", { detail: this.problem ?? "", cause: error });
    }
  }
}

interface Parts {
  readonly table: VectorTable;
  readonly pieces: WordPieces;
}

/** Of length 1. */
function meaningOf({ table, pieces }: Parts, text: string): Float32Array {
  const sum = new Float32Array(table.dimension);
  for (const id of pieces.idsOf(text, MAX_PIECES)) table.addTo(sum, id);
  const length = Math.sqrt(dot(sum, sum));
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) / length;
  return sum;
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
