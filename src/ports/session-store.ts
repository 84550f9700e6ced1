// Over 300 lines: five ports that one backend supplies together.

import type { Owner } from "../domain/owner.js";
import type { JournalRecord, NewRecord, RecordOf, Round, Session, SessionStatus } from "../domain/session.js";
import type { ImageStore } from "./image-store.js";
import type { OwnerActivity, OwnersQuery } from "./owner-activity.js";
import type { Tombstone, UserRecord } from "./owner-ledger.js";

/**
 * The session store: five ports that one backend supplies together.
 * The journal is the truth; the index and the pending turns are folds of it and can always be rebuilt; the lock orders turns; images are
 * what journals refer to.
 * Every method that takes an owner answers for a session of somebody else exactly as for one that does not exist.
 */
export interface SessionStore {
  readonly journal: ShortTermMemory;
  readonly index: SessionIndex;
  readonly turns: PendingTurns;
  readonly locks: TurnLock;
  readonly images: ImageStore;
  /**
   * Takes the session's lock, as `locks` does, and reads in the same step what a turn goes out from. Absent: one thing is asked for after
   * the other. @throws as {@link TurnLock.acquire}
   */
  readonly startTurn?: (owner: Owner, sessionId: string, options: StartTurnOptions) => Promise<TurnStart>;
  close(): Promise<void>;
}

export interface StartTurnOptions extends Pick<AcquireOptions, "waitMs" | "signal"> {
  /** Of the window. */
  readonly rounds: number;
  /**
   * The lock begins with the caller's first write, which says so ({@link AppendOptions.firstOf}), so that both are one step for the store.
   * Default: at once.
   */
  readonly begins?: "with the first write";
  /** A request's key, looked up along, as {@link SessionIndex.findIdempotent} does. */
  readonly request?: { readonly key: string; readonly now: Date };
}

/** A turn's lock, and all that stood in the store when the turn got it. */
export interface TurnStart {
  readonly lease: Lease;
  /** The owner's, for a session that is begun now. */
  readonly epoch: number;
  /** Null where the owner has no such session. */
  readonly session: ListedSession["session"] | null;
  /** Null where the owner has no such journal. */
  readonly window: WindowRead | null;
  readonly user: UserRecord | null;
  readonly tombstones: readonly Tombstone[];
  /** Of the last entry in the owner's memory log; 0 where there is none. */
  readonly memorySeq: number;
  /** What is known of the key that was asked for; null: nothing. */
  readonly request: IdempotencyEntry | null;
}

export interface AppendOptions {
  /** The seq of the last record that the caller saw. @throws SESSION_CHANGED when the journal has moved on. Default: not checked. */
  readonly expectedSeq?: number;
  /** The token of the caller's lock. @throws FENCED when a newer holder has written. Default: not checked. */
  readonly fence?: number;
  /** A turn that must have no answer yet: what is completed is never followed by a failure. @throws TURN_ANSWERED. Default: not checked. */
  readonly unanswered?: number;
  /** The caller's lock, of that fence, which begins with this write. @throws FENCED where another was faster. Default: it has begun. */
  readonly firstOf?: Lease;
  /**
   * The caller's lock, of that fence, which may end with this write where both are one step for the store; the caller releases it all the
   * same. Default: it doesn't.
   */
  readonly lastOf?: Lease;
}

export interface CreateOptions {
  /** The owner's epoch under which the work began. @throws OWNER_ERASED when an erasure has begun since. Default: not checked. */
  readonly epoch?: number;
  /** As {@link AppendOptions.firstOf}. */
  readonly firstOf?: Lease;
}

export interface WindowRead {
  /** Completed rounds only, oldest first, at most as many as asked for. */
  readonly rounds: readonly Round[];
  /** The newest summary record that still stands, or null. */
  readonly summary: RecordOf<"summary"> | null;
  /** The newest user message, with or without an answer, or null: what an edit or a retry refers to. */
  readonly lastUserMessage: RecordOf<"message"> | null;
  /** Seq and turn of the last record; 0 for an empty journal. Turns never go back, also after a rewind. */
  readonly lastSeq: number;
  readonly lastTurn: number;
  /** Bytes read from the medium to find this; bounded by what the window holds. 0 where there is no medium. */
  readonly bytesRead: number;
}

export interface ReadOptions {
  /** First seq to read. Default 1. */
  readonly fromSeq?: number;
  /** Also what a rewind took back. Default false. */
  readonly includeRewound?: boolean;
  /** Also steps that a crash tore off their answer: readable, but of no turn that was answered. Default false. */
  readonly includeTorn?: boolean;
  readonly signal?: AbortSignal;
}

export interface NewestFirstOptions {
  /** The newest record to read is the one before this seq; rewinds from it on are not known then. Default: all. */
  readonly beforeSeq?: number;
  readonly signal?: AbortSignal;
}

export interface ShortTermMemory {
  /**
   * Starts a journal with its `session` record (and more). Durable on resolve. @throws SESSION_CHANGED when it is there already,
   * OWNER_ERASED, IDEMPOTENCY_IN_PROGRESS as {@link append}, STORAGE_UNAVAILABLE
   */
  create(owner: Owner, sessionId: string, records: readonly NewRecord[], options?: CreateOptions): Promise<readonly JournalRecord[]>;
  /**
   * Appends in one write, all or nothing, in order, and numbers the records. Durable on resolve (fdatasync where there is a file).
   * @throws SESSION_NOT_FOUND, SESSION_CHANGED, FENCED, RECORD_TOO_LARGE (a record over 1 MiB), STORAGE_UNAVAILABLE (nothing half-written);
   * IDEMPOTENCY_IN_PROGRESS, where several processes share the store, for a key that a request to another one has taken
   */
  append(owner: Owner, sessionId: string, records: readonly NewRecord[], options?: AppendOptions): Promise<readonly JournalRecord[]>;
  /**
   * The last `rounds` completed rounds; costs what they hold, not what the session holds. @throws SESSION_NOT_FOUND,
   * STORAGE_UNAVAILABLE
   */
  window(owner: Owner, sessionId: string, options: { readonly rounds: number; readonly signal?: AbortSignal }): Promise<WindowRead>;
  /** All records in order, streamed. Damaged lines are skipped (see {@link JournalCheck}). @throws SESSION_NOT_FOUND */
  read(owner: Owner, sessionId: string, options?: ReadOptions): AsyncIterable<JournalRecord>;
  /**
   * Newest first, without what lies between a rewind and where it goes back to. Costs what is taken of it, not what the session holds; the
   * journal of an archived session may have to be unpacked. @throws SESSION_NOT_FOUND
   */
  newestFirst(owner: Owner, sessionId: string, options?: NewestFirstOptions): AsyncIterable<JournalRecord>;
  /** Replaces the whole journal atomically: emptying, anonymising, dropping quotes. Seqs go on from the old last one. */
  rewrite(owner: Owner, sessionId: string, change: (record: JournalRecord) => JournalRecord | null): Promise<void>;
  /**
   * Packs the journal of an archived session; it still reads, and unpacks at the next append. Without effect where nothing is to
   * be gained.
   */
  compress(owner: Owner, sessionId: string): Promise<void>;
  /** Deletes a session's journal. False when there was none. */
  remove(owner: Owner, sessionId: string): Promise<boolean>;
  /** All sessions of all owners with the seq of their last record, in no order: for reindex, catching up and doctor. */
  list(): AsyncIterable<{ readonly owner: Owner; readonly sessionId: string; readonly lastSeq: number }>;
  /** Looks at every journal: torn tails that were cut, damaged lines that are skipped. */
  check(): AsyncIterable<JournalCheck>;
  /** Deletes all journals of an owner. Returns how many sessions and messages went. Idempotent. */
  erase(owner: Owner): Promise<{ readonly sessions: number; readonly messages: number }>;
  /** What is left of an owner: 0 after an erase, by looking at the medium and not at a cache. */
  residue(owner: Owner): Promise<number>;
}

export interface JournalCheck {
  readonly sessionId: string;
  readonly path: string | null;
  readonly records: number;
  readonly damagedLines: readonly number[];
  readonly tornBytes: number;
}

export interface Page<T> {
  readonly data: readonly T[];
  /** Opaque; null on the last page. */
  readonly nextCursor: string | null;
}

export interface SessionQuery {
  /** Default: active. */
  readonly status?: SessionStatus;
  readonly tag?: string;
  /** Text within the title, case-insensitive. */
  readonly title?: string;
  /** 1 to 200. Default 20. */
  readonly limit?: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}

/** A turn whose write-back is not done. */
export interface PendingTurn {
  readonly owner: Owner;
  readonly sessionId: string;
  readonly turn: number;
  readonly state: "pending" | "failed";
  readonly attempts: number;
  /** Not before this time, in milliseconds since the epoch. */
  readonly dueAtMs: number;
  readonly errorCode: string | null;
  /** Seq of the turn's user message: reading what the turn said can start there. */
  readonly fromSeq?: number;
  /** Of a turn that was claimed: which claim it is. */
  readonly claim?: string;
}

export interface ClaimOptions {
  /** Owners whose turns are left out. */
  readonly except?: readonly Owner[];
  /** Default: of whoever's. */
  readonly only?: readonly Owner[];
  /** How long nobody else is given the turns, in milliseconds, unless the claim is renewed. */
  readonly leaseMs: number;
}

export interface RecordedAttempt {
  readonly attempts: number;
  readonly dueAtMs: number;
  readonly errorCode: string;
  /** Without effect where somebody has the turn by another claim; null: where anybody has it. Default: whoever has it. */
  readonly claim?: string | null;
}

export interface IdempotencyEntry {
  readonly sessionId: string;
  readonly turn: number;
  readonly messageId: string;
  readonly requestHash: string;
  readonly at: string;
}

/** A session as an index lists it: without what follows from its pending turns, and since when it is what it is. */
export interface ListedSession {
  readonly owner: Owner;
  readonly session: Omit<Session, "write_back" | "status_since">;
}

/** Turns whose write-back is not done. They follow from the journals, all but attempts, due times and claims. */
export interface PendingTurns {
  /** Those that are due, oldest first; of one session always the oldest turn first. `except`: owners whose turns are left out. */
  due(nowMs: number, limit: number, options?: { readonly except?: readonly Owner[] }): Promise<readonly PendingTurn[]>;
  /**
   * Takes turns that are due for one worker: nobody is given them again until their lease ends, they are let go, or an attempt that failed
   * is recorded. As {@link due} otherwise.
   */
  claim(nowMs: number, limit: number, claim: ClaimOptions): Promise<readonly PendingTurn[]>;
  /**
   * Holds on to a claimed turn for `leaseMs` from now. Which claim it is now; null where the turn is not the worker's any more: somebody
   * else was given it, or the owner's data is being erased.
   */
  renew(turn: PendingTurn, leaseMs: number): Promise<string | null>;
  /** Lets a claimed turn go that was not done. Without effect where it says which claim it is, and that is over. */
  letGo(turn: Pick<PendingTurn, "owner" | "sessionId" | "turn" | "claim">): Promise<void>;
  /**
   * Resolves when no worker of any process has a claim on a turn of the owner, or when the signal aborts. One that was killed has its
   * claims until they end. Within one process the worker itself knows: resolves at once where there are no others.
   */
  unclaimed(owner: Owner, options: { readonly signal: AbortSignal }): Promise<void>;
  /** Of one session, of all but one, or of all of the owner's. By session, the oldest turn first. */
  of(owner: Owner, sessionId?: string | { readonly except: string }): Promise<readonly PendingTurn[]>;
  /** Of all owners, in no order: for whoever runs the server. */
  ofAll(): Promise<readonly PendingTurn[]>;
  /** Over all owners: for /readyz and doctor. */
  counts(): Promise<{ readonly pending: number; readonly failed: number }>;
  /** When the oldest pending turn of all owners was answered, in milliseconds since the epoch; null where none is pending. */
  oldestAtMs(): Promise<number | null>;
  /** Lets the turn go, too. */
  recordAttempt(turn: Pick<PendingTurn, "owner" | "sessionId" | "turn">, attempt: RecordedAttempt): Promise<void>;
  /** Failed turns of a session become pending again, due at `nowMs`. Returns how many. */
  retryFailed(owner: Owner, sessionId: string, nowMs: number): Promise<number>;
}

/** Everything here follows from the journals. */
export interface SessionIndex {
  /** Folds records into the index, in seq order; those that it has already are passed over. */
  apply(owner: Owner, sessionId: string, records: readonly JournalRecord[]): Promise<void>;
  /** Seq of the last record that was folded in; 0 for an unknown session. */
  indexedSeq(owner: Owner, sessionId: string): Promise<number>;
  get(owner: Owner, sessionId: string): Promise<Session | null>;
  /** As {@link get}, without what follows from the pending turns: one row, however many wait. */
  listed(owner: Owner, sessionId: string): Promise<ListedSession["session"] | null>;
  findByExternalId(owner: Owner, externalId: string): Promise<Session | null>;
  /** Newest activity first, ties by id; a page stays stable while sessions change. @throws INVALID_CURSOR */
  list(owner: Owner, query: SessionQuery): Promise<Page<Session>>;
  /** All sessions of all owners, in no order, at most so many at once: each page costs a query, whatever it holds. */
  pages(size: number): AsyncIterable<readonly ListedSession[]>;
  /**
   * Who has sessions, each once, in an order of the store's own that stays while owners come and go. A page may hold less than `limit`
   * where another follows. @throws INVALID_CURSOR, INVALID_REQUEST
   */
  owners(query: OwnersQuery): Promise<Page<OwnerActivity>>;
  /** Kept 24 h from the message. */
  findIdempotent(owner: Owner, key: string, now: Date): Promise<IdempotencyEntry | null>;
  /** Sessions, of all owners, whose status should change by `now`, oldest first: the caller decides by the lifecycle's rules. */
  expiring(query: {
    readonly status: SessionStatus;
    readonly inactiveSince: string;
    readonly expiresBefore: string;
    readonly limit: number;
    readonly after?: string;
  }): Promise<
    readonly {
      readonly owner: Owner;
      readonly session: Session;
      readonly statusSince: string;
      readonly statusBeforeDelete: SessionStatus | null;
    }[]
  >;
  /** The status that a deleted session had before. */
  statusBeforeDelete(owner: Owner, sessionId: string): Promise<SessionStatus | null>;
  remove(owner: Owner, sessionId: string): Promise<void>;
  /** Empties the whole index, for a rebuild. */
  clear(): Promise<void>;
  erase(owner: Owner): Promise<{ readonly sessions: number; readonly idempotencyKeys: number; readonly pendingTurns: number }>;
  residue(owner: Owner): Promise<number>;
}

/** A held lock. */
export interface Lease {
  /** Grows with every acquisition of the same key; handed to `append`, so that a late writer is refused. */
  readonly fence: number;
  /** Aborts when the lock is lost before it was released. */
  readonly signal: AbortSignal;
  release(): Promise<void>;
  /** False until the lock begins with the caller's first write. Absent: it has begun. */
  readonly hasBegun?: boolean;
  /** Told by a store that began the lock with a write. */
  begun?(): void;
  /** Told by a store that ended the lock with a write: then `release` has nothing to tell the store. */
  ended?(): void;
}

export interface TurnLock {
  /**
   * First come, first served per key. `owner`: whose work it is held for. @throws SESSION_BUSY after `waitMs`, ABORTED when the signal
   * aborts first, OWNER_ERASED where the owner's data is being erased
   */
  acquire(key: string, options: AcquireOptions): Promise<Lease>;
  /**
   * While an erasure is open, in every process: takes the locks away that are held for the owner, and resolves when none is. Within one
   * process whoever erases knows what runs: resolves at once where there are no others. @throws ABORTED when the signal aborts first
   */
  revoke(owner: Owner, options?: { readonly signal?: AbortSignal }): Promise<void>;
}

export interface AcquireOptions {
  readonly waitMs: number;
  readonly signal?: AbortSignal;
  readonly owner?: Owner;
}

/** The key of a session's lock: whoever writes a session's journal beside a turn takes the same one. */
export function sessionLockKey(owner: Owner, sessionId: string): string {
  return JSON.stringify([owner, sessionId]);
}

/** Work under a lock, which is released behind it. @throws as {@link TurnLock.acquire}, and what the work throws */
export async function underLock<T>(
  locks: Pick<TurnLock, "acquire">,
  key: string,
  options: AcquireOptions,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const lease = await locks.acquire(key, options);
  try {
    return await work(lease);
  } finally {
    await lease.release();
  }
}

/** As {@link underLock}, under a session's own. */
export function underSessionLock<T>(
  locks: Pick<TurnLock, "acquire">,
  owner: Owner,
  sessionId: string,
  options: Omit<AcquireOptions, "owner">,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  return underLock(locks, sessionLockKey(owner, sessionId), { ...options, owner }, work);
}
