import { createHash } from "node:crypto";
import type { Owner } from "../domain/owner.js";
import type { JournalRecord } from "../domain/session.js";
import { canonicalJson } from "../platform/canonical-json.js";
import { AppError, isAppError } from "../platform/errors.js";
import type { MovableJournals, ReadableJournals, ReadableState } from "../ports/transfer.js";
import { committed } from "../state/durable-commit.js";
import { ERASURE_KEY } from "../state/ledger/ledger-values.js";
import { OWNER_KEY, ownerOfValue } from "../state/partition.js";
import { isCounted } from "../state/sessions/session-row.js";
import type { PartitionPair } from "./partition-pair.js";

type JournalStore = ReadableJournals["store"];

export interface JournalDigest {
  readonly records: number;
  /** Among them. */
  readonly messages: number;
  readonly hash: string;
}

/** The same for journals that hold the same, with what was taken back, whatever they are kept in. Null where there is none. */
export async function journalDigest(store: JournalStore, owner: Owner, sessionId: string): Promise<JournalDigest | null> {
  const hash = createHash("sha256");
  let records = 0;
  let messages = 0;
  try {
    const { lastSeq, lastTurn } = await store.window(owner, sessionId, { rounds: 1 });
    hash.update(`${lastSeq} ${lastTurn}`);
    for await (const record of recordsOf(store, owner, sessionId)) {
      hash.update(textOf(record));
      records += 1;
      if (isCounted(record)) messages += 1;
    }
  } catch (error) {
    if (isAppError(error, "SESSION_NOT_FOUND")) return null;
    throw error;
  }
  return { records, messages, hash: hash.digest("hex") };
}

/** Makes the target's journals what they are in the source. How many records were written. @throws STORAGE_DAMAGED */
export async function copyJournals(pair: PartitionPair, signal: AbortSignal): Promise<number> {
  const { source, target, partition, sessions } = pair;
  const surplus = await pair.surplusFiles(signal);
  if (sessions.size + surplus.length === 0) return 0;
  const owner = (await ownerIn(source, partition)) ?? (await ownerIn(target, partition));
  if (owner === null) throw new AppError("STORAGE_DAMAGED", { detail: `Partition ${partition} holds sessions and tells no owner.` });
  for (const sessionId of surplus) await target.journals.store.remove(owner, sessionId);
  // While an erasure is open nothing of the owner is taken in; it comes with the other entries.
  const isErased = (await target.engine.read(partition, { keys: [ERASURE_KEY] })).entries.size > 0;
  if (isErased) await committed(target.engine, partition, { deletes: [ERASURE_KEY] });
  let moved = 0;
  for (const [sessionId, isArchived] of sessions) {
    signal.throwIfAborted();
    const records = await copyJournal(source.journals.store, target.journals.store, owner, sessionId);
    if (records > 0 && isArchived) await target.journals.store.compress(owner, sessionId);
    moved += records;
  }
  return moved;
}

export async function ownerIn({ engine }: ReadableState, partition: string): Promise<Owner | null> {
  const entry = (await engine.read(partition, { keys: [OWNER_KEY] })).entries.get(OWNER_KEY);
  return entry === undefined ? null : ownerOfValue(entry.value);
}

/** Replaces what the target has of a session's journal, where it is not the same. How many records were written. */
async function copyJournal(source: JournalStore, target: MovableJournals["store"], owner: Owner, sessionId: string): Promise<number> {
  const [ours, theirs] = [await journalDigest(source, owner, sessionId), await journalDigest(target, owner, sessionId)];
  if (ours === null || ours.hash === theirs?.hash) return 0;
  const end = await source.window(owner, sessionId, { rounds: 1 });
  await target.restore(owner, sessionId, () => recordsOf(source, owner, sessionId), end);
  return ours.records;
}

/** Without steps that a crash tore off their answer: where they are written anew, they would pass for steps of another attempt. */
function recordsOf(store: JournalStore, owner: Owner, sessionId: string): AsyncIterable<JournalRecord> {
  return store.read(owner, sessionId, { includeRewound: true });
}

/** Without where a record lies in a file. */
function textOf(record: JournalRecord): string {
  return canonicalJson(record.type === "rewind" ? { ...record, body: { ...record.body, to_offset: 0 } } : record);
}
