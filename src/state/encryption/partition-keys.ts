import type { DataKey } from "./data-key.js";
import type { KeysRow } from "./keys-row.js";

/** A partition's keys, unwrapped, as they were read. */
export interface PartitionKeys {
  readonly row: KeysRow;
  /** Hashes words; null where there is no key. */
  readonly words: DataKey | null;
  /** Of the row, by the engine that keeps it; null: there is none. */
  readonly version: number | null;
  /** Of the partition in the engine that keeps them, when they were read: their loss raises it. */
  readonly epoch: number;
  /** By id. Also those that were destroyed, as long as this process needs them to find and count what it deletes. */
  readonly keys: ReadonlyMap<string, DataKey>;
}

/** The key that seals, and the partition's others as they were then. */
export interface SealingKey {
  readonly key: DataKey;
  readonly held: PartitionKeys;
}

/** Of a partition whose key is being renewed. */
export interface Renewal {
  /** Seals from now on. */
  readonly key: DataKey;
  /** Ids of those that sealed before it. */
  readonly before: readonly string[];
}
