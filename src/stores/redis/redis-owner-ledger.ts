import { type Owner, ownerHash } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
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
import type { RedisDatabase } from "./database.js";
import { Hints, type Need } from "./hints.js";
import { keysOf, tagOfHash } from "./keys.js";
import { ADD_ENTRIES, BEGIN_ERASURE, COMPLETE_ERASURE, LOOK_ERASURE, RESTORE_LEDGER, WITHDRAW_ERASURE } from "./ledger-scripts.js";
import { OwnerRegistry } from "./owner-registry.js";

/** Another process may write the ledger between a look and a write: so often it is looked at anew. */
const MAX_TRIES = 10;
const FOUND: readonly Need[] = [["erasing", 0]];

/**
 * A ledger is a hash of entries, each in a slot that a later entry of its kind takes: one tombstone per memory, one record of the user, one
 * cursor per job. Their order stands before them: `12:{...}`.
 */
export class RedisOwnerLedger implements OwnerLedger, TransferableLedgers {
  readonly #database: RedisDatabase;
  readonly #codec: ContentCodec | null;
  readonly #hints: Hints;
  readonly #registry: OwnerRegistry;

  constructor(database: RedisDatabase, codec: ContentCodec | null = null) {
    this.#codec = codec;
    this.#database = database;
    this.#hints = new Hints(database);
    this.#registry = new OwnerRegistry(database, this.#hints);
  }

  async tombstones(owner: Owner): Promise<readonly Tombstone[]> {
    return (await this.#state(owner)).tombstones;
  }

  async addTombstone(owner: Owner, tombstone: Tombstone): Promise<void> {
    await this.#add(owner, [tombstoneEntry(tombstone)]);
  }

  async addTombstones(owner: Owner, tombstones: readonly Tombstone[]): Promise<void> {
    if (tombstones.length > 0) await this.#add(owner, tombstones.map(tombstoneEntry));
  }

  async user(owner: Owner): Promise<UserRecord | null> {
    const kept = (await this.#database.command("HGET", this.#database.keys(owner).ledger, "user")) as string | null;
    return kept === null ? null : foldLedger(EMPTY_LEDGER, parsed(kept, await keptFor(this.#codec, owner))).user;
  }

  async seen(owner: Owner, seen: Sighting): Promise<void> {
    const user = afterSeen(await this.user(owner), seen);
    if (user !== null) await this.#add(owner, [{ v: 1, type: "user", user }]);
  }

  async audit(owner: Owner, entry: AuditEntry): Promise<void> {
    await this.#add(owner, [{ v: 1, type: "audit", entry: { ...entry } }]);
  }

  async auditTrail(owner: Owner): Promise<readonly AuditEntry[]> {
    return (await this.#state(owner)).audit;
  }

  async epoch(owner: Owner): Promise<number> {
    return Number((await this.#database.command("HGET", this.#database.keys(owner).own, "epoch")) ?? 0);
  }

  async beginErasure(owner: Owner, at: string): Promise<{ readonly receiptId: string; readonly epoch: number }> {
    const keys = this.#database.keys(owner);
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const epoch = (await this.epoch(owner)) + 1;
      const entry = JSON.stringify({ v: 1, type: "erasure_begun", owner, at, epoch } satisfies LedgerEntry);
      const [outcome, open = ""] = await this.#hints.having(owner, FOUND, (offer) =>
        this.#database.run(
          BEGIN_ERASURE,
          keys,
          JSON.stringify({ slot: ERASURE_SLOT, epoch, entry, hash: ownerHash(owner), needs: FOUND, offer }),
        ),
      );
      if (outcome === "begun") return { receiptId: receiptIdOf(owner, epoch), epoch };
      if (outcome === "open") {
        const begun = foldLedger(EMPTY_LEDGER, parsed(open, null)).epoch;
        return { receiptId: receiptIdOf(owner, begun), epoch: begun };
      }
    }
    throw new AppError("STORAGE_UNAVAILABLE", { detail: "The user's ledger changes too often.", retryAfterSeconds: 1 });
  }

  async completeErasure(owner: Owner, receipt: ErasureReceipt, keep?: readonly string[]): Promise<void> {
    const keys = this.#database.keys(owner);
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const written = String((await this.#database.command("HGET", keys.own, "entries")) ?? 0);
      const slots = slotsOf(erasedEntries(await this.#state(owner), receipt, keep), null);
      if ((await this.#database.run(COMPLETE_ERASURE, keys, written, ...slots)) === 1) return this.#registry.leave(owner);
    }
    throw new AppError("STORAGE_UNAVAILABLE", { detail: "The user's ledger changes too often.", retryAfterSeconds: 1 });
  }

  async withdrawErasure(owner: Owner): Promise<void> {
    const withdrawn: LedgerEntry = { v: 1, type: "erasure_withdrawn", epoch: await this.epoch(owner) };
    await this.#database.run(WITHDRAW_ERASURE, this.#database.keys(owner), ERASURE_SLOT, slotOf(withdrawn), JSON.stringify(withdrawn));
  }

  async receipts(owner: Owner): Promise<readonly ErasureReceipt[]> {
    return (await this.#state(owner)).receipts;
  }

  async openErasures(): Promise<readonly { readonly owner: Owner; readonly receiptId: string }[]> {
    const found: { readonly owner: Owner; readonly receiptId: string }[] = [];
    for await (const hint of this.#hints.upTo("erasing", 0)) {
      const [verdict, entry] = (await this.#database.run(LOOK_ERASURE, hint.keys, hint.gen, ERASURE_SLOT)) as readonly string[];
      await this.#hints.settled(hint, verdict);
      const open = entry === undefined ? null : foldLedger(EMPTY_LEDGER, parsed(entry, null)).open;
      if (open !== null) found.push({ owner: open.owner, receiptId: receiptIdOf(open.owner, open.epoch) });
    }
    return found;
  }

  async progress(owner: Owner, job: string): Promise<string | null> {
    const slot = `progress:${job}`;
    const kept = (await this.#database.command("HGET", this.#database.keys(owner).ledger, slot)) as string | null;
    return kept === null ? null : (foldLedger(EMPTY_LEDGER, parsed(kept, null)).progress.get(job) ?? null);
  }

  async setProgress(owner: Owner, job: string, cursor: string): Promise<void> {
    await this.#add(owner, [{ v: 1, type: "progress", job, cursor }]);
  }

  async *all(): AsyncGenerator<{ readonly hash: string | null; readonly contents: LedgerContents }> {
    const seen = new Set<string>();
    for await (const key of this.#database.scan("{*}:ledger")) {
      if (seen.has(key)) continue;
      seen.add(key);
      const own = key.replace(/ledger$/, "own");
      const [hash, name] = (await this.#database.command("HMGET", own, "hash", "name")) as readonly (string | null)[];
      const contents = await this.#contents(key);
      if (contents !== null) yield { hash: hash ?? (name == null ? null : ownerHash(name as Owner)), contents };
    }
  }

  contents(hash: string): Promise<LedgerContents | null> {
    return this.#contents(keysOf(this.#database.prefix, tagOfHash(hash)).ledger);
  }

  async restore(hash: string, contents: LedgerContents): Promise<void> {
    const keys = keysOf(this.#database.prefix, tagOfHash(hash));
    const { epoch, open } = contents;
    const needs = open === null ? [] : FOUND;
    const slots = slotsOf(entriesOf(contents), null);
    await this.#hints.havingTag(tagOfHash(hash), needs, (offer) =>
      this.#database.run(RESTORE_LEDGER, keys, JSON.stringify({ hash, epoch, erasing: open !== null, needs, offer }), ...slots),
    );
  }

  async #contents(key: string): Promise<LedgerContents | null> {
    const kept = (await this.#database.command("HVALS", key)) as readonly string[];
    return kept.length === 0 ? null : folded(kept, null);
  }

  /** Without effect: the database is the caller's. */
  async close(): Promise<void> {}

  async #add(owner: Owner, entries: readonly LedgerEntry[]): Promise<void> {
    const slots = slotsOf(entries, await keptFor(this.#codec, owner));
    await this.#database.run(ADD_ENTRIES, this.#database.keys(owner), ownerHash(owner), ...slots);
  }

  async #state(owner: Owner): Promise<LedgerState> {
    const content = await keptFor(this.#codec, owner);
    const kept = (await this.#database.command("HVALS", this.#database.keys(owner).ledger)) as readonly string[];
    return folded(kept, content);
  }
}

function folded(slots: readonly string[], kept: Kept): LedgerState {
  return slots
    .toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((entry) => parsed(entry, kept))
    .reduce(foldLedger, EMPTY_LEDGER);
}

function parsed(slot: string, kept: Kept): LedgerEntry {
  return openedEntry(slot.slice(slot.indexOf(":") + 1), kept);
}

/** Slots and entries in turn. */
function slotsOf(entries: readonly LedgerEntry[], kept: Kept): readonly string[] {
  return entries.flatMap((entry) => [slotOf(entry), keptEntry(entry, kept)]);
}
