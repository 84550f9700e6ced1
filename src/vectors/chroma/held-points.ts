import { Partition } from "../local/partition.js";
import type { PartitionSource, PointTables } from "../local/point-reads.js";
import type { KeptPoint } from "../requests/point.js";

/**
 * Points in memory as they are in Chroma, by the records that they came from. A record is never changed: a point that is written again is a
 * new record, whose id sorts after the old one, so that the ids alone tell what is new. Of two records of a point the later one counts.
 */
export class HeldPoints {
  readonly partition: Partition;
  readonly #points = new Map<string, KeptPoint>();
  readonly #records = new Map<string, string[]>();
  /** By sparse vector: how many points hold a term; null: have the vector. */
  readonly #terms = new Map<string, Map<number | null, number>>();

  constructor(dimension: number) {
    this.partition = new Partition(dimension);
  }

  get size(): number {
    return this.#records.size;
  }

  /** Those that are not held. */
  missing(records: readonly string[]): string[] {
    return records.filter((record) => !this.#points.has(record));
  }

  add(record: string, point: KeptPoint): void {
    const records = [...(this.#records.get(point.key) ?? []), record].sort();
    const before = this.#newest(point.key);
    // The partition has the dense vector.
    this.#points.set(record, { ...point, dense: null });
    this.#records.set(point.key, records);
    if (records.at(-1) !== record) return;
    if (before !== undefined) this.#count(before, -1);
    this.#count(point, 1);
    this.partition.put(point);
  }

  /** Leaves what is in none of these records; false where an older one would count again, whose dense vector is not held. */
  keepOnly(records: readonly string[]): boolean {
    const there = new Set(records);
    for (const [record, { key }] of this.#points) {
      if (there.has(record)) continue;
      const newest = this.#newest(key);
      const left = (this.#records.get(key) ?? []).filter((each) => each !== record);
      const isNewest = newest === this.#points.get(record);
      this.#points.delete(record);
      if (isNewest && left.length > 0) return false;
      if (left.length > 0) this.#records.set(key, left);
      else {
        this.#records.delete(key);
        if (newest !== undefined) this.#count(newest, -1);
        this.partition.remove(key);
      }
    }
    return !this.partition.wasteful;
  }

  documentFrequency(name: string, term: number | null): number {
    return this.#terms.get(name)?.get(term) ?? 0;
  }

  #newest(key: string): KeptPoint | undefined {
    return this.#points.get(this.#records.get(key)?.at(-1) ?? "");
  }

  #count({ sparse }: KeptPoint, change: number): void {
    for (const [name, { indices }] of sparse) {
      const terms = this.#terms.get(name) ?? new Map<number | null, number>();
      this.#terms.set(name, terms);
      for (const term of [null, ...indices]) terms.set(term, (terms.get(term) ?? 0) + change);
    }
  }
}

/** What is held, as queries read it. `owners`: by name; with null all points there are. */
export function sourceOf(owners: ReadonlyMap<string | null, HeldPoints>, dimension: number): PointTables & PartitionSource {
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
