import { constants } from "node:fs";
import { access, readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { AppError } from "./errors.js";
import { errnoOf, makeDirectory } from "./file-system.js";
import { parsedJson } from "./json.js";
import { isDamage, openDatabase, type Sqlite } from "./sqlite.js";
import { isDiskFull, onStorage } from "./storage-errors.js";

/** The file that says who has the directory. */
export const LOCK_FILE = "maitred.lock";

const holderSchema = z.object({ pid: z.number(), host: z.string(), since: z.string() });

/**
 * One process owns a storage directory. The lock is a write transaction on a small SQLite file, held for as long as the
 * process lives: the operating system frees it when the process dies, however it dies, so there is no stale lock to
 * judge, and no reused process id to be fooled by. The file's one row says who the holder is.
 */
export class DirectoryLock {
  readonly #db: Sqlite;

  private constructor(db: Sqlite) {
    this.#db = db;
  }

  /**
   * Makes the directory where it is missing.
   * @throws STORAGE_IN_USE naming the process that has it, STORAGE_UNAVAILABLE where it can't be written, STORAGE_DAMAGED where the lock's
   * own file is no database
   */
  static async acquire(dir: string, now: Date): Promise<DirectoryLock> {
    try {
      await makeDirectory(dir);
      await access(dir, constants.W_OK | constants.X_OK);
    } catch (cause) {
      throw unwritable(dir, cause);
    }
    const path = join(dir, LOCK_FILE);
    let db: Sqlite | undefined;
    try {
      db = openDatabase(path, { timeout: 0 });
      hold(db, now);
      return new DirectoryLock(db);
    } catch (cause) {
      const busy = errnoOf(cause)?.startsWith("SQLITE_BUSY") === true;
      const holder = busy && db !== undefined ? holderOf(db) : null;
      db?.close();
      if (cause instanceof AppError) throw cause;
      if (isDamage(cause)) throw unreadable(path, cause);
      if (!busy) throw unwritable(dir, cause);
      const who = holder === null ? "Another process" : `Process ${holder.pid} on ${holder.host} (since ${holder.since})`;
      throw new AppError("STORAGE_IN_USE", { detail: `${who} is using ${dir}.`, cause });
    }
  }

  /** Idempotent. */
  async release(): Promise<void> {
    if (!this.#db.open) return;
    this.#db.exec("ROLLBACK");
    this.#db.close();
  }
}

function hold(db: Sqlite, now: Date): void {
  db.exec("BEGIN IMMEDIATE");
  db.exec("CREATE TABLE IF NOT EXISTS holder (pid INTEGER, host TEXT, since TEXT)");
  db.exec("DELETE FROM holder");
  db.prepare("INSERT INTO holder (pid, host, since) VALUES (?, ?, ?)").run(process.pid, hostname(), now.toISOString());
  db.exec("COMMIT");
  // Readers still see the row; nobody else can begin to write. Whoever came between the two has it, and is named.
  db.exec("BEGIN IMMEDIATE");
}

/** Who has the directory, or had it last; null where nobody ever did. */
export function lockHolder(dir: string): z.infer<typeof holderSchema> | null {
  let db: Sqlite;
  try {
    db = openDatabase(join(dir, LOCK_FILE), { timeout: 0, readonly: true, fileMustExist: true });
  } catch {
    return null;
  }
  try {
    return holderOf(db);
  } finally {
    db.close();
  }
}

function holderOf(db: Sqlite): z.infer<typeof holderSchema> | null {
  try {
    const parsed = holderSchema.safeParse(db.prepare("SELECT pid, host, since FROM holder").get());
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

function unwritable(dir: string, cause: unknown): AppError {
  const errno = errnoOf(cause);
  return new AppError("STORAGE_UNAVAILABLE", {
    detail: `The storage directory ${dir} can't be written (${errno ?? "unknown reason"}).`,
    hint: isDiskFull(errno)
      ? "The disk is full: free space on it, or set another MEMORY_STORAGE_DIR."
      : "Give this process write access to it, or set another MEMORY_STORAGE_DIR.",
    cause,
  });
}

function unreadable(path: string, cause: unknown): AppError {
  return new AppError("STORAGE_DAMAGED", {
    detail: `The lock file ${path} is damaged.`,
    hint: "Make sure that no other process uses the directory, then delete this file: it says who has the directory, and nothing else.",
    cause,
  });
}

/** The file in a storage directory that says where the server listens that has it. */
const ADDRESS_FILE = "maitred.address";

const addressSchema = z.object({ pid: z.number(), host: z.string(), url: z.string() });

/** To be called by the process that has the directory's lock. @throws STORAGE_UNAVAILABLE */
export async function announceAddress(dir: string, url: string): Promise<void> {
  const said: z.infer<typeof addressSchema> = { pid: process.pid, host: hostname(), url: reachable(url) };
  await onStorage(() => writeFile(join(dir, ADDRESS_FILE), `${JSON.stringify(said)}\n`, { mode: 0o600 }));
}

/** Null where the directory is held by a process that is no server. What a server of before has left behind does not count. */
export async function announcedAddress(dir: string): Promise<string | null> {
  const text = await readFile(join(dir, ADDRESS_FILE), "utf8").catch(() => "null");
  const said = addressSchema.safeParse(parsedJson(text)).data;
  const holder = lockHolder(dir);
  return said !== undefined && said.pid === holder?.pid && said.host === holder.host ? said.url : null;
}

/** An address that a server on the same machine answers at: one that listens on all of them names none. */
export function reachable(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
