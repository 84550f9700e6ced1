import { type Owner, ownerHash } from "../../domain/owner.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import type { AuditEntry, ErasureReceipt, OwnerLedger, Tombstone, UserRecord } from "../../ports/owner-ledger.js";
import type { LedgerContents, TransferableLedgers } from "../../ports/transfer.js";
import { type Kept, keptFor } from "../journal/kept-content.js";
import {
  afterSeen,
  EMPTY_LEDGER,
  ERASURE_SLOT,
  entriesOf,
  erasedEntries,
  foldLedger,
  keptEntry,
  type LedgerEntry,
  type LedgerState,
  openedEntry,
  receiptIdOf,
  type Sighting,
  slotOf,
  tombstoneEntry,
} from "../journal/ledger-entries.js";
import type { PostgresDatabase, Queries, Row } from "./database.js";
import type { OwnerRows } from "./owner-rows.js";

/** Ledgers read at once. */
const PAGE = 500;

/**
 * Ledgers as rows, each with a slot that a later entry of its kind takes: one tombstone per memory, one record of the user, one cursor per
 * job. Keyed by the owner's hash.
 */
export class PostgresOwnerLedger implements OwnerLedger, TransferableLedgers {
  readonly #database: PostgresDatabase;
  readonly #owners: OwnerRows;
  readonly #codec: ContentCodec | null;

  constructor(database: PostgresDatabase, owners: OwnerRows, codec: ContentCodec | null = null) {
    this.#codec = codec;
    this.#database = database;
    this.#owners = owners;
  }

  async tombstones(owner: Owner): Promise<readonly Tombstone[]> {
    return (await this.#state(owner, "tombstone:%")).tombstones;
  }

  async addTombstone(owner: Owner, tombstone: Tombstone): Promise<void> {
    await this.#add(owner, [tombstoneEntry(tombstone)]);
  }

  async addTombstones(owner: Owner, tombstones: readonly Tombstone[]): Promise<void> {
    if (tombstones.length > 0) await this.#add(owner, tombstones.map(tombstoneEntry));
  }

  async user(owner: Owner): Promise<UserRecord | null> {
    return (await this.#state(owner, "user")).user;
  }

  async seen(owner: Owner, seen: Sighting): Promise<void> {
    const user = afterSeen(await this.user(owner), seen);
    if (user !== null) await this.#add(owner, [{ v: 1, type: "user", user }]);
  }

  async audit(owner: Owner, entry: AuditEntry): Promise<void> {
    await this.#add(owner, [{ v: 1, type: "audit", entry: { ...entry } }]);
  }

  async auditTrail(owner: Owner): Promise<readonly AuditEntry[]> {
    return (await this.#state(owner, "audit:%")).audit;
  }

  async epoch(owner: Owner): Promise<number> {
    const [row] = await this.#database.query("SELECT epoch FROM {owners} WHERE key = $1", [ownerHash(owner)]);
    return Number(row?.epoch ?? 0);
  }

  async beginErasure(owner: Owner, at: string): Promise<{ readonly receiptId: string; readonly epoch: number }> {
    const key = await this.#owners.ensure(owner);
    return this.#database.transaction(async (queries) => {
      const [row] = await queries.query("SELECT epoch FROM {owners} WHERE key = $1 FOR UPDATE", [key]);
      const { open } = await this.#read(queries, owner, ERASURE_SLOT);
      const epoch = open?.epoch ?? Number(row?.epoch ?? 0) + 1;
      if (open === null) {
        await queries.run("UPDATE {owners} SET epoch = $2, erasing = true WHERE key = $1", [key, epoch]);
        await insert(queries, key, [{ v: 1, type: "erasure_begun", owner, at, epoch }], null);
      }
      return { receiptId: receiptIdOf(owner, epoch), epoch };
    });
  }

  async completeErasure(owner: Owner, receipt: ErasureReceipt, keep?: readonly string[]): Promise<void> {
    const key = await this.#owners.ensure(owner);
    await this.#database.transaction(async (queries) => {
      await queries.query("SELECT 1 FROM {owners} WHERE key = $1 FOR UPDATE", [key]);
      const state = await this.#read(queries, owner, "%");
      await queries.run("DELETE FROM {ledger} WHERE key = $1", [key]);
      await insert(queries, key, erasedEntries(state, receipt, keep), null);
      await queries.run("UPDATE {owners} SET erasing = false WHERE key = $1", [key]);
    });
  }

  async withdrawErasure(owner: Owner): Promise<void> {
    const key = ownerHash(owner);
    await this.#database.transaction(async ({ query, run }) => {
      const [row] = await query("SELECT epoch FROM {owners} WHERE key = $1 FOR UPDATE", [key]);
      const withdrawn = await run("DELETE FROM {ledger} WHERE key = $1 AND slot = $2", [key, ERASURE_SLOT]);
      if (withdrawn === 0) return;
      await insert({ run }, key, [{ v: 1, type: "erasure_withdrawn", epoch: Number(row?.epoch) }], null);
      await run("UPDATE {owners} SET erasing = false WHERE key = $1", [key]);
    });
  }

  async receipts(owner: Owner): Promise<readonly ErasureReceipt[]> {
    return (await this.#state(owner, "receipt:%")).receipts;
  }

  async openErasures(): Promise<readonly { readonly owner: Owner; readonly receiptId: string }[]> {
    const rows = await this.#database.query(`SELECT entry FROM {ledger} WHERE slot = '${ERASURE_SLOT}'`);
    return rows.flatMap(({ entry }) => {
      const { open } = foldLedger(EMPTY_LEDGER, openedEntry(String(entry), null));
      return open === null ? [] : [{ owner: open.owner, receiptId: receiptIdOf(open.owner, open.epoch) }];
    });
  }

  async progress(owner: Owner, job: string): Promise<string | null> {
    return (await this.#state(owner, `progress:${job}`)).progress.get(job) ?? null;
  }

  async setProgress(owner: Owner, job: string, cursor: string): Promise<void> {
    await this.#add(owner, [{ v: 1, type: "progress", job, cursor }]);
  }

  async *all(): AsyncGenerator<{ readonly hash: string; readonly contents: LedgerContents }> {
    for (let after = ""; ; ) {
      const rows = await this.#database.query(`SELECT DISTINCT key FROM {ledger} WHERE key > $1 ORDER BY key LIMIT ${PAGE}`, [after]);
      for (const { key } of rows) {
        const contents = await this.contents(String(key));
        if (contents !== null) yield { hash: String(key), contents };
      }
      if (rows.length < PAGE) return;
      after = String(rows.at(-1)?.key);
    }
  }

  async contents(hash: string): Promise<LedgerContents | null> {
    const rows = await this.#database.query("SELECT entry FROM {ledger} WHERE key = $1 ORDER BY id", [hash]);
    return rows.length === 0 ? null : folded(rows, null);
  }

  async restore(hash: string, contents: LedgerContents): Promise<void> {
    await this.#database.transaction(async (queries) => {
      await queries.run(
        `INSERT INTO {owners} (key, epoch, erasing) VALUES ($1, $2, $3)
         ON CONFLICT (key) DO UPDATE SET epoch = excluded.epoch, erasing = excluded.erasing`,
        [hash, contents.epoch, contents.open !== null],
      );
      await queries.run("DELETE FROM {ledger} WHERE key = $1", [hash]);
      await insert(queries, hash, entriesOf(contents), null);
    });
  }

  /** Without effect: the database is the caller's. */
  async close(): Promise<void> {}

  async #add(owner: Owner, entries: readonly LedgerEntry[]): Promise<void> {
    const key = await this.#owners.ensure(owner);
    const kept = await keptFor(this.#codec, owner);
    await this.#database.transaction((queries) => insert(queries, key, entries, kept));
  }

  #state(owner: Owner, slots: string): Promise<LedgerState> {
    return this.#read(this.#database, owner, slots);
  }

  async #read(queries: Queries, owner: Owner, slots: string): Promise<LedgerState> {
    const kept = await keptFor(this.#codec, owner);
    const key = ownerHash(owner);
    const rows = await queries.query("SELECT entry FROM {ledger} WHERE key = $1 AND slot LIKE $2 ORDER BY id", [key, slots]);
    return folded(rows, kept);
  }
}

function folded(rows: readonly Row[], kept: Kept): LedgerState {
  return rows.map(({ entry }) => openedEntry(String(entry), kept)).reduce(foldLedger, EMPTY_LEDGER);
}

async function insert({ run }: Pick<Queries, "run">, key: string, entries: readonly LedgerEntry[], kept: Kept): Promise<void> {
  for (const entry of entries)
    await run(
      `INSERT INTO {ledger} (key, slot, entry) VALUES ($1, $2, $3)
       ON CONFLICT (key, slot) DO UPDATE SET id = nextval(pg_get_serial_sequence('{ledger}', 'id')), entry = excluded.entry`,
      [key, slotOf(entry), keptEntry(entry, kept)],
    );
}
