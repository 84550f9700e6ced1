import { LRUCache } from "lru-cache";
import { KeyedMutex } from "../../platform/keyed-mutex.js";
import { Partition } from "../local/partition.js";
import type { PartitionSource, PointTables } from "../local/point-reads.js";
import type { KeptPoint } from "../requests/point.js";

/** Points in memory as a store that searches none of them keeps them: searched as LocalQdrant's are, with an IDF of these points alone. */
export class PointCache {
  readonly partition: Partition;
  /** By sparse vector: how many points hold a term; null: have the vector. */
  readonly #terms = new Map<string, Map<number | null, number>>();
  readonly #sparse = new Map<string, KeptPoint["sparse"]>();

  constructor(dimension: number) {
    this.partition = new Partition(dimension);
  }

  /** Of the memory taken, in bytes. */
  get bytes(): number {
    return Math.max(1, 2 * this.partition.bytes);
  }

  put(point: KeptPoint): void {
    this.#uncount(point.key);
    this.#sparse.set(point.key, point.sparse);
    this.#count(point.sparse, 1);
    this.partition.put(point);
  }

  remove(key: string): void {
    this.#uncount(key);
    this.#sparse.delete(key);
    this.partition.remove(key);
  }

  documentFrequency(name: string, term: number | null): number {
    return this.#terms.get(name)?.get(term) ?? 0;
  }

  #uncount(key: string): void {
    const before = this.#sparse.get(key);
    if (before !== undefined) this.#count(before, -1);
  }

  #count(sparse: KeptPoint["sparse"], change: number): void {
    for (const [name, { indices }] of sparse) {
      const terms = this.#terms.get(name) ?? new Map<number | null, number>();
      this.#terms.set(name, terms);
      for (const term of [null, ...indices]) terms.set(term, (terms.get(term) ?? 0) + change);
    }
  }
}

/** What is in memory, as queries read it. `owners`: by name; with null all points there are. */
export function sourceOf(owners: ReadonlyMap<string | null, PointCache>, dimension: number): PointTables & PartitionSource {
  const none = new Partition(dimension);
  const all = () => [...owners.values()].flatMap(({ partition }) => [...partition.points()]);
  return {
    point: (_, key) => [...owners.values()].map(({ partition }) => partition.get(key)).find((point) => point !== undefined) ?? null,
    payloads: (_, from = "") =>
      all()
        .filter(({ key }) => key >= from)
        .sort((a, b) => (a.key < b.key ? -1 : 1)),
    payloadsOfTenant: (_, tenant) => owners.get(tenant)?.partition.points() ?? [],
    tenants: () => [...owners.keys()],
    documentFrequency: (_, name, term) => [...owners.values()].reduce((sum, held) => sum + held.documentFrequency(name, term), 0),
    of: (_, __, tenant) => owners.get(tenant)?.partition ?? none,
  };
}

/** Points of the owners that were asked for last, each brought up to date before it is read. */
export class OwnersPoints<T extends { readonly cache: PointCache }> {
  readonly #held: LRUCache<string, T>;
  readonly #oneAtATime = new KeyedMutex();
  readonly #waiting = new Map<string, Promise<T>>();

  /** `maxBytes`: of all together. An owner too large for it is read for each call. */
  constructor(maxBytes: number) {
    this.#held = new LRUCache({ maxSize: Math.max(1, maxBytes), sizeCalculation: ({ cache }) => cache.bytes });
  }

  /**
   * An owner's as they are now. `update` gets what is held, undefined at first, and gives what is to be held, the same or another. Calls
   * that come while it is under way share the next one: it begins after each of them.
   */
  current(name: string, update: (known: T | undefined) => Promise<T>): Promise<T> {
    const waiting = this.#waiting.get(name);
    if (waiting !== undefined) return waiting;
    let hasBegun = false;
    const next = this.#oneAtATime.run(name, async () => {
      hasBegun = true;
      this.#waiting.delete(name);
      const known = this.#held.get(name);
      const before = known?.cache.bytes;
      const now = await update(known);
      // The cache counts a value as it is when it comes.
      if (now !== known || now.cache.bytes !== before) {
        this.#held.delete(name);
        this.#held.set(name, now);
      }
      return now;
    });
    if (!hasBegun) this.#waiting.set(name, next);
    return next;
  }
}
