import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { type Owner, ownerHash } from "../../domain/owner.js";
import { boundedFileSystem } from "../../platform/bounded-file-system.js";
import { AppError } from "../../platform/errors.js";
import { errnoOf, type FileSystem } from "../../platform/file-system.js";
import { JsonlLog, type LogLine, lineValue } from "../../platform/jsonl-log.js";
import { KeyedMutex } from "../../platform/keyed-mutex.js";
import type { Logger } from "../../platform/logger.js";
import { onStorage } from "../../platform/storage-errors.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import type { AppendMemoryOptions, ChangeRecord, MemoryLog, MemoryLogEntry, NewMemoryLogEntry } from "../../ports/memory-log.js";
import type { OwnerLedger } from "../../ports/owner-ledger.js";
import type { RestoresMemoryLogs } from "../../ports/transfer.js";
import { type Kept, keptFor, keptJson, opened } from "../journal/kept-content.js";
import { memoryLogEntrySchema, redacted } from "../journal/memory-log-entries.js";
import { IdleLogs } from "./idle-logs.js";

export interface FileMemoryLogOptions {
  /** The logs are in its folder `owners/`, beside the ledgers. */
  readonly dir: string;
  readonly fileSystem: FileSystem;
  readonly ledger: Pick<OwnerLedger, "epoch">;
  readonly logger: Logger;
  /** What content passes. Default: it is kept as it stands. */
  readonly codec?: ContentCodec | null;
}

const SUFFIX = ".memories.jsonl";
/** What a crash leaves of it, the ledger removes at the next start. */
const TEMPORARY = ".tmp";
/** Owners whose last seq is known without a look. */
const REMEMBERED = 10_000;
/** Logs kept open while nobody uses them. */
const IDLE_LOGS = 64;

/** The first line: whose log it is. */
const headSchema = z.object({ v: z.literal(1), type: z.literal("owner"), owner: z.string() });

/**
 * One file per owner, `owners/{SHA-256 of the owner}.memories.jsonl`; those used last stay open. Its first line names the owner, so that
 * all memories can be written anew; then an entry a line. All methods reject with STORAGE_UNAVAILABLE where the disk refuses.
 */
export class FileMemoryLog implements MemoryLog, RestoresMemoryLogs {
  readonly #dir: string;
  readonly #fs: FileSystem;
  readonly #ledger: Pick<OwnerLedger, "epoch">;
  readonly #logger: Logger;
  readonly #codec: ContentCodec | null;
  readonly #mutex = new KeyedMutex();
  readonly #lastSeq = new LRUCache<string, number>({ max: REMEMBERED });
  readonly #logs: IdleLogs;

  private constructor({ dir, fileSystem, ledger, logger, codec = null }: FileMemoryLogOptions) {
    this.#codec = codec;
    this.#dir = join(dir, "owners");
    this.#fs = boundedFileSystem(fileSystem);
    this.#ledger = ledger;
    this.#logger = logger;
    const onCloseError = (error: unknown) => logger.warn({ code: errnoOf(error) }, "A memory log could not be closed.");
    this.#logs = new IdleLogs({ fileSystem: this.#fs, max: IDLE_LOGS, onCloseError });
  }

  static async open(options: FileMemoryLogOptions): Promise<FileMemoryLog> {
    const log = new FileMemoryLog(options);
    await onStorage(async () => {
      await log.#fs.mkdir(log.#dir);
      await log.#fs.syncDirectory(options.dir);
    });
    return log;
  }

  async append(owner: Owner, entry: NewMemoryLogEntry, options: AppendMemoryOptions): Promise<MemoryLogEntry> {
    return this.#exclusively(owner, async (path) => {
      if (options.epoch !== undefined && (await this.#ledger.epoch(owner)) !== options.epoch) throw new AppError("OWNER_ERASED");
      const hash = ownerHash(owner);
      const last = await this.#last(owner, path);
      if (last !== options.expectedSeq) throw new AppError("MEMORIES_CHANGED");
      const written: MemoryLogEntry = { v: 1, seq: last + 1, at: options.now.toISOString(), ...entry };
      const opened = await this.#open(hash, path);
      // Until the line is durable nobody may take it, or its absence, for granted.
      this.#lastSeq.delete(hash);
      const log = opened ?? (await JsonlLog.create(this.#fs, path));
      try {
        // A log whose head was torn off is empty: it gets one again.
        const head = log.end === 0 ? [headLine(owner)] : [];
        await log.append(Buffer.concat([...head, encode(written, await keptFor(this.#codec, owner))]));
        if (opened === null) await this.#fs.syncDirectory(this.#dir);
      } finally {
        await this.#logs.give(path, log);
      }
      this.#lastSeq.set(hash, written.seq);
      return written;
    });
  }

  async *read(owner: Owner, options: { readonly fromSeq?: number; readonly signal?: AbortSignal } = {}): AsyncIterable<MemoryLogEntry> {
    // At once: what is appended or rewritten while the caller takes its time is another read's.
    const entries = await this.#exclusively(owner, (path) => this.#entries(owner, path));
    for (const entry of entries) {
      options.signal?.throwIfAborted();
      if (entry.seq >= (options.fromSeq ?? 1)) yield entry;
    }
  }

  async lastSeq(owner: Owner): Promise<number> {
    const hash = ownerHash(owner);
    return this.#lastSeq.get(hash) ?? this.#exclusively(owner, (path) => this.#last(owner, path));
  }

  async redact(owner: Owner, change: ChangeRecord): Promise<void> {
    await this.#exclusively(owner, async (path) => {
      const entries = await this.#entries(owner, path);
      const changed = entries.map((entry) => redacted(entry, change));
      if (changed.every((entry, index) => entry === entries[index])) return;
      await this.#replace(owner, path, changed);
    });
  }

  async restore(owner: Owner, entries: () => AsyncIterable<MemoryLogEntry>): Promise<void> {
    await this.#exclusively(owner, async (path) => {
      this.#lastSeq.delete(ownerHash(owner));
      await this.#replace(owner, path, entries());
    });
  }

  /** Written aside, then renamed. */
  async #replace(owner: Owner, path: string, entries: AsyncIterable<MemoryLogEntry> | Iterable<MemoryLogEntry>): Promise<void> {
    const kept = await keptFor(this.#codec, owner);
    const temporary = `${path}${TEMPORARY}`;
    const log = await JsonlLog.create(this.#fs, temporary);
    try {
      try {
        const lines = [headLine(owner)];
        for await (const entry of entries) lines.push(encode(entry, kept));
        await log.append(Buffer.concat(lines));
      } finally {
        await log.close();
      }
      await this.#logs.drop(path);
      await this.#fs.rename(temporary, path);
    } catch (error) {
      await this.#fs.unlink(temporary).catch(() => undefined);
      throw error;
    }
    await this.#fs.syncDirectory(this.#dir);
  }

  async *owners(): AsyncIterable<Owner> {
    const names = await onStorage(() => this.#fs.readdir(this.#dir));
    for (const name of names.filter((each) => each.endsWith(SUFFIX))) {
      const hash = name.slice(0, -SUFFIX.length);
      const owner = await onStorage(() => this.#mutex.run(hash, () => this.#ownerIn(hash, join(this.#dir, name))));
      if (owner !== null) yield owner;
    }
  }

  async erase(owner: Owner): Promise<number> {
    return this.#exclusively(owner, async (path) => {
      const entries = await this.#count(owner, path);
      await this.#logs.drop(path);
      if ((await this.#fs.stat(path)) !== null) {
        await this.#fs.unlink(path);
        await this.#fs.syncDirectory(this.#dir);
      }
      this.#lastSeq.delete(ownerHash(owner));
      return entries;
    });
  }

  async residue(owner: Owner): Promise<number> {
    return this.#exclusively(owner, async (path) => {
      if ((await this.#fs.stat(path)) === null) return 0;
      return Math.max(1, await this.#count(owner, path));
    });
  }

  /** Waits for what is being written, then closes every file. */
  async close(): Promise<void> {
    await this.#mutex.settled();
    await this.#logs.close();
  }

  #exclusively<T>(owner: Owner, work: (path: string) => Promise<T>): Promise<T> {
    const hash = ownerHash(owner);
    return onStorage(() => this.#mutex.run(hash, () => work(join(this.#dir, `${hash}${SUFFIX}`))));
  }

  async #last(owner: Owner, path: string): Promise<number> {
    const hash = ownerHash(owner);
    const known = this.#lastSeq.get(hash);
    if (known !== undefined) return known;
    const last = (await this.#entries(owner, path)).at(-1)?.seq ?? 0;
    this.#lastSeq.set(hash, last);
    return last;
  }

  async #open(hash: string, path: string): Promise<JsonlLog | null> {
    const opened = await this.#logs.take(path);
    if (opened === null) return null;
    if (opened.tornBytes > 0)
      this.#logger.warn({ memory_log: hash, tornBytes: opened.tornBytes }, "A torn last line was cut off a memory log.");
    return opened.log;
  }

  async #entries(owner: Owner, path: string): Promise<MemoryLogEntry[]> {
    const kept = await keptFor(this.#codec, owner);
    const entries: MemoryLogEntry[] = [];
    for await (const line of this.#lines(owner, path)) {
      const entry = memoryLogEntrySchema.safeParse(openedLine(line, kept));
      if (entry.success) entries.push(entry.data);
      else this.#logger.warn({ memory_log: ownerHash(owner), offset: line.offset }, "A damaged line of a memory log is passed over.");
    }
    return entries;
  }

  /** How many entries there are, also where they can't be read. */
  async #count(owner: Owner, path: string): Promise<number> {
    let count = 0;
    for await (const _ of this.#lines(owner, path)) count += 1;
    return count;
  }

  /** All but the first, which says whose they are. */
  async *#lines(owner: Owner, path: string): AsyncGenerator<LogLine> {
    const log = await this.#open(ownerHash(owner), path);
    if (log === null) return;
    try {
      for await (const lines of log.forwards()) for (const line of lines) if (!headSchema.safeParse(lineValue(line)).success) yield line;
    } finally {
      await this.#logs.give(path, log);
    }
  }

  /** Null for a file whose name is not that owner's. */
  async #ownerIn(hash: string, path: string): Promise<Owner | null> {
    const log = await this.#open(hash, path);
    if (log === null) return null;
    try {
      const line = await log.lineAt(0);
      const head = line === null ? null : headSchema.safeParse(lineValue(line));
      // Written by the log alone, from an Owner.
      const owner = head?.success ? (head.data.owner as Owner) : null;
      return owner !== null && ownerHash(owner) === hash ? owner : null;
    } finally {
      await this.#logs.give(path, log);
    }
  }
}

function headLine(owner: Owner): Buffer {
  return encode({ v: 1, type: "owner", owner }, null);
}

function encode(value: unknown, kept: Kept): Buffer {
  return Buffer.from(`${keptJson(value, kept)}\n`, "utf8");
}

/** Null for a line that is damaged. @throws STORAGE_DAMAGED for one that needs a codec where there is none */
function openedLine(line: LogLine, kept: Kept): unknown {
  try {
    return opened(lineValue(line), kept);
  } catch (error) {
    if (kept === null) throw error;
    return null;
  }
}
