import type { Owner } from "../domain/owner.js";
import type { JournalRecord, NewRecord } from "../domain/session.js";
import type { Clock } from "../platform/clock.js";
import { newId } from "../platform/ids.js";
import { mergeLockKey } from "../ports/merged-sessions.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { SessionStore } from "../ports/session-store.js";
import type { SessionWriter } from "../ports/session-writer.js";
import { forkRecords } from "./fork.js";
import { copyImages } from "./images.js";
import { mergeOf } from "./without-merged.js";

interface Source {
  readonly sourceId: string;
  readonly messageId: string;
  /** Records that go in with the fork's first. */
  readonly kept: readonly NewRecord[];
  readonly signal: AbortSignal;
}

interface WriteForkParts {
  readonly store: SessionStore;
  readonly writer: SessionWriter;
  readonly ledger: Pick<OwnerLedger, "tombstones">;
  readonly clock: Clock;
}

/** How long a fork of what came by a merge waits while that is undone, in milliseconds. */
const WAIT_MS = 30_000;

/**
 * Writes the session that {@link forkRecords} makes of another, its images first. Returns its id. What came by a merge is copied while that
 * stands: an undo finds the fork, or the fork finds it undone. @throws MESSAGE_NOT_FOUND, SESSION_BUSY
 */
export async function writeFork(parts: WriteForkParts, owner: Owner, source: Source): Promise<string> {
  const { journal, locks } = parts.store;
  const records = await allOf(journal.read(owner, source.sourceId, { signal: source.signal }));
  if (records.every((record) => mergeOf(record) === null)) return write(parts, owner, source, records);
  const lease = await locks.acquire(mergeLockKey(owner), { waitMs: WAIT_MS, signal: source.signal, owner });
  try {
    return await write(parts, owner, source, await allOf(journal.read(owner, source.sourceId, { signal: source.signal })));
  } finally {
    await lease.release();
  }
}

async function write(
  { store, writer, ledger, clock }: WriteForkParts,
  owner: Owner,
  { sourceId, messageId, kept }: Source,
  records: readonly JournalRecord[],
): Promise<string> {
  const id = newId();
  const forgotten = await ledger.tombstones(owner);
  const copied = forkRecords({ owner, sourceId, records, messageId, forgotten, now: clock.now(), newId });
  await copyImages(store.images, owner, sourceId, id, copied);
  await writer.create(owner, id, [...copied, ...kept]);
  return id;
}

async function allOf(records: AsyncIterable<JournalRecord>): Promise<readonly JournalRecord[]> {
  const all: JournalRecord[] = [];
  for await (const record of records) all.push(record);
  return all;
}
