import { readFile } from "node:fs/promises";
import { crc32 } from "node:zlib";

/** What a file begins with, as little-endian 32-bit numbers: this, the rows, the numbers of a row, the checksum of what follows. */
const MAGIC = 0x4c425456;
const HEADER_BYTES = 16;
const SCALE_BYTES = 4;

/** A vector for each piece of a vocabulary: int8 numbers and, for each row, the float32 scale by which they are multiplied. */
export class VectorTable {
  readonly rows: number;
  readonly dimension: number;
  readonly #scales: Float32Array;
  readonly #numbers: Int8Array;

  private constructor(rows: number, dimension: number, body: ArrayBuffer) {
    this.rows = rows;
    this.dimension = dimension;
    this.#scales = new Float32Array(body, 0, rows);
    this.#numbers = new Int8Array(body, rows * SCALE_BYTES);
  }

  /** @throws Error where the file is none of these, or is not whole */
  static async open(path: string): Promise<VectorTable> {
    const file = await readFile(path);
    const [magic, rows = 0, dimension = 0, checksum] = file.length < HEADER_BYTES ? [] : [0, 4, 8, 12].map((at) => file.readUInt32LE(at));
    const body = file.subarray(HEADER_BYTES);
    if (magic !== MAGIC || rows === 0 || dimension === 0) throw new Error("It is no table of vectors.");
    if (body.length !== rows * (SCALE_BYTES + dimension) || crc32(body) !== checksum) throw new Error("It is damaged.");
    // A copy of its own, as numbers of four bytes must begin at a multiple of four.
    return new VectorTable(rows, dimension, Uint8Array.from(body).buffer);
  }

  /** Adds the vector of a row to `sum`. A row that isn't there adds nothing. */
  addTo(sum: Float32Array, row: number): void {
    const scale = this.#scales[row] ?? 0;
    if (scale === 0) return;
    const begin = row * this.dimension;
    for (let i = 0; i < this.dimension; i++) sum[i] = (sum[i] ?? 0) + (this.#numbers[begin + i] ?? 0) * scale;
  }
}
