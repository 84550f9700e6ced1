import { AppError } from "../../../platform/errors.js";
import { newId } from "../../../platform/ids.js";
import { type Database, type Query, sqlFile, updateTables } from "../../../platform/postgres/database.js";
import { assertSameLayout } from "../../../platform/storage-errors.js";

/** What makes each version of the layout, from nothing on. A released one is never changed; what another version filled can't be read. */
const LAYOUTS: readonly (readonly string[])[] = [
  ["tables", "read", "commit", "erase", "views"].map((name) => sqlFile(name, import.meta.url)),
  // What differs is a session's row, which names its turns by place.
  [],
];

const LAYOUT_TABLE = `CREATE TABLE {layout} (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  version integer NOT NULL,
  installation text NOT NULL
)`;
const WHAT = "The tables in PostgreSQL are";
const TABLES = ["partitions", "entries", "health"];

/** Any number: two installations in one database wait for each other's start, which harms nobody. */
const LAYOUT_LOCK = 7_143_220_117;

const OTHER_SCHEMA = "Name another schema with DATABASE_SCHEMA.";

/** That what is acknowledged is on disk, and keys are in the order of their bytes. @throws STORAGE_UNAVAILABLE */
export async function checkServer(database: Database): Promise<void> {
  const rows = await database.query(
    "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'server_encoding', 'server_version_num', 'synchronous_commit')",
  );
  const settings = new Map(rows.map(({ name, setting }) => [name, setting]));
  const off = ["synchronous_commit", "fsync"].filter((name) => settings.get(name) === "off");
  if (off.length > 0)
    throw new AppError("STORAGE_UNAVAILABLE", {
      detail: `PostgreSQL may lose what it acknowledged: ${off.join(" and ")} is off.`,
      hint: "Set it to `on`, for the server, the database or this role, and start again.",
    });
  if (settings.get("server_encoding") !== "UTF8")
    throw new AppError("STORAGE_UNAVAILABLE", {
      detail: `The database's encoding is ${settings.get("server_encoding")}.`,
      hint: "Name one with the encoding UTF8 in DATABASE_URL.",
    });
  if (Number(settings.get("server_version_num")) < 130_000)
    throw new AppError("STORAGE_UNAVAILABLE", { detail: "PostgreSQL is older than version 13.", hint: "Use version 13 or newer." });
}

/**
 * Makes the tables, or brings them up to date, under a lock, so that many may start at once; where all is there nothing is written.
 * @returns the installation's id, which stays with the tables
 * @throws STORAGE_UNAVAILABLE with what to do
 */
export function openLayout(database: Database): Promise<string> {
  const { schema } = database;
  return database.transaction(async (query) => {
    await query("SELECT pg_advisory_xact_lock($1)", [LAYOUT_LOCK]);
    const tables = await tablesOf(query, schema);
    if (tables.has("layout")) return updated(query, schema, tables);
    refuseOthers(schema, tables);
    // Asked for even where it is there, it needs a right that only its maker has.
    const [present] = await query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema]);
    if (present === undefined) await query(`CREATE SCHEMA "${schema}"`);
    await query(LAYOUT_TABLE);
    await query("INSERT INTO {layout} (version, installation) VALUES (0, $1)", [newId()]);
    return updated(query, schema, new Set());
  });
}

/** From the version that is there. */
async function updated(query: Query, schema: string, tables: ReadonlySet<unknown>): Promise<string> {
  const [row] = await query("SELECT version, installation FROM {layout}");
  const version = Number(row?.version);
  if (version > 0) assertSameLayout(WHAT, version, LAYOUTS.length, "name another schema with DATABASE_SCHEMA");
  const missing = TABLES.filter((table) => version > 0 && !tables.has(table));
  if (row === undefined || missing.length > 0)
    throw new AppError("STORAGE_UNAVAILABLE", {
      detail: `The schema \`${schema}\` in PostgreSQL lacks ${row === undefined ? "its version" : `tables: ${missing.join(", ")}`}.`,
      hint: `It was restored or changed in part: restore it whole from a backup. ${OTHER_SCHEMA}`,
    });
  await updateTables(query, version, { table: "layout", what: WHAT, layouts: LAYOUTS });
  return String(row.installation);
}

function refuseOthers(schema: string, tables: ReadonlySet<unknown>): void {
  const former = tables.has("journals") && tables.has("migrations");
  if (!former && !["partitions", "entries", "health", "sessions", "memories"].some((name) => tables.has(name))) return;
  const whose = former ? "an earlier Maitred, which this one can't read" : "something else";
  throw new AppError("STORAGE_UNAVAILABLE", {
    detail: `The schema \`${schema}\` in PostgreSQL holds tables of ${whose}.`,
    hint: OTHER_SCHEMA,
  });
}

async function tablesOf(query: Query, schema: string): Promise<ReadonlySet<unknown>> {
  const rows = await query("SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind IN ('r', 'p', 'v')", [
    `"${schema}"`,
  ]);
  return new Set(rows.map(({ relname }) => relname));
}
