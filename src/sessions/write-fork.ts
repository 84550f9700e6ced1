import type { Owner } from "../domain/owner.js";
import type { JournalRecord, NewRecord } from "../domain/session.js";
import type { Clock } from "../platform/clock.js";
import { newId } from "../platform/ids.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { SessionStore } from "../ports/session-store.js";
import type { SessionWriter } from "../ports/session-writer.js";
import { forkRecords } from "./fork.js";
import { copyImages } from "./images.js";

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

/** Writes the session that {@link forkRecords} makes of another, its images first. Returns its id. @throws MESSAGE_NOT_FOUND */
export async function writeFork(
  { store, writer, ledger, clock }: WriteForkParts,
  owner: Owner,
  { sourceId, messageId, kept, signal }: Source,
): Promise<string> {
  const records: JournalRecord[] = [];
  for await (const record of store.journal.read(owner, sourceId, { signal })) records.push(record);
  const id = newId();
  const forgotten = await ledger.tombstones(owner);
  const copied = forkRecords({ owner, sourceId, records, messageId, forgotten, now: clock.now(), newId });
  await copyImages(store.images, owner, sourceId, id, copied);
  await writer.create(owner, id, [...copied, ...kept]);
  return id;
}
