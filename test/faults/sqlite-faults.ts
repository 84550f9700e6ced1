import BetterSqlite3 from "better-sqlite3";
import { openDatabase, type Sqlite } from "../../src/platform/sqlite.js";

type Statement = { readonly source: string; readonly database: Pick<Sqlite, "name" | "prepare"> };
type Call = (this: Statement, ...params: unknown[]) => unknown;

interface Standing {
  /** How the file's path ends. */
  readonly file: string;
  readonly code: keyof typeof TOLD;
  /** Parameters of the statements that it meets: one of these (`""`: whatever they are), */
  readonly holding: readonly string[];
  /** and this. Default: nothing more. */
  readonly and?: string;
}

/** What SQLite says of it. */
const TOLD = {
  SQLITE_FULL: "database or disk is full",
  SQLITE_READONLY: "attempt to write a readonly database",
  SQLITE_IOERR: "disk I/O error",
  SQLITE_CORRUPT: "database disk image is malformed",
} as const;
const OF_WRITES: ReadonlySet<keyof typeof TOLD> = new Set(["SQLITE_FULL", "SQLITE_READONLY"]);

/** What all statements have in common. */
const STATEMENTS = Object.getPrototypeOf(openDatabase(":memory:").prepare("SELECT 1")) as Record<"run" | "get" | "all", Call>;

const WRITES = /^\s*(INSERT|UPDATE|DELETE|REPLACE|PRAGMA user_version =)/i;

/**
 * What goes wrong beneath SQLite, which no file system of ours is under: a disk that is full or read-only fails what writes, one that
 * fails or was damaged everything, by the errors that SQLite gives then; a lock is a real one, of another connection. In this thread alone.
 */
export class SqliteFaults {
  #standing: Standing | null = null;
  #other: Sqlite | null = null;
  readonly #restore: () => void;

  constructor() {
    const { run, get, all } = STATEMENTS;
    const faults = this;
    const watched = (real: Call): Call =>
      function (...params) {
        faults.#pass(this, params);
        return real.apply(this, params);
      };
    Object.assign(STATEMENTS, { run: watched(run), get: watched(get), all: watched(all) });
    this.#restore = () => void Object.assign(STATEMENTS, { run, get, all });
  }

  inject(standing: Standing): void {
    this.#standing = standing;
  }

  /** Another connection begins to write, and doesn't end. */
  lock(path: string): void {
    this.#other = openDatabase(path);
    this.#other.exec("BEGIN EXCLUSIVE");
  }

  heal(): void {
    this.#standing = null;
    if (this.#other?.inTransaction) this.#other.exec("ROLLBACK");
    this.#other?.close();
    this.#other = null;
  }

  close(): void {
    this.heal();
    this.#restore();
  }

  #pass({ source, database }: Statement, params: readonly unknown[]): void {
    if (this.#standing === null || !database.name.endsWith(this.#standing.file)) return;
    const { code, holding, and = "" } = this.#standing;
    if (OF_WRITES.has(code) && !WRITES.test(source)) return;
    const text = [...params, partitionOf(source, database, params)]
      .map((each) => (typeof each === "string" ? each : Buffer.isBuffer(each) ? "" : JSON.stringify(each)))
      .join("\n");
    if (!holding.some((each) => text.includes(each)) || !text.includes(and)) return;
    throw new BetterSqlite3.SqliteError(TOLD[code], code);
  }
}

/** Whose rows a statement of `state.db` meets, which names them by a number; "" where it does not. */
function partitionOf(source: string, database: Statement["database"], params: readonly unknown[]): string {
  const id = /\bentries\b/.test(source) ? params[0] : /^UPDATE partitions\b/.test(source) ? params.at(-1) : null;
  if (typeof id !== "number") return "";
  return database.prepare<[number], { partition: string }>("SELECT partition FROM partitions WHERE id = ?").get(id)?.partition ?? "";
}
