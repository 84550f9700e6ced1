import { orAbort } from "../../platform/bounded-signal.js";
import { AppError, isAppError } from "../../platform/errors.js";
import type { Logger } from "../../platform/logger.js";
import {
  awaitPostgres,
  Database,
  mayPass,
  postgresDriver,
  type Query,
  reasonOf,
  sqlFile,
  updateTables,
} from "../../platform/postgres/database.js";
import { type VectorStore, VectorStoreError } from "../../ports/vectors.js";
import { answeredCalls } from "../requests/answered-calls.js";
import { noCollection } from "../requests/collection.js";
import { NearIndexes } from "./near-indexes.js";
import { PgvectorCalls } from "./pgvector-calls.js";

const CONNECTIONS = 5;
/** Of a look at the health, in milliseconds. */
const HEALTH_WITHIN_MS = 2_000;
/** An index of half a million points takes minutes. */
const INDEX_MS = 3_600_000;
/**
 * `iterative_scan`: an index goes on until the filter has let enough pass. `ef_search`: more than a search asks for. Just-in-time
 * compilation takes longer than the search that it speeds up.
 */
const SETTINGS = "SET jit = off; SET hnsw.iterative_scan = strict_order; SET hnsw.ef_search = 200";
const BUILD_SETTINGS = "SET maintenance_work_mem = '512MB'";

export interface PgvectorOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** One per installation; that of the state will do. Letters, digits and `_`. */
  readonly schema: string;
  /** Of every call, in milliseconds. Recall and writes take instances of their own. */
  readonly timeoutMs: number;
  readonly logger: Logger;
  /** Up to so many points of an owner a search compares all of them. Default 50,000. */
  readonly exactUpTo?: number;
  /** An upsert in so many looks, in the background, whether its owner has more by now. Default 100. */
  readonly lookEvery?: number;
}

/**
 * Vectors in PostgreSQL, 14 or newer with pgvector 0.8 or newer. A server that can't be reached now doesn't fail the start: extension and
 * tables are made before the first call that reaches it. Aborting `withSignal`'s signal rejects with ABORTED at once; what was sent by then
 * may still be done. Other failures are VectorStoreErrors; status 0: no answer.
 * @throws STORAGE_UNAVAILABLE (a wrong password, no extension, tables of a newer version), INVALID_CONFIG (`pg` isn't installed)
 */
export async function openPgvector(options: PgvectorOptions): Promise<VectorStore> {
  const { url, schema, timeoutMs, logger, exactUpTo = 50_000, lookEvery = 100 } = options;
  const driver = await postgresDriver();
  const common = { driver, url, schema, logger };
  const database = new Database({ ...common, connections: CONNECTIONS, timeoutMs, settings: SETTINGS });
  const openBuilder = () => new Database({ ...common, connections: 1, timeoutMs: INDEX_MS, settings: BUILD_SETTINGS });
  let opened: Promise<{ readonly calls: PgvectorCalls; readonly near: NearIndexes }> | null = null;
  const open = () => {
    opened ??= awaitPostgres(() => openVectorLayout(database), { url, waitMs: 0, logger }).then(
      (extension) => {
        const near = new NearIndexes({ database, openBuilder, extension, logger, exactUpTo, lookEvery });
        return { near, calls: new PgvectorCalls({ database, extension, near }) };
      },
      (error: unknown) => {
        opened = null;
        throw error;
      },
    );
    return opened;
  };
  const close = async () => {
    await opened?.then(({ near }) => near.settled()).catch(() => {});
    await database.close();
  };
  await open().catch(async (error: unknown) => {
    if (isAppError(error) && error.cause !== undefined && mayPass(error)) return;
    await close();
    throw error;
  });
  return {
    ...answeredCalls(async (method, collection, args, signal) => {
      const asked = open().then(({ calls }) => calls.call(method, collection, args));
      try {
        return await (signal === undefined ? asked : orAbort(asked, signal));
      } catch (cause) {
        if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
        throw failureOf(method, collection, cause);
      }
    }),
    location: `${new URL(url).host}${new URL(url).pathname} (schema ${schema})`,
    health: async () => {
      const alive = open().then(() => database.query("SELECT version FROM {vector_layout}"));
      try {
        await orAbort(alive, AbortSignal.timeout(HEALTH_WITHIN_MS));
        return { status: "ok" };
      } catch (error) {
        return { status: "down", detail: isAppError(error) ? reasonOf(error) : `PostgreSQL did not answer within ${HEALTH_WITHIN_MS} ms.` };
      }
    },
    close,
  };
}

/** What PostgreSQL says, by its codes, as Qdrant's status. Its own words stay in the cause. */
function failureOf(what: string, collection: string, error: unknown): unknown {
  if (!isAppError(error, "STORAGE_UNAVAILABLE")) return error;
  const code = error.cause instanceof Error && "severity" in error.cause && "code" in error.cause ? String(error.cause.code) : null;
  if (code === "23503") return noCollection(collection, { cause: error });
  const status = code === null ? 0 : code.startsWith("22") ? 400 : 503;
  return new VectorStoreError(status, `PostgreSQL gave no answer to ${what}: ${error.message}`, { cause: error });
}

/** What makes each version of the layout out of the one before. A released one is never changed. */
const LAYOUTS = [sqlFile("tables", import.meta.url)];
const LAYOUT_TABLE = "CREATE TABLE {vector_layout} (single boolean PRIMARY KEY DEFAULT true CHECK (single), version integer NOT NULL)";
/** Any number; not that of the state's tables. */
const LAYOUT_LOCK = 7_143_220_118;

/** The first that goes on looking in an index until a filter has let enough pass. */
const OLDEST = { major: 0, minor: 8 };
const WHERE_IT_IS =
  "The image `pgvector/pgvector` has it, so have the managed PostgreSQL of AWS, Azure, Google Cloud, Neon and Supabase; on a machine of " +
  "your own install its package (`postgresql-17-pgvector`). Or set MEM0_PROVIDER and HISTORY_BACKEND to `local` or `qdrant`.";

function unusable(detail: string, hint: string): AppError {
  return new AppError("STORAGE_UNAVAILABLE", { detail, hint });
}

/**
 * Makes extension and tables, or brings them up to date, under a lock, so that many may start at once.
 * @returns the schema that the extension lies in
 * @throws STORAGE_UNAVAILABLE with what to do
 */
export function openVectorLayout(database: Database): Promise<string> {
  const { schema } = database;
  return database.transaction(async (query) => {
    await query("SELECT pg_advisory_xact_lock($1)", [LAYOUT_LOCK]);
    const extension = await openExtension(query);
    const [namespace] = await query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema]);
    if (namespace === undefined) await query(`CREATE SCHEMA "${schema}"`);
    const [table] = await query("SELECT to_regclass($1) AS there", [`"${schema}".vector_layout`]);
    if (table?.there === null) {
      await query(LAYOUT_TABLE);
      await query("INSERT INTO {vector_layout} (version) VALUES (0)");
    }
    const [row] = await query("SELECT version FROM {vector_layout}");
    const layouts = LAYOUTS.map((statements) => [statements.replaceAll("[ext]", `"${extension}"`)]);
    const what = "The tables of vectors in PostgreSQL are";
    await updateTables(query, Number(row?.version), { table: "vector_layout", what, layouts });
    return extension;
  });
}

async function openExtension(query: Query): Promise<string> {
  const look = () =>
    query(
      `SELECT n.nspname AS schema, e.extversion AS version FROM pg_extension e
       JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'vector'`,
    );
  const [there] = await look();
  if (there === undefined) await query("CREATE EXTENSION vector").catch((cause) => Promise.reject(extensionError(cause)));
  const [row] = there === undefined ? await look() : [there];
  const [major = 0, minor = 0] = String(row?.version).split(".").map(Number);
  if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor))
    throw unusable(
      `PostgreSQL's extension \`vector\` is version ${String(row?.version)}; 0.8 or newer is needed.`,
      "Install a newer pgvector, then run `ALTER EXTENSION vector UPDATE` in this database.",
    );
  return String(row?.schema);
}

function extensionError(cause: unknown): unknown {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "58P01" || code === "0A000")
    return unusable("This PostgreSQL does not have the extension `vector` (pgvector).", WHERE_IT_IS);
  if (code === "42501")
    return unusable(
      "The extension `vector` is not in this database, and the user of DATABASE_URL may not create it.",
      "Let somebody who may run `CREATE EXTENSION vector` in the database of DATABASE_URL, once.",
    );
  return cause;
}
