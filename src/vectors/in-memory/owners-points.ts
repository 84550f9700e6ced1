import { LRUCache } from "lru-cache";
import { KeyedMutex } from "../../platform/keyed-mutex.js";
import { Partition } from "../local/partition.js";
import type { PartitionSource, PointTables } from "../local/point-reads.js";

/** What is in memory, as queries read it. `owners`: by name; with null all points there are. */
export function sourceOf(owners: ReadonlyMap<string | null, Partition>, dimension: number): PointTables & PartitionSource {
  const none = new Partition(dimension);
  const all = () => [...owners.values()].flatMap((each) => [...each.points()]);
  return {
    point: (_, key) => [...owners.values()].map((each) => each.get(key)).find((point) => point !== undefined) ?? null,
    payloads: (_, from = "") =>
      all()
        .filter(({ key }) => key >= from)
        .sort((a, b) => (a.key < b.key ? -1 : 1)),
    payloadsOfTenant: (_, tenant) => owners.get(tenant)?.points() ?? [],
    tenants: () => [...owners.keys()],
    documentFrequency: (_, name, term) => [...owners.values()].reduce((sum, each) => sum + each.documentFrequency(name, term), 0),
    of: (_, __, tenant) => owners.get(tenant) ?? none,
  };
}

/** Points of the owners that were asked for last, each brought up to date before it is read. */
export class OwnersPoints<T extends { readonly partition: Partition }> {
  readonly #held: LRUCache<string, T>;
  readonly #oneAtATime = new KeyedMutex();
  readonly #waiting = new Map<string, Promise<T>>();

  /** `maxBytes`: of all together. An owner too large for it is read for each call. */
  constructor(maxBytes: number) {
    this.#held = new LRUCache({ maxSize: Math.max(1, maxBytes), sizeCalculation: ({ partition }) => Math.max(1, partition.bytes) });
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
      return this.#update(name, this.#held.get(name), update);
    });
    if (!hasBegun) this.#waiting.set(name, next);
    return next;
  }

  /** As {@link current}, of an owner who is held: whoever is not is left so. */
  async changed(name: string, update: (known: T) => T): Promise<void> {
    await this.#oneAtATime.run(name, async () => {
      const known = this.#held.peek(name);
      if (known !== undefined) await this.#update(name, known, async () => update(known));
    });
  }

  async #update<K extends T | undefined>(name: string, known: K, update: (known: K) => Promise<T>): Promise<T> {
    const before = known?.partition.bytes;
    const now = await update(known);
    // The cache counts a value as it is when it comes.
    if (now !== known || now.partition.bytes !== before) {
      this.#held.delete(name);
      this.#held.set(name, now);
    }
    return now;
  }
}
