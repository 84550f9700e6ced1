import { createHash } from "node:crypto";
import pg from "pg";
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterPostgres } from "rate-limiter-flexible";
import { AppError } from "../../platform/errors.js";
import type { Logger } from "../../platform/logger.js";
import type { StorageHealth } from "../../ports/storage-health.js";
import { MIGRATIONS, tablesOf } from "./migrations.js";

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`; TLS and more as query parameters, as libpq has them. */
  readonly url: string;
  /** One per installation. Letters, digits and `_`. Default `maitred`. */
  readonly schema?: string;
  /** Connections at most. Default 20. */
  readonly connections?: number;
  /** Bound of one statement and of the wait for a connection, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
  readonly logger: Logger;
}

export type Row = Readonly<Record<string, unknown>>;
export type Values = readonly unknown[];

/** What statements run on: the pool, or one connection in a transaction. */
export interface Queries {
  /** Tables stand in braces: `SELECT ... FROM {sessions}`. Prepared once per connection. @throws STORAGE_UNAVAILABLE */
  query(sql: string, values?: Values): Promise<readonly Row[]>;
  /** As {@link query}; how many rows it changed. */
  run(sql: string, values?: Values): Promise<number>;
}

/** As the migrations have it. */
const KEY_TAKEN = "MT001";

/** Any number: two installations in one database wait for each other's migrations, which harms nobody. */
const MIGRATION_LOCK = 7_143_220_117;

/** A pool of connections to one schema of one PostgreSQL. */
export class PostgresDatabase implements Queries, StorageHealth {
  readonly #pool: pg.Pool;
  readonly #schema: string;
  readonly #statements = new Map<string, { readonly name: string; readonly text: string }>();

  private constructor(pool: pg.Pool, schema: string) {
    this.#pool = pool;
    this.#schema = schema;
  }

  /**
   * Connects, checks that what is committed is on disk, and brings the tables up to date, under a lock, so that many may start at once.
   * @throws STORAGE_UNAVAILABLE with what to do
   */
  static async open(options: PostgresOptions): Promise<PostgresDatabase> {
    const { url, schema = "maitred", connections = 20, timeoutMs = 5_000, logger } = options;
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema))
      throw new AppError("INVALID_REQUEST", { detail: "A schema's name has letters, digits and `_` only, at most 63." });
    const pool = new pg.Pool({
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: timeoutMs,
      statement_timeout: timeoutMs,
      idle_in_transaction_session_timeout: timeoutMs,
      application_name: "maitred",
    });
    // A connection that breaks while nobody uses it is replaced; whoever uses one is told by the call.
    pool.on("error", (error) => logger.warn({ err: error }, "A connection to PostgreSQL was lost"));
    const database = new PostgresDatabase(pool, schema);
    try {
      await database.#checkReach(url);
      await database.#checkDurability();
      await database.#migrate();
      return database;
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  async query(sql: string, values: Values = []): Promise<readonly Row[]> {
    return (await this.#send(this.#pool, sql, values)).rows;
  }

  async run(sql: string, values: Values = []): Promise<number> {
    return (await this.#send(this.#pool, sql, values)).rowCount ?? 0;
  }

  /** All or nothing. Never to be held over a call of anything but the database. */
  async transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    const client = await this.#reach(() => this.#pool.connect());
    let broken: Error | undefined;
    try {
      await this.#reach(() => client.query("BEGIN"));
      const result = await work({
        query: async (sql, values = []) => (await this.#send(client, sql, values)).rows,
        run: async (sql, values = []) => (await this.#send(client, sql, values)).rowCount ?? 0,
      });
      await this.#reach(() => client.query("COMMIT"));
      return result;
    } catch (error) {
      await client.query("ROLLBACK").catch((failure: Error) => {
        broken = failure;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async health(): Promise<{ readonly status: "ok" | "down"; readonly detail?: string }> {
    return this.query("SELECT 1").then(
      () => ({ status: "ok" }),
      (error: AppError) => ({ status: "down", detail: error.message }),
    );
  }

  /** Counts requests for all processes; for this one alone while the database is out of reach. `seconds`: of one window. */
  limiter(requests: number, seconds: number): RateLimiterAbstract {
    return new RateLimiterPostgres({
      storeClient: this.#pool,
      schemaName: this.#schema,
      tableName: "request_counts",
      tableCreated: true,
      points: requests,
      duration: seconds,
      insuranceLimiter: new RateLimiterMemory({ points: requests, duration: seconds }),
    });
  }

  async close(): Promise<void> {
    if (!this.#pool.ended) await this.#pool.end();
  }

  async #checkReach(url: string): Promise<void> {
    try {
      await this.query("SELECT 1");
    } catch (cause) {
      throw new AppError("STORAGE_UNAVAILABLE", {
        detail: `PostgreSQL at ${addressOf(url)} can't be used: ${cause instanceof Error ? cause.message : "no answer."}`,
        hint: "Check DATABASE_URL (address, user, password, database), and that the server runs.",
        cause,
      });
    }
  }

  async #checkDurability(): Promise<void> {
    const settings = await this.query("SELECT name, setting FROM pg_settings WHERE name IN ('synchronous_commit', 'fsync')");
    const off = settings.filter(({ setting }) => setting === "off").map(({ name }) => String(name));
    if (off.length > 0)
      throw new AppError("STORAGE_UNAVAILABLE", {
        detail: `PostgreSQL may lose what it acknowledged: ${off.join(" and ")} is off.`,
        hint: "Set it to `on`, for the server, the database or this role, and start again.",
      });
  }

  async #migrate(): Promise<void> {
    await this.transaction(async ({ query, run }) => {
      await query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
      await run(`CREATE SCHEMA IF NOT EXISTS "${this.#schema}"`);
      await run("CREATE TABLE IF NOT EXISTS {migrations} (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())");
      const [row] = await query("SELECT COALESCE(max(version), 0) AS version FROM {migrations}");
      const version = Number(row?.version ?? 0);
      if (version > MIGRATIONS.length)
        throw new AppError("STORAGE_UNAVAILABLE", {
          detail: `The tables in PostgreSQL are of version ${version}; this Maitred knows ${MIGRATIONS.length}.`,
          hint: "Start a Maitred that is at least as new as the one that wrote them.",
        });
      await this.#checkTables(query, version);
      for (const [index, migration] of MIGRATIONS.entries()) {
        if (index < version) continue;
        for (const statement of migration) await run(statement);
        await run("INSERT INTO {migrations} (version) VALUES ($1)", [index + 1]);
      }
    });
  }

  /** That nothing is missing of what a version says is there. */
  async #checkTables(query: Queries["query"], version: number): Promise<void> {
    const found = await query("SELECT tablename FROM pg_tables WHERE schemaname = $1", [this.#schema]);
    const there = new Set(found.map(({ tablename }) => tablename));
    const missing = tablesOf(version).filter((table) => !there.has(table));
    if (missing.length === 0) return;
    throw new AppError("STORAGE_UNAVAILABLE", {
      detail: `The schema \`${this.#schema}\` in PostgreSQL says version ${version}, and lacks tables of it: ${missing.join(", ")}.`,
      hint: "It was restored or changed in part: restore it whole from a backup, or name another one with DATABASE_SCHEMA.",
    });
  }

  #send(on: Pick<pg.ClientBase, "query">, sql: string, values: Values): Promise<pg.QueryResult> {
    const known = this.#statements.get(sql) ?? this.#prepared(sql);
    return this.#reach(() => on.query({ ...known, values: [...values] }));
  }

  #prepared(sql: string): { readonly name: string; readonly text: string } {
    const text = sql.replace(/\{([a-z_]+)\}/g, `"${this.#schema}"."$1"`);
    const prepared = { name: createHash("sha256").update(text).digest("base64url").slice(0, 32), text };
    this.#statements.set(sql, prepared);
    return prepared;
  }

  async #reach<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw asStorageError(error);
    }
  }
}

/** Without who logs in, and how. */
function addressOf(url: string): string {
  if (!URL.canParse(url)) return "the address of DATABASE_URL";
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

/** What PostgreSQL refused for what it was given (a defect of ours) keeps its name; all else is the storage, out of reach. */
function asStorageError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = error instanceof pg.DatabaseError ? error.code : undefined;
  if (code === KEY_TAKEN) return new AppError("IDEMPOTENCY_IN_PROGRESS", { retryAfterSeconds: 1 });
  const detail = code === undefined ? "PostgreSQL is out of reach." : `PostgreSQL answered ${code}.`;
  return new AppError("STORAGE_UNAVAILABLE", { detail, cause: error, retryAfterSeconds: 1 });
}
