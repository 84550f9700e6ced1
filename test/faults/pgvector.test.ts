import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, test, vi } from "vitest";
import { DEFAULT_TENANT, ownerOf } from "../../src/domain/owner.js";
import { needing } from "../support/needing.js";
import { openPgvectorServer, type PgvectorServer } from "../support/pgvector-server.js";
import { openMatrix, READS, readSince, STORE_DOWN } from "./matrix.js";
import { PATIENT_RECALL_MS } from "./rig.js";
import { type FailingStart, SHOULD, Starts } from "./started.js";
import { type StoreOutcome, underStoreFault } from "./store-faults.js";

const { opened, compare, comparePage } = openMatrix();

const { asked: _, ...DOWN } = STORE_DOWN;
/** What meets everybody: others recall what Ada does, and are told so as she is. */
const EVERYBODY = { others: "as Ada" };
const like = ({ others, ...seen }: Omit<StoreOutcome, "asked">, expected: Omit<StoreOutcome, "asked">) => ({
  ...seen,
  others: expected.others === EVERYBODY.others && /^200 degraded(?: ×\d)?$/.test(others) ? EVERYBODY.others : others,
});

const NO_ROOM = `CREATE FUNCTION full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '53100'; END $$;
  CREATE TRIGGER full_points BEFORE INSERT OR UPDATE ON maitred.vector_points FOR EACH ROW
  WHEN (NEW.owner = '${ownerOf(DEFAULT_TENANT, "ada")}') EXECUTE FUNCTION full()`;

needing("pgvector")("[degradation-honest] [reply-never-waits] [other-users-unaffected] a fault of pgvector", () => {
  let server: PgvectorServer;
  beforeAll(async () => {
    server = await openPgvectorServer();
  });
  afterAll(() => server.close());
  /** Each row's guests are new. */
  beforeEach(() => run("DROP SCHEMA IF EXISTS maitred CASCADE"));

  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  const variables = () => ({ SHORT_TERM_BACKEND: "file", MEM0_PROVIDER: "pgvector", DATABASE_URL: server.url });
  const disconnect = () => run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'maitred'");
  const version = (of: string) => run(`UPDATE pg_extension SET extversion = '${of}' WHERE extname = 'vector'`);

  test.each([
    ["killed", { ...DOWN, ...EVERYBODY }, () => server.kill(), () => server.start()],
    [
      "read-only",
      { ...DOWN, ...READS, ...EVERYBODY },
      () => run("ALTER DATABASE postgres SET default_transaction_read_only = on").then(disconnect),
      () => run("SET transaction_read_only = off; ALTER DATABASE postgres RESET default_transaction_read_only").then(disconnect),
    ],
    ["its disk is full", { ...DOWN, ...READS }, () => run(NO_ROOM), () => run("DROP FUNCTION IF EXISTS full CASCADE")],
  ] as const)("%s", async (name, expected, begin, end) => {
    const rig = await opened({ vectors: { variables: variables(), mend: end }, recallDeadlineMs: PATIENT_RECALL_MS });
    compare("pgvector", name, expected, like(readSince(await underStoreFault(rig, { start: begin, asks: () => 0 })), expected));
  });

  test("a start that can't be used ends with what it is and what to do; when that is done the same start goes well", async () => {
    vi.useRealTimers();
    const dir = await mkdtemp(join(tmpdir(), "maitred-starts-"));
    const starts = new Starts(dir, variables(), {});
    await starts.first();
    const faults: FailingStart[] = [
      {
        fault: "an extension of an older version",
        says: "PostgreSQL's extension `vector` is version 0.7.4; 0.8 or newer is needed",
        advises: "run `ALTER EXTENSION vector UPDATE` in this database",
        begin: () => version("0.7.4"),
        end: () => version("0.8.1"),
      },
      {
        fault: "tables that a newer version wrote",
        says: "of version 99; this Maitred knows 1",
        advises: "Start a Maitred that is at least as new as the one that wrote it",
        begin: () => run("UPDATE maitred.vector_layout SET version = 99"),
        end: () => run("UPDATE maitred.vector_layout SET version = 1"),
      },
    ];
    for (const fault of faults) compare("Start on pgvector", fault.fault, SHOULD(fault), await starts.under(fault));
    await rm(dir, { recursive: true });
  });
});

test("the page about faults says what was seen", comparePage);
