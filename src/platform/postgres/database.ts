import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { awaitStart } from "../await-start.js";
import { AppError } from "../errors.js";
import type { Logger } from "../logger.js";
import { missingPackage } from "../optional-package.js";
import { assertKnownLayout } from "../storage-errors.js";

interface DatabaseOptions {
  readonly driver: PostgresDriver;
  readonly url: string;
  readonly schema: string;
  /** At most. */
  readonly connections: number;
  /** Of a statement, and of the wait for a connection, in milliseconds. */
  readonly timeoutMs: number;
  readonly logger: Logger;
  /** Statements that each new connection begins with. Default: none. */
  readonly settings?: string;
}

export type Row = Readonly<Record<string, unknown>>;
export type Query = (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** The server bounds its work; where it does not answer at all, the client gives up this much later, in milliseconds. */
const ANSWER_MARGIN_MS = 1_000;

/** Before what PostgreSQL took back is sent again, in milliseconds. */
const SEND_AGAIN_MS = [5, 25, 100];

/** A text of the folder `sql` beside the module `of`: tables and functions of the schema stand in braces. */
export function sqlFile(name: string, of: string): string {
  return readFileSync(new URL(`./sql/${name}.sql`, of), "utf8").trim();
}

/** A pool of connections to one schema. Connects when it is first asked. */
export class Database {
  readonly schema: string;
  readonly #pool: pg.Pool;
  readonly #settings: string | undefined;
  #installation: string | null = null;
  readonly #prepared = new Map<string, { readonly name: string; readonly text: string }>();

  constructor({ driver, url, schema, connections, timeoutMs, logger, settings }: DatabaseOptions) {
    this.schema = schema;
    this.#settings = settings;
    this.#pool = new driver.Pool({
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: timeoutMs,
      statement_timeout: timeoutMs,
      query_timeout: timeoutMs + ANSWER_MARGIN_MS,
      idle_in_transaction_session_timeout: timeoutMs,
      keepAlive: true,
      application_name: "maitred",
      verify: (client, done) => void this.#verify(client).then(() => done(), done),
    });
    // One that breaks while nobody uses it is replaced; whoever uses one is told by the call.
    this.#pool.on("error", (error) => logger.warn({ err: error }, "A connection to PostgreSQL was lost"));
  }

  /** From now on no connection is used that leads to other tables: behind the same address another server may stand. */
  expect(installation: string): void {
    this.#installation = installation;
  }

  /** One statement, prepared once per connection, in a transaction of its own. @throws STORAGE_UNAVAILABLE */
  query(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#send(this.#prepared.get(sql) ?? this.#prepare(sql), values);
  }

  /** As {@link query}, planned for these values and not kept: for texts that differ from call to call. @throws STORAGE_UNAVAILABLE */
  queryOnce(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#send({ text: this.#named(sql) }, values);
  }

  async #send(statement: { readonly name?: string; readonly text: string }, values: readonly unknown[]): Promise<readonly Row[]> {
    for (const waitMs of [...SEND_AGAIN_MS, null]) {
      try {
        return (await this.#pool.query<Row>({ ...statement, values: [...values] })).rows;
      } catch (error) {
        if (waitMs === null || !isTakenBack(error)) throw storageError(error);
        await pause(waitMs);
      }
    }
    return [];
  }

  /** All or nothing. Without values a text may be several statements. @throws what `work` throws, STORAGE_UNAVAILABLE */
  async transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch((error) => Promise.reject(storageError(error)));
    // One that breaks between two statements is told by the next.
    const ignore = () => {};
    client.on("error", ignore);
    let ended = false;
    try {
      await client.query("BEGIN");
      const result = await work(async (sql, values) => (await client.query(this.#named(sql), values && [...values])).rows ?? []);
      await client.query("COMMIT");
      ended = true;
      return result;
    } catch (error) {
      throw storageError(error);
    } finally {
      client.off("error", ignore);
      // What it has left open goes with its connection.
      client.release(!ended);
    }
  }

  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }

  async #verify(client: pg.PoolClient): Promise<void> {
    // One that breaks now is told by the query.
    const ignore = () => {};
    client.on("error", ignore);
    if (this.#settings !== undefined) await client.query(this.#settings);
    if (this.#installation === null) return void client.off("error", ignore);
    const { rows } = await client.query<Row>(this.#named("SELECT installation FROM {layout}"));
    if (rows[0]?.installation !== this.#installation) throw otherInstallation();
    client.off("error", ignore);
  }

  #prepare(sql: string): { readonly name: string; readonly text: string } {
    const text = this.#named(sql);
    const statement = { name: hash("sha256", text, "base64url").slice(0, 32), text };
    this.#prepared.set(sql, statement);
    return statement;
  }

  #named(sql: string): string {
    return sql.replace(/\{([a-z_]+)\}/g, `"${this.schema}"."$1"`);
  }
}

type PostgresDriver = typeof pg;

/** An optional peer. @throws INVALID_CONFIG where it isn't installed */
export async function postgresDriver(): Promise<PostgresDriver> {
  try {
    return (await import("pg")).default;
  } catch (cause) {
    throw missingPackage({ name: "pg", setting: "DATABASE_URL" }, cause);
  }
}

interface TableLayout {
  /** Of one row, which tells the version. */
  readonly table: string;
  /** As in {@link assertKnownLayout}. */
  readonly what: string;
  /** What makes each version out of the one before. */
  readonly layouts: readonly (readonly string[])[];
}

/** Brings tables up to date from the version that they are of. @throws STORAGE_UNAVAILABLE for a newer one */
export async function updateTables(query: Query, version: number, { table, what, layouts }: TableLayout): Promise<void> {
  assertKnownLayout(what, version, layouts.length);
  for (const statement of layouts.slice(version).flat()) await query(statement);
  if (version < layouts.length) await query(`UPDATE {${table}} SET version = $1`, [layouts.length]);
}

/** As {@link awaitStart}, of PostgreSQL. @throws STORAGE_UNAVAILABLE that names DATABASE_URL */
export function awaitPostgres<T>(
  start: () => Promise<T>,
  { url, waitMs, logger }: { readonly url: string; readonly waitMs: number; readonly logger: Logger },
): Promise<T> {
  const hintOf = () => "Check DATABASE_URL (address, user, password, database), and that the server runs.";
  return awaitStart(start, { name: `PostgreSQL at ${addressOf(url)}`, hintOf, waitMs, logger, mayPass, reasonOf });
}

/** Without who logs in, and how. */
function addressOf(url: string): string {
  if (!URL.canParse(url)) return "the address of DATABASE_URL";
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

const GONE = ["The tables in PostgreSQL are gone.", "Restore the schema from a backup, then start again."] as const;

/** By PostgreSQL's error code, or by its class (two characters): what happened, and what to do about it. */
const SAID: Readonly<Record<string, readonly [detail: string, hint?: string]>> = {
  "08": ["The connection to PostgreSQL was lost."],
  "28": ["PostgreSQL refuses the user or the password.", "Check user and password in DATABASE_URL."],
  "3D": ["PostgreSQL has no such database.", "Check the database's name in DATABASE_URL, or create it."],
  "3F": GONE,
  "42P01": GONE,
  "42883": GONE,
  "42501": [
    "PostgreSQL does not let this user do it.",
    "Give the user of DATABASE_URL all rights on the schema, or CREATE on the database.",
  ],
  "53": ["PostgreSQL has run out of something."],
  "53100": ["PostgreSQL's disk is full.", "Free space on it; with the same Idempotency-Key nothing is done twice."],
  "53300": ["PostgreSQL has no connection left.", "Raise its max_connections, or use fewer processes."],
  "25006": ["PostgreSQL takes no writes: it is read-only.", "Point DATABASE_URL at the primary, or let it take writes again."],
  "57014": ["PostgreSQL took too long."],
  "57": ["PostgreSQL stops or starts just now."],
};

/** A start waits for what may pass: no answer, no connection left, a server that starts, stops or fails over. Other answers stay. */
const PASSING = /^(08|25006|40|53|55|57|58)/;

/** What Node.js and the driver say of a connection that can't be made as DATABASE_URL has it. */
const WRONG_ADDRESS = /^ERR_(INVALID_URL|TLS|SSL)|CERT|does not support SSL|^SASL|^ERR_SOCKET_BAD_PORT/;

/** Whatever PostgreSQL, the network or the driver says instead of an answer: the outcome of what was asked is not known. */
function storageError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const code = sqlState(cause);
  // What it tells of rows and arguments is people's words, and no log's.
  if (isAnswer(cause)) Object.assign(cause, { detail: undefined, where: undefined });
  const [detail, hint] = (code === undefined ? undefined : (SAID[code] ?? SAID[code.slice(0, 2)])) ?? [];
  return new AppError("STORAGE_UNAVAILABLE", {
    detail: code === undefined ? "PostgreSQL is out of reach." : `${detail ?? "PostgreSQL refused."} (${code})`,
    ...(hint !== undefined && { hint }),
    cause,
    retryAfterSeconds: 1,
  });
}

export function otherInstallation(): AppError {
  return new AppError("STORAGE_UNAVAILABLE", {
    detail: "The tables in PostgreSQL are another installation's than at the start.",
    hint: "Point DATABASE_URL at the server that it was, or start again to go on with this one.",
    retryAfterSeconds: 1,
  });
}

/** PostgreSQL took the statement back for another one's sake: nothing of it happened. */
function isTakenBack(error: unknown): boolean {
  return /^40(001|P01)$/.test(sqlState(error) ?? "");
}

/** Whether a connection or a start that failed may go well a little later. */
export function mayPass(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  const code = sqlState(cause);
  if (code !== undefined) return PASSING.test(code);
  if (!(cause instanceof Error)) return false;
  return !WRONG_ADDRESS.test("code" in cause && typeof cause.code === "string" ? cause.code : cause.message);
}

/** Of an error without an answer: what the network said. */
export function reasonOf(error: AppError): string {
  return error.cause instanceof Error && sqlState(error.cause) === undefined && error.cause.message !== ""
    ? error.cause.message
    : error.message;
}

function sqlState(error: unknown): string | undefined {
  return isAnswer(error) ? error.code : undefined;
}

/** The driver's `DatabaseError`: what the server answered, unlike what Node.js says of a connection. */
function isAnswer(error: unknown): error is Error & { readonly code: string | undefined } {
  return error instanceof Error && "severity" in error && "code" in error;
}
