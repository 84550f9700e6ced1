import { within } from "../../../platform/bounded-signal.js";
import { AppError } from "../../../platform/errors.js";
import type { Logger } from "../../../platform/logger.js";
import {
  awaitPostgres,
  Database,
  otherInstallation,
  postgresDriver,
  type Row,
  reasonOf,
  sqlFile,
} from "../../../platform/postgres/database.js";
import { abortableRead } from "../../abortable-read.js";
import { assertFits } from "../../commit-limits.js";
import {
  type Commit,
  type CommitResult,
  type DuePartition,
  type EngineManifest,
  MOST_DUE,
  type PartitionEntry,
  type PartitionRead,
  type PartitionsPage,
  type ReadQuery,
  type StateEngine,
  type StoredEntry,
} from "../../engine.js";
import { checkServer, openLayout } from "./layout.js";

export interface PostgresEngineOptions {
  /** `postgres://user:password@host:port/database`; TLS and more as query parameters, as libpq has them. */
  readonly url: string;
  /** One per installation. Letters, digits and `_`. */
  readonly schema: string;
  readonly logger: Logger;
  /** How long a start waits for a server that does not answer yet, in milliseconds. Default 30,000. */
  readonly startupWaitMs?: number;
  /** Connections at most. Default 20. */
  readonly connections?: number;
  /** Bound of one statement and of the wait for a connection, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
}

const COMMIT = `SELECT * FROM {commit}(${Array.from({ length: 15 }, (_, index) => `$${index + 1}`).join(", ")})`;
const READ = "SELECT * FROM {read}($1, $2, $3, $4, $5, $6)";
const CLAIM_DUE = sqlFile("claim-due", import.meta.url);
const LOOK_AT_DUE = sqlFile("look-at-due", import.meta.url);
const ERASE = "SELECT * FROM {erase}($1, $2, $3)";
const PARTITIONS = "SELECT partition, '' AS value FROM {partitions} WHERE partition > $1 ORDER BY partition LIMIT $2::integer";
const PARTITIONS_WITH_KEY = sqlFile("partitions-with-key", import.meta.url);
const BEAT = sqlFile("beat", import.meta.url);

/** Entries that one statement of an erasure deletes. */
const ERASED_AT_ONCE = 2_000;
/** Of a look at the health, in milliseconds. */
const HEALTH_WITHIN_MS = 2_000;

/** State in two tables of one schema. A commit and a read are one statement each; locks and leases are PostgreSQL's own. */
export class PostgresEngine implements StateEngine {
  readonly manifest: EngineManifest;
  readonly #database: Database;
  readonly #installation: string;

  private constructor(database: Database, installation: string) {
    this.#database = database;
    this.#installation = installation;
    database.expect(installation);
    this.manifest = {
      name: `PostgreSQL (schema ${database.schema})`,
      durability: "machine",
      maxValueBytes: 900 * 1_024,
      maxOperations: 128,
      maxCommitBytes: 16_000_000,
      shared: true,
    };
  }

  /** Waits for the server, and makes the tables. @throws INVALID_REQUEST, INVALID_CONFIG, STORAGE_UNAVAILABLE with what to do */
  static async open(options: PostgresEngineOptions): Promise<PostgresEngine> {
    const { url, schema, logger, startupWaitMs = 30_000, connections = 20, timeoutMs = 5_000 } = options;
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema))
      throw new AppError("INVALID_REQUEST", { detail: "A schema's name has letters, digits and `_` only, at most 63." });
    const database = new Database({ driver: await postgresDriver(), url, schema, connections, timeoutMs, logger });
    const start = async () => {
      await checkServer(database);
      return new PostgresEngine(database, await openLayout(database));
    };
    return awaitPostgres(start, { url, waitMs: startupWaitMs, logger }).catch(async (error) => {
      await database.close();
      throw error;
    });
  }

  async read(partition: string, { keys = [], ranges = [] }: ReadQuery, { signal }: { signal?: AbortSignal } = {}): Promise<PartitionRead> {
    const values = [
      partition,
      keys,
      ranges.map(({ from }) => from),
      ranges.map(({ to }) => to),
      ranges.map(({ limit }) => limit ?? null),
      ranges.map(({ reverse }) => reverse ?? false),
    ];
    const rows = await abortableRead(() => this.#database.query(READ, values), signal);
    const entries = new Map<string, StoredEntry>();
    const found: StoredEntry[][] = ranges.map(() => []);
    let head: Row = {};
    for (const row of rows) {
      const part = Number(row.part);
      const range = found[part - 1];
      if (part < 0) head = row;
      else if (range === undefined) entries.set(String(row.key), entryOf(row));
      else range[Number(row.place) - 1] = entryOf(row);
    }
    return {
      version: Number(head.version ?? 0),
      epoch: Number(head.epoch ?? 0),
      dueAtMs: typeof head.due_at === "string" ? Number(head.due_at) : null,
      entries,
      ranges: found,
      nowMs: Number(head.now_ms),
    };
  }

  async commit(partition: string, commit: Commit): Promise<CommitResult> {
    assertFits(this.manifest, commit);
    const [row = {}] = await this.#database.query(COMMIT, commitValues(partition, commit));
    const at = { version: Number(row.version), epoch: Number(row.epoch) };
    if (row.refused === null) return { ok: true, ...at };
    return { ok: false, refused: row.refused as "epoch", keys: (row.keys ?? []) as readonly string[], ...at };
  }

  async partitions({ key, after = "", limit }: PartitionsPage): Promise<readonly PartitionEntry[]> {
    const rows = await (key === undefined
      ? this.#database.query(PARTITIONS, [after, limit])
      : this.#database.query(PARTITIONS_WITH_KEY, [key, after, limit]));
    return rows.map(({ partition, value }) => ({ partition: String(partition), value: fromStored(String(value)) }));
  }

  async due(nowMs: number, limit: number, leaseMs: number): Promise<readonly DuePartition[]> {
    const most = Math.min(limit, MOST_DUE);
    const rows = await (leaseMs > 0
      ? this.#database.query(CLAIM_DUE, [Math.floor(nowMs), most, Math.ceil(leaseMs)])
      : this.#database.query(LOOK_AT_DUE, [Math.floor(nowMs), most]));
    return rows
      .map((row) => ({ partition: String(row.partition), dueAtMs: Number(row.due_at), token: String(row.claim) }))
      .sort((one, other) => one.dueAtMs - other.dueAtMs);
  }

  async erase(partition: string): Promise<number> {
    let till: unknown = null;
    for (let erased = 0; ; ) {
      const [row = {}] = await this.#database.query(ERASE, [partition, till, ERASED_AT_ONCE]);
      till = row.till;
      erased += Number(row.deleted);
      if (Number(row.deleted) < ERASED_AT_ONCE) return erased;
    }
  }

  async health(): ReturnType<StateEngine["health"]> {
    const beat = this.#database.query(BEAT).then(
      ([row]) => (row?.installation === this.#installation ? null : otherInstallation().message),
      (error: AppError) => reasonOf(error),
    );
    const detail = await within(HEALTH_WITHIN_MS, beat, `PostgreSQL did not answer within ${HEALTH_WITHIN_MS} ms.`);
    return detail === null ? { status: "ok" } : { status: "down", detail };
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

function entryOf({ key, value, version }: Row): StoredEntry {
  return { key: String(key), value: fromStored(String(value)), version: Number(version) };
}

/** The arguments of `sql/commit.sql`, in their order. */
export function commitValues(partition: string, commit: Commit): readonly unknown[] {
  const { checks = [], puts = [], deletes = [] } = commit;
  // Of a key that is put twice the last counts.
  const last = new Map(puts.map(({ key, value }) => [key, toStored(value)]));
  return [
    partition,
    commit.id,
    commit.epoch ?? null,
    commit.version ?? null,
    commit.claim?.token ?? null,
    whole(commit.claim?.leaseMs),
    commit.raisesEpoch ?? false,
    filled(checks.map(({ key }) => key)),
    filled(checks.map(({ version }) => version)),
    filled([...last.keys()]),
    filled([...last.values()]),
    filled(deletes),
    commit.dueAtMs !== undefined,
    whole(commit.dueAtMs),
    whole(commit.dueByMs),
  ];
}

/** Null where there is nothing: what is null is passed over without a statement. */
function filled<T>(values: readonly T[]): readonly T[] | null {
  return values.length === 0 ? null : values;
}

/** Of a time in milliseconds. */
function whole(ms: number | null | undefined): number | null {
  return ms === undefined || ms === null ? null : Math.ceil(ms);
}

/** PostgreSQL's texts hold no NUL: a value that has one is kept as JSON behind this character, and so is one that begins with it. */
const AS_JSON = "\u0001";

export function toStored(value: string): string {
  return value.startsWith(AS_JSON) || value.includes("\0") ? `${AS_JSON}${JSON.stringify(value)}` : value;
}

export function fromStored(text: string): string {
  return text.startsWith(AS_JSON) ? (JSON.parse(text.slice(AS_JSON.length)) as string) : text;
}
