import type { MemorySource } from "../domain/memory.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import type { OwnersQuery } from "./owner-activity.js";
import type { Page } from "./session-store.js";

/**
 * What was made of what was said: every change of an owner's memories, in order. It is the truth; the collection of memories is its
 * projection and can be rebuilt from it without a model.
 */
export interface MemoryLogEntry {
  readonly v: 1;
  /** From 1, without gaps within an owner. */
  readonly seq: number;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly kind: MemoryChangeKind;
  /**
   * The turn that this is the plan of: a turn has at most one entry of kind `turn`, and before it one by {@link NOBODY} where it was left
   * to be read later. Null for what came from no turn.
   */
  readonly turn: MemoryLogTurn | null;
  /** Records as they are after the change, whole: those that are new and those that changed. */
  readonly puts: readonly MemoryRecord[];
  /** Ids of memories that are no more. */
  readonly removed: readonly string[];
  /** Goes on behind this of what the domain reports (see `Domain.happened`); absent where it was not asked; null: from its beginning. */
  readonly happened_cursor?: string | null;
  /** The request with an idempotency key that this is the work of. */
  readonly request?: MemoryRequest;
  /** For the turn's own account: proposals that were dropped, and why, by code; never a text. */
  readonly dropped?: Readonly<Record<string, number>>;
}

export interface MemoryRequest {
  /** Made of the key, which is not kept. */
  readonly id: string;
  /** Of all that was asked. */
  readonly hash: string;
  /** Which of the request's statements, from 0. */
  readonly place: number;
  /** What it is answered with. */
  readonly memory_id: string;
}

export type MemoryChangeKind =
  | "turn"
  | "tool"
  | "hand"
  | "settle"
  | "recalled"
  | "forget"
  | "import"
  | "detach"
  | "undo"
  | "happened"
  | "narrative"
  | "seed"
  | "merge";

/** Stands for the reader of a turn that was left to be read with the owner's next message. */
export const NOBODY = "none";

export interface MemoryLogTurn extends Omit<MemorySource, "quote"> {
  /** Who read it: a model's name, or that of the stand-in. */
  readonly reader: string;
  readonly off_record?: "this" | "previous";
}

export type NewMemoryLogEntry = Omit<MemoryLogEntry, "v" | "seq" | "at">;

export interface AppendMemoryOptions {
  /** The seq of the last entry that the caller saw. @throws MEMORIES_CHANGED when the log has moved on */
  readonly expectedSeq: number;
  /** The owner's epoch under which the work began. @throws OWNER_ERASED when an erasure has begun since. Default: not checked */
  readonly epoch?: number;
  /**
   * Of who erases, merges, or makes a log of what was there before: it is written while an erasure is open. Default: it is not.
   * @throws OWNER_ERASED
   */
  readonly behindFence?: true;
  readonly now: Date;
}

/** One log per owner. Every method answers for an owner without a log as for one whose log is empty. */
/**
 * What becomes of a record that the entry of this seq puts; null drops it. The log may be longer than its reader knows: what depends on
 * what is known says so by the seq.
 */
export type ChangeRecord = (record: MemoryRecord, seq: number) => MemoryRecord | null;

export interface ReadMemoryLogOptions {
  readonly fromSeq?: number;
  readonly toSeq?: number;
  readonly signal?: AbortSignal;
}

export interface MemoryLog {
  /** Durable on resolve, all or nothing. @throws MEMORIES_CHANGED, OWNER_ERASED, STORAGE_UNAVAILABLE */
  append(owner: Owner, entry: NewMemoryLogEntry, options: AppendMemoryOptions): Promise<MemoryLogEntry>;
  /** Oldest first, from `fromSeq` (default 1) to `toSeq`, both included (default: to the end). */
  read(owner: Owner, options?: ReadMemoryLogOptions): AsyncIterable<MemoryLogEntry>;
  /** 0 for an empty log. Costs no read of the log. */
  lastSeq(owner: Owner): Promise<number>;
  /** Changes what stands in the log, atomically, seqs kept: a forgetting drops texts, a purge quotes. */
  redact(owner: Owner, change: ChangeRecord): Promise<void>;
  /**
   * Owners of whom a memory waits for a word, in an order that stays; `tenant`: of it alone. A page may hold less than `limit` where
   * another follows. Reads no log. @throws INVALID_CURSOR
   */
  waiting(query: OwnersQuery): Promise<Page<Owner>>;
  /** Owners that have a log, in no order. */
  owners(): AsyncIterable<Owner>;
  /** Drops the whole log. Returns how many entries went. Idempotent. */
  erase(owner: Owner): Promise<number>;
  /** Entries left of an owner, by looking at the medium. */
  residue(owner: Owner): Promise<number>;
  close(): Promise<void>;
}
