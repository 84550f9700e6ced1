import { AppError, isAppError } from "../../platform/errors.js";
import type { Logger } from "../../platform/logger.js";
import { orAbort } from "../../platform/or-abort.js";
import { awaitPostgres } from "../../platform/postgres/await-start.js";
import { Database } from "../../platform/postgres/database.js";
import { postgresDriver } from "../../platform/postgres/postgres-driver.js";
import { mayPass, reasonOf } from "../../platform/postgres/postgres-errors.js";
import { type VectorStore, VectorStoreError } from "../../ports/vectors.js";
import { answeredCalls } from "../requests/answered-calls.js";
import { noCollection } from "../requests/collection.js";
import { NearIndexes } from "./near-indexes.js";
import { PgvectorCalls } from "./pgvector-calls.js";
import { openVectorLayout } from "./pgvector-layout.js";

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
