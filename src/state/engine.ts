/**
 * What a store of state must be able to do, and nothing more: change some keys of one partition atomically, if they are still what the
 * writer saw. Everything that is stored (journals, sessions, ledgers, memory logs, jobs, events, bookings) is written once over it.
 *
 * A partition is all that belongs together: an owner's, or one of the installation's own. Keys are ordered by their UTF-8 bytes and made
 * of ids and times alone; values are text, as a rule JSON. The contract is `stateEngineContract` of `maitred/testing`.
 */
export interface StateEngine {
  readonly manifest: EngineManifest;
  /** One consistent look, one round trip. A partition that was never written is empty: version 0, epoch 0. @throws STORAGE_UNAVAILABLE */
  read(partition: string, query: ReadQuery, options?: { readonly signal?: AbortSignal }): Promise<PartitionRead>;
  /**
   * All or nothing, one round trip, durable on resolve but where its {@link Commit.durability} asks for less. The same commit id again,
   * soon after, is answered as it was the first time and changes nothing: a writer whose reply was lost asks again.
   * @throws STORAGE_UNAVAILABLE (the outcome is not known), COMMIT_TOO_LARGE
   */
  commit(partition: string, commit: Commit): Promise<CommitResult>;
  /** Partitions, in an order of the engine's own that stays while others come and go. */
  partitions(page: PartitionsPage): Promise<readonly PartitionEntry[]>;
  /**
   * Partitions whose alarm has rung by `nowMs` and that nobody has claimed, the longest due first. Each is the caller's until `leaseMs`
   * from now have passed, or a commit lets it go; 0: looked at, and not taken. At most 1,000.
   */
  due(nowMs: number, limit: number, leaseMs: number): Promise<readonly DuePartition[]>;
  /** Raises the epoch, then deletes all entries and the alarm. The epoch stays. Returns how many entries there were. Idempotent. */
  erase(partition: string): Promise<number>;
  /**
   * `down`: a commit would be refused; `degraded`: that too, where turns are kept all the same. Costs at most one small commit; never
   * throws.
   */
  health(): Promise<{ readonly status: "ok" | "degraded" | "down"; readonly detail?: string }>;
  /** Leaves no deleted byte in files of this process's own. Absent where there are none. */
  scrub?(): Promise<void>;
  close(): Promise<void>;
}

export interface EngineManifest {
  /** For a person: `PostgreSQL (schema maitred)`. */
  readonly name: string;
  /** What a commit that was acknowledged outlives. */
  readonly durability: "process" | "machine" | "none";
  /** Largest value, in UTF-8 bytes. Larger ones are kept in parts. */
  readonly maxValueBytes: number;
  /** Most puts and deletes in one commit. */
  readonly maxOperations: number;
  /** Of keys and values in one commit, in UTF-8 bytes. */
  readonly maxCommitBytes: number;
  /** Whether several processes may use it at once. */
  readonly shared: boolean;
}

export interface ReadQuery {
  readonly keys?: readonly string[];
  readonly ranges?: readonly KeyRange[];
}

/** Keys from `from` (inclusive) to `to` (exclusive). */
export interface KeyRange {
  readonly from: string;
  readonly to: string;
  /** Default: all. */
  readonly limit?: number;
  /** From the greatest key down. Default false. */
  readonly reverse?: boolean;
}

export interface StoredEntry {
  readonly key: string;
  readonly value: string;
  /** The partition's version when the key was last put. */
  readonly version: number;
}

export interface PartitionRead {
  /** Grows with every commit. 0: never written. */
  readonly version: number;
  /** Grows with every erasure. */
  readonly epoch: number;
  /** When the partition is due, in milliseconds since the epoch; null: there is nothing to do. */
  readonly dueAtMs: number | null;
  /** Those of the keys that are there. */
  readonly entries: ReadonlyMap<string, StoredEntry>;
  /** In the order of the query's ranges. */
  readonly ranges: readonly (readonly StoredEntry[])[];
  /** The engine's clock, in milliseconds since the epoch: what leases are measured by, whatever the caller's clock says. */
  readonly nowMs: number;
}

export interface Commit {
  /** Of this commit alone; the engine knows at least the last 16 of a partition. */
  readonly id: string;
  /** Refused when the partition's is another. Default: not checked. */
  readonly epoch?: number;
  /** Refused when the partition's is another: nothing at all has changed since it was read. Default: not checked. */
  readonly version?: number;
  /** Each must still have this version; null: must not be there. */
  readonly checks?: readonly { readonly key: string; readonly version: number | null }[];
  readonly puts?: readonly { readonly key: string; readonly value: string }[];
  /** A key that is not there is passed over. */
  readonly deletes?: readonly string[];
  /** The alarm rings at this time, or earlier where it is set so already. */
  readonly dueByMs?: number;
  /** The alarm is set to just this; null: taken away. Before `dueByMs`. */
  readonly dueAtMs?: number | null;
  /** Refused when the partition is not claimed by it any more. The claim is renewed for `leaseMs` from now; 0: let go. */
  readonly claim?: { readonly token: string; readonly leaseMs: number };
  /**
   * `relaxed`: a power cut may take it, as it is done again then. It outlives a kill, and a power cut once a durable one follows: an engine
   * need not wait for its disk, and may do along with it what makes later commits cheaper. Default: durable.
   */
  readonly durability?: "relaxed";
  /** The epoch becomes one more: what began before can't write any more. Default false. */
  readonly raisesEpoch?: boolean;
}

export type CommitResult =
  | { readonly ok: true; readonly version: number; readonly epoch: number }
  | {
      readonly ok: false;
      /** Looked at in this order; the first that fails is told. */
      readonly refused: "epoch" | "claim" | "version" | "checks";
      /** With `checks`: the keys whose check failed. */
      readonly keys: readonly string[];
      /** As they are. */
      readonly version: number;
      readonly epoch: number;
    };

export interface PartitionsPage {
  /** Only partitions that hold it; its value is told. Default: all that were written, also those that an erasure has emptied. */
  readonly key?: string;
  /** The last partition of the page before. Default: from the first. */
  readonly after?: string;
  readonly limit: number;
}

export interface PartitionEntry {
  readonly partition: string;
  /** Of the page's key; empty where it names none. */
  readonly value: string;
}

export interface DuePartition {
  readonly partition: string;
  readonly dueAtMs: number;
  /** Names the claim. Empty where it was only looked at. */
  readonly token: string;
}

/** Partitions that {@link StateEngine.due} gives at once, at most. */
export const MOST_DUE = 1_000;

/** Puts and deletes that every engine takes in one commit, also where its values are encrypted. */
export const OPERATIONS_AT_ONCE = 90;

/** All keys that begin with the prefix. */
export function prefixRange(prefix: string): Pick<KeyRange, "from" | "to"> {
  return { from: prefix, to: `${prefix}\u{10FFFF}` };
}

/** Where a range goes on behind a key: no key holds a blank, or what sorts before one. */
export function behind(key: string): string {
  return `${key} `;
}
