import { AppError } from "../errors.js";
import type { Owner } from "../owner.js";
import { boundedFileSystem } from "../platform/bounded-file-system.js";
import { errnoOf, type FileSystem } from "../platform/file-system.js";
import { isId } from "../platform/ids.js";
import { JsonlLog } from "../platform/jsonl-log.js";
import { KeyedMutex } from "../platform/keyed-mutex.js";
import type { Logger } from "../platform/logger.js";
import { asStorageError, onStorage } from "../platform/storage-errors.js";
import { isBlankFailure, type JournalRecord, type NewRecord } from "../session.js";
import type { AppendOptions, JournalCheck, ReadOptions, ShortTermMemory, WindowRead } from "../session-store.js";
import { type Append, AppendWriter, encodeFirst } from "./append-queue.js";
import { eachAtOnce, LOOKS_AT_ONCE } from "./at-once.js";
import { checkLines } from "./journal-check.js";
import { decodeLine } from "./journal-codec.js";
import { JournalDirectory } from "./journal-directory.js";
import { JournalFile } from "./journal-file.js";
import { JournalFiles } from "./journal-files.js";
import { packInto, readPackedHeader, unpack, unpackedLines } from "./packed-journal.js";
import { rewriteInto } from "./rewrite.js";
import { selected, throwIfAborted } from "./selected-records.js";
import { windowOfRecords } from "./window-of-records.js";
import { readWindow } from "./window-reader.js";

export interface FileMemoryOptions {
  readonly dir: string;
  readonly fileSystem: FileSystem;
  readonly logger: Logger;
  /** Journals kept open while nobody uses them. Default 128. */
  readonly maxIdleJournals?: number;
}

/**
 * Short-term memory in `{dir}/{session_id}.jsonl`, one append-only journal per session; packed ones end in `.jsonl.gz`.
 * The formats are described in memory_storage/README.md. One process owns the directory.
 */
export class FileMemoryService implements ShortTermMemory {
  readonly #directory: JournalDirectory;
  readonly #fs: FileSystem;
  readonly #logger: Logger;
  readonly #files: JournalFiles;
  /** Orders what writes to, replaces or opens one journal. Reads only wait for an opening. */
  readonly #mutex = new KeyedMutex();
  readonly #writer = new AppendWriter();
  readonly #waiting = new Map<string, Append[]>();
  /** Bytes that were cut off since the start, by session: for {@link check}. */
  readonly #torn = new Map<string, number>();
  readonly #onCloseError: (error: unknown) => void;
  #closed = false;

  private constructor(options: FileMemoryOptions) {
    this.#fs = boundedFileSystem(options.fileSystem);
    this.#logger = options.logger;
    this.#directory = new JournalDirectory(options.dir, this.#fs);
    this.#onCloseError = (error) => options.logger.warn({ code: errnoOf(error) }, "A journal could not be closed.");
    this.#files = new JournalFiles({
      ...(options.maxIdleJournals !== undefined && { maxIdle: options.maxIdleJournals }),
      onCloseError: this.#onCloseError,
    });
  }

  /** Makes the directory and removes what a crash left half-made. @throws STORAGE_UNAVAILABLE */
  static async open(options: FileMemoryOptions): Promise<FileMemoryService> {
    const service = new FileMemoryService(options);
    await onStorage(() => service.#directory.prepare());
    return service;
  }

  async create(owner: Owner, sessionId: string, records: readonly NewRecord[]): Promise<readonly JournalRecord[]> {
    return this.#exclusively(sessionId, async () => {
      const existing = await this.#take(sessionId);
      if (existing !== null) await this.#files.release(existing);
      if (existing !== null || (await this.#header(sessionId)) !== null) throw new AppError("SESSION_CHANGED");
      // Somebody's words, though nobody can read them: not to be written over.
      const size = (await this.#fs.stat(this.#directory.path(sessionId, "journal")))?.size ?? 0;
      if (size > 0) throw new AppError("STORAGE_DAMAGED", { detail: `The journal of session ${sessionId} holds no readable line.` });
      const encoded = encodeFirst(owner, records);
      try {
        await this.#directory.replaceLog(sessionId, (log) => log.append(Buffer.concat(encoded.lines)));
      } catch (error) {
        await this.#directory.remove(sessionId, "journal").catch(() => undefined);
        throw error;
      }
      return encoded.records;
    });
  }

  async append(
    owner: Owner,
    sessionId: string,
    records: readonly NewRecord[],
    options: AppendOptions = {},
  ): Promise<readonly JournalRecord[]> {
    this.#guard(sessionId);
    if (records.length === 0) return [];
    return onStorage(
      () =>
        new Promise((resolve, reject) => {
          const append: Append = { owner, records, options, resolve, reject };
          const waiting = this.#waiting.get(sessionId);
          if (waiting !== undefined) waiting.push(append);
          else {
            this.#waiting.set(sessionId, [append]);
            void this.#mutex.run(sessionId, () => this.#writeWaiting(sessionId));
          }
        }),
    );
  }

  async #writeWaiting(sessionId: string): Promise<void> {
    const mayUse = (owner: Owner) => this.#waiting.get(sessionId)?.some((append) => append.owner === owner) === true;
    // All that came while the file was being opened goes into the same sync.
    const take = () => {
      const appends = this.#waiting.get(sessionId) ?? [];
      this.#waiting.delete(sessionId);
      return appends;
    };
    let file: JournalFile | null;
    try {
      file = await this.#takeUnpacked(sessionId, mayUse);
      if (file === null) throw new AppError("SESSION_NOT_FOUND");
    } catch (error) {
      for (const append of take()) append.reject(error);
      return;
    }
    await this.#writer.write(file, take());
    await this.#files.release(file).catch(this.#onCloseError);
  }

  async window(owner: Owner, sessionId: string, options: { readonly rounds: number; readonly signal?: AbortSignal }): Promise<WindowRead> {
    throwIfAborted(options.signal);
    return this.#reading(sessionId, async (file) => {
      if (file !== null) {
        if (!file.belongsTo(owner)) throw new AppError("SESSION_NOT_FOUND");
        return readWindow(file, options.rounds, options.signal);
      }
      const header = await this.#ownHeader(owner, sessionId);
      const records: JournalRecord[] = [];
      for await (const record of this.#packedRecords(sessionId, options)) records.push(record);
      const path = this.#directory.path(sessionId, "packed");
      const bytesRead = (await this.#fs.stat(path))?.size ?? 0;
      return { ...windowOfRecords(records, options.rounds), lastSeq: header.lastSeq, lastTurn: header.lastTurn, bytesRead };
    });
  }

  async *read(owner: Owner, sessionId: string, options: ReadOptions = {}): AsyncGenerator<JournalRecord> {
    this.#guard(sessionId);
    const file = await onStorage(() => this.#retain(sessionId));
    try {
      if (file === null) {
        await onStorage(() => this.#ownHeader(owner, sessionId));
        yield* this.#packedRecords(sessionId, options);
        return;
      }
      if (!file.belongsTo(owner)) throw new AppError("SESSION_NOT_FOUND");
      yield* this.#fileRecords(file, options);
    } catch (error) {
      throw asStorageError(error);
    } finally {
      if (file !== null) await this.#files.release(file);
    }
  }

  async *#fileRecords({ log }: JournalFile, options: ReadOptions): AsyncGenerator<JournalRecord> {
    const end = log.end;
    const fromSeq = options.fromSeq ?? 1;
    const start =
      fromSeq <= 1
        ? 0
        : await log.seek((line) => {
            const record = decodeLine(line)?.record;
            return record === undefined ? null : record.seq < fromSeq;
          }, end);
    yield* selected(() => log.forwards(start, end), options);
  }

  #packedRecords(sessionId: string, options: ReadOptions): AsyncGenerator<JournalRecord> {
    return selected(() => unpackedLines(this.#fs, this.#directory.path(sessionId, "packed")), options);
  }

  async rewrite(owner: Owner, sessionId: string, change: (record: JournalRecord) => JournalRecord | null): Promise<void> {
    await this.#exclusively(sessionId, async () => {
      const file = await this.#takeUnpacked(sessionId, (holder) => holder === owner);
      if (file === null) throw new AppError("SESSION_NOT_FOUND");
      try {
        if (!file.belongsTo(owner)) throw new AppError("SESSION_NOT_FOUND");
        await file.log.repair();
        await this.#directory.replaceLog(sessionId, async (log) => {
          await rewriteInto(log, file.log, owner, file.tail, change);
        });
      } finally {
        // Whether the new file came or not, only the directory knows.
        if (!file.log.needsRepair) await this.#files.forget(sessionId);
        await this.#files.release(file);
      }
    });
  }

  async compress(owner: Owner, sessionId: string): Promise<void> {
    await this.#exclusively(sessionId, async () => {
      const file = await this.#take(sessionId);
      if (file === null) {
        await this.#ownHeader(owner, sessionId);
        return;
      }
      try {
        if (!file.belongsTo(owner)) throw new AppError("SESSION_NOT_FOUND");
        await file.log.repair();
        const { lastSeq, lastTurn } = file.tail;
        await this.#directory.replaceRaw(sessionId, "packed", (target) => packInto(target, { owner, lastSeq, lastTurn }, file.log.bytes()));
        await this.#directory.remove(sessionId, "journal");
      } finally {
        if (!file.log.needsRepair) await this.#files.forget(sessionId);
        await this.#files.release(file);
      }
    });
  }

  async remove(owner: Owner, sessionId: string): Promise<boolean> {
    return this.#exclusively(sessionId, async () => {
      if (!(await this.#belongs(owner, sessionId))) return false;
      await this.#delete(sessionId);
      return true;
    });
  }

  async *list(): AsyncGenerator<{ readonly owner: Owner; readonly sessionId: string; readonly lastSeq: number }> {
    const ids = await onStorage(() => this.#directory.sessionIds());
    for (let at = 0; at < ids.length; at += LOOKS_AT_ONCE) {
      const found = await Promise.all(ids.slice(at, at + LOOKS_AT_ONCE).map((id) => this.#lookAt(id)));
      yield* found.flatMap(({ owner, ...rest }) => (owner === null ? [] : [{ owner, ...rest }]));
    }
  }

  #lookAt(sessionId: string): Promise<{ owner: Owner | null; sessionId: string; lastSeq: number }> {
    return this.#reading(sessionId, async (file) => {
      const header = file === null ? await this.#header(sessionId) : null;
      const owner = file?.owner ?? header?.owner ?? null;
      if (owner === null) this.#logger.warn({ sessionId }, "A journal's first line can't be read: it is not listed.");
      return { owner, sessionId, lastSeq: file?.tail.lastSeq ?? header?.lastSeq ?? 0 };
    });
  }

  async *check(): AsyncGenerator<JournalCheck> {
    for (const sessionId of await onStorage(() => this.#directory.sessionIds())) {
      this.#guard(sessionId);
      const opened = await onStorage(() => this.#mutex.run(sessionId, () => this.#openLog(sessionId)));
      const packed = this.#directory.path(sessionId, "packed");
      const path = opened === null ? packed : this.#directory.path(sessionId, "journal");
      try {
        const found = await checkLines(opened === null ? unpackedLines(this.#fs, packed) : opened.forwards());
        yield { sessionId, path, ...found, tornBytes: this.#torn.get(sessionId) ?? 0 };
      } finally {
        await opened?.close();
      }
    }
  }

  async erase(owner: Owner): Promise<{ readonly sessions: number; readonly messages: number }> {
    let sessions = 0;
    let messages = 0;
    await eachAtOnce(await onStorage(() => this.#directory.sessionIds()), (sessionId) =>
      this.#exclusively(sessionId, async () => {
        await this.#directory.removeTemporary(sessionId);
        if (!(await this.#belongs(owner, sessionId))) return;
        const counted = await this.#countMessages(sessionId);
        messages += counted;
        await this.#delete(sessionId);
        sessions += 1;
      }),
    );
    return { sessions, messages };
  }

  /** For one who holds the mutex. What can't be read isn't counted, and goes all the same. */
  async #countMessages(sessionId: string): Promise<number> {
    let messages = 0;
    const file = await this.#take(sessionId);
    try {
      const options = { includeRewound: true };
      const records = file === null ? this.#packedRecords(sessionId, options) : this.#fileRecords(file, options);
      for await (const record of records) if (record.type === "message" && !isBlankFailure(record)) messages += 1;
    } catch (error) {
      if (errnoOf(error)?.startsWith("Z_") !== true) throw error;
    } finally {
      if (file !== null) await this.#files.release(file);
    }
    return messages;
  }

  async residue(owner: Owner): Promise<number> {
    let found = 0;
    await eachAtOnce(await onStorage(() => this.#directory.sessionIds()), async (sessionId) => {
      const files = await this.#exclusively(sessionId, () => this.#directory.filesOf(sessionId, owner));
      found += files;
    });
    return found;
  }

  /** Waits for what is being written, then closes every file. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#mutex.settled();
    await this.#files.close();
  }

  /** Journals open right now. */
  get openFiles(): number {
    return this.#files.size;
  }

  #guard(sessionId: string): void {
    if (!isId(sessionId)) throw new AppError("INVALID_SESSION_ID");
    if (this.#closed) throw new AppError("SHUTTING_DOWN");
  }

  #exclusively<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    return onStorage(async () => {
      this.#guard(sessionId);
      return this.#mutex.run(sessionId, work);
    });
  }

  async #reading<T>(sessionId: string, work: (file: JournalFile | null) => Promise<T>): Promise<T> {
    return onStorage(async () => {
      this.#guard(sessionId);
      const file = await this.#retain(sessionId);
      try {
        return await work(file);
      } finally {
        if (file !== null) await this.#files.release(file);
      }
    });
  }

  async #retain(sessionId: string): Promise<JournalFile | null> {
    return this.#files.retain(sessionId) ?? (await this.#mutex.run(sessionId, () => this.#take(sessionId)));
  }

  /** The open journal, for one who holds the mutex; null where there is none, or only a packed one. */
  async #take(sessionId: string): Promise<JournalFile | null> {
    const open = this.#files.retain(sessionId);
    if (open !== null) return open;
    const file = await JournalFile.open(this.#fs, this.#directory.path(sessionId, "journal"), sessionId, {
      logger: this.#logger,
      onTorn: (bytes) => this.#torn.set(sessionId, bytes),
    });
    return file === null ? null : this.#files.add(file);
  }

  /** As {@link #take}; a packed journal that `mayUse` lets its owner have is unpacked first. */
  async #takeUnpacked(sessionId: string, mayUse: (owner: Owner) => boolean): Promise<JournalFile | null> {
    const open = await this.#take(sessionId);
    if (open !== null) return open;
    const header = await this.#header(sessionId);
    if (header == null || !mayUse(header.owner)) return null;
    const packed = this.#directory.path(sessionId, "packed");
    await this.#directory.replaceRaw(sessionId, "journal", async (target) => {
      let at = 0;
      for await (const block of unpack(this.#fs, packed)) {
        await target.write(block, at);
        at += block.length;
      }
      await target.datasync();
    });
    await this.#directory.remove(sessionId, "packed");
    return this.#take(sessionId);
  }

  #header(sessionId: string) {
    return readPackedHeader(this.#fs, this.#directory.path(sessionId, "packed"));
  }

  async #ownHeader(owner: Owner, sessionId: string) {
    const header = await this.#header(sessionId);
    if (header == null || header.owner !== owner) throw new AppError("SESSION_NOT_FOUND");
    return header;
  }

  async #belongs(owner: Owner, sessionId: string): Promise<boolean> {
    return (await this.#directory.filesOf(sessionId, owner)) > 0;
  }

  async #delete(sessionId: string): Promise<void> {
    await this.#files.forget(sessionId);
    await this.#directory.remove(sessionId, "journal");
    await this.#directory.remove(sessionId, "packed");
    this.#torn.delete(sessionId);
  }

  async #openLog(sessionId: string): Promise<JsonlLog | null> {
    const opened = await JsonlLog.open(this.#fs, this.#directory.path(sessionId, "journal"));
    if (opened !== null && opened.tornBytes > 0) this.#torn.set(sessionId, opened.tornBytes);
    return opened?.log ?? null;
  }
}
