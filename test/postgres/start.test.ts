import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLogger } from "../../src/platform/logger.js";
import { PostgresDatabase } from "../../src/stores/postgres/database.js";
import { needing } from "../support/needing.js";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.js";

needing("postgres")("a start on PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await openPostgresServer();
  }, 60_000);
  afterAll(() => server.close());
  const open = async (schema: string) => {
    const database = await PostgresDatabase.open({ url: server.url, schema, connections: 2, logger: silentLogger });
    await database.close();
  };
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };

  test("many at once make the tables once", async () => {
    await Promise.all(Array.from({ length: 6 }, () => open("many")));
    await open("many");
  });

  test("is refused where tables are missing that the version says are there, and names them", async () => {
    await open("half");
    await run('DROP TABLE "half"."pending"; DROP TABLE "half"."ledger"');
    await expect(open("half")).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringMatching(/`half`.*lacks tables of it: pending, ledger/),
      hint: expect.stringContaining("DATABASE_SCHEMA"),
    });
  });

  test("is refused on tables of a newer version", async () => {
    await open("newer");
    await run('INSERT INTO "newer"."migrations" (version) VALUES (1000)');
    await expect(open("newer")).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE", hint: expect.stringContaining("at least as new") });
  });

  test("is refused where what is committed may be lost", async () => {
    await run("ALTER DATABASE postgres SET synchronous_commit = off");
    await expect(open("lossy")).rejects.toMatchObject({ message: expect.stringContaining("synchronous_commit is off") });
    await run("ALTER DATABASE postgres RESET synchronous_commit");
  });
});
