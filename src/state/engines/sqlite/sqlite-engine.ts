import { type Clock, systemClock } from "../../../platform/clock.js";
import { compactDatabase } from "../../../platform/compaction.js";
import { AppError } from "../../../platform/errors.js";
import { type Logger, silentLogger } from "../../../platform/logger.js";
import { assertSound, openDatabase, openSqlite, type Sqlite } from "../../../platform/sqlite.js";
import { throwIfAborted } from "../../abortable-read.js";
import { assertFits } from "../../commit-limits.js";
import { NotCommitted } from "../../durable-commit.js";
import {
  type Commit,
  type CommitResult,
  type DuePartition,
  type EngineManifest,
  type KeyRange,
  MOST_DUE,
  type PartitionEntry,
  type PartitionRead,
  type PartitionsPage,
  type ReadQuery,
  type StateEngine,
  type StoredEntry,
} from "../../engine.js";
import { decide, erasedHead } from "../../partition-head.js";
import { GroupCommit } from "./group-commit.js";
import { OpenedFile } from "./opened-file.js";
import { headOf, LAYOUT, openLayout, placeOf, putHead, takeDue } from "./partition-table.js";
import { onSqlite } from "./sqlite-errors.js";

export interface SqliteEngineOptions {
  /** Of the file, in a directory that is there. */
  readonly path: string;
  /** Default: silent. */
  readonly logger?: Logger;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Of a file that another process may be writing: nothing is written. Default false. */
  readonly readOnly?: boolean;
}

/**
 * State in one SQLite file, which one process has to itself. A commit that is not relaxed survives a power cut: its write-ahead log is
 * synced before it resolves, by another thread.
 */
export class SqliteEngine implements StateEngine {
  readonly manifest: EngineManifest;
  readonly #db: Sqlite;
  readonly #clock: Clock;
  readonly #writes: GroupCommit;
  readonly #file: OpenedFile;

  private constructor(db: Sqlite, file: OpenedFile, { logger = silentLogger, clock = systemClock }: SqliteEngineOptions) {
    this.manifest = {
      name: `SQLite (${db.name})`,
      durability: "machine",
      maxValueBytes: 900 * 1024,
      maxOperations: 100,
      maxCommitBytes: 16_000_000,
      shared: false,
    };
    this.#db = db;
    this.#clock = clock;
    this.#writes = new GroupCommit(db, logger, file);
    this.#file = file;
  }

  /** Looks at every page first. @throws STORAGE_DAMAGED, STORAGE_UNAVAILABLE (also for a file of a newer version) */
  static async open(options: SqliteEngineOptions): Promise<SqliteEngine> {
    return onSqlite(options.path, () => {
      const { path, readOnly = false } = options;
      const db = readOnly ? openDatabase(path, { readonly: true, fileMustExist: true }) : openSqlite(path);
      try {
        assertSound(db);
        openLayout(db);
        return new SqliteEngine(db, OpenedFile.of(db.name), options);
      } catch (error) {
        db.close();
        throw error;
      }
    });
  }

  async read(
    partition: string,
    { keys = [], ranges = [] }: ReadQuery,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<PartitionRead> {
    throwIfAborted(signal);
    return this.#look((db) => {
      const { id, version, epoch, dueAtMs } = placeOf(db, partition);
      const one = db.prepare<[number | null, string], StoredEntry>(
        "SELECT key, value, version FROM entries WHERE partition = ? AND key = ?",
      );
      const entries = new Map<string, StoredEntry>();
      for (const key of keys) {
        const entry = one.get(id, key);
        if (entry !== undefined) entries.set(key, entry);
      }
      return { version, epoch, dueAtMs, entries, ranges: ranges.map((range) => rangeOf(db, id, range)), nowMs: this.#nowMs() };
    });
  }

  async commit(partition: string, commit: Commit): Promise<CommitResult> {
    assertFits(this.manifest, commit);
    return this.#write((db) => {
      const before = headOf(db, partition);
      const versionOf = db.prepare<[number | null, string], { version: number }>(
        "SELECT version FROM entries WHERE partition = ? AND key = ?",
      );
      const seen = (key: string) => versionOf.get(before.id, key)?.version ?? null;
      const { result, head } = decide(before.head, commit, seen, this.#nowMs());
      if (head === null) return result;
      const id = putHead(db, partition, before, head);
      const remove = db.prepare("DELETE FROM entries WHERE partition = ? AND key = ?");
      for (const key of commit.deletes ?? []) remove.run(id, key);
      const put = db.prepare(
        `INSERT INTO entries (partition, key, version, value) VALUES (?, ?, ?, ?)
           ON CONFLICT (partition, key) DO UPDATE SET version = excluded.version, value = excluded.value`,
      );
      for (const { key, value } of commit.puts ?? []) put.run(id, key, head.version, value);
      return result;
    }, commit.durability === "relaxed");
  }

  async partitions({ key, after = "", limit }: PartitionsPage): Promise<readonly PartitionEntry[]> {
    return this.#look((db) =>
      key === undefined
        ? db
            .prepare<[string, number], PartitionEntry>(
              "SELECT partition, '' AS value FROM partitions WHERE partition > ? ORDER BY partition LIMIT ?",
            )
            .all(after, limit)
        : db
            .prepare<[string, string, number], PartitionEntry>(
              `SELECT p.partition, e.value FROM partitions p CROSS JOIN entries e ON e.partition = p.id AND e.key = ?
               WHERE p.partition > ? ORDER BY p.partition LIMIT ?`,
            )
            .all(key, after, limit),
    );
  }

  async due(nowMs: number, limit: number, leaseMs: number): Promise<readonly DuePartition[]> {
    const take = (db: Sqlite) => takeDue(db, nowMs, Math.min(limit, MOST_DUE), leaseMs, this.#nowMs());
    return leaseMs > 0 ? this.#write(take) : this.#look(take);
  }

  async erase(partition: string): Promise<number> {
    return this.#write((db) => {
      const before = headOf(db, partition);
      const id = putHead(db, partition, before, erasedHead(before.head));
      return db.prepare("DELETE FROM entries WHERE partition = ?").run(id).changes;
    });
  }

  /** As {@link compactDatabase}: reads go on meanwhile, commits wait for it. @throws STORAGE_UNAVAILABLE */
  async scrub(): Promise<void> {
    const db = this.#openDb();
    await this.#writes
      .between(async () => {
        this.#file.requireSame();
        await compactDatabase(db);
      })
      .catch((error: unknown) =>
        onSqlite(db.name, () => {
          throw error;
        }),
      );
  }

  /** `degraded`: commits alone are refused. What was said lies in journals beside the file, which take turns all the same. */
  async health(): ReturnType<StateEngine["health"]> {
    try {
      this.#file.requireSame();
    } catch (error) {
      return { status: "down", detail: textOf(error) };
    }
    try {
      await this.#write((db) => db.pragma(`user_version = ${LAYOUT}`));
      return { status: "ok" };
    } catch (error) {
      return { status: error instanceof NotCommitted ? "degraded" : "down", detail: textOf(error) };
    }
  }

  async close(): Promise<void> {
    await this.#writes.close();
    this.#db.close();
  }

  /** Consistent without a transaction: nobody else writes the file, and nothing here while it runs. */
  async #look<T>(work: (db: Sqlite) => T): Promise<T> {
    const db = this.#openDb();
    return onSqlite(db.name, () => work(db));
  }

  async #write<T>(work: (db: Sqlite) => T, isRelaxed = false): Promise<T> {
    this.#openDb();
    return this.#writes.run(() => work(this.#db), isRelaxed);
  }

  #openDb(): Sqlite {
    if (this.#db.open) return this.#db;
    throw new AppError("STORAGE_UNAVAILABLE", { detail: "The storage is closed.", retryAfterSeconds: 1 });
  }

  #nowMs(): number {
    return this.#clock.now().getTime();
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function rangeOf(db: Sqlite, partition: number | null, { from, to, limit = -1, reverse = false }: KeyRange): readonly StoredEntry[] {
  return db
    .prepare<[number | null, string, string, number], StoredEntry>(
      `SELECT key, value, version FROM entries
       WHERE partition = ? AND key >= ? AND key < ? ORDER BY key ${reverse ? "DESC" : "ASC"} LIMIT ?`,
    )
    .all(partition, from, to, limit);
}
