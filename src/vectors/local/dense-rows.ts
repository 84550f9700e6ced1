/** Of `WebAssembly`, what is used here: Node has it, and no library of TypeScript's without a browser describes it. */
interface Wasm {
  readonly Memory: new (size: { readonly initial: number }) => WasmMemory;
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object, imports: { env: { memory: WasmMemory } }) => { readonly exports: { readonly dots: Dots } };
}

/** Sizes in pages of {@link PAGE_BYTES}. */
interface WasmMemory {
  /** Another one after each growth. */
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** Addresses and sizes in bytes; those of a row are multiples of {@link STEP_BYTES}. */
type Dots = (query: number, firstRow: number, rows: number, rowBytes: number, products: number) => void;

const PAGE_BYTES = 65_536;
/** What a step of the loop along a row takes. */
const STEP_BYTES = 128;

/** What `dot-products.wat` says, compiled, in base64; a test compiles it again. */
export const CODE =
  "AGFzbQEAAAABCQFgBX9/f39/AAIPAQNlbnYGbWVtb3J5AgABAwIBAAcIAQRkb3RzAAAKxgIBwwICAn8CeyAAIANqIQYCQANAIAJFDQH9DAAAAAAAAAAAAAAAAAAAAAAh" +
  "B/0MAAAAAAAAAAAAAAAAAAAAACEIIAAhBQNAIAcgBf0ABAAgAf0ABAD95gH95AEhByAIIAX9AAQQIAH9AAQQ/eYB/eQBIQggByAF/QAEICAB/QAEIP3mAf3kASEHIAgg" +
  "Bf0ABDAgAf0ABDD95gH95AEhCCAHIAX9AARAIAH9AARA/eYB/eQBIQcgCCAF/QAEUCAB/QAEUP3mAf3kASEIIAcgBf0ABGAgAf0ABGD95gH95AEhByAIIAX9AARwIAH9" +
  "AARw/eYB/eQBIQggBUGAAWohBSABQYABaiEBIAUgBkkNAAsgByAI/eQBIQcgBCAH/R8AIAf9HwGSIAf9HwIgB/0fA5KSOAIAIARBBGohBCACQQFrIQIMAAsLCw==";

const { Memory, Module, Instance } = (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly;
let compiled: object | undefined;

/** A memory of so many pages, and the dot products of one vector in it with others. @throws RangeError where there is no room for it */
function openDotProducts(pages: number): { readonly memory: WasmMemory; readonly dots: Dots } {
  const memory = new Memory({ initial: pages });
  compiled ??= new Module(Buffer.from(CODE, "base64"));
  return { memory, dots: new Instance(compiled, { env: { memory } }).exports.dots };
}

/** So many rows are asked about at once, at most. */
export const ROWS_AT_ONCE = 1024;

/** Dense vectors of one length, by row. A row that was never set, or is cleared, holds zeros. */
export interface DenseRows {
  /** Memory taken, in bytes. */
  readonly bytes: number;
  /** Null: the row has no vector, and its dot products are NaN. */
  set(row: number, vector: Float32Array | null): void;
  clear(row: number): void;
  /** The dot products of `query` with up to {@link ROWS_AT_ONCE} rows from `from` on, in 32 bits or more; they hold until the next call. */
  dots(query: Float32Array, from: number, count: number): ArrayLike<number>;
}

/** Room that is made with the first one: most users have few, and of many users it adds up. */
const FIRST_ROWS = 4;
const GROWTH = 1.5;
const products = new Float64Array(ROWS_AT_ONCE);

/** In an array as large as what it holds, for few rows. */
export class FewDenseRows implements DenseRows {
  readonly #dimension: number;
  #matrix: Float32Array;

  constructor(dimension: number, expected = 0) {
    this.#dimension = dimension;
    this.#matrix = new Float32Array(dimension * expected);
  }

  get bytes(): number {
    return this.#matrix.byteLength;
  }

  set(row: number, vector: Float32Array | null): void {
    this.#reserve(row + 1);
    if (vector === null) this.#matrix[row * this.#dimension] = Number.NaN;
    else this.#matrix.set(vector, row * this.#dimension);
  }

  clear(row: number): void {
    this.#matrix.fill(0, row * this.#dimension, (row + 1) * this.#dimension);
  }

  dots(query: Float32Array, from: number, count: number): Float64Array {
    for (let i = 0; i < count; i++) products[i] = dot(query, this.#matrix, (from + i) * this.#dimension, this.#dimension);
    return products;
  }

  /** As they are kept here, row after row. */
  copyTo(rows: Float32Array, stride: number): void {
    for (let row = 0; row * this.#dimension < this.#matrix.length; row++)
      rows.set(this.#matrix.subarray(row * this.#dimension, (row + 1) * this.#dimension), row * stride);
  }

  #reserve(rows: number): void {
    const needed = rows * this.#dimension;
    if (needed <= this.#matrix.length) return;
    const grown = new Float32Array(Math.max(needed, Math.ceil(this.#matrix.length * GROWTH), FIRST_ROWS * this.#dimension));
    grown.set(this.#matrix);
    this.#matrix = grown;
  }
}

const NUMBER_BYTES = Float32Array.BYTES_PER_ELEMENT;
const NUMBERS_A_STEP = STEP_BYTES / NUMBER_BYTES;

/**
 * In a WebAssembly memory, for many rows: their dot products take a tenth of the time. The memory holds the question, the answers to it,
 * and then the rows, each filled up with zeros to a whole number of steps.
 */
export class ManyDenseRows implements DenseRows {
  readonly #stride: number;
  readonly #open: ReturnType<typeof openDotProducts>;
  /** The same memory, until it grows. */
  #numbers: Float32Array;
  #products: Float32Array;

  /** @param few what it begins with. @throws RangeError where the process may not have another such memory */
  constructor(dimension: number, few: FewDenseRows, expected: number) {
    this.#stride = Math.ceil(dimension / NUMBERS_A_STEP) * NUMBERS_A_STEP;
    const rows = Math.max(expected, Math.ceil((few.bytes / NUMBER_BYTES / dimension) * GROWTH));
    this.#open = openDotProducts(this.#pagesFor(rows));
    this.#numbers = this.#all();
    this.#products = this.#answers();
    few.copyTo(this.#numbers.subarray(this.#start(0)), this.#stride);
  }

  get bytes(): number {
    return this.#numbers.byteLength;
  }

  set(row: number, vector: Float32Array | null): void {
    this.#reserve(row + 1);
    if (vector === null) this.#numbers[this.#start(row)] = Number.NaN;
    else this.#numbers.set(vector, this.#start(row));
  }

  clear(row: number): void {
    this.#numbers.fill(0, this.#start(row), this.#start(row + 1));
  }

  dots(query: Float32Array, from: number, count: number): Float32Array {
    this.#numbers.set(query);
    const { byteOffset } = this.#products;
    this.#open.dots(0, this.#start(from) * NUMBER_BYTES, count, this.#stride * NUMBER_BYTES, byteOffset);
    return this.#products;
  }

  /** Where a row begins, in numbers. */
  #start(row: number): number {
    return this.#stride * (row + 1) + ROWS_AT_ONCE;
  }

  #pagesFor(rows: number): number {
    return Math.ceil((this.#start(rows) * NUMBER_BYTES) / PAGE_BYTES);
  }

  #reserve(rows: number): void {
    const has = this.#numbers.byteLength / PAGE_BYTES;
    const needs = this.#pagesFor(rows);
    if (needs <= has) return;
    this.#open.memory.grow(Math.max(needs, Math.ceil(has * GROWTH)) - has);
    this.#numbers = this.#all();
    this.#products = this.#answers();
  }

  #all(): Float32Array {
    return new Float32Array(this.#open.memory.buffer);
  }

  #answers(): Float32Array {
    return this.#numbers.subarray(this.#stride, this.#stride + ROWS_AT_ONCE);
  }
}

/** Four sums at once, so that the additions don't wait for each other. */
function dot(query: Float32Array, matrix: Float32Array, offset: number, length: number): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let i = 0;
  for (; i + 3 < length; i += 4) {
    a += (query[i] as number) * (matrix[offset + i] as number);
    b += (query[i + 1] as number) * (matrix[offset + i + 1] as number);
    c += (query[i + 2] as number) * (matrix[offset + i + 2] as number);
    d += (query[i + 3] as number) * (matrix[offset + i + 3] as number);
  }
  for (; i < length; i++) a += (query[i] as number) * (matrix[offset + i] as number);
  return a + b + c + d;
}
