import { createHash, type Hash } from "node:crypto";
import type { Owner } from "../domain/owner.js";
import type { JournalRecord, MessageRecord } from "../domain/session.js";
import { canonicalJson } from "../platform/canonical-json.js";
import { isAppError } from "../platform/errors.js";
import type { MemoryLogEntry } from "../ports/memory-log.js";
import type { LedgerContents, TransferableRow, TransferableState } from "../ports/transfer.js";

/** What is the same in two stores has the same hash, whatever they keep it in. */

const DAY_MS = 24 * 60 * 60 * 1000;

/** A record as it is told apart from others: without where it lies in a file. */
export function recordText(record: JournalRecord): string {
  return canonicalJson(record.type === "rewind" ? { ...record, body: { ...record.body, to_offset: 0 } } : record);
}

/** All that a journal holds, with what was taken back. */
export function recordsOf({ journal }: Pick<TransferableState, "journal">, owner: Owner, sessionId: string): AsyncIterable<JournalRecord> {
  return journal.read(owner, sessionId, { includeRewound: true });
}

/** Ids of the images that a message has and that are kept beside the journal. */
export function keptImages(record: JournalRecord): readonly string[] {
  return record.type === "message" ? (record.body.images ?? []).flatMap(({ id, bytes }) => (bytes === null ? [] : [id])) : [];
}

/** Null where there is no such session. */
export async function journalHash(state: TransferableState, owner: Owner, sessionId: string): Promise<string | null> {
  const hash = createHash("sha256");
  try {
    await addJournal(hash, state, owner, sessionId, () => {});
    return hash.digest("hex");
  } catch (error) {
    if (isAppError(error, "SESSION_NOT_FOUND")) return null;
    throw error;
  }
}

export interface SessionDigest {
  readonly records: number;
  readonly images: number;
  readonly hash: string;
}

/** Journal, images, what the session looks like, its pending turns and the idempotency keys that hold. */
export async function sessionDigest(state: TransferableState, owner: Owner, sessionId: string, now: Date): Promise<SessionDigest> {
  const hash = createHash("sha256");
  let records = 0;
  let images = 0;
  const asked: MessageRecord[] = [];
  await addJournal(hash, state, owner, sessionId, async (record) => {
    records += 1;
    if (record.type === "message" && record.body.idempotency && now.getTime() - Date.parse(record.at) < DAY_MS) asked.push(record);
    for (const id of keptImages(record)) {
      const data = await state.images.get(owner, sessionId, id);
      if (data !== null) images += 1;
      hash.update(`${id} ${data === null ? "none" : createHash("sha256").update(data).digest("hex")}`);
    }
  });
  const { index } = state;
  const pending = await index.pendingOf(owner, sessionId);
  const looks: unknown[] = [await index.get(owner, sessionId), await index.statusBeforeDelete(owner, sessionId), pending];
  for (const { body } of asked) looks.push(await index.findIdempotent(owner, body.idempotency?.key ?? "", now));
  hash.update(canonicalJson(looks));
  return { records, images, hash: hash.digest("hex") };
}

export function entryText(entry: MemoryLogEntry): string {
  return canonicalJson(entry);
}

export async function memoryLogDigest(
  { memoryLog }: TransferableState,
  owner: Owner,
): Promise<{ readonly entries: number; readonly hash: string }> {
  const hash = createHash("sha256");
  let entries = 0;
  for await (const entry of memoryLog.read(owner)) {
    hash.update(entryText(entry));
    entries += 1;
  }
  return { entries, hash: hash.digest("hex") };
}

/** Tombstones and jobs in any order: stores keep them in different ones. */
export function ledgerText({ tombstones, progress, ...contents }: LedgerContents): string {
  const byMemory = tombstones.toSorted((a, b) => (a.memoryId < b.memoryId ? -1 : 1));
  return canonicalJson({ ...contents, tombstones: byMemory, progress: Object.fromEntries(progress) });
}

export function rowText(row: TransferableRow): string {
  return canonicalJson(row);
}

/** The hash of hashes in any order. */
export class Unordered {
  #sum = 0n;
  count = 0;

  add(hash: string): void {
    this.#sum = (this.#sum + BigInt(`0x${hash}`)) % (1n << 256n);
    this.count += 1;
  }

  get hash(): string {
    return `${this.count}:${this.#sum.toString(16)}`;
  }
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function addJournal(
  hash: Hash,
  state: TransferableState,
  owner: Owner,
  sessionId: string,
  each: (record: JournalRecord) => Promise<void> | void,
): Promise<void> {
  const { lastSeq, lastTurn } = await state.journal.window(owner, sessionId, { rounds: 1 });
  hash.update(`${lastSeq} ${lastTurn}`);
  for await (const record of recordsOf(state, owner, sessionId)) {
    hash.update(recordText(record));
    await each(record);
  }
}
