// Over 300 lines: one port over one directory, with what takes ledgers out of it and puts them in.

import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { type Owner, ownerHash } from "../../domain/owner.js";
import { boundedFileSystem } from "../../platform/bounded-file-system.js";
import { isAppError } from "../../platform/errors.js";
import type { FileSystem } from "../../platform/file-system.js";
import { JsonlLog, type LogLine, lineValue } from "../../platform/jsonl-log.js";
import { KeyedMutex } from "../../platform/keyed-mutex.js";
import type { Logger } from "../../platform/logger.js";
import { onStorage } from "../../platform/storage-errors.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import type { AuditEntry, ErasureReceipt, OwnerLedger, Tombstone, UserRecord } from "../../ports/owner-ledger.js";
import type { LedgerContents, TransferableLedgers } from "../../ports/transfer.js";
import { isSealed, type Kept, keptFor } from "../journal/kept-content.js";
import {
  afterSeen,
  EMPTY_LEDGER,
  entriesOf,
  erasedEntries,
  foldLedger,
  keptEntry,
  type LedgerEntry,
  type LedgerState,
  openedEntry,
  receiptIdOf,
  type Sighting,
  tombstoneEntry,
} from "../journal/ledger-entries.js";

export interface FileOwnerLedgerOptions {
  /** The ledgers are in its folder `owners/`. */
  readonly dir: string;
  readonly fileSystem: FileSystem;
  readonly logger: Logger;
  /** What content passes. Default: it is kept as it stands. */
  readonly codec?: ContentCodec | null;
}

/** Ledgers kept in memory. */
const CACHED_LEDGERS = 1_000;
/** An empty file beside a ledger while an erasure is open, so that a start finds these without reading every ledger. */
const MARKER = ".erasing";
const TEMPORARY = ".tmp";
const LEDGER = /^[0-9a-f]{64}\.jsonl$/;

/**
 * One file per owner, `owners/{SHA-256 of the owner}.jsonl`, opened for each write: they are rare.
 * All methods reject with STORAGE_UNAVAILABLE where the disk refuses.
 */
export class FileOwnerLedger implements OwnerLedger, TransferableLedgers {
  readonly #dir: string;
  readonly #fs: FileSystem;
  readonly #logger: Logger;
  readonly #codec: ContentCodec | null;
  readonly #mutex = new KeyedMutex();
  readonly #cache = new LRUCache<string, LedgerState>({ max: CACHED_LEDGERS });

  private constructor({ dir, fileSystem, logger, codec = null }: FileOwnerLedgerOptions) {
    this.#codec = codec;
    this.#dir = join(dir, "owners");
    this.#fs = boundedFileSystem(fileSystem);
    this.#logger = logger;
  }

  static async open(options: FileOwnerLedgerOptions): Promise<FileOwnerLedger> {
    const ledger = new FileOwnerLedger(options);
    await onStorage(async () => {
      await ledger.#fs.mkdir(ledger.#dir);
      await ledger.#fs.syncDirectory(options.dir);
      for (const name of await ledger.#fs.readdir(ledger.#dir))
        if (name.endsWith(TEMPORARY)) await ledger.#fs.unlink(join(ledger.#dir, name));
    });
    return ledger;
  }

  async tombstones(owner: Owner): Promise<readonly Tombstone[]> {
    return (await this.#read(owner)).tombstones;
  }

  async addTombstone(owner: Owner, tombstone: Tombstone): Promise<void> {
    await this.#add(owner, () => tombstoneEntry(tombstone));
  }

  async addTombstones(owner: Owner, tombstones: readonly Tombstone[]): Promise<void> {
    if (tombstones.length === 0) return;
    await this.#exclusively(owner, (_, state) => this.#append(owner, state, ...tombstones.map(tombstoneEntry)));
  }

  async user(owner: Owner): Promise<UserRecord | null> {
    return (await this.#read(owner)).user;
  }

  async seen(owner: Owner, seen: Sighting): Promise<void> {
    const cached = this.#cache.get(ownerHash(owner));
    if (cached !== undefined && afterSeen(cached.user, seen) === null) return;
    await this.#add(owner, (state) => {
      const user = afterSeen(state.user, seen);
      return user === null ? null : { v: 1, type: "user", user };
    });
  }

  async audit(owner: Owner, entry: AuditEntry): Promise<void> {
    await this.#add(owner, () => ({ v: 1, type: "audit", entry: { ...entry } }));
  }

  async auditTrail(owner: Owner): Promise<readonly AuditEntry[]> {
    return (await this.#read(owner)).audit;
  }

  async epoch(owner: Owner): Promise<number> {
    return (await this.#read(owner)).epoch;
  }

  async beginErasure(owner: Owner, at: string): Promise<{ readonly receiptId: string; readonly epoch: number }> {
    return this.#exclusively(owner, async (hash, state) => {
      const epoch = state.open?.epoch ?? state.epoch + 1;
      if (state.open === null) {
        // The marker first: a marker without an intent is passed over, an intent without a marker would not be found.
        await this.#mark(hash);
        await this.#append(owner, state, { v: 1, type: "erasure_begun", owner, at, epoch });
      }
      return { receiptId: receiptIdOf(owner, epoch), epoch };
    });
  }

  async completeErasure(owner: Owner, receipt: ErasureReceipt, keep?: readonly string[]): Promise<void> {
    await this.#exclusively(owner, async (hash, state) => {
      await this.#replace(hash, erasedEntries(state, receipt, keep));
      await this.#unmark(hash);
    });
  }

  async withdrawErasure(owner: Owner): Promise<void> {
    await this.#exclusively(owner, async (hash, state) => {
      if (state.open !== null) await this.#append(owner, state, { v: 1, type: "erasure_withdrawn", epoch: state.epoch });
      await this.#unmark(hash);
    });
  }

  async *all(): AsyncGenerator<{ readonly hash: string; readonly contents: LedgerContents }> {
    const names = await onStorage(() => this.#fs.readdir(this.#dir));
    for (const name of names.filter((each) => LEDGER.test(each))) {
      const hash = name.slice(0, name.indexOf("."));
      const contents = await this.contents(hash);
      if (contents !== null) yield { hash, contents };
    }
  }

  contents(hash: string): Promise<LedgerContents | null> {
    return onStorage(() =>
      this.#mutex.run(hash, async () => {
        if ((await this.#fs.stat(this.#path(hash))) === null) return null;
        return this.#fold(hash, (line) => decode(line, null));
      }),
    );
  }

  restore(hash: string, contents: LedgerContents): Promise<void> {
    return onStorage(() =>
      this.#mutex.run(hash, async () => {
        if (contents.open !== null) await this.#mark(hash);
        await this.#replace(hash, entriesOf(contents));
      }),
    );
  }

  /** Written aside, then renamed. For one who holds the mutex. */
  async #replace(hash: string, entries: readonly LedgerEntry[]): Promise<void> {
    const temporary = `${this.#path(hash)}${TEMPORARY}`;
    const log = await JsonlLog.create(this.#fs, temporary);
    try {
      try {
        await log.append(Buffer.concat(entries.map((entry) => encode(entry, null))));
      } finally {
        await log.close();
      }
      this.#cache.delete(hash);
      await this.#fs.rename(temporary, this.#path(hash));
    } catch (error) {
      await this.#fs.unlink(temporary).catch(() => undefined);
      throw error;
    }
    await this.#fs.syncDirectory(this.#dir);
  }

  async receipts(owner: Owner): Promise<readonly ErasureReceipt[]> {
    return (await this.#read(owner)).receipts;
  }

  async openErasures(): Promise<readonly { readonly owner: Owner; readonly receiptId: string }[]> {
    return onStorage(async () => {
      const names = await this.#fs.readdir(this.#dir);
      const found: { owner: Owner; receiptId: string }[] = [];
      for (const name of names.filter((each) => each.endsWith(MARKER))) {
        const hash = name.slice(0, -MARKER.length);
        const { open } = await this.#mutex.run(hash, () => this.#withoutContent(hash));
        if (open !== null) found.push({ owner: open.owner, receiptId: receiptIdOf(open.owner, open.epoch) });
        else await this.#mutex.run(hash, () => this.#unmark(hash));
      }
      return found;
    });
  }

  async progress(owner: Owner, job: string): Promise<string | null> {
    return (await this.#read(owner)).progress.get(job) ?? null;
  }

  async setProgress(owner: Owner, job: string, cursor: string): Promise<void> {
    await this.#add(owner, () => ({ v: 1, type: "progress", job, cursor }));
  }

  /** Waits for what is being written. */
  async close(): Promise<void> {
    await this.#mutex.settled();
  }

  #path(hash: string): string {
    return join(this.#dir, `${hash}.jsonl`);
  }

  async #read(owner: Owner): Promise<LedgerState> {
    const hash = ownerHash(owner);
    return this.#cache.get(hash) ?? onStorage(() => this.#mutex.run(hash, () => this.#load(owner)));
  }

  #exclusively<T>(owner: Owner, work: (hash: string, state: LedgerState) => Promise<T>): Promise<T> {
    const hash = ownerHash(owner);
    return onStorage(() => this.#mutex.run(hash, async () => work(hash, await this.#load(owner))));
  }

  async #add(owner: Owner, entryFor: (state: LedgerState) => LedgerEntry | null): Promise<void> {
    await this.#exclusively(owner, async (_, state) => {
      const entry = entryFor(state);
      if (entry !== null) await this.#append(owner, state, entry);
    });
  }

  async #append(owner: Owner, state: LedgerState, ...entries: readonly LedgerEntry[]): Promise<void> {
    const hash = ownerHash(owner);
    const kept = await keptFor(this.#codec, owner);
    const opened = await JsonlLog.open(this.#fs, this.#path(hash));
    const log = opened?.log ?? (await JsonlLog.create(this.#fs, this.#path(hash)));
    // Until the line is durable nobody may take it, or its absence, for granted.
    this.#cache.delete(hash);
    try {
      await log.append(Buffer.concat(entries.map((entry) => encode(entry, kept))));
      if (opened === null) await this.#fs.syncDirectory(this.#dir);
    } finally {
      await log.close();
    }
    this.#cache.set(hash, entries.reduce(foldLedger, state));
  }

  /** For one who holds the mutex. */
  async #load(owner: Owner): Promise<LedgerState> {
    const hash = ownerHash(owner);
    const cached = this.#cache.get(hash);
    if (cached !== undefined) return cached;
    const kept = await keptFor(this.#codec, owner);
    const state = await this.#fold(hash, (line) => decode(line, kept));
    this.#cache.set(hash, state);
    return state;
  }

  /** The same where nobody knows whose it is: without what tells of the person. */
  #withoutContent(hash: string): Promise<LedgerState> {
    return this.#fold(hash, (line) => (isSealed(lineValue(line)) ? "unread" : decode(line, null)));
  }

  /** Null for a damaged line. */
  async #fold(hash: string, decoded: (line: LogLine) => LedgerEntry | "unread" | null): Promise<LedgerState> {
    let state = EMPTY_LEDGER;
    const opened = await JsonlLog.open(this.#fs, this.#path(hash));
    if (opened !== null) {
      if (opened.tornBytes > 0) this.#logger.warn({ ledger: hash, tornBytes: opened.tornBytes }, "A torn last line was cut off a ledger.");
      try {
        for await (const lines of opened.log.forwards()) {
          for (const line of lines) {
            const entry = decoded(line);
            if (entry === "unread") continue;
            if (entry === null) this.#logger.warn({ ledger: hash, offset: line.offset }, "A damaged line of a ledger is passed over.");
            else state = foldLedger(state, entry);
          }
        }
      } finally {
        await opened.log.close();
      }
    }
    return state;
  }

  async #mark(hash: string): Promise<void> {
    const file = await this.#fs.open(join(this.#dir, `${hash}${MARKER}`), "create");
    await file.close();
    await this.#fs.syncDirectory(this.#dir);
  }

  async #unmark(hash: string): Promise<void> {
    const path = join(this.#dir, `${hash}${MARKER}`);
    if ((await this.#fs.stat(path)) === null) return;
    await this.#fs.unlink(path);
    await this.#fs.syncDirectory(this.#dir);
  }
}

function encode(entry: LedgerEntry, kept: Kept): Buffer {
  return Buffer.from(`${keptEntry(entry, kept)}\n`, "utf8");
}

/** @throws STORAGE_DAMAGED for a line that needs a codec where there is none */
function decode(line: LogLine, kept: Kept): LedgerEntry | null {
  try {
    return openedEntry(line.bytes.toString("utf8"), kept);
  } catch (error) {
    if (kept === null && isAppError(error)) throw error;
    return null;
  }
}
