import BetterSqlite3 from "better-sqlite3";
import { AppError } from "./errors.js";

export type Sqlite = BetterSqlite3.Database;

/** Of a file that is made anew, in bytes. Most changes are small, and each writes its pages whole, to the log and then to the file. */
const PAGE_BYTES = 1_024;
/** Pages in the log behind which they are moved to the file, by whoever commits. */
const LOG_PAGES = 4_000;

/**
 * Databases are kept until the process ends, and with them every statement that was prepared. From Node 24.19 on, an object of
 * better-sqlite3 12 that the garbage collector finalises while no script runs ends the process (`RemoveEnvironmentCleanupHook`:
 * `(env) != nullptr`). Version 13 is free of that and does not run on Node 20. A closed database holds no file and little memory.
 */
const kept = new Set<Sqlite>();

/** How long a statement waits for another process's lock (a backup, a hand at work), in milliseconds: it holds up its whole thread. */
const BUSY_MS = 250;

/**
 * A database whose statements are prepared once for each text and kept; a text is always used in one way (`pluck`, or not). Read with
 * `all` and `get`, never with `iterate`: an iterator is an object of the same kind.
 * @throws INVALID_CONFIG where SQLite's native part is missing; what SQLite says
 */
export function openDatabase(path: string, options: BetterSqlite3.Options = {}): Sqlite {
  const db = opened(path, { timeout: BUSY_MS, ...options });
  kept.add(db);
  const prepare = db.prepare.bind(db) as (text: string) => BetterSqlite3.Statement;
  const statements = new Map<string, BetterSqlite3.Statement>();
  const prepared = (text: string): BetterSqlite3.Statement => {
    const statement = statements.get(text) ?? prepare(text);
    statements.set(text, statement);
    return statement;
  };
  const pragma = (source: string, { simple = false }: BetterSqlite3.PragmaOptions = {}): unknown => {
    const statement = prepared(`PRAGMA ${source}`);
    if (!statement.reader) return statement.run();
    return simple ? statement.pluck().get() : statement.all();
  };
  return Object.assign(db, { prepare: prepared, pragma });
}

function opened(path: string, options: BetterSqlite3.Options): Sqlite {
  try {
    return new BetterSqlite3(path, options);
  } catch (cause) {
    if (cause instanceof BetterSqlite3.SqliteError || !isNative(cause)) throw cause;
    throw new AppError("INVALID_CONFIG", {
      detail: "SQLite can't be loaded: its native part is missing, or was made for another Node.js.",
      hint:
        "Run `npm rebuild better-sqlite3`. Where there is no prebuilt binary for this machine, that compiles it, which needs python3, " +
        "make and a C++ compiler (Debian: `apt-get install python3 make g++`; macOS: `xcode-select --install`).",
      cause,
    });
  }
}

/** Said of a file of machine code: there is none, or Node.js can't load it. */
function isNative(error: unknown): boolean {
  return error instanceof Error && (/bindings file/.test(error.message) || ("code" in error && error.code === "ERR_DLOPEN_FAILED"));
}

/**
 * Opens or creates a database in WAL mode. `secure_delete` is on from the first page on, so that what is deleted is overwritten with zeros,
 * but for its traces in the write-ahead log and in pages between which rows were moved. `path` may be `:memory:`. A commit outlives a kill;
 * a power cut may take the last ones, unless the caller syncs the log, and the file stays sound.
 */
export function openSqlite(path: string): Sqlite {
  const db = openDatabase(path);
  try {
    db.pragma(`page_size = ${PAGE_BYTES}`);
    db.pragma("secure_delete = ON");
    db.pragma("journal_mode = WAL");
    db.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
    db.pragma("synchronous = NORMAL");
    db.pragma("foreign_keys = ON");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Whether statements wait for another process's lock, as they do from the beginning, or are refused at once. */
export function waitForLocks(db: Sqlite, waits: boolean): void {
  db.pragma(`busy_timeout = ${waits ? BUSY_MS : 0}`);
}

/** What no sound database holds: pages that don't fit together, or a value that its own writer can't read back. */
export class DamagedDatabase extends Error {
  readonly code = "SQLITE_CORRUPT";

  constructor(options?: ErrorOptions) {
    super("database disk image is malformed", options);
  }
}

/** Looks at every page: 0.7 s per GB from memory, else as fast as the disk. @throws what {@link isDamage} tells */
export function assertSound(db: Sqlite): void {
  if (db.pragma("quick_check(1)", { simple: true }) !== "ok") throw new DamagedDatabase();
}

/** As {@link assertSound}, of a file that others may have open; changes nothing. @throws what {@link isDamage} tells, SQLITE_CANTOPEN */
export function checkDatabase(path: string): void {
  const db = openDatabase(path, { readonly: true, fileMustExist: true });
  try {
    assertSound(db);
  } finally {
    db.close();
  }
}

/** SQLite, or who reads from it, found that the file is no sound database. */
export function isDamage(error: unknown): error is Error & { code: string } {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && (code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB");
}

/** Copies the file as it is at one moment, also while its process writes. `to` must not be there. */
export function copyStateFile(path: string, to: string): void {
  const db = openDatabase(path, { readonly: true, fileMustExist: true });
  try {
    db.prepare("VACUUM INTO ?").run(to);
  } finally {
    db.close();
  }
}
