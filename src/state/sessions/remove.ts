import type { Owner } from "../../domain/owner.js";
import { committed } from "../durable-commit.js";
import { behind, type PartitionRead, prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { ownerPartition } from "../partition.js";
import { entryOf } from "./index-write.js";
import {
  activityKey,
  externalKey,
  jobsOf,
  journalPrefix,
  lockKey,
  REQUESTS,
  sessionKey,
  sessionRange,
  standingsOf,
  summariesOf,
  turnRecordsOf,
} from "./keys.js";
import { headOf, NO_INDEX, rowKeys, rowWrite, type StoredHead } from "./session-row.js";
import { sessionLock } from "./session-rows.js";
import { emptyTrash, trashPut } from "./trash.js";

/** What goes: all of a session, what the index has of it, or that where there is no journal beside it. */
export type Removal = "whole" | "index" | "index without journal";

/** Rows that go in the commit that takes the session out, beside its own. */
const BESIDE = 60;
const PAGE = 200;

/**
 * Takes a session out by one commit: nothing of it is found from there on. The rest of its rows, which are in the trash then, go in pages.
 * False where there was none.
 */
export async function removeSession(engine: StateEngine, owner: Owner, sessionId: string, removal: Removal): Promise<boolean> {
  const partition = ownerPartition(owner);
  for (;;) {
    const lock = lockKey(sessionLock(owner, sessionId));
    const read = await engine.read(partition, { keys: [lock], ranges: [sessionRange(sessionId)] });
    const head = headOf(owner, read.ranges[0] ?? []);
    // Behind the head: a write that brings more changes that.
    const beside = await rowsBeside(engine, owner, sessionId);
    const isThere = head !== null && (removal === "whole" ? head.incarnation !== "" : head.state !== null);
    // More than one commit takes: those go first. Who is killed here removes it again.
    const early = isThere ? beside.slice(BESIDE) : beside;
    for (let from = 0; from < early.length; from += BESIDE)
      await committed(engine, partition, { deletes: early.slice(from, from + BESIDE) });
    if (!isThere) {
      await emptyTrash(engine, partition, sessionId);
      return false;
    }
    const external = await externalOf(engine, partition, head, sessionId);
    const left =
      removal === "index" && head.incarnation !== "" ? rowWrite(sessionId, { ...head, ...NO_INDEX }, engine.manifest.maxValueBytes) : null;
    const deletes = [
      ...(left === null ? rowKeys(sessionId, head.parts) : left.deletes),
      ...(head.state === null ? [] : [activityKey(head.state.session)]),
      ...external,
      ...beside.slice(0, BESIDE),
      ...(removal === "whole" && isLapsed(read, lock) ? [lock] : []),
    ];
    const checks = [{ key: sessionKey(sessionId), version: head.version }];
    const puts = [...(left?.puts ?? []), ...trashOfHead(head, sessionId, removal, read.nowMs)];
    if ((await committed(engine, partition, { checks, puts, deletes })).ok) break;
  }
  await emptyTrash(engine, partition, sessionId);
  return true;
}

function trashOfHead(head: StoredHead, sessionId: string, removal: Removal, nowMs: number) {
  const ofJournal = removal === "whole" ? [journalPrefix(sessionId, head.generation)] : [];
  const ofIndex = head.fold === "" ? [] : [standingsOf(sessionId, head.fold), summariesOf(sessionId, head.fold)];
  // An index alone is taken out to be made anew: what is kept of the turns stays.
  const ofTurns = removal === "index" ? [] : [turnRecordsOf(sessionId)];
  const prefixes = [...ofJournal, ...ofIndex, ...ofTurns];
  const name = removal === "whole" ? head.generation : head.fold;
  return prefixes.length === 0 ? [] : [trashPut(sessionId, name, { building: false, atMs: nowMs, prefixes })];
}

/** A lock that somebody holds is theirs to release. */
function isLapsed({ entries, nowMs }: PartitionRead, lock: string): boolean {
  const entry = entries.get(lock);
  return entry !== undefined && (JSON.parse(entry.value) as { readonly untilMs: number }).untilMs < nowMs;
}

/** Keys of the session's jobs, and of the requests that it has. */
async function rowsBeside(engine: StateEngine, owner: Owner, sessionId: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const jobs of pagesOf(engine, owner, jobsOf(sessionId))) keys.push(...jobs.map(({ key }) => key));
  for await (const requests of pagesOf(engine, owner, REQUESTS))
    keys.push(...requests.filter(({ value }) => entryOf(value).sessionId === sessionId).map(({ key }) => key));
  return keys;
}

/** Rows with a prefix, a page at a time; none of them in parts. */
export async function* pagesOf(engine: StateEngine, owner: Owner, prefix: string): AsyncGenerator<readonly StoredEntry[]> {
  const { from: first, to } = prefixRange(prefix);
  for (let from = first; ; ) {
    const { ranges } = await engine.read(ownerPartition(owner), { ranges: [{ from, to, limit: PAGE }] });
    const [rows = []] = ranges;
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE) return;
    from = behind(rows.at(-1)?.key ?? to);
  }
}

async function externalOf(engine: StateEngine, partition: string, { state }: StoredHead, sessionId: string): Promise<readonly string[]> {
  const externalId = state?.session.external_id ?? null;
  if (externalId === null) return [];
  const key = externalKey(externalId);
  const entry = (await engine.read(partition, { keys: [key] })).entries.get(key);
  return entry !== undefined && JSON.parse(entry.value) === sessionId ? [key] : [];
}
