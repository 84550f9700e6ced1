import { LRUCache } from "lru-cache";
import type { KeptPoint } from "../requests/point.js";
import type { LocalTables } from "./local-tables.js";
import { Partition } from "./partition.js";

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
