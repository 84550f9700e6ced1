import { AppError } from "../../platform/errors.js";
import { type Database, type Query, sqlFile } from "../../platform/postgres/database.js";
import { updateTables } from "../../platform/postgres/table-layout.js";

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
