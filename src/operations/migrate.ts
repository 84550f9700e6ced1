import type { Owner } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import type { PendingTurn } from "../ports/session-store.js";
import type { TransferableState, TransferableTable } from "../ports/transfer.js";
import { damageIn, requireNothingElse, requireUnused } from "./migration-checks.js";
import {
  hashOf,
  journalHash,
  keptImages,
  ledgerText,
  memoryLogDigest,
  recordsOf,
  rowText,
  sessionDigest,
  Unordered,
} from "./state-digest.js";

export interface MigrateOptions {
  readonly signal: AbortSignal;
  readonly now: Date;
  /** Of sessions, each counted when it is moved and when it is compared. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** What a store holds, counted. */
export interface StateCounts {
  readonly users: number;
  readonly sessions: number;
  readonly records: number;
  readonly images: number;
  readonly memory_log_entries: number;
  readonly ledgers: number;
  /** Of tables that follow from no journal, by name. */
  readonly rows: Readonly<Record<string, number>>;
}

export interface MigrationReport {
  readonly source: StateCounts;
  readonly target: StateCounts;
  /** Sessions that this run brought; those of an earlier run that was broken off were there. */
  readonly moved_sessions: number;
  /** What could not be read in the source, and so was not moved. */
  readonly left_behind: { readonly damaged_records: number; readonly damaged_journals: number; readonly nameless_ledgers: number };
  /** What is not the same in both, by user (or hash of one who was erased) and by table; empty when all is well. */
  readonly differences: readonly string[];
}

/** Rows of a table that are restored together. */
const ROWS = 200;
const FOLDED = 500;

/**
 * Moves everything that one store of state holds to another, which holds nothing else, and compares the two. The source stays as it is.
 * Broken off, the same again goes on where it was. Nobody else may use either meanwhile.
 * @throws STORAGE_IN_USE, TARGET_NOT_EMPTY, STORAGE_UNAVAILABLE, ABORTED
 */
export async function migrate(source: TransferableState, target: TransferableState, options: MigrateOptions): Promise<MigrationReport> {
  const { signal, now, onProgress = () => {} } = options;
  for (const state of [source, target]) await requireUnused(state, signal);
  const damage = await damageIn(source);
  await requireNothingElse(source, target);
  let total = 0;
  for await (const _ of source.journal.list()) total += 1;
  let done = 0;
  const step = () => {
    signal.throwIfAborted();
    done += 1;
    onProgress(done, total * 2);
  };
  let moved = 0;
  for await (const { owner, sessionId } of source.journal.list()) {
    if (await moveSession(source, target, owner, sessionId)) moved += 1;
    step();
  }
  for await (const owner of source.memoryLog.owners()) {
    signal.throwIfAborted();
    await moveMemoryLog(source, target, owner);
  }
  for (const table of source.tables) await moveTable(table, target);
  // Last: while an erasure is open, which goes on where the ledger is, nothing of the owner is taken in.
  let nameless = 0;
  for await (const { hash, contents } of source.ledgers.all()) {
    signal.throwIfAborted();
    if (hash === null) nameless += 1;
    else await target.ledgers.restore(hash, contents);
  }
  const before = await summaryOf(source, now, step);
  const after = await summaryOf(target, now, () => signal.throwIfAborted());
  return {
    source: before.counts,
    target: after.counts,
    moved_sessions: moved,
    left_behind: { damaged_records: damage.records, damaged_journals: damage.journals, nameless_ledgers: nameless },
    differences: differencesOf(before.hashes, after.hashes),
  };
}

/** True where it was not there, or not whole. */
async function moveSession(source: TransferableState, target: TransferableState, owner: Owner, sessionId: string): Promise<boolean> {
  const isThere = (await journalHash(target, owner, sessionId)) === (await journalHash(source, owner, sessionId));
  if (!isThere) {
    const end = await source.journal.window(owner, sessionId, { rounds: 1 });
    await target.journal.restore(owner, sessionId, () => recordsOf(source, owner, sessionId), end);
  }
  await catchUp(target, owner, sessionId);
  await moveImages(source, target, owner, sessionId);
  const waiting = new Map((await target.index.pendingOf(owner, sessionId)).map((turn) => [turn.turn, turn]));
  for (const turn of await source.index.pendingOf(owner, sessionId))
    if (!isSame(turn, waiting.get(turn.turn))) await target.index.restorePending(turn);
  const session = await source.index.get(owner, sessionId);
  if (session?.status === "archived") await target.journal.compress(owner, sessionId);
  return !isThere;
}

/** The index follows the journal: what it has already costs a look. */
async function catchUp({ journal, index }: TransferableState, owner: Owner, sessionId: string): Promise<void> {
  const fromSeq = (await index.indexedSeq(sessionId)) + 1;
  let batch = [];
  for await (const record of journal.read(owner, sessionId, { fromSeq, includeRewound: true })) {
    batch.push(record);
    if (batch.length < FOLDED) continue;
    await index.apply(owner, sessionId, batch);
    batch = [];
  }
  if (batch.length > 0) await index.apply(owner, sessionId, batch);
}

async function moveImages(source: TransferableState, target: TransferableState, owner: Owner, sessionId: string): Promise<void> {
  for await (const record of recordsOf(source, owner, sessionId)) {
    for (const id of keptImages(record)) {
      const data = await source.images.get(owner, sessionId, id);
      if (data !== null) await target.images.put(owner, sessionId, id, data);
    }
  }
}

function isSame(one: PendingTurn, other: PendingTurn | undefined): boolean {
  return (
    one.state === other?.state && one.attempts === other.attempts && one.dueAtMs === other.dueAtMs && one.errorCode === other.errorCode
  );
}

async function moveMemoryLog(source: TransferableState, target: TransferableState, owner: Owner): Promise<void> {
  const [ours, theirs] = [await memoryLogDigest(source, owner), await memoryLogDigest(target, owner)];
  if (ours.hash !== theirs.hash) await target.memoryLog.restore(owner, () => source.memoryLog.read(owner));
}

async function moveTable(table: TransferableTable, target: TransferableState): Promise<void> {
  const into = target.tables.find(({ name }) => name === table.name);
  if (into === undefined) throw new AppError("INTERNAL", { detail: `${target.name} has no place for ${table.name}.` });
  let rows = [];
  for await (const row of table.rows()) {
    rows.push(row);
    if (rows.length < ROWS) continue;
    await into.restore(rows);
    rows = [];
  }
  if (rows.length > 0) await into.restore(rows);
}

/** All that a store holds: its counts, and a hash for each user, ledger and table. */
async function summaryOf(
  state: TransferableState,
  now: Date,
  step: () => void,
): Promise<{ readonly counts: StateCounts; readonly hashes: ReadonlyMap<string, string> }> {
  const users = new Map<Owner, Unordered>();
  const of = (owner: Owner) => {
    const known = users.get(owner) ?? new Unordered();
    users.set(owner, known);
    return known;
  };
  const counts = { sessions: 0, records: 0, images: 0, memory_log_entries: 0, ledgers: 0 };
  for await (const { owner, sessionId } of state.journal.list()) {
    const digest = await sessionDigest(state, owner, sessionId, now);
    of(owner).add(digest.hash);
    counts.sessions += 1;
    counts.records += digest.records;
    counts.images += digest.images;
    step();
  }
  for await (const owner of state.memoryLog.owners()) {
    const { entries, hash } = await memoryLogDigest(state, owner);
    of(owner).add(hash);
    counts.memory_log_entries += entries;
  }
  const hashes = new Map([...users].map(([owner, unordered]) => [`user ${owner}`, unordered.hash]));
  for await (const { hash, contents } of state.ledgers.all()) {
    if (hash !== null) hashes.set(`ledger ${hash}`, hashOf(ledgerText(contents)));
    counts.ledgers += 1;
  }
  const rows: Record<string, number> = {};
  for (const table of state.tables) {
    const all = new Unordered();
    for await (const row of table.rows()) all.add(hashOf(rowText(row)));
    rows[table.name] = all.count;
    hashes.set(table.name, all.hash);
  }
  return { counts: { users: users.size, ...counts, rows }, hashes };
}

function differencesOf(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): readonly string[] {
  return [...new Set([...one.keys(), ...other.keys()])].filter((key) => one.get(key) !== other.get(key)).sort();
}
