import { eachInParallel } from "../platform/bounded-parallel.js";
import type { ReadableState } from "../ports/transfer.js";
import { INSTALLATION_KEYS } from "../state/encryption/keyring.js";
import type { StoredEntry } from "../state/engine.js";
import { JOBS_PARTITION } from "../state/jobs/installation-jobs.js";
import { systemPartition } from "../state/partition.js";
import { LOCKS, SESSIONS, TURN_JOBS } from "../state/sessions/keys.js";
import { NO_JOURNAL, rowOf } from "../state/sessions/session-row.js";
import { type TurnJob, unclaimedJob } from "../state/sessions/turn-job.js";
import { partitionPages } from "../state/stored-rows.js";

/** What is moved of a partition, and what it is in another store. */

/** Where a move notes that it was begun, until it is whole. */
export const MOVE_PARTITION = systemPartition("move");
export const LOCKS_PARTITION = systemPartition("locks");
/** Which installation the vectors are of: goes along. A server that was once started has agreed one, which is nothing of anybody's. */
export const INSTALLATION_PARTITION = systemPartition("installation");
const REQUEST_COUNTERS = `${systemPartition("limits")}:`;
/** With the place of a part, where the row is over an engine's limit. */
const SESSION = /^session\/([^/~]+)(~\d{4})?$/u;

/** False for what is of those who use a store now. */
function isMoved(partition: string): boolean {
  return (
    ![LOCKS_PARTITION, MOVE_PARTITION, JOBS_PARTITION, INSTALLATION_KEYS].includes(partition) && !partition.startsWith(REQUEST_COUNTERS)
  );
}

export interface PortableEntry {
  readonly key: string;
  /** As another store has it, too. A session's row is whole. */
  readonly value: string;
  /** In how many parts it lies. */
  readonly parts: number;
}

interface PortableOptions {
  /** Keys that are left out. */
  readonly except?: (key: string) => boolean;
  /** Sessions' rows without what they say of the journal. Default false. */
  readonly withoutJournals?: boolean;
}

/** The session whose row it is, or a part of it; null for another entry. */
export function sessionOf(key: string): string | null {
  return SESSION.exec(key)?.[1] ?? null;
}

/** Entries without locks, claims and fences. */
export async function* portable(
  entries: AsyncIterable<StoredEntry>,
  { except = () => false, withoutJournals = false }: PortableOptions = {},
): AsyncGenerator<PortableEntry> {
  let session = null as PortableEntry | null;
  const whole = (entry: PortableEntry) => ({ ...entry, value: portableSession(entry, withoutJournals) });
  for await (const { key, value } of entries) {
    if (key.startsWith(LOCKS) || except(key)) continue;
    const part = SESSION.exec(key)?.[2];
    if (session !== null && part !== undefined) {
      session = { ...session, value: session.value + value, parts: session.parts + 1 };
      continue;
    }
    if (session !== null) yield whole(session);
    session = null;
    if (key.startsWith(SESSIONS)) session = { key, value, parts: 1 };
    else yield { key, value: key.startsWith(TURN_JOBS) ? portableJob(value) : value, parts: 1 };
  }
  if (session !== null) yield whole(session);
}

/** Fences are versions of the partition, which begin anew. */
function portableSession(entry: PortableEntry, withoutJournals: boolean): string {
  const row = rowOf(entry);
  return JSON.stringify(withoutJournals ? { ...row, ...NO_JOURNAL } : { ...row, fence: 0 });
}

/** Nobody works at a turn. */
function portableJob(value: string): string {
  return JSON.stringify(unclaimedJob(JSON.parse(value) as TurnJob));
}

/** Of one look. */
const PAGE = 500;

/** Partitions that are moved, a page at a time: also those of erased owners. */
export async function* partitionsOf({ engine }: ReadableState, signal: AbortSignal): AsyncGenerator<readonly string[]> {
  for await (const page of partitionPages(engine, null, PAGE)) {
    signal.throwIfAborted();
    yield page.flatMap(({ partition }) => (isMoved(partition) ? [partition] : []));
  }
}

/** Some at a time. Throws the first error once nothing works at any of them: the others are told to stop. */
export async function eachPartition(
  state: ReadableState,
  signal: AbortSignal,
  work: (partition: string, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  for await (const page of partitionsOf(state, signal)) await eachOf(page, signal, work);
}

/** As {@link eachPartition}, of these. */
export async function eachOf(
  partitions: readonly string[],
  signal: AbortSignal,
  work: (partition: string, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  await eachInParallel(partitions, async (partition) => {
    if (stop.signal.aborted) return;
    await work(partition, either).catch((error: unknown) => stop.abort(error));
  });
  stop.signal.throwIfAborted();
}
