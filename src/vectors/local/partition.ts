import { LRUCache } from "lru-cache";
import type { Payload } from "../../ports/vectors.js";
import type { KeptPoint, KeptSparse } from "../requests/point.js";
import type { TopK } from "../requests/ranked.js";
import { type DenseRows, FewDenseRows, ManyDenseRows, ROWS_AT_ONCE } from "./dense-rows.js";
import type { LocalTables } from "./local-tables.js";
import { FEW_POINTS, SparseIndex } from "./sparse-index.js";

type KeyTest = (key: string, payload: Payload) => boolean;

/** Rough sizes of JavaScript's own overhead, in bytes. */
const BYTES_PER_POINT = 400;
const BYTES_PER_CHAR = 3;
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
  #dense: DenseRows;
  #bytes = 0;

  constructor(dimension: number, expected = 0) {
    this.#dimension = dimension;
    this.#dense =
      expected > FEW_POINTS ? manyRows(dimension, new FewDenseRows(dimension), expected) : new FewDenseRows(dimension, expected);
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Estimate of the memory taken, in bytes. */
  get bytes(): number {
    const byValue = [...this.#byValue.values()].reduce((sum, slots) => sum + slots.bytes, 0);
    return this.#dense.bytes + this.#sparse.bytes + this.#bytes + byValue;
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
   * few values.
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
    if (slot === FEW_POINTS && this.#dense instanceof FewDenseRows) this.#dense = manyRows(this.#dimension, this.#dense, slot + 1);
    this.#dense.set(slot, point.dense);
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
    this.#dense.clear(slot);
  }

  /** Offers every point that has a dense vector and passes the test, with its cosine to `query` (of length 1). */
  scoreDense(query: Float32Array, passes: KeyTest, best: TopK): void {
    for (let from = 0; from < this.#points.length; from += ROWS_AT_ONCE) {
      const count = Math.min(ROWS_AT_ONCE, this.#points.length - from);
      const scores = this.#dense.dots(query, from, count);
      for (let i = 0; i < count; i++) {
        const score = scores[i] as number;
        // NaN: the point has no dense vector.
        if (Number.isNaN(score) || !best.mayTake(score)) continue;
        const point = this.#points[from + i];
        if (point && best.wants(score, point.key) && passes(point.key, point.payload)) best.offer(point.key, score);
      }
    }
  }

  /** As {@link scoreDense}, of these points alone. */
  scoreDenseOf(keys: Iterable<string>, query: Float32Array, best: TopK): void {
    for (const key of keys) {
      const slot = this.#slots.get(key);
      if (slot === undefined) continue;
      const score = this.#dense.dots(query, slot, 1)[0] as number;
      if (!Number.isNaN(score) && best.wants(score, key)) best.offer(key, score);
    }
  }

  /** How many points hold the term; null: have the sparse vector. */
  documentFrequency(name: string, term: number | null): number {
    return this.#sparse.slotsWith(name, term).filter((slot) => this.#points[slot] !== null).length;
  }

  /** Offers every point that shares an index with `query` and passes the test, with the dot product. */
  scoreSparse(name: string, query: KeptSparse, passes: KeyTest, best: TopK): void {
    const { count, slots, scores } = this.#sparse.find(name, query, this.#points.length);
    for (let i = 0; i < count; i++) {
      const slot = slots[i] as number;
      const score = scores[slot] as number;
      if (!best.mayTake(score)) continue;
      const point = this.#points[slot];
      if (point && best.wants(score, point.key) && passes(point.key, point.payload)) best.offer(point.key, score);
    }
  }
}

/** As {@link ManyDenseRows}; where the process may not have another memory of that kind, as they are. */
function manyRows(dimension: number, few: FewDenseRows, expected: number): DenseRows {
  try {
    return new ManyDenseRows(dimension, few, expected);
  } catch (error) {
    if (error instanceof RangeError) return few;
    throw error;
  }
}

/** Keys with fewer values than this tell little of where a point lies: `status` has four. */
const FEW_VALUES = 8;

/** Rough sizes in bytes: of a slot in a set, and of a value with its set. The value's text is the payload's own. */
const BYTES_PER_SLOT = 32;
const BYTES_PER_VALUE = 320;

/** Where the points of a partition lie, by what their payloads hold under one key: a text, or several. */
class SlotsByValue {
  readonly #slots = new Map<string, Set<number>>();
  #held = 0;

  /** Estimate of the memory taken, in bytes. */
  get bytes(): number {
    return this.#slots.size * BYTES_PER_VALUE + this.#held * BYTES_PER_SLOT;
  }

  add(slot: number, value: unknown): void {
    for (const text of textsOf(value)) {
      const slots = this.#slots.get(text) ?? new Set();
      if (slots.has(slot)) continue;
      this.#slots.set(text, slots.add(slot));
      this.#held += 1;
    }
  }

  /** `value`: as it was added. */
  remove(slot: number, value: unknown): void {
    for (const text of textsOf(value)) {
      const slots = this.#slots.get(text);
      if (slots?.delete(slot)) this.#held -= 1;
      if (slots?.size === 0) this.#slots.delete(text);
    }
  }

  /** Each slot once, in no order; null where there are too few values for that to be worth it. */
  of(values: ReadonlySet<string>): readonly number[] | null {
    if (this.#slots.size < FEW_VALUES) return null;
    return [...new Set([...values].flatMap((value) => [...(this.#slots.get(value) ?? [])]))];
  }
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}

/** A change that was committed, to be followed by what is in memory. */
export type Change =
  | { readonly type: "put"; readonly tenant: string | null; readonly point: KeptPoint }
  | { readonly type: "payload"; readonly tenant: string | null; readonly point: KeptPoint }
  | { readonly type: "remove"; readonly tenant: string | null; readonly key: string };

/** Tenants' points in memory, the last used ones, up to a number of bytes. A tenant too large for it is loaded for each call. */
export class Partitions {
  readonly #tables: LocalTables;
  readonly #cache: LRUCache<string, Partition>;
  /** With how many bytes each was taken into the cache. */
  readonly #counted = new WeakMap<Partition, number>();

  constructor(tables: LocalTables, maxBytes: number) {
    this.#tables = tables;
    this.#cache = new LRUCache({ maxSize: maxBytes, sizeCalculation: (partition) => Math.max(1, partition.bytes) });
  }

  /** @param options.keep false for scans of all tenants, which would push out those that are in use. Default true. */
  of(collection: number, dimension: number, tenant: string | null, options: { readonly keep?: boolean } = {}): Partition {
    const name = nameOf(collection, tenant);
    const cached = this.#cache.get(name);
    if (cached !== undefined) {
      // What is made for a read (sums, slots by value) counts from the next one on.
      if (cached.bytes !== this.#counted.get(cached)) this.#keep(name, cached);
      return cached;
    }
    const partition = new Partition(dimension, this.#tables.countOfTenant(collection, tenant));
    for (const point of this.#tables.ofTenant(collection, tenant)) partition.put(point);
    if (options.keep !== false) this.#keep(name, partition);
    return partition;
  }

  /** The cache counts a value as it is when it comes. */
  #keep(name: string, partition: Partition): void {
    this.#cache.delete(name);
    this.#counted.set(partition, partition.bytes);
    this.#cache.set(name, partition);
  }

  follow(collection: number, changes: readonly Change[]): void {
    const touched = new Set<string>();
    for (const change of changes) {
      const name = nameOf(collection, change.tenant);
      const partition = this.#cache.peek(name);
      if (partition === undefined) continue;
      touched.add(name);
      if (change.type === "put") partition.put(change.point);
      else if (change.type === "remove") partition.remove(change.key);
      else partition.setPayload(change.point.key, change.point.payload, change.point.payloadChars);
    }
    for (const name of touched) {
      const partition = this.#cache.peek(name);
      if (partition === undefined) continue;
      if (partition.wasteful) this.#cache.delete(name);
      else this.#keep(name, partition);
    }
  }

  /** Estimate of the memory that is taken now, in bytes. */
  get bytes(): number {
    return [...this.#cache.values()].reduce((sum, partition) => sum + partition.bytes, 0);
  }

  clear(): void {
    this.#cache.clear();
  }
}

function nameOf(collection: number, tenant: string | null): string {
  return tenant === null ? `${collection}` : `${collection}:${tenant}`;
}
