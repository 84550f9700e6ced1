import { type Clock, systemClock } from "../../../platform/clock.js";
import { newId } from "../../../platform/ids.js";
import { throwIfAborted } from "../../abortable-read.js";
import { assertFits } from "../../commit-limits.js";
import {
  type Commit,
  type CommitResult,
  type DuePartition,
  type EngineManifest,
  type KeyRange,
  MOST_DUE,
  type PartitionEntry,
  type PartitionRead,
  type PartitionsPage,
  type ReadQuery,
  type StateEngine,
  type StoredEntry,
} from "../../engine.js";
import { compareKeys } from "../../optimistic-heads.js";
import { decide, EMPTY_HEAD, erasedHead, isClaimed, type PartitionHead } from "../../partition-head.js";

interface Partition {
  readonly name: string;
  head: PartitionHead;
  entries: SortedEntries;
}

/** State in the process's memory, gone with it. */
export class MemoryEngine implements StateEngine {
  readonly manifest: EngineManifest = {
    name: "memory",
    durability: "process",
    maxValueBytes: 900 * 1024,
    maxOperations: 128,
    maxCommitBytes: 16_000_000,
    shared: false,
  };
  readonly #clock: Clock;
  readonly #partitions = new Map<string, Partition>();

  constructor({ clock = systemClock }: { readonly clock?: Clock } = {}) {
    this.#clock = clock;
  }

  async read(
    partition: string,
    { keys = [], ranges = [] }: ReadQuery,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<PartitionRead> {
    throwIfAborted(signal);
    const { head, entries } = this.#partitions.get(partition) ?? empty(partition);
    const found = new Map<string, StoredEntry>();
    for (const key of keys) {
      const entry = entries.get(key);
      if (entry !== undefined) found.set(key, entry);
    }
    const { version, epoch, dueAtMs } = head;
    return { version, epoch, dueAtMs, entries: found, ranges: ranges.map((range) => entries.range(range)), nowMs: this.#nowMs() };
  }

  async commit(name: string, commit: Commit): Promise<CommitResult> {
    assertFits(this.manifest, commit);
    const partition = this.#partitions.get(name) ?? empty(name);
    const { entries } = partition;
    const { result, head } = decide(partition.head, commit, (key) => entries.get(key)?.version ?? null, this.#nowMs());
    if (head === null) return result;
    for (const key of commit.deletes ?? []) entries.delete(key);
    for (const { key, value } of commit.puts ?? []) entries.put({ key, value, version: head.version });
    partition.head = head;
    this.#partitions.set(name, partition);
    return result;
  }

  async partitions({ key, after, limit }: PartitionsPage): Promise<readonly PartitionEntry[]> {
    return [...this.#partitions.values()]
      .filter(({ name }) => after === undefined || compareKeys(name, after) > 0)
      .flatMap(({ name, entries }) => {
        const value = key === undefined ? "" : entries.get(key)?.value;
        return value === undefined ? [] : [{ partition: name, value }];
      })
      .sort((one, other) => compareKeys(one.partition, other.partition))
      .slice(0, limit);
  }

  async due(nowMs: number, limit: number, leaseMs: number): Promise<readonly DuePartition[]> {
    const engineMs = this.#nowMs();
    return [...this.#partitions.values()]
      .flatMap((partition) => {
        const { dueAtMs } = partition.head;
        return dueAtMs === null || dueAtMs > nowMs || isClaimed(partition.head, engineMs) ? [] : [{ partition, dueAtMs }];
      })
      .sort((one, other) => one.dueAtMs - other.dueAtMs)
      .slice(0, Math.min(limit, MOST_DUE))
      .map(({ partition, dueAtMs }) => {
        const token = leaseMs > 0 ? newId() : "";
        if (leaseMs > 0) partition.head = { ...partition.head, claim: { token, untilMs: engineMs + leaseMs } };
        return { partition: partition.name, dueAtMs, token };
      });
  }

  async erase(name: string): Promise<number> {
    const partition = this.#partitions.get(name) ?? empty(name);
    const { size } = partition.entries;
    this.#partitions.set(name, { name, head: erasedHead(partition.head), entries: new SortedEntries() });
    return size;
  }

  async health(): Promise<{ readonly status: "ok" }> {
    return { status: "ok" };
  }

  async close(): Promise<void> {}

  #nowMs(): number {
    return this.#clock.now().getTime();
  }
}

function empty(name: string): Partition {
  return { name, head: EMPTY_HEAD, entries: new SortedEntries() };
}

/** The entries of one partition, in the order of their keys' UTF-8 bytes. */
export class SortedEntries {
  readonly #entries = new Map<string, StoredEntry>();
  readonly #keys: string[] = [];

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): StoredEntry | undefined {
    return this.#entries.get(key);
  }

  put(entry: StoredEntry): void {
    if (!this.#entries.has(entry.key)) this.#keys.splice(this.#placeOf(entry.key), 0, entry.key);
    this.#entries.set(entry.key, entry);
  }

  delete(key: string): void {
    if (this.#entries.delete(key)) this.#keys.splice(this.#placeOf(key), 1);
  }

  range({ from, to, limit = Number.POSITIVE_INFINITY, reverse = false }: KeyRange): readonly StoredEntry[] {
    const first = this.#placeOf(from);
    const end = Math.max(first, this.#placeOf(to));
    const keys = reverse
      ? this.#keys.slice(Math.max(first, end - limit), end).reverse()
      : this.#keys.slice(first, Math.min(end, first + limit));
    return keys.flatMap((key) => this.#entries.get(key) ?? []);
  }

  /** Of the first key that is not before this one. */
  #placeOf(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(this.#keys[middle] ?? "", key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
