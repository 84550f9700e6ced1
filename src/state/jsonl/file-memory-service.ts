// Over 300 lines: one port over one directory; what can be told apart lies in the files beside it.

import { LRUCache } from "lru-cache";
import type { Owner } from "../../domain/owner.js";
import { isBlankFailure } from "../../domain/recorded-turn.js";
import type { JournalRecord, NewRecord } from "../../domain/session.js";
import { eachInParallel, MAX_IN_PARALLEL } from "../../platform/bounded-parallel.js";
import { AppError, isAppError } from "../../platform/errors.js";
import { boundedFileSystem, errnoOf, type FileSystem } from "../../platform/file-system.js";
import { isId } from "../../platform/ids.js";
import { JsonlLog, type LogLine } from "../../platform/jsonl-log.js";
import { KeyedMutex } from "../../platform/keyed-mutex.js";
import type { Logger } from "../../platform/logger.js";
import { asStorageError, onStorage, storageGone } from "../../platform/storage-errors.js";
import type { StorageHealth } from "../../ports/health-history.js";
import type {
  AppendOptions,
  JournalCheck,
  NewestFirstOptions,
  ReadOptions,
  ShortTermMemory,
  WindowRead,
} from "../../ports/session-store.js";
import type { JournalEnd, RestoresJournals } from "../../ports/transfer.js";
import { throwIfAborted } from "../abortable-read.js";
import { headOf, type JournalSeals, type LineSealer, ownerMark, unseal } from "../journal/journal-codec.js";
import { rewriteInto, writeInto } from "../journal/rewrite.js";
import { windowIn } from "../journal/round-collector.js";
import { checkLines, outsideRewinds, rewindsOf, selected } from "../journal/selected-records.js";
import { ownerPartition } from "../partition.js";
import { type Append, AppendWriter, encodeFirst } from "./append-queue.js";
import { DirectoryHealth } from "./directory-health.js";
import { blocksBackwards, readWindow } from "./journal-backwards.js";
import { JournalDirectory } from "./journal-directory.js";
import { JournalFile, rewindsBetween } from "./journal-file.js";
import { JournalFiles, WrittenJournals } from "./journal-files.js";
import { OwnerSessions } from "./owner-sessions.js";
import { packInto, readPackedHeader, unpack, unpackedLines } from "./packed-journal.js";

export interface FileMemoryOptions {
  readonly dir: string;
  readonly fileSystem: FileSystem;
  readonly logger: Logger;
  /** Journals kept open while nobody uses them. Default 128. */
  readonly maxIdleJournals?: number;
  /** Default: lines are not sealed. */
  readonly seals?: JournalSeals | null;
}

/** Erasures whose journals are looked for again: far more than run at a time. */
const REMEMBERED_ERASURES = 100;
/** Damaged journals that are told once in a process. */
const REMEMBERED_DAMAGE = 1_000;

/**
 * Short-term memory in `{dir}/{session_id}.jsonl`, one append-only journal per session; packed ones end in `.jsonl.gz`.
 * The formats are described in memory_storage/README.md. One process owns the directory.
 */
export class FileMemoryService implements ShortTermMemory, RestoresJournals, StorageHealth {
  readonly #directory: JournalDirectory;
  readonly #fs: FileSystem;
  readonly #logger: Logger;
  readonly #files: JournalFiles;
  /** Orders what writes to, replaces or opens one journal. Reads only wait for an opening. */
  readonly #mutex = new KeyedMutex();
  readonly #writer: AppendWriter;
  readonly #health: DirectoryHealth;
  readonly #lists: OwnerSessions;
  /** What was erased last, by owner: looked for again on the medium, though no list has it any more. */
  readonly #erased = new LRUCache<Owner, ReadonlySet<string>>({ max: REMEMBERED_ERASURES });
  /** Journals that this process has written, and where they ended: what an index has to have at the end. */
  readonly #written = new WrittenJournals();
  readonly #waiting = new Map<string, Append[]>();
  /** Bytes that were cut off since the start, by session: for {@link check}. */
  readonly #torn = new Map<string, number>();
  /** Sessions of which a damaged line was told. */
  readonly #damaged = new LRUCache<string, true>({ max: REMEMBERED_DAMAGE });
  readonly #onCloseError: (error: unknown) => void;
  readonly #seals: JournalSeals | null;
  #closed = false;

  private constructor(options: FileMemoryOptions, fs: FileSystem, health: DirectoryHealth, lists: OwnerSessions) {
    this.#fs = fs;
    this.#health = health;
    this.#lists = lists;
    this.#writer = new AppendWriter(health);
    this.#logger = options.logger;
    this.#seals = options.seals ?? null;
    this.#directory = new JournalDirectory(options.dir, this.#fs);
    this.#onCloseError = (error) => options.logger.warn({ code: errnoOf(error) }, "A journal could not be closed.");
    this.#files = new JournalFiles({
      ...(options.maxIdleJournals !== undefined && { maxIdle: options.maxIdleJournals }),
      onCloseError: this.#onCloseError,
    });
  }

  /** Makes the directory and removes what a crash left half-made. @throws STORAGE_UNAVAILABLE */
  static async open(options: FileMemoryOptions): Promise<FileMemoryService> {
    const fs = boundedFileSystem(options.fileSystem);
    return onStorage(async () => {
      await fs.mkdir(options.dir);
      const health = await DirectoryHealth.open({ dir: options.dir, fileSystem: fs });
      const lists = await OwnerSessions.open(options.dir, fs);
      const service = new FileMemoryService(options, fs, health, lists);
      await service.#directory.prepare();
      if (!lists.complete && (await service.sessionIds()).length === 0) await lists.markComplete();
      return service;
    });
  }

  async create(owner: Owner, sessionId: string, records: readonly NewRecord[]): Promise<readonly JournalRecord[]> {
    return this.#exclusively(sessionId, async () => {
      const existing = await this.#take(sessionId);
      if (existing !== null) await this.#files.release(existing);
      if (existing !== null || (await this.#header(sessionId)) !== null) throw new AppError("SESSION_CHANGED");
      // Somebody's words, though nobody can read them: not to be written over.
      const size = (await this.#fs.stat(this.#directory.path(sessionId, "journal")))?.size ?? 0;
      if (size > 0) throw new AppError("STORAGE_DAMAGED", { detail: `The journal of session ${sessionId} holds no readable line.` });
      const encoded = await encodeFirst(owner, records, await this.#sealer(owner, sessionId));
      try {
        await this.#health.requireSame();
        await this.#lists.add(ownerMark(owner), sessionId);
        await this.#directory.replaceLog(sessionId, (log) => log.append(Buffer.concat(encoded.lines)));
        this.#health.wentWell();
        this.#written.note(sessionId, owner, encoded.tail.lastSeq);
      } catch (error) {
        this.#health.failed();
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
      file = await this.#takeForWriting(sessionId, mayUse);
    } catch (error) {
      if (!isAppError(error, "SESSION_NOT_FOUND")) this.#health.failed();
      for (const append of take()) append.reject(error);
      return;
    }
    await this.#writer.write(file, take());
    this.#written.note(sessionId, file.owner, file.tail.lastSeq);
    await this.#files.release(file).catch(this.#onCloseError);
  }

  /** @throws SESSION_NOT_FOUND, STORAGE_UNAVAILABLE where the file, or the whole directory, was taken from under this process */
  async #takeForWriting(sessionId: string, mayUse: (owner: Owner) => boolean): Promise<JournalFile> {
    const file = await this.#takeUnpacked(sessionId, mayUse);
    if (file === null) {
      await this.#health.requireSame();
      throw new AppError("SESSION_NOT_FOUND");
    }
    const follows = this.#waiting.get(sessionId)?.every(({ records }) => records.every(followsMessage)) === true;
    if (await this.#isThere(file, follows)) return file;
    await this.#files.forget(sessionId);
    await this.#files.release(file).catch(this.#onCloseError);
    throw storageGone();
  }

  async #isThere(file: JournalFile, follows: boolean): Promise<boolean> {
    try {
      return await (follows ? file.place.wasHeld() : file.place.isHeld());
    } catch (error) {
      await this.#files.release(file).catch(this.#onCloseError);
      throw error;
    }
  }

  async window(owner: Owner, sessionId: string, options: { readonly rounds: number; readonly signal?: AbortSignal }): Promise<WindowRead> {
    throwIfAborted(options.signal);
    return this.#reading(sessionId, async (file) => {
      if (file !== null) {
        file.requireOwner(owner);
        return readWindow(file, options.rounds, options.signal);
      }
      const header = await this.#ownHeader(owner, sessionId);
      const records: JournalRecord[] = [];
      for await (const block of await this.#recordsOf(sessionId, null, options)) records.push(...block);
      const path = this.#directory.path(sessionId, "packed");
      const bytesRead = (await this.#fs.stat(path))?.size ?? 0;
      const found = await windowIn([records.toReversed()], options.rounds);
      const summary = found.summary ?? records.findLast((record) => record.type === "summary") ?? null;
      return { ...found, summary, lastSeq: header.lastSeq, lastTurn: header.lastTurn, bytesRead };
    });
  }

  read(owner: Owner, sessionId: string, options: ReadOptions = {}): AsyncGenerator<JournalRecord> {
    return this.#streamed(owner, sessionId, (file) => this.#recordsOf(sessionId, file, options));
  }

  newestFirst(owner: Owner, sessionId: string, options: NewestFirstOptions = {}): AsyncGenerator<JournalRecord> {
    const { beforeSeq = Number.POSITIVE_INFINITY, signal } = options;
    return this.#streamed(owner, sessionId, async (file) => {
      if (file === null) return this.#packedBackwards(sessionId, options);
      const from = beforeSeq > file.tail.lastSeq ? {} : { from: await startOf(file.log, beforeSeq, file.log.end) };
      return blocksBackwards(file, { ...from, signal });
    });
  }

  /** A journal's records by the block, wherever it lies: it stays open until they are taken. `file`: null for a packed one. */
  async *#streamed(
    owner: Owner,
    sessionId: string,
    blocksOf: (file: JournalFile | null) => Promise<AsyncIterable<Iterable<JournalRecord>>>,
  ): AsyncGenerator<JournalRecord> {
    this.#guard(sessionId);
    const file = await onStorage(() => this.#retain(sessionId));
    try {
      if (file === null) await this.#ownHeader(owner, sessionId);
      else file.requireOwner(owner);
      for await (const records of await blocksOf(file)) for (const record of records) yield record;
    } catch (error) {
      throw asStorageError(error);
    } finally {
      if (file !== null) await this.#files.release(file);
    }
  }

  /** By the block, oldest first. `file`: null for a packed one. */
  async #recordsOf(sessionId: string, file: JournalFile | null, options: ReadOptions) {
    const onDamaged = (offset: number) => this.#passedOver(sessionId, offset);
    const unpacked = () => this.#unpacked(sessionId);
    if (file === null) return selected({ lines: unpacked, rewinds: () => rewindsOf(unpacked()), onDamaged }, options);
    const { log } = file;
    const { end } = log;
    const start = await startOf(log, options.fromSeq ?? 1, end);
    return selected({ lines: () => log.forwards(start, end), rewinds: () => rewindsBetween(log, start, end), onDamaged }, options);
  }

  async *#packedBackwards(
    sessionId: string,
    { beforeSeq = Number.POSITIVE_INFINITY, signal }: NewestFirstOptions,
  ): AsyncGenerator<readonly JournalRecord[]> {
    const records: JournalRecord[] = [];
    for await (const block of await this.#recordsOf(sessionId, null, { includeRewound: true, ...(signal && { signal }) }))
      records.push(...block.filter(({ seq }) => seq < beforeSeq));
    for await (const record of outsideRewinds(records.reverse())) yield [record];
  }

  #passedOver(sessionId: string, offset: number): void {
    if (this.#damaged.has(sessionId)) return;
    this.#damaged.set(sessionId, true);
    this.#logger.warn({ session_id: sessionId, offset }, "A damaged line of a journal is passed over.");
  }

  async rewrite(owner: Owner, sessionId: string, change: (record: JournalRecord) => JournalRecord | null): Promise<void> {
    await this.#exclusively(sessionId, async () => {
      const file = await this.#takeUnpacked(sessionId, (holder) => holder === owner);
      if (file === null) throw new AppError("SESSION_NOT_FOUND");
      await this.#replacing(file, owner, async () => {
        const seal = await this.#sealer(owner, sessionId);
        await this.#directory.replaceLog(sessionId, (target) => rewriteInto({ target, owner, seal }, file.log, file.tail, change));
      }).finally(() => this.#written.note(sessionId, owner, file.tail.lastSeq));
    });
  }

  /** Puts something else in the place of a journal, which is let go then. @throws SESSION_NOT_FOUND for somebody else's */
  async #replacing(file: JournalFile, owner: Owner, replace: () => Promise<void>): Promise<void> {
    try {
      file.requireOwner(owner);
      await file.log.repair();
      await replace();
    } finally {
      // Whether the new file came or not, only the directory knows.
      if (!file.log.needsRepair) await this.#files.forget(file.sessionId);
      await this.#files.release(file);
    }
  }

  async restore(owner: Owner, sessionId: string, records: () => AsyncIterable<JournalRecord>, end: JournalEnd): Promise<void> {
    await this.#exclusively(sessionId, async () => {
      const file = await this.#take(sessionId);
      const holder = (await this.#placed(sessionId, file)).owner ?? owner;
      if (file !== null) await this.#files.release(file);
      if (holder !== owner) throw new AppError("SESSION_CHANGED");
      await this.#lists.addMissing(ownerMark(owner), [sessionId]);
      const seal = await this.#sealer(owner, sessionId);
      await this.#directory.replaceLog(sessionId, (target) => writeInto({ target, owner, seal }, records, end));
      await this.#files.forget(sessionId);
      await this.#directory.remove(sessionId, "packed");
      this.#written.note(sessionId, owner, end.lastSeq);
    });
  }

  async compress(owner: Owner, sessionId: string): Promise<void> {
    await this.#exclusively(sessionId, async () => {
      const file = await this.#take(sessionId);
      if (file === null) {
        await this.#ownHeader(owner, sessionId);
        return;
      }
      await this.#replacing(file, owner, async () => {
        const header = { owner, lastSeq: file.tail.lastSeq, lastTurn: file.tail.lastTurn };
        await this.#directory.replaceRaw(sessionId, "packed", (target) => packInto(target, header, file.log.bytes()));
        await this.#directory.remove(sessionId, "journal");
      });
    });
  }

  async remove(owner: Owner, sessionId: string): Promise<boolean> {
    return this.#exclusively(sessionId, async () => {
      if (!(await this.#belongs(owner, sessionId))) return false;
      await this.#delete(sessionId);
      return true;
    });
  }

  /** Ids of all that has a file here, by its name. */
  sessionIds(): Promise<readonly string[]> {
    return onStorage(() => this.#directory.sessionIds());
  }

  /** As the port has it; of these sessions only, where some are named. */
  async *list(only?: readonly string[]): AsyncGenerator<{ readonly owner: Owner; readonly sessionId: string; readonly lastSeq: number }> {
    const ids = only ?? (await this.sessionIds());
    for (let at = 0; at < ids.length; at += MAX_IN_PARALLEL) {
      const found = await Promise.all(ids.slice(at, at + MAX_IN_PARALLEL).map((id) => this.#lookAt(id)));
      yield* found.flatMap(({ owner, ...rest }) => (owner === null ? [] : [{ owner, ...rest }]));
    }
  }

  #lookAt(sessionId: string): Promise<{ owner: Owner | null; sessionId: string; lastSeq: number }> {
    return this.#reading(sessionId, async (file) => {
      const { owner, lastSeq } = await this.#placed(sessionId, file);
      if (owner === null) this.#logger.warn({ sessionId }, "A journal's first line can't be read: it is not listed.");
      return { owner, sessionId, lastSeq };
    });
  }

  /** Whose a journal is, and where it ends. `file`: null where there is none, or a packed one. */
  async #placed(sessionId: string, file: JournalFile | null): Promise<Pick<JournalFile, "owner" | "mark"> & { readonly lastSeq: number }> {
    if (file !== null) return { owner: file.owner, mark: file.mark, lastSeq: file.tail.lastSeq };
    const { owner = null, lastSeq = 0 } = (await this.#header(sessionId)) ?? {};
    return { owner, mark: owner === null ? null : ownerMark(owner), lastSeq };
  }

  /** Puts journals into their owners' lists that are in none: somebody may have brought them by hand. */
  async enlist(): Promise<void> {
    const byMark = new Map<string, string[]>();
    await eachInParallel(await this.sessionIds(), async (sessionId) => {
      const { mark } = await this.#reading(sessionId, (file) => this.#placed(sessionId, file));
      if (mark !== null) byMark.set(mark, [...(byMark.get(mark) ?? []), sessionId]);
    });
    await onStorage(async () => {
      await eachInParallel([...byMark], ([mark, ids]) => this.#lists.addMissing(mark, ids));
      if (!this.#lists.complete) await this.#lists.markComplete();
    });
  }

  /** Journals that were written since the start. */
  get written(): Pick<WrittenJournals, "entries" | "writes"> {
    return this.#written;
  }

  async *check(): AsyncGenerator<JournalCheck> {
    for (const sessionId of await this.sessionIds()) {
      this.#guard(sessionId);
      const opened = await onStorage(() => this.#mutex.run(sessionId, () => this.#openLog(sessionId)));
      const path = this.#directory.path(sessionId, opened === null ? "packed" : "journal");
      try {
        const found = await checkLines(opened === null ? this.#unpacked(sessionId) : opened.forwards());
        yield { sessionId, path, ...found, tornBytes: this.#torn.get(sessionId) ?? 0 };
      } finally {
        await opened?.close();
      }
    }
  }

  async erase(owner: Owner): Promise<{ readonly sessions: number; readonly messages: number }> {
    let sessions = 0;
    let messages = 0;
    const listed = await this.#listed(owner);
    if (listed !== null) this.#erased.set(owner, listed);
    await eachInParallel([...(listed ?? (await this.sessionIds()))], (sessionId) =>
      this.#exclusively(sessionId, async () => {
        await this.#directory.removeTemporary(sessionId);
        if (!(await this.#belongs(owner, sessionId))) return;
        const counted = await this.#countMessages(sessionId);
        messages += counted;
        await this.#delete(sessionId);
        sessions += 1;
      }),
    );
    // The list goes last, and only when a look has found none of its journals: where there is no list, there is nothing.
    if ((await this.residue(owner)) === 0) await onStorage(() => this.#lists.remove(ownerMark(owner)));
    return { sessions, messages };
  }

  /** Sessions whose files may be the owner's; null where anybody's may. */
  #listed(owner: Owner): Promise<ReadonlySet<string> | null> {
    return onStorage(() => this.#lists.of(ownerMark(owner)));
  }

  /** For one who holds the mutex. What can't be read isn't counted, and goes all the same. */
  async #countMessages(sessionId: string): Promise<number> {
    let messages = 0;
    const file = await this.#take(sessionId);
    try {
      for await (const records of await this.#recordsOf(sessionId, file, { includeRewound: true }))
        for (const record of records) if (record.type === "message" && !isBlankFailure(record)) messages += 1;
    } catch (error) {
      if (errnoOf(error)?.startsWith("Z_") !== true) throw error;
    } finally {
      if (file !== null) await this.#files.release(file);
    }
    return messages;
  }

  async residue(owner: Owner): Promise<number> {
    let found = 0;
    const ids = new Set([...((await this.#listed(owner)) ?? (await this.sessionIds())), ...(this.#erased.get(owner) ?? [])]);
    await eachInParallel([...ids], async (sessionId) => {
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

  /** As {@link StorageHealth}. */
  health(): ReturnType<StorageHealth["health"]> {
    return this.#health.health();
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
      seals: this.#seals,
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
    this.#written.drop(sessionId);
  }

  async #openLog(sessionId: string): Promise<JsonlLog | null> {
    const opened = await JsonlLog.open(this.#fs, this.#directory.path(sessionId, "journal"));
    if (opened !== null && opened.tornBytes > 0) this.#torn.set(sessionId, opened.tornBytes);
    if (opened !== null) await unseal(opened.log, this.#seals, sessionId);
    return opened?.log ?? null;
  }

  async #sealer(owner: Owner, sessionId: string): Promise<LineSealer | null> {
    return this.#seals === null ? null : (await this.#seals.sealer(owner, sessionId)).seal;
  }

  async *#unpacked(sessionId: string): AsyncGenerator<readonly LogLine[]> {
    const header = this.#seals === null ? null : await this.#header(sessionId);
    const opens = header == null ? null : await this.#seals?.opener(ownerPartition(header.owner), sessionId);
    yield* unpackedLines(this.#fs, this.#directory.path(sessionId, "packed"), opens);
  }
}

/** What follows a user's message of its turn: the file was looked for when that was written. */
function followsMessage(record: NewRecord): boolean {
  if (record.type === "message") return record.body.role === "assistant";
  return record.type === "step" || record.type === "write_back_done";
}

/** Offset of the first record from `seq` on. */
async function startOf(log: JsonlLog, seq: number, end: number): Promise<number> {
  if (seq <= 1) return 0;
  return log.seek((line) => {
    const head = headOf(line);
    return head === null ? null : head.seq < seq;
  }, end);
}
