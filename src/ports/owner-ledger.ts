import type { Owner } from "../domain/owner.js";
import type { ErasureReceipt } from "./resources.js";

/**
 * What must be known of an owner beside sessions and memories, without any of their words:
 * tombstones of what was forgotten, erasure intents and receipts, the audit trail, and the user's record.
 */
export interface Tombstone {
  readonly memoryId: string;
  /** The messages whose sentence is hidden from history recall, summary and profile; answers that recited it among them. */
  readonly messageIds: readonly string[];
  /** Those among them that asked for it to be forgotten: what else they say is no part of it and may be kept. */
  readonly askedIn?: readonly string[];
  /** SHA-256 of owner and normalised text: the same statement, made before `at`, is not stored again. */
  readonly textHash: string;
  /** Whose hash it is, where it was taken over from a user who turned out to be this one. Default: the owner's. */
  readonly hashOf?: Owner;
  /** ISO 8601 UTC. Statements made after it count again. */
  readonly at: string;
}

export interface AuditEntry {
  readonly at: string;
  readonly action: "export" | "erase" | "forget" | "purge_session" | "delete_memories" | "import" | "merge" | "unmerge" | "look";
  /** Who did it: "user", "retention", "cli", "operator". */
  readonly by: string;
  readonly receiptId: string | null;
  readonly counts: Readonly<Record<string, number>>;
}

/** As far as identity gives them. */
export interface UserRecord {
  readonly displayName: string | null;
  readonly provider: string | null;
  readonly timeZone: string | null;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
}

/** Of a user, with what identity tells of them then. */
export interface Sighting {
  readonly at: string;
  readonly displayName?: string;
  readonly provider?: string;
  readonly timeZone?: string;
}

export interface OwnerLedger {
  tombstones(owner: Owner): Promise<readonly Tombstone[]>;
  /** Durable on resolve, and before the memory itself is deleted. */
  addTombstone(owner: Owner, tombstone: Tombstone): Promise<void>;
  /** Several in one write: all or nothing. */
  addTombstones(owner: Owner, tombstones: readonly Tombstone[]): Promise<void>;
  user(owner: Owner): Promise<UserRecord | null>;
  /**
   * Kept at most once a minute for `lastSeenAt` alone; never holds up a turn. One before `lastSeenAt` tells only what isn't known since.
   */
  seen(owner: Owner, seen: Sighting): Promise<void>;
  audit(owner: Owner, entry: AuditEntry): Promise<void>;
  auditTrail(owner: Owner): Promise<readonly AuditEntry[]>;
  /** Counts erasures: work that began under an older epoch is refused. */
  epoch(owner: Owner): Promise<number>;
  /** Durable intent; raises the epoch. Returns the receipt id to be. Again while one is open: the same id. */
  beginErasure(owner: Owner, at: string): Promise<{ readonly receiptId: string; readonly epoch: number }>;
  /** The same intent, and nothing to be erased: it is none of the {@link openErasures} until {@link beginErasure} follows. */
  fence(owner: Owner, at: string): Promise<void>;
  /** Closes the intent: tombstones and the user's record go, epoch, audit and receipt stay. `keep`: jobs whose progress stays as well. */
  completeErasure(owner: Owner, receipt: ErasureReceipt, keep?: readonly string[]): Promise<void>;
  /** Takes the intent back: all stays as it is, the epoch too. Without effect where none is open. */
  withdrawErasure(owner: Owner): Promise<void>;
  receipts(owner: Owner): Promise<readonly ErasureReceipt[]>;
  /** Erasures that were begun and not completed, of all owners: resumed at start. */
  openErasures(): Promise<readonly { readonly owner: Owner; readonly receiptId: string }[]>;
  /** How far a resumable job of an owner came (promote, merge), or null. One cheap read. */
  progress(owner: Owner, job: string): Promise<string | null>;
  setProgress(owner: Owner, job: string, cursor: string): Promise<void>;
}
