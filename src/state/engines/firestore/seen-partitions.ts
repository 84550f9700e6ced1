import { LRUCache } from "lru-cache";
import type { Commit, KeyRange, StoredEntry } from "../../engine.js";
import type { PartitionHead } from "../../partition-head.js";
import type { Timestamp } from "./firestore-client.js";

/** What one look told of a partition. It holds as long as the head is as it was then, which the write itself finds out. */
export interface Seen {
  readonly head: PartitionHead;
  /** Undefined: there is no head yet. */
  readonly updateTime: Timestamp | undefined;
  /** Null: there is no such key. */
  readonly versions: ReadonlyMap<string, number | null>;
  /** Keys in these that are not among the versions are not there. */
  readonly whole: readonly KeyRange[];
  /** The server's clock then. */
  readonly nowMs: number;
}

const PARTITIONS = 1_000;
/** Of one partition. */
const MOST_KEYS = 1_000;

/** What this process saw last of partitions: whoever commits on what they have just read needs no other look. */
export class SeenPartitions {
  readonly #seen = new LRUCache<string, Seen>({ max: PARTITIONS });

  saw(partition: string, seen: Seen): void {
    const before = this.#seen.peek(partition);
    if (seen.versions.size <= MOST_KEYS && (before === undefined || before.head.version <= seen.head.version))
      this.#seen.set(partition, seen);
  }

  /** Where it is enough to decide by. A claim is measured by the server's clock, and looked at anew. */
  enoughFor(partition: string, { claim, checks = [], puts = [] }: Partial<Commit>): Seen | undefined {
    const seen = claim === undefined ? this.#seen.get(partition) : undefined;
    // Whether a key is there that must not be, the write that makes it finds out.
    const made = new Set(puts.map(({ key }) => key));
    const isKnown = ({ key, version }: { readonly key: string; readonly version: number | null }) =>
      (version === null && made.has(key)) || (seen !== undefined && versionIn(seen, key) !== undefined);
    return checks.every(isKnown) ? seen : undefined;
  }

  wrote(partition: string, seen: Seen, head: PartitionHead, updateTime: Timestamp, { puts = [], deletes = [] }: Partial<Commit>): void {
    const versions = new Map(seen.versions);
    for (const key of deletes) versions.set(key, null);
    for (const { key } of puts) versions.set(key, head.version);
    this.saw(partition, { ...seen, head, updateTime, versions });
  }

  forget(partition: string): void {
    this.#seen.delete(partition);
  }
}

/** Undefined: not known. */
export function versionIn({ versions, whole }: Seen, key: string): number | null | undefined {
  const version = versions.get(key);
  return version === undefined && whole.some(({ from, to }) => compareKeys(from, key) <= 0 && compareKeys(key, to) < 0) ? null : version;
}

/** Of those that a look asked for, what it saw whole. */
export function seenWhole(ranges: readonly KeyRange[], found: readonly (readonly StoredEntry[])[]): readonly KeyRange[] {
  return ranges.filter(({ limit = Number.POSITIVE_INFINITY }, place) => (found[place]?.length ?? 0) < limit);
}

export function compareKeys(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
