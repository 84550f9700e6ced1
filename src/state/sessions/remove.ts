import type { Owner } from "../../domain/owner.js";
import type { IdempotencyEntry } from "../../ports/session-store.js";
import { inCommits } from "../commit-limits.js";
import { committed } from "../durable-commit.js";
import { type PartitionRead, prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { ownerPartition } from "../partition.js";
import { jsonOf, rowAt, rowPages, rowsIn } from "../stored-rows.js";
import {
  ACTIVITIES,
  activityKey,
  EXTERNALS,
  externalKey,
  JOURNALS,
  jobsOf,
  journalPrefix,
  lockKey,
  REQUESTS,
  STANDINGS,
  SUMMARIES,
  sessionKey,
  sessionRange,
  standingsOf,
  summariesOf,
  TRASH,
  TURN_JOBS,
  trashOf,
  turnRecordsOf,
} from "./keys.js";
import { headsOf, type OwnedHead } from "./owners.js";
import { headOf, NO_INDEX, NO_JOURNAL, rowKeys, rowWrite, type StoredHead, sessionLock } from "./session-row.js";

/** What goes: all of a session, what the index has of it, or that where there is no journal beside it. */
type Removal = "whole" | "index" | "index without journal";

/** Rows that go in the commit that takes the session out, beside its own. */
const BESIDE = 60;

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
    const beside = await rowsBeside(engine, partition, sessionId);
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
  const row = jsonOf<{ readonly untilMs: number }>(entries.get(lock));
  return row !== null && row.untilMs < nowMs;
}

/** Keys of the session's jobs, and of the requests that it has. */
async function rowsBeside(engine: StateEngine, partition: string, sessionId: string): Promise<readonly string[]> {
  const jobs = await rowsIn(engine, partition, prefixRange(jobsOf(sessionId)));
  const keys = jobs.map(({ key }) => key);
  for await (const rows of rowPages(engine, partition, REQUESTS))
    keys.push(...rows.filter((row) => jsonOf<IdempotencyEntry>(row).sessionId === sessionId).map(({ key }) => key));
  return keys;
}

async function externalOf(engine: StateEngine, partition: string, { state }: StoredHead, sessionId: string): Promise<readonly string[]> {
  const externalId = state?.session.external_id ?? null;
  if (externalId === null) return [];
  const key = externalKey(externalId);
  return jsonOf<string>(await rowAt(engine, partition, key)) === sessionId ? [key] : [];
}

/** Deletes all journals of an owner. What the index has of the sessions is the index's to erase. */
export async function eraseJournals(engine: StateEngine, owner: Owner): Promise<{ readonly sessions: number; readonly messages: number }> {
  const gone = await eraseHalves(engine, owner, {
    has: ({ incarnation }) => incarnation !== "",
    without: (head) => ({ ...head, ...NO_JOURNAL }),
  });
  const partition = ownerPartition(owner);
  for (const prefix of [JOURNALS, TRASH]) await deletePrefix(engine, partition, prefix);
  return { sessions: gone.length, messages: gone.reduce((sum, { head }) => sum + head.messages, 0) };
}

export async function journalResidue(engine: StateEngine, owner: Owner): Promise<number> {
  const sessions = await countHeads(engine, owner, ({ incarnation }) => incarnation !== "");
  return sessions > 0 ? sessions : rowsLeft(engine, owner, [JOURNALS, TRASH]);
}

/** Deletes what the index has of an owner. `hasJournals`: whether the journals lie beside it. */
export async function eraseIndex(
  engine: StateEngine,
  owner: Owner,
  hasJournals: boolean,
): Promise<{ readonly sessions: number; readonly idempotencyKeys: number; readonly pendingTurns: number }> {
  const rest = hasJournals ? NO_INDEX : { ...NO_INDEX, ...NO_JOURNAL };
  const gone = await eraseHalves(engine, owner, { has: ({ state }) => state !== null, without: (head) => ({ ...head, ...rest }) });
  const partition = ownerPartition(owner);
  for (const prefix of [ACTIVITIES, EXTERNALS, STANDINGS, SUMMARIES]) await deletePrefix(engine, partition, prefix);
  return {
    sessions: gone.length,
    idempotencyKeys: await deletePrefix(engine, partition, REQUESTS),
    pendingTurns: await deletePrefix(engine, partition, TURN_JOBS),
  };
}

export async function indexResidue(engine: StateEngine, owner: Owner): Promise<number> {
  const sessions = await countHeads(engine, owner, ({ state }) => state !== null);
  return sessions + (await rowsLeft(engine, owner, [TURN_JOBS, REQUESTS, ACTIVITIES, EXTERNALS, STANDINGS, SUMMARIES]));
}

async function countHeads(engine: StateEngine, owner: Owner, has: Half["has"]): Promise<number> {
  let count = 0;
  for await (const page of headsOf(engine, owner)) count += page.filter(({ head }) => has(head)).length;
  return count;
}

interface Half {
  readonly has: (head: StoredHead) => boolean;
  readonly without: (head: StoredHead) => StoredHead;
}

/** Takes one half out of all sessions' rows; a row without either goes. Those that had it. */
async function eraseHalves(engine: StateEngine, owner: Owner, half: Half): Promise<readonly OwnedHead[]> {
  const gone: OwnedHead[] = [];
  for (let isDone = false; !isDone; ) {
    isDone = true;
    for await (const page of headsOf(engine, owner)) {
      const changes = page.filter(({ head }) => half.has(head)).map((owned) => ({ owned, ...halved(engine, owned, half) }));
      for (const batch of inCommits(engine.manifest, changes)) {
        const commit = {
          checks: batch.map(({ owned }) => ({ key: sessionKey(owned.sessionId), version: owned.head.version })),
          puts: batch.flatMap(({ puts }) => puts),
          deletes: batch.flatMap(({ deletes }) => deletes),
        };
        // Somebody wrote one meanwhile: it is looked at again.
        if ((await committed(engine, ownerPartition(owner), commit)).ok) gone.push(...batch.map(({ owned }) => owned));
        else isDone = false;
      }
    }
  }
  return gone;
}

function halved(engine: StateEngine, { sessionId, head }: OwnedHead, { without }: Half) {
  const after = without(head);
  if (after.incarnation === "" && after.state === null) return { puts: [], deletes: rowKeys(sessionId, head.parts) };
  return rowWrite(sessionId, after, engine.manifest.maxValueBytes);
}

async function rowsLeft(engine: StateEngine, owner: Owner, prefixes: readonly string[]): Promise<number> {
  const { ranges } = await engine.read(ownerPartition(owner), { ranges: prefixes.map((prefix) => ({ ...prefixRange(prefix), limit: 1 })) });
  return ranges.reduce((count, rows) => count + rows.length, 0);
}

/** Rows that nobody refers to any more, or does not refer to yet: they go in pages, whoever finds them. */
interface TrashRow {
  readonly v: 1;
  /** They are being written and will be referred to. */
  readonly building: boolean;
  /** By the engine's clock. */
  readonly atMs: number;
  readonly prefixes: readonly string[];
}

/** Whoever builds for so long is gone, in milliseconds. */
const BUILT_WITHIN_MS = 60 * 60 * 1000;
/** Rows deleted by one commit: each may have to be read. */
const PAGE = 40;

/** `name`: of these rows alone, among the session's. */
export function trashPut(sessionId: string, name: string, row: Omit<TrashRow, "v">): { readonly key: string; readonly value: string } {
  return { key: trashKey(sessionId, name), value: JSON.stringify({ v: 1, ...row }) };
}

export function trashKey(sessionId: string, name: string): string {
  return trashOf(sessionId) + name;
}

/** Deletes what the trash names, of one session or of the whole partition. What is being built is left alone. Idempotent. */
export async function emptyTrash(engine: StateEngine, partition: string, sessionId?: string): Promise<void> {
  const range = prefixRange(sessionId === undefined ? TRASH : trashOf(sessionId));
  const { ranges, nowMs } = await engine.read(partition, { ranges: [range] });
  for (const entry of ranges[0] ?? []) {
    const row = jsonOf<TrashRow>(entry);
    if (row.building && nowMs - row.atMs < BUILT_WITHIN_MS) continue;
    await discard(engine, partition, entry);
  }
}

/** Gives up what was being built. */
export async function discardBuilt(engine: StateEngine, partition: string, sessionId: string, name: string): Promise<void> {
  const key = trashKey(sessionId, name);
  const entry = await rowAt(engine, partition, key);
  if (entry !== undefined) await discard(engine, partition, entry);
}

async function discard(engine: StateEngine, partition: string, entry: StoredEntry): Promise<void> {
  const { key, version } = entry;
  const row = jsonOf<TrashRow>(entry);
  // Whoever built it can't refer to it from here on.
  if (row.building) {
    const puts = [{ key, value: JSON.stringify({ ...row, building: false }) }];
    if (!(await committed(engine, partition, { checks: [{ key, version }], puts })).ok) return;
  }
  for (const prefix of row.prefixes) await deletePrefix(engine, partition, prefix);
  await committed(engine, partition, { deletes: [key] });
}

/** Deletes all keys with a prefix. Returns how many there were. */
async function deletePrefix(engine: StateEngine, partition: string, prefix: string): Promise<number> {
  for (let count = 0; ; ) {
    const deletes = (await rowsIn(engine, partition, { ...prefixRange(prefix), limit: PAGE })).map(({ key }) => key);
    if (deletes.length > 0) await committed(engine, partition, { deletes });
    count += deletes.length;
    if (deletes.length < PAGE) return count;
  }
}
