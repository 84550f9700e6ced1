import { type FileHandle, open } from "node:fs/promises";
import { setImmediate } from "node:timers";
import { AppError } from "../../../platform/errors.js";
import type { Logger } from "../../../platform/logger.js";
import { type Sqlite, waitForLocks } from "../../../platform/sqlite.js";
import { NotCommitted } from "../../durable-commit.js";
import type { OpenedFile } from "./opened-file.js";
import { isLocked, ofCommit, onSqlite } from "./sqlite-errors.js";

interface Waiting {
  /** Returns what tells its result to who asked: to be called once it is durable; relaxed, once it is committed. */
  readonly work: () => () => void;
  readonly reject: (error: unknown) => void;
  readonly isRelaxed: boolean;
}

interface Unsynced {
  readonly tell: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * All writes that are asked for in one turn of the event loop are one transaction, in their order, and all transactions that are made
 * while the disk syncs are durable with its next sync, which no script waits for.
 */
export class GroupCommit {
  readonly #db: Sqlite;
  readonly #logger: Logger;
  readonly #log: WriteAheadLog;
  readonly #file: Pick<OpenedFile, "requireSame">;
  #waiting: Waiting[] = [];
  #unsynced: Unsynced[] = [];
  #syncing: Promise<void> | null = null;
  /** Resolves when the file may be written again. */
  #paused: Promise<void> | null = null;
  /** The last commit met another process's lock. The first that does waits for it, and with it its thread; those behind it do not. */
  #isLocked = false;

  /** `file`: what is to stand under the database's name whenever something is committed. */
  constructor(db: Sqlite, logger: Logger, file: Pick<OpenedFile, "requireSame">) {
    this.#db = db;
    this.#file = file;
    this.#logger = logger;
    this.#log = new WriteAheadLog(db);
  }

  /**
   * Resolves when it is durable; relaxed, when it is committed. Work may run twice, of which one run is rolled back.
   * @throws STORAGE_UNAVAILABLE, STORAGE_DAMAGED
   */
  run<T>(work: () => T, isRelaxed = false): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.flush());
      this.#waiting.push({
        work: () => {
          const result = work();
          return () => resolve(result);
        },
        reject,
        isRelaxed,
      });
    });
  }

  /** Commits now what waits, but for a pause; who asked is told as {@link run} says. */
  flush(): void {
    if (this.#paused !== null) return;
    const group = this.#waiting;
    this.#waiting = [];
    if (group.length > 0) this.#commit(group);
  }

  /** What was asked for is committed, then `work` runs, and all that is asked for meanwhile waits for its end. One at a time. */
  async between(work: () => Promise<void>): Promise<void> {
    while (this.#paused !== null) await this.#paused;
    this.flush();
    const worked = work();
    this.#paused = worked
      .catch(() => undefined)
      .then(() => {
        this.#paused = null;
        this.flush();
      });
    await this.#paused;
    return worked;
  }

  /** What waits is committed, and synced where it is not relaxed. */
  async close(): Promise<void> {
    while (this.#paused !== null) await this.#paused;
    this.flush();
    while (this.#syncing !== null) await this.#syncing;
    await this.#log.close();
  }

  #commit(group: readonly Waiting[]): void {
    try {
      const made = () => group.map(({ work, ...waiting }) => ({ tell: work(), ...waiting }));
      const told = onSqlite(this.#db.name, () => {
        this.#file.requireSame();
        return this.#transaction(made);
      });
      this.#setLocked(false);
      for (const { tell, reject, isRelaxed } of told) {
        if (isRelaxed) tell();
        else this.#unsynced.push({ tell, reject });
      }
      if (this.#unsynced.length > 0) this.#syncing ??= this.#sync();
    } catch (error) {
      this.#setLocked(isLocked(error));
      if (group.length > 1 && !isLocked(error) && !(error instanceof NotCommitted)) {
        // One of them may be at fault: each is done by itself.
        for (const one of group) this.#commit([one]);
        return;
      }
      if (error instanceof AppError) this.#logger.warn({ code: error.code, commits: group.length }, error.message);
      for (const { reject } of group) reject(ofCommit(error));
    }
  }

  #transaction<T>(work: () => T): T {
    this.#db.prepare("BEGIN IMMEDIATE").run();
    try {
      const result = work();
      this.#db.prepare("COMMIT").run();
      return result;
    } catch (error) {
      if (this.#db.inTransaction) this.#db.prepare("ROLLBACK").run();
      throw error;
    }
  }

  async #sync(): Promise<void> {
    while (this.#unsynced.length > 0) {
      const group = this.#unsynced;
      this.#unsynced = [];
      try {
        await this.#log.sync();
        for (const { tell } of group) tell();
      } catch (cause) {
        this.#logger.warn({ err: cause, commits: group.length }, "What was committed could not be synced: it may not outlive a power cut");
        for (const { reject } of group) reject(new AppError("STORAGE_UNAVAILABLE", { retryAfterSeconds: 1, cause }));
      }
    }
    this.#syncing = null;
  }

  #setLocked(isLocked: boolean): void {
    if (isLocked === this.#isLocked || !this.#db.open) return;
    this.#isLocked = isLocked;
    waitForLocks(this.#db, !isLocked);
  }
}

/** The write-ahead log of a database, to be synced away from the thread that commits. Nothing is to be synced for one in memory. */
class WriteAheadLog {
  readonly #path: string | null;
  #file: FileHandle | null = null;

  constructor(db: Sqlite) {
    this.#path = db.memory ? null : `${db.name}-wal`;
  }

  /** What was committed before the call outlives a power cut. @throws what the disk says */
  async sync(): Promise<void> {
    if (this.#path === null) return;
    // One file for as long as the database is open: a checkpoint empties it and goes on in it.
    this.#file ??= await open(this.#path, "r+");
    await this.#file.datasync();
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = null;
  }
}
