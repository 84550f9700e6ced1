import { readFile } from "node:fs/promises";
import { IDLE_LINES, TABLE, VOCABULARY } from "./packaged-files.js";
import type { TextOptions } from "./thread-protocol.js";
import { VectorTable } from "./vector-table.js";
import { WordPieces } from "./word-pieces.js";

/** Bumped whenever a text's vector changes, so that stored vectors ask for a reindex. */
const VERSION = 1;
const DIMENSION = 256;
/** A longer text is known by its beginning. */
const MAX_PIECES = 512;
/** Of a question and what answers it about one pair in eight is further apart; of strangers more than half are. */
const RELEVANT_FROM = 0.04;

/**
 * A vector for every piece of a word, learnt from those that all-MiniLM-L6-v2 gives whole sentences; a text's vector is their sum, of
 * length 1: no key, no download, no thread. It compares meanings less well than the model, in a hundredth of the time, and knows no order
 * of words: "not" and "no" are words among others.
 */
export class WordTable {
  readonly id = `static-v${VERSION}`;
  readonly dimension = DIMENSION;
  readonly relevantFrom = RELEVANT_FROM;
  readonly #path: string;
  #parts: Promise<Parts> | null = null;
  #idle: readonly Float32Array[] = [];
  #failure: string | null = null;

  /** The table is read by the first text, or by `load`. @param path of the table; default: that of the package */
  constructor(path: string = TABLE) {
    this.#path = path;
  }

  /** Why no text has a vector now; null where nothing is wrong. */
  get problem(): string | null {
    return this.#failure && `The table of the package can't be read (${this.#failure}).`;
  }

  /** Resolves when the table is read, or can't be: see `problem`. */
  async load(): Promise<void> {
    await this.#opened().catch(() => {});
  }

  /** A text's vector, of length 1. Rejects with the signal's reason when it is given up, with an `Error` where there is none to be had. */
  async embed(text: string, { signal }: TextOptions): Promise<Float32Array> {
    signal?.throwIfAborted();
    return meaningOf(await this.#opened(), text);
  }

  /** The cosine of a vector to the nearest line of idle talk. */
  likenessToIdle(vector: Float32Array): number {
    return Math.max(-1, ...this.#idle.map((line) => dot(line, vector)));
  }

  async close(): Promise<void> {}

  #opened(): Promise<Parts> {
    this.#parts ??= this.#open();
    return this.#parts;
  }

  async #open(): Promise<Parts> {
    try {
      const [table, lines] = await Promise.all([VectorTable.open(this.#path), readFile(IDLE_LINES, "utf8")]);
      if (table.dimension !== DIMENSION) throw new Error("It is of another size.");
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
      throw error;
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
