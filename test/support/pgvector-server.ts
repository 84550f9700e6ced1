import { silentLogger } from "../../src/platform/logger.js";
import type { VectorStore } from "../../src/ports/vectors.js";
import { openPgvector, type PgvectorOptions } from "../../src/vectors/pgvector/pgvector.js";
import { POSTGRES_WITH_VECTOR } from "./needing.js";
import { openPostgresServer, type PostgresServer } from "./postgres-server.js";

export interface PgvectorServer extends PostgresServer {
  open(options?: Partial<PgvectorOptions>): Promise<VectorStore>;
}

/** A PostgreSQL with pgvector, of the test's own. */
export async function openPgvectorServer(): Promise<PgvectorServer> {
  const server = await openPostgresServer({ programs: POSTGRES_WITH_VECTOR });
  const open = (options: Partial<PgvectorOptions> = {}) =>
    openPgvector({ url: server.url, schema: "maitred", timeoutMs: 10_000, logger: silentLogger, ...options });
  return { ...server, open };
}
