import type { Owner } from "../domain/owner.js";
import type { JournalRecord } from "../domain/session.js";
import type { ImageStore } from "./image-store.js";
import type { MemoryLog, MemoryLogEntry } from "./memory-log.js";
import type { AuditEntry, ErasureReceipt, Tombstone, UserRecord } from "./owner-ledger.js";
import type { PendingTurn, SessionIndex, ShortTermMemory } from "./session-store.js";

/** Where state can be moved from and to. */
export const STATE_BACKENDS = ["file", "postgres", "redis"] as const;
export type StateBackend = (typeof STATE_BACKENDS)[number];

/**
 * A store of state that can be moved to another one, exactly, while nobody else uses either. What is restored replaces what an earlier try
 * left of the same thing, and is durable on resolve.
 */
export interface TransferableState {
  /** For a person: `PostgreSQL (schema maitred)`. */
  readonly name: string;
  readonly journal: ShortTermMemory & RestoresJournals;
  readonly index: SessionIndex & RestoresPending;
  readonly images: ImageStore;
  readonly memoryLog: MemoryLog & RestoresMemoryLogs;
  readonly ledgers: TransferableLedgers;
  /** What follows from no journal and no log: bookings, tokens by day. */
  readonly tables: readonly TransferableTable[];
  /** The leases that others hold now, by key: when each ends, in milliseconds. Each running process renews one. */
  leases(): Promise<ReadonlyMap<string, number>>;
}

/** Where the numbering of a journal is: behind its last record where that was dropped. */
export interface JournalEnd {
  readonly lastSeq: number;
  readonly lastTurn: number;
}

export interface RestoresJournals {
  /**
   * A journal as it was: seqs with their gaps, ids and times stay. `records` may be asked for twice. The index is to be caught up
   * afterwards. @throws SESSION_CHANGED where the id is somebody else's session
   */
  restore(owner: Owner, sessionId: string, records: () => AsyncIterable<JournalRecord>, end: JournalEnd): Promise<void>;
}

export interface RestoresPending {
  /** State, attempts and due time of a turn that the index has as pending or failed. Without effect where it has not. */
  restorePending(turn: PendingTurn): Promise<void>;
}

export interface RestoresMemoryLogs {
  /** A log as it was, each entry with its seq and time. */
  restore(owner: Owner, entries: () => AsyncIterable<MemoryLogEntry>): Promise<void>;
}

/** What a ledger holds. */
export interface LedgerContents {
  readonly tombstones: readonly Tombstone[];
  readonly user: UserRecord | null;
  readonly audit: readonly AuditEntry[];
  readonly progress: ReadonlyMap<string, string>;
  readonly receipts: readonly ErasureReceipt[];
  readonly epoch: number;
  /** An erasure that was begun and is not complete. */
  readonly open: { readonly owner: Owner; readonly epoch: number; readonly at: string } | null;
}

/** Ledgers by the SHA-256 of their owners: those of erased owners have no name. */
export interface TransferableLedgers {
  /** In no order. `hash` is null for one whose owner can't be told any more, and so can't be moved. @throws STORAGE_DAMAGED */
  all(): AsyncIterable<{ readonly hash: string | null; readonly contents: LedgerContents }>;
  /** Null where there is none. @throws STORAGE_DAMAGED for contents that only their owner's codec can read */
  contents(hash: string): Promise<LedgerContents | null>;
  restore(hash: string, contents: LedgerContents): Promise<void>;
}

export type TransferableRow = Readonly<Record<string, string | number | null>>;

export interface TransferableTable {
  /** The same in every store. */
  readonly name: string;
  rows(): AsyncIterable<TransferableRow>;
  /** Rows that are there already stay as they are. */
  restore(rows: readonly TransferableRow[]): Promise<void>;
}
