import { LRUCache } from "lru-cache";
import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import { sessionLockKey } from "../../ports/session-store.js";
import { prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import type { SessionChanges } from "../journal/session-changes.js";
import { NOTHING, type Standing } from "../journal/session-fold.js";
import { numberKey, ownerPartition } from "../partition.js";
import { jsonOf, rowsIn } from "../stored-rows.js";
import { wholeValues } from "../value-parts.js";
import type { SeenRows, StandingRow } from "./index-write.js";
import { jobsOf, lockKey, requestKey, sessionRange, standingsOf, summariesOf } from "./keys.js";
import { leaseKey } from "./leased-lock.js";
import { headOf, type SeenLock, type StoredHead, seenLock } from "./session-row.js";
import { storedJob } from "./turn-job.js";

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
