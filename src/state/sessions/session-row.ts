import { LRUCache } from "lru-cache";
import type { Owner } from "../../domain/owner.js";
import { isBlankFailure } from "../../domain/recorded-turn.js";
import type { JournalRecord } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import { sessionLockKey } from "../../ports/session-store.js";
import { type PartitionRead, prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { type RewindMark, rewindsIn, standing } from "../journal/selected-records.js";
import type { SessionChanges } from "../journal/session-changes.js";
import { NOTHING, type SessionState, type Standing } from "../journal/session-fold.js";
import { numberKey, ownerPartition } from "../partition.js";
import { jsonOf, partKeys, partsOf, rowsIn, wholeValues } from "../stored-rows.js";
import type { SeenRows, StandingRow } from "./index-write.js";
import { jobsOf, leaseKey, lockKey, requestKey, sessionKey, sessionRange, standingsOf, summariesOf } from "./keys.js";
import { storedJob } from "./turn-job.js";

/** A session's row: where its journal stands, and what the index makes of it. Either half may be missing. */
export interface SessionRow {
  readonly v: 2;
  /** Another one for a session that was removed and begun anew under the same id; empty where there is no journal here. */
  readonly incarnation: string;
  /** Of the journal's rows. */
  readonly generation: string;
  readonly lastSeq: number;
  readonly lastTurn: number;
  /** The newest that wrote. */
  readonly fence: number;
  /** Messages in the journal, also those that were taken back. */
  readonly messages: number;
  /** Seqs of all rewinds and of what they go back to, in order. */
  readonly rewinds: readonly (readonly [seq: number, toSeq: number])[];
  /** Seqs of the newest summaries, in order: as many as anything that is taken back may take along. */
  readonly summaries: readonly number[];
  /** Names the rows that the index has beside this one. Empty where it has none. */
  readonly fold: string;
  /** Null where the index has nothing. */
  readonly state: SessionState | null;
}

/** A lock's row as it was seen. */
export interface SeenLock {
  readonly version: number | null;
  readonly fence: number;
  /** The partition's version when it was seen. */
  readonly at: number;
}

/** A row as it was last seen or written: what the next write goes out from. */
export interface StoredHead extends SessionRow {
  readonly owner: Owner;
  /** Null: there is no such row yet. */
  readonly version: number | null;
  /** In how many parts it lies. */
  readonly parts: number;
  /** The session's lock; null where it was not looked at. */
  readonly lock: SeenLock | null;
  /** The last write was too much for the index, which is to be caught up. */
  readonly isBehind?: boolean;
}

const MAX_SUMMARIES = 64;

export const NO_JOURNAL = {
  incarnation: "",
  generation: "",
  lastSeq: 0,
  lastTurn: 0,
  fence: 0,
  messages: 0,
  rewinds: [],
  summaries: [],
} as const;

export const NO_INDEX = { fold: "", state: null } as const;

export function newHead(owner: Owner): StoredHead {
  return { v: 2, owner, ...NO_JOURNAL, ...NO_INDEX, version: null, parts: 0, lock: null };
}

/** The head in what a read found of the session's range; null where there is none. */
export function headOf(owner: Owner, entries: readonly StoredEntry[], lock: SeenLock | null = null): StoredHead | null {
  const [whole] = wholeValues(entries);
  return whole === undefined ? null : { ...rowOf(whole), owner, version: whole.version, parts: entries.length, lock };
}

function seenLock(read: PartitionRead, key: string): SeenLock {
  const entry = read.entries.get(key);
  return { version: entry?.version ?? null, fence: jsonOf<{ readonly fence: number }>(entry)?.fence ?? 0, at: read.version };
}

/** Written here alone: its shape needs no second check. @throws STORAGE_DAMAGED, also for one of another version */
export function rowOf(entry: Pick<StoredEntry, "key" | "value">): SessionRow {
  const row = parsedRow(entry.value);
  if (row.v !== 2) throw new AppError("STORAGE_DAMAGED", { detail: `A session's row is of version ${row.v}; this Maitred reads 2.` });
  return row;
}

function parsedRow(value: string): SessionRow {
  try {
    return JSON.parse(value) as SessionRow;
  } catch (cause) {
    throw new AppError("STORAGE_DAMAGED", { detail: "A session's row can't be read.", cause });
  }
}

interface RowWrite {
  readonly puts: readonly { readonly key: string; readonly value: string }[];
  readonly deletes: readonly string[];
  readonly parts: number;
}

/** What makes the row what it is to be; parts that a longer one had before go. */
export function rowWrite(sessionId: string, head: StoredHead, maxValueBytes: number): RowWrite {
  const { owner: _, version: _version, parts: before, lock: _lock, isBehind: _behind, ...row } = head;
  const puts = partsOf(sessionKey(sessionId), JSON.stringify(row), maxValueBytes);
  return { puts, deletes: rowKeys(sessionId, before).slice(puts.length), parts: puts.length };
}

export function rowKeys(sessionId: string, parts: number): readonly string[] {
  return partKeys(sessionKey(sessionId), parts);
}

/** The journal's half of a row after records were added. */
export function withRecords(head: StoredHead, records: readonly JournalRecord[]): StoredHead {
  return {
    ...head,
    lastSeq: records.at(-1)?.seq ?? head.lastSeq,
    lastTurn: records.reduce((highest, { turn }) => Math.max(highest, turn), head.lastTurn),
    messages: head.messages + records.filter(isCounted).length,
    rewinds: [...head.rewinds, ...rewindsIn(records).map(({ seq, toSeq }) => [seq, toSeq] as const)],
    summaries: [...head.summaries, ...records.flatMap(({ type, seq }) => (type === "summary" ? [seq] : []))].slice(-MAX_SUMMARIES),
  };
}

/** A message that an erasure counts: not the mark of a turn that never came to a word. */
export function isCounted(record: JournalRecord): boolean {
  return record.type === "message" && !isBlankFailure(record);
}

export function rewindMarks({ rewinds }: Pick<SessionRow, "rewinds">): readonly RewindMark[] {
  return rewinds.map(([seq, toSeq]) => ({ seq, toSeq }));
}

/** Seq of the newest summary that stands; null where none does. */
export function standingSummary(row: Pick<SessionRow, "rewinds" | "summaries">): number | null {
  const stands = standing(rewindMarks(row));
  return row.summaries.findLast((seq) => stands({ seq, type: "summary" })) ?? null;
}

/** Rows around one that is looked for by its number: it, and those before it, with their parts. */
const NEAR = 8;
const MAX_HEADS = 5_000;

export function sessionLock(owner: Owner, sessionId: string): string {
  return leaseKey(sessionLockKey(owner, sessionId));
}

/** A session as it stands now, with its lock; null where there is none. */
export async function findHead(engine: StateEngine, owner: Owner, sessionId: string): Promise<StoredHead | null> {
  const lock = lockKey(sessionLock(owner, sessionId));
  const read = await engine.read(ownerPartition(owner), { keys: [lock], ranges: [sessionRange(sessionId)] });
  return headOf(owner, read.ranges[0] ?? [], seenLock(read, lock));
}

/** @throws SESSION_NOT_FOUND where there is no journal of it */
export async function readHead(engine: StateEngine, owner: Owner, sessionId: string): Promise<StoredHead> {
  const head = await findHead(engine, owner, sessionId);
  if (head === null || head.incarnation === "") throw new AppError("SESSION_NOT_FOUND");
  return head;
}

/** The rows beside a session's own that a write may depend on. */
export async function seenRows(engine: StateEngine, owner: Owner, sessionId: string, keys: SessionChanges["keys"]): Promise<SeenRows> {
  const query = { keys: keys.map(({ key }) => requestKey(key)), ranges: [prefixRange(jobsOf(sessionId))] };
  const { entries, ranges } = await engine.read(ownerPartition(owner), query);
  const jobs = (ranges[0] ?? []).map(storedJob);
  return { jobs: new Map(jobs.map((job) => [job.turn, job])), requests: entries };
}

/** The conversation as it was after a record: what a rewind goes back to. */
export async function standingAt(engine: StateEngine, head: StoredHead, sessionId: string, seq: number): Promise<Standing> {
  if (head.fold === "") return NOTHING;
  const partition = ownerPartition(head.owner);
  const prefix = standingsOf(sessionId, head.fold);
  const { from, to } = prefixRange(prefix);
  const at = prefix + numberKey(seq);
  // A row is named by its last seq: the one that holds the seq is the first from there on.
  const ranges = [
    { from, to: at, limit: NEAR, reverse: true },
    { from: at, to, limit: NEAR },
  ];
  const read = await engine.read(partition, { ranges });
  const [before = [], behind = []] = read.ranges;
  const rows = [...wholeValues(before, { reverse: true }).slice(0, 1), ...wholeValues(behind).slice(0, 1)];
  const found = rows.flatMap(standingsIn).findLast(({ of: [each] }) => each <= seq);
  if (found === undefined) return NOTHING;
  const [, messageCount, openedBy] = found.of;
  return { messageCount, openedBy, summary: await summaryOf(engine, partition, summariesOf(sessionId, head.fold), found.summaryKey) };
}

function standingsIn(row: StoredEntry): readonly { readonly of: StandingRow["of"][number]; readonly summaryKey: string | null }[] {
  const { keys, of } = jsonOf<StandingRow>(row);
  return of.map((each) => ({ of: each, summaryKey: each[3] === null ? null : (keys[each[3]] ?? null) }));
}

async function summaryOf(engine: StateEngine, partition: string, prefix: string, key: string | null): Promise<Standing["summary"]> {
  if (key === null) return null;
  const [summary] = wholeValues(await rowsIn(engine, partition, prefixRange(prefix + key)));
  return jsonOf<NonNullable<Standing["summary"]>>(summary);
}

/** The lock's row that a write with a fence depends on, as it was seen last; null: to be looked at. */
export function lockOf(head: StoredHead, seen: SeenLock | null): SeenLock | null {
  if (seen === null || head.lock === null) return seen ?? head.lock;
  return seen.at > head.lock.at ? seen : head.lock;
}

/** Sessions as they were last seen, so that one that goes on here is written without being read first. What is out of date costs a try. */
export class SessionHeads {
  readonly #heads = new LRUCache<string, StoredHead>({ max: MAX_HEADS });

  known(owner: Owner, sessionId: string): StoredHead | undefined {
    const head = this.#heads.get(sessionId);
    return head?.owner === owner ? head : undefined;
  }

  keep(sessionId: string, head: StoredHead): void {
    this.#heads.set(sessionId, head);
  }

  forget(sessionId: string): void {
    this.#heads.delete(sessionId);
  }

  clear(): void {
    this.#heads.clear();
  }
}
