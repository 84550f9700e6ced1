import type { Payload } from "../../ports/vectors.js";
import type { Best } from "./best.js";
import { SlotsByValue } from "./slots-by-value.js";
import { type KeptSparse, SparseIndex } from "./sparse-index.js";

/** A point as it is kept: vectors in 32-bit floats, the dense one of length 1 (or all zeros), the payload parsed. */
export interface KeptPoint {
  readonly key: string;
  readonly payload: Payload;
  /** Length of the payload's JSON text, for the memory that it takes. */
  readonly payloadChars: number;
  readonly dense: Float32Array | null;
  readonly sparse: ReadonlyMap<string, KeptSparse>;
}

export type KeyTest = (key: string, payload: Payload) => boolean;

/** Rough sizes of JavaScript's own overhead, in bytes. */
const BYTES_PER_POINT = 400;
const BYTES_PER_CHAR = 3;
/** Room that is made with the first one: most users have few, and of many users it adds up. */
const FIRST_POINTS = 4;
/** So many are looked through in less time than it takes to keep them sorted. */
const FEW_POINTS = 128;
const NO_VECTORS: ReadonlyMap<string, KeptSparse> = new Map();

/**
 * All points of one tenant in one collection, in memory: a matrix of dense vectors, sparse ones, payloads.
 * Follows writes in place: a changed point gets a new slot, and the old one is left dead until the partition is mostly dead.
 */
export class Partition {
  readonly #dimension: number;
  readonly #slots = new Map<string, number>();
  readonly #points: (KeptPoint | null)[] = [];
  readonly #sparse = new SparseIndex();
  /** By the payload's keys that were asked for. */
  readonly #byValue = new Map<string, SlotsByValue>();
  #matrix: Float32Array;
  #bytes = 0;

  constructor(dimension: number, expected = 0) {
    this.#dimension = dimension;
    this.#matrix = new Float32Array(dimension * expected);
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Estimate of the memory taken, in bytes. */
  get bytes(): number {
    const byValue = [...this.#byValue.values()].reduce((sum, slots) => sum + slots.bytes, 0);
    return this.#matrix.byteLength + this.#sparse.bytes + this.#bytes + byValue;
  }

  /** More dead slots than live ones: time to load it anew. */
  get wasteful(): boolean {
    return this.#points.length > 64 && this.#points.length > 2 * this.#slots.size;
  }

  get(key: string): KeptPoint | undefined {
    const slot = this.#slots.get(key);
    return slot === undefined ? undefined : (this.#points[slot] ?? undefined);
  }

  *points(): Generator<KeptPoint> {
    for (const point of this.#points) if (point !== null) yield point;
  }

  /**
   * The points that hold one of the values under the key; null where looking through all of them is as quick, as they are few or share
   * few values. `key` is a plain one.
   */
  pointsWith(key: string, values: ReadonlySet<string>): readonly KeptPoint[] | null {
    if (this.#slots.size < FEW_POINTS) return null;
    const slots = this.#slotsByValue(key).of(values);
    return slots === null ? null : slots.flatMap((slot) => this.#points[slot] ?? []);
  }

  #slotsByValue(key: string): SlotsByValue {
    let known = this.#byValue.get(key);
    if (known !== undefined) return known;
    known = new SlotsByValue();
    for (const [slot, point] of this.#points.entries()) if (point !== null) known.add(slot, point.payload[key]);
    this.#byValue.set(key, known);
    return known;
  }

  /** Adds a point, in place of the one with its key. */
  put(point: KeptPoint): void {
    this.remove(point.key);
    const slot = this.#points.length;
    this.#points.push({ ...point, dense: null, sparse: NO_VECTORS });
    this.#slots.set(point.key, slot);
    this.#bytes += BYTES_PER_POINT + point.payloadChars * BYTES_PER_CHAR;
    this.#reserve(slot + 1);
    if (point.dense === null) this.#matrix[slot * this.#dimension] = Number.NaN;
    else this.#matrix.set(point.dense, slot * this.#dimension);
    this.#sparse.add(slot, point.sparse);
    for (const [key, slots] of this.#byValue) slots.add(slot, point.payload[key]);
  }

  /** Changes a payload and leaves the vectors. */
  setPayload(key: string, payload: Payload, payloadChars: number): void {
    const slot = this.#slots.get(key);
    const point = slot === undefined ? null : this.#points[slot];
    if (slot === undefined || !point) return;
    this.#bytes += (payloadChars - point.payloadChars) * BYTES_PER_CHAR;
    for (const [name, slots] of this.#byValue) {
      slots.remove(slot, point.payload[name]);
      slots.add(slot, payload[name]);
    }
    this.#points[slot] = { ...point, payload, payloadChars };
  }

  remove(key: string): void {
    const slot = this.#slots.get(key);
    if (slot === undefined) return;
    this.#slots.delete(key);
    for (const [name, slots] of this.#byValue) slots.remove(slot, this.#points[slot]?.payload[name]);
    this.#points[slot] = null;
    this.#sparse.remove(slot);
    this.#matrix.fill(0, slot * this.#dimension, (slot + 1) * this.#dimension);
  }

  /** Offers every point above the threshold that has a dense vector and passes the test, with its cosine to `query` (of length 1). */
  scoreDense(query: Float32Array, passes: KeyTest, threshold: number, best: Best): void {
    const dimension = this.#dimension;
    for (let slot = 0; slot < this.#points.length; slot++) {
      const point = this.#points[slot];
      if (!point) continue;
      const score = dot(query, this.#matrix, slot * dimension, dimension);
      if (score > threshold && best.wants(score, point.key) && passes(point.key, point.payload)) best.offer(point.key, score);
    }
  }

  /** As {@link scoreDense}, of these points alone. */
  scoreDenseOf(keys: Iterable<string>, query: Float32Array, threshold: number, best: Best): void {
    for (const key of keys) {
      const slot = this.#slots.get(key);
      if (slot === undefined) continue;
      const score = dot(query, this.#matrix, slot * this.#dimension, this.#dimension);
      if (score > threshold && best.wants(score, key)) best.offer(key, score);
    }
  }

  /** Offers every point above the threshold that shares an index with `query` and passes the test, with the dot product. */
  scoreSparse(name: string, query: KeptSparse, passes: KeyTest, threshold: number, best: Best): void {
    const { count, slots, scores } = this.#sparse.find(name, query, this.#points.length);
    for (let i = 0; i < count; i++) {
      const slot = slots[i] as number;
      const score = scores[slot] as number;
      if (!(score > threshold) || !best.mayTake(score)) continue;
      const point = this.#points[slot];
      if (point && best.wants(score, point.key) && passes(point.key, point.payload)) best.offer(point.key, score);
    }
  }

  #reserve(slots: number): void {
    const needed = slots * this.#dimension;
    if (needed <= this.#matrix.length) return;
    const grown = new Float32Array(Math.max(needed, Math.ceil(this.#matrix.length * 1.5), FIRST_POINTS * this.#dimension));
    grown.set(this.#matrix);
    this.#matrix = grown;
  }
}

/** Four sums at once, so that the additions don't wait for each other. NaN for a point without a dense vector: below every threshold. */
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
