import { createHash } from "node:crypto";
import type { Owner } from "../domain/owner.js";
import type { JournalRecord } from "../domain/session.js";
import { AppError, insteadOf } from "../platform/errors.js";
import { canonicalJson } from "../platform/json.js";
import type { MovableJournals, MovableState, ReadableJournals, ReadableState } from "../ports/transfer.js";
import { committed } from "../state/durable-commit.js";
import type { Commit, StoredEntry } from "../state/engine.js";
import { ERASURE_KEY } from "../state/ledger/ledger-values.js";
import { OWNER_KEY, ownerOfValue } from "../state/partition.js";
import { sessionKey, sessionRange } from "../state/sessions/keys.js";
import { isCounted, NO_JOURNAL, rowKeys, rowOf, type SessionRow } from "../state/sessions/session-row.js";
import { partsOf, wholeValues } from "../state/stored-rows.js";
import { PartitionPair } from "./partition-pair.js";
import { changedMeanwhile, type PartitionReader } from "./partition-reader.js";
import { sessionOf } from "./portable-entries.js";

/**
 * Makes a partition of the target what it is in the source: entries that are the same stay as they are, others are written and deleted.
 * Its epoch is never lowered. How many entries, and records of journals, were written or deleted.
 * @throws COMMIT_TOO_LARGE for a value that the target can't keep, STORAGE_IN_USE where somebody else writes
 */
export async function copyPartition(source: ReadableState, target: MovableState, partition: string, signal: AbortSignal): Promise<number> {
  const pair = await PartitionPair.of(source, target, partition, signal);
  // First: what says which journals the target has is among the entries.
  let moved = pair.byRecord ? await copyJournals(pair, signal) : 0;
  const { from, to } = pair;
  const writer = new PartitionWriter(target, partition, to);
  for await (const { key, source: ours, target: theirs } of pair.differences(signal)) {
    moved += 1;
    const sessionId = sessionOf(key);
    if (sessionId !== null) await writeSession(writer, pair, sessionId, { value: ours?.value ?? null, partsBefore: theirs?.parts ?? 0 });
    else await (ours === null ? writer.delete(key) : writer.put(ours));
  }
  if (from.head.dueAtMs !== to.head.dueAtMs) writer.setAlarm(from.head.dueAtMs);
  await writer.end(from.head.epoch - to.head.epoch);
  return moved;
}

/** A row that is too long for the engine lies in parts. */
async function writeSession(
  writer: PartitionWriter,
  { target, partition, byRecord }: PartitionPair,
  sessionId: string,
  { value, partsBefore }: { readonly value: string | null; readonly partsBefore: number },
): Promise<void> {
  let puts: readonly { readonly key: string; readonly value: string }[] = [];
  if (value !== null) {
    let row = value;
    if (byRecord && target.journals.keptIn === "rows") {
      const read = await target.engine.read(partition, { ranges: [sessionRange(sessionId)] });
      row = JSON.stringify({ ...JSON.parse(value), ...journalHalf(read.ranges[0] ?? []) });
    }
    puts = partsOf(sessionKey(sessionId), row, target.engine.manifest.maxValueBytes);
  }
  for (const put of puts) await writer.put(put);
  for (const key of rowKeys(sessionId, partsBefore).slice(puts.length)) await writer.delete(key);
}

/** What the target's own store has written of the journal that it was given. */
function journalHalf(entries: readonly StoredEntry[]): Partial<SessionRow> {
  const [entry] = wholeValues(entries);
  if (entry === undefined) return {};
  const row = rowOf(entry);
  return Object.fromEntries(Object.keys(NO_JOURNAL).map((field) => [field, row[field as keyof typeof NO_JOURNAL]]));
}

type Put = NonNullable<Commit["puts"]>[number];

/** Writes to a partition that is being read, in commits within the engine's budget. */
class PartitionWriter {
  readonly #state: MovableState;
  readonly #partition: string;
  readonly #reader: PartitionReader;
  #puts: Put[] = [];
  #deletes: string[] = [];
  #bytes = 0;
  #alarm: Pick<Commit, "dueAtMs"> = {};

  constructor(state: MovableState, partition: string, reader: PartitionReader) {
    this.#state = state;
    this.#partition = partition;
    this.#reader = reader;
  }

  async put(entry: Put): Promise<void> {
    const { maxValueBytes, maxCommitBytes } = this.#state.engine.manifest;
    const valueBytes = Buffer.byteLength(entry.value);
    const bytes = valueBytes + Buffer.byteLength(entry.key);
    if (valueBytes > maxValueBytes || bytes > maxCommitBytes)
      throw new AppError("COMMIT_TOO_LARGE", {
        detail: `${entry.key} (partition ${this.#partition}) is ${valueBytes} bytes; ${this.#state.name} keeps at most ${maxValueBytes}.`,
        hint: "Move to another store: this one keeps smaller values. The source is as it was.",
      });
    await this.#makeRoom(bytes);
    this.#puts.push(entry);
  }

  async delete(key: string): Promise<void> {
    await this.#makeRoom(Buffer.byteLength(key));
    this.#deletes.push(key);
  }

  setAlarm(dueAtMs: number | null): void {
    this.#alarm = { dueAtMs };
  }

  /** Writes what is left. `epochs`: by how many the epoch is to rise. */
  async end(epochs: number): Promise<void> {
    if (this.#puts.length + this.#deletes.length > 0 || this.#alarm.dueAtMs !== undefined) await this.#commit(epochs > 0);
    else if (epochs > 0) await this.#commit(true);
    for (let risen = 1; risen < epochs; risen += 1) await this.#commit(true);
  }

  async #makeRoom(bytes: number): Promise<void> {
    const { maxOperations, maxCommitBytes } = this.#state.engine.manifest;
    if (this.#puts.length + this.#deletes.length >= maxOperations || this.#bytes + bytes > maxCommitBytes) await this.#commit(false);
    this.#bytes += bytes;
  }

  async #commit(raisesEpoch: boolean): Promise<void> {
    const result = await committed(this.#state.engine, this.#partition, {
      version: this.#reader.head.version,
      puts: this.#puts,
      deletes: this.#deletes,
      ...this.#alarm,
      ...(raisesEpoch && { raisesEpoch }),
    });
    if (!result.ok) throw changedMeanwhile(this.#state, this.#partition);
    this.#reader.wrote(result.version);
    this.#puts = [];
    this.#deletes = [];
    this.#bytes = 0;
  }
}

type JournalStore = ReadableJournals["store"];

interface JournalDigest {
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
    return insteadOf("SESSION_NOT_FOUND", null)(error);
  }
  return { records, messages, hash: hash.digest("hex") };
}

/** Makes the target's journals what they are in the source. How many records were written. @throws STORAGE_DAMAGED */
async function copyJournals(pair: PartitionPair, signal: AbortSignal): Promise<number> {
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
