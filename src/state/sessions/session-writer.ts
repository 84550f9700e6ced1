import { sessionEvents } from "../../domain/event.js";
import type { Owner } from "../../domain/owner.js";
import type { JournalRecord } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import { newId } from "../../platform/ids.js";
import type { JournalEnd } from "../../ports/transfer.js";
import { assertFits, fits, inCommits } from "../commit-limits.js";
import { committed } from "../durable-commit.js";
import type { Commit, CommitResult, StateEngine } from "../engine.js";
import { eventPuts, type PublishesEvents, publishing } from "../events/outbox.js";
import { rewindsIn } from "../journal/selected-records.js";
import { changesOf, type SessionChanges } from "../journal/session-changes.js";
import { NOTHING, requestsIn, type Standing } from "../journal/session-fold.js";
import { ERASURE_KEY, ownerErased } from "../ledger/ledger-values.js";
import { named, ownerPartition } from "../partition.js";
import { partsOf } from "../stored-rows.js";
import { type Changes, indexWrite, needsLook, requestsWrite, type SeenRows, together } from "./index-write.js";
import { alarmWithout } from "./job-alarm.js";
import { jobKey, lockKey, nextGeneration, recordsKey, sessionKey } from "./keys.js";
import type { EngineLeases, OfferedLease } from "./leases.js";
import { emptyTrash } from "./remove.js";
import {
  findHead,
  lockOf,
  NO_JOURNAL,
  newHead,
  rowWrite,
  type StoredHead,
  seenRows,
  sessionLock,
  standingAt,
  withRecords,
} from "./session-row.js";
import { StagedJournal } from "./staged-journal.js";

export interface SessionWriterParts {
  readonly engine: StateEngine;
  /** Null where there are no turns here. */
  readonly leases: EngineLeases | null;
  /** Publishes the events that a write brought. Null: nobody is told. */
  readonly events: PublishesEvents | null;
  /** Whether a folded record is told, too: where journals are kept elsewhere, and were not told of by their write. Default: none. */
  readonly tellsFolds?: (record: JournalRecord) => boolean;
}

/** The session's lock, of whoever appends. */
export interface LockOfWrite {
  /** Undefined: not checked. */
  readonly fence: number | undefined;
  readonly beginsLock: boolean;
  readonly endsLock: boolean;
}

interface Write {
  readonly sessionId: string;
  readonly before: StoredHead;
  /** With the journal's half as it is to be. */
  readonly after: StoredHead;
  /** For the journal; none where only the index follows. */
  readonly records: readonly JournalRecord[];
  /** Records that outsiders are told of. */
  readonly told: readonly JournalRecord[];
  readonly changes: SessionChanges | null;
  readonly isFold: boolean;
  readonly epoch?: number | undefined;
  readonly more?: Pick<Commit, "checks" | "puts" | "deletes">;
}

interface Made {
  readonly commit: Omit<Commit, "id">;
  /** But for its version. */
  readonly after: StoredHead;
  /** Keys that are deleted behind it. */
  readonly later: readonly string[];
  /** The records are to be written before it. */
  readonly isStaged: boolean;
  /** Whether it brings events. */
  readonly tells: boolean;
}

/** Rows may change between a look and a write: so often they are looked at anew. */
const MAX_TRIES = 5;

/** Writes sessions, each in one commit: records, and what the index makes of them. */
export class EngineSessionWriter {
  readonly #parts: SessionWriterParts;

  constructor(parts: SessionWriterParts) {
    this.#parts = parts;
  }

  /** The head after the write. @throws SESSION_CHANGED where there is such a session, OWNER_ERASED, IDEMPOTENCY_IN_PROGRESS */
  async create(
    owner: Owner,
    sessionId: string,
    records: readonly JournalRecord[],
    { epoch, fence }: { readonly epoch: number | undefined; readonly fence: number | undefined },
  ): Promise<StoredHead> {
    const before = newHead(owner);
    const changes = changesOf(null, sessionId, records, () => NOTHING);
    const begun = { ...before, incarnation: newId(), generation: nextGeneration() };
    const lock = fence === undefined ? null : this.#offered(owner, sessionId, fence);
    const after = { ...withRecords(begun, records), fence: lock?.fence ?? 0 };
    // Of a lock that begins the check against an erasure is part.
    const more = { checks: lock === null ? [{ key: ERASURE_KEY, version: null }] : [], puts: [named(owner)] };
    const write = { sessionId, before, after, records, told: records, changes, isFold: false, epoch, more };
    const written = await this.#writeFirst(write, lock);
    if (written === null) throw new AppError("SESSION_CHANGED");
    return written;
  }

  /** The head after the write; null when the session is not as `head` has it. @throws FENCED, IDEMPOTENCY_IN_PROGRESS */
  async append(
    head: StoredHead,
    sessionId: string,
    records: readonly JournalRecord[],
    { fence, beginsLock, endsLock }: LockOfWrite,
  ): Promise<StoredHead | null> {
    const { leases } = this.#parts;
    const isLevel = head.state !== null && head.state.indexedSeq === head.lastSeq;
    const changes = isLevel ? await this.#changes(head, sessionId, records) : null;
    const write = { sessionId, before: head, records, told: records, changes, isFold: false };
    const after = { ...withRecords(head, records), lock: null };
    if (fence === undefined) return this.#write({ ...write, after });
    if (fence < head.fence) throw new AppError("FENCED");
    if (beginsLock) return this.#writeFirst({ ...write, after: { ...after, fence } }, this.#offered(head.owner, sessionId, fence));
    const name = sessionLock(head.owner, sessionId);
    const lock = lockOf(head, leases?.seen(name, fence) ?? null);
    if (lock === null) return null;
    if (fence < lock.fence) throw new AppError("FENCED");
    const key = lockKey(name);
    const ends = endsLock && lock.fence === fence;
    const more = { checks: [{ key, version: lock.version }], deletes: ends ? [key] : [] };
    const undo = ends ? leases?.ending(name, fence) : undefined;
    let written: StoredHead | null = null;
    try {
      written = await this.#write({ ...write, after: { ...after, fence }, more });
      return written;
    } finally {
      if (written === null) undo?.();
      else if (ends) leases?.ended(name, fence);
    }
  }

  /** `lock`: the one that begins with the write. @throws FENCED where somebody else has taken it */
  async #writeFirst(write: Write, lock: OfferedLease | null): Promise<StoredHead | null> {
    const { leases } = this.#parts;
    if (lock === null || leases === null) return this.#write(write);
    const writing = this.#write({ ...write, more: together(write.more ?? {}, lock.commit) });
    const written = await leases.letGoUnless(lock.lease, lock.fence, writing);
    if (written !== null) leases.begun(lock, written.version ?? 0);
    return written;
  }

  /** @throws FENCED where it is not the caller's to begin */
  #offered(owner: Owner, sessionId: string, fence: number): OfferedLease {
    const offered = this.#parts.leases?.offered(sessionLock(owner, sessionId), fence) ?? null;
    if (offered === null) throw new AppError("FENCED");
    return offered;
  }

  /**
   * Folds records into a session's index; in several commits where they are too many for one. The head after it; null when the session is
   * not as `head` has it any more.
   */
  async foldRecords(head: StoredHead, sessionId: string, records: readonly JournalRecord[]): Promise<StoredHead | null> {
    const changes = await this.#changes(head, sessionId, records);
    if (changes === null) return head;
    const indexedSeq = head.state?.indexedSeq ?? 0;
    const told = records.filter((record) => record.seq > indexedSeq && this.#parts.tellsFolds?.(record) === true);
    const more = head.version === null ? { puts: [named(head.owner)] } : {};
    const write = { sessionId, before: head, after: { ...head, lock: null }, records: [], told, changes, isFold: true, more };
    if (records.length === 1 || fits(this.#parts.engine.manifest, this.#whole(write, null).commit)) return this.#write(write);
    const half = await this.foldRecords(head, sessionId, records.slice(0, records.length >> 1));
    return half === null ? null : this.foldRecords(half, sessionId, records.slice(records.length >> 1));
  }

  /** As the port's `restore`, of a session that has no journal; what the index has of it stays. @throws SESSION_CHANGED */
  async restore(owner: Owner, sessionId: string, records: () => AsyncIterable<JournalRecord>, end: JournalEnd): Promise<void> {
    const { engine } = this.#parts;
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const before = (await findHead(engine, owner, sessionId)) ?? newHead(owner);
      const begun = { ...before, ...NO_JOURNAL, incarnation: newId(), generation: nextGeneration(before.generation) };
      const staged = await StagedJournal.begin(engine, owner, sessionId, begun.generation);
      const after = { ...(await staged.addAll(records(), begun)), lastSeq: end.lastSeq, lastTurn: end.lastTurn };
      if ((await staged.replace(before, after)).ok) return emptyTrash(engine, ownerPartition(owner), sessionId);
    }
    throw new AppError("SESSION_CHANGED");
  }

  async #changes(head: StoredHead, sessionId: string, records: readonly JournalRecord[]): Promise<SessionChanges | null> {
    const standings = new Map<number, Standing>();
    for (const { toSeq } of rewindsIn(records)) standings.set(toSeq, await standingAt(this.#parts.engine, head, sessionId, toSeq));
    return changesOf(head.state, sessionId, records, (seq) => standings.get(seq) ?? NOTHING);
  }

  /** Null where the session or its lock is not as `before` has it. @throws OWNER_ERASED, IDEMPOTENCY_IN_PROGRESS, COMMIT_TOO_LARGE */
  async #write(write: Write): Promise<StoredHead | null> {
    const { engine, events } = this.#parts;
    const { sessionId, before, changes, isFold } = write;
    const { owner } = before;
    const keys = changes === null ? requestsIn(sessionId, write.records) : changes.keys;
    const look = () => seenRows(engine, owner, sessionId, keys);
    let seen = changes !== null && needsLook(changes, isFold) ? await look() : null;
    let alarm = changes === null ? null : await this.#alarmBehind(owner, sessionId, changes);
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const made = this.#make(write, seen);
      const publish = () => (made.tells ? events?.publish(owner) : undefined);
      const { dueByMs, ...exact } = made.commit;
      // Jobs that this commit has no room to end are to be found.
      const endsAll = dueByMs !== undefined && made.later.length === 0;
      const commit = alarm !== null && endsAll ? { ...exact, ...alarm } : made.commit;
      const written = made.isStaged ? this.#stage(write, made) : committed(engine, ownerPartition(owner), commit);
      const result = await publishing(publish, written);
      if (result.ok) {
        await this.#deleteLater(owner, made.later);
        return { ...made.after, version: result.version };
      }
      if (result.refused === "epoch" || result.keys.includes(ERASURE_KEY)) throw ownerErased();
      const own = [sessionKey(sessionId), ...(write.more?.checks ?? []).map(({ key }) => key)];
      if (result.keys.some((key) => own.includes(key))) return null;
      // Somebody has changed something: whoever looks for jobs next sets the alarm.
      if (alarm === null || result.refused !== "version") seen = await look();
      alarm = null;
    }
    return null;
  }

  /** Of a write by which nothing but the end of jobs changes when the owner's others are due; else null. */
  async #alarmBehind(owner: Owner, sessionId: string, changes: SessionChanges): ReturnType<typeof alarmWithout> {
    const { done, pending, failed, takenBackTo } = changes;
    if (done.length === 0 || pending.length + failed.length > 0 || takenBackTo !== null) return null;
    const gone = new Set(done.map((turn) => jobKey(sessionId, turn)));
    return alarmWithout(this.#parts.engine, ownerPartition(owner), gone);
  }

  /** What is left where that fails is known by whoever takes it up: its turn is no part of the conversation. */
  async #deleteLater(owner: Owner, keys: readonly string[]): Promise<void> {
    const { engine } = this.#parts;
    const changes = keys.map((key) => ({ deletes: [key] }));
    for (const batch of inCommits(engine.manifest, changes)) {
      const deletes = batch.flatMap((each) => each.deletes);
      await committed(engine, ownerPartition(owner), { deletes }).catch(() => undefined);
    }
  }

  /** @throws IDEMPOTENCY_IN_PROGRESS, COMMIT_TOO_LARGE */
  #make(write: Write, seen: SeenRows | null): Made {
    const { manifest } = this.#parts.engine;
    const whole = this.#whole(write, seen);
    if (write.isFold || fits(manifest, whole.commit)) return whole;
    const behind = this.#withoutIndex(write, seen, true);
    if (fits(manifest, behind.commit)) return behind;
    if (write.before.version === null) return { ...this.#withoutIndex(write, seen, false), isStaged: true };
    assertFits(manifest, behind.commit);
    return behind;
  }

  #whole(write: Write, seen: SeenRows | null): Made {
    const { sessionId, before, after, records, changes, isFold } = write;
    const { maxValueBytes } = this.#parts.engine.manifest;
    if (changes === null) return this.#made(write, after, requestsWrite(requestsIn(sessionId, records), seen), true);
    const fold = before.fold === "" ? newId() : before.fold;
    const index = indexWrite({ sessionId, before: before.state, changes, fold, seen, isFold, maxValueBytes });
    return this.#made(write, { ...after, fold, state: changes.state, isBehind: false }, index, true);
  }

  /** The index is caught up later: only keys, which others are refused by, are put with the records. */
  #withoutIndex(write: Write, seen: SeenRows | null, hasJournal: boolean): Made {
    const keys = requestsWrite(requestsIn(write.sessionId, write.records), seen);
    return this.#made(write, { ...write.after, isBehind: true }, keys, hasJournal);
  }

  #made(write: Write, after: StoredHead, index: Partial<Changes>, hasJournal: boolean): Made {
    const { sessionId, before, records, told: toTell, isFold, epoch, more = {} } = write;
    const { maxValueBytes } = this.#parts.engine.manifest;
    const row = rowWrite(sessionId, after, maxValueBytes);
    const [first] = hasJournal ? records : [];
    const key = recordsKey(sessionId, after.generation, first?.seq ?? 0);
    const journal = first === undefined ? [] : partsOf(key, JSON.stringify(records), maxValueBytes);
    const told = this.#parts.events === null ? [] : eventPuts(before.owner, sessionEvents(before.owner, sessionId, toTell));
    const own = { checks: [{ key: sessionKey(sessionId), version: before.version }], puts: [...row.puts, ...journal, ...told] };
    const changes = together(own, { deletes: [...row.deletes] }, index, more);
    // What is folded in from files is on the disk there, and folded in again where a power cut takes it from here.
    const isOnDisk = isFold && this.#parts.tellsFolds !== undefined;
    const commit = { ...changes, ...(epoch !== undefined && { epoch }), ...(isOnDisk && { durability: "relaxed" as const }) };
    return { commit, after: { ...after, parts: row.parts }, later: index.later ?? [], isStaged: false, tells: told.length > 0 };
  }

  /** A new session with more records than one commit takes: they lie there before anything refers to them. */
  async #stage({ sessionId, records, before, epoch }: Write, { commit, after }: Made): Promise<CommitResult> {
    const staged = await StagedJournal.begin(this.#parts.engine, before.owner, sessionId, after.generation, epoch);
    await staged.addAll(records, after);
    return staged.finish(commit);
  }
}
