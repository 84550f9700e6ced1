import { PointCache } from "../in-memory/point-cache.js";
import type { KeptPoint } from "../requests/point.js";

/**
 * Points in memory as they are in Chroma, by the records that they came from. A record is never changed: a point that is written again is a
 * new record, whose id sorts after the old one, so that the ids alone tell what is new. Of two records of a point the later one counts.
 */
export class RecordedPoints {
  readonly cache: PointCache;
  /** The point's key, by record. */
  readonly #keys = new Map<string, string>();
  /** By key, oldest first. */
  readonly #records = new Map<string, readonly string[]>();

  constructor(dimension: number) {
    this.cache = new PointCache(dimension);
  }

  /** Those that are not held. */
  missing(records: readonly string[]): string[] {
    return records.filter((record) => !this.#keys.has(record));
  }

  add(record: string, point: KeptPoint): void {
    const records = [...(this.#records.get(point.key) ?? []), record].sort();
    this.#keys.set(record, point.key);
    this.#records.set(point.key, records);
    if (records.at(-1) === record) this.cache.put(point);
  }

  /** Leaves what is in none of these records; false where an older one would count again, which is not held. */
  keepOnly(records: readonly string[]): boolean {
    const there = new Set(records);
    for (const [record, key] of this.#keys) {
      if (there.has(record)) continue;
      const before = this.#records.get(key) ?? [];
      const left = before.filter((each) => each !== record);
      this.#keys.delete(record);
      this.#records.set(key, left);
      if (left.length > 0 && before.at(-1) === record) return false;
      if (left.length > 0) continue;
      this.#records.delete(key);
      this.cache.remove(key);
    }
    return !this.cache.partition.wasteful;
  }
}
