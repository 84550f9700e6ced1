import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Logger, silentLogger } from "../../../src/platform/logger.js";
import { PostgresEngine } from "../../../src/state/engines/postgres/postgres-engine.js";
import { freePort } from "../../support/free-port.js";
import { needing } from "../../support/needing.js";
import { openPostgresServer, type PostgresServer } from "../../support/postgres-server.js";

needing("postgres")("a start on PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await openPostgresServer();
  }, 60_000);
  afterAll(() => server.close());
  const start = async (schema: string, { url = server.url, startupWaitMs = 0, logger = silentLogger as Logger } = {}) => {
    const engine = await PostgresEngine.open({ url, schema, connections: 2, logger, startupWaitMs });
    await engine.close();
  };
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    return await client.query(sql).finally(() => client.end());
  };
  const changed = (change: Partial<URL>) => ({ url: Object.assign(new URL(server.url), change).toString(), startupWaitMs: 20_000 });

  test("many at once make the tables once", async () => {
    await Promise.all(Array.from({ length: 6 }, () => start("many")));
    await start("many");
    expect((await run('SELECT version FROM "many"."layout"')).rows).toEqual([{ version: 2 }]);
  });

  test.each([
    ["a newer", 1_000, /version 1000; .* knows 2\./, "at least as new"],
    ["an older", 1, /version 1, .* knows 2\./, "DATABASE_SCHEMA"],
  ])("is refused on tables of %s version, and names both", async (_, version, said, hint) => {
    const schema = `of_${version}`;
    await start(schema);
    await run(`UPDATE "${schema}"."layout" SET version = ${version}`);
    await expect(start(schema)).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringMatching(said),
      hint: expect.stringContaining(hint),
    });
    expect((await run(`SELECT version FROM "${schema}"."layout"`)).rows).toEqual([{ version }]);
  });

  test("is refused where tables are missing, and names them", async () => {
    await start("half");
    await run('DROP TABLE "half"."health"');
    await expect(start("half")).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringMatching(/`half`.*lacks tables: health/),
    });
  });

  test("is refused in a schema of the layout before", async () => {
    await run("CREATE SCHEMA former; CREATE TABLE former.migrations (version int); CREATE TABLE former.journals (session_id text)");
    await expect(start("former")).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringContaining("earlier Maitred"),
      hint: expect.stringContaining("DATABASE_SCHEMA"),
    });
  });

  test("is refused in a schema of something else's", async () => {
    await run("CREATE SCHEMA theirs; CREATE TABLE theirs.entries (a int)");
    await expect(start("theirs")).rejects.toMatchObject({ hint: expect.stringContaining("DATABASE_SCHEMA") });
  });

  test("is refused where what is committed may be lost", async () => {
    await run("ALTER DATABASE postgres SET synchronous_commit = off");
    try {
      await expect(start("lossy")).rejects.toMatchObject({ message: expect.stringContaining("synchronous_commit is off") });
    } finally {
      await run("ALTER DATABASE postgres RESET synchronous_commit");
    }
  });

  test.each([
    ["a database that is not there", () => changed({ pathname: "/nowhere" }), "no such database"],
    ["a user that is not there", () => changed({ username: "nobody" }), "refuses the user"],
    ["an address that is none", () => ({ url: "postgres://127.0.0.1:99999/x", startupWaitMs: 20_000 }), "can't be used"],
  ])("is refused at once for %s", async (_, wrong, message) => {
    const begun = performance.now();
    await expect(start("wrong", wrong())).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringContaining(message),
      hint: expect.stringContaining("DATABASE_URL"),
    });
    expect(performance.now() - begun).toBeLessThan(3_000);
  });

  test("needs no right to make a schema where all is there", async () => {
    await start("given");
    await run("CREATE ROLE guest LOGIN; GRANT USAGE ON SCHEMA given TO guest; GRANT ALL ON ALL TABLES IN SCHEMA given TO guest");
    await start("given", changed({ username: "guest" }));
    await expect(start("not_given", changed({ username: "guest" }))).rejects.toMatchObject({
      message: expect.stringContaining("does not let this user"),
    });
  });

  test("waits for a server that starts later, and says so once", async () => {
    const said: string[] = [];
    const logger = { ...silentLogger, warn: (_: object, message: string) => void said.push(message) };
    await server.kill();
    const started = start("later", { startupWaitMs: 30_000, logger });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await server.start();
    await started;
    expect(said.filter((message) => message.startsWith("Waiting for PostgreSQL"))).toHaveLength(1);
  });

  test("ends where nobody answers within the wait", async () => {
    const port = await freePort();
    await expect(start("none", { ...changed({ port: String(port) }), startupWaitMs: 1_500 })).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringContaining("ECONNREFUSED"),
      hint: expect.stringContaining("DATABASE_URL"),
    });
  });
});
