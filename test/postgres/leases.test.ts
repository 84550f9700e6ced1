import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { tempDir } from "../e2e/world.js";
import { needing } from "../support/needing.js";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.js";

needing("postgres")("leases of processes that were killed", () => {
  let server: PostgresServer;
  let client: pg.Client;
  beforeAll(async () => {
    server = await openPostgresServer();
    client = new pg.Client({ connectionString: server.url });
    await client.connect();
  }, 60_000);
  afterAll(async () => {
    await client.end();
    await server.close();
  });

  const leases = async () => (await client.query<{ key: string }>("SELECT key FROM maitred.leases")).rows.map(({ key }) => key);
  async function start() {
    const variables = { DATABASE_URL: server.url, MEMORY_STORAGE_DIR: await tempDir(), EMBEDDING_PROVIDER: "hashing" };
    return compose(parseConfig(variables));
  }

  test("are deleted by a start a day after they ended; one that ended just now may find its own again", async () => {
    await (await start()).close();
    expect(await leases()).toEqual([]);
    const put = (key: string, until: string) =>
      client.query(`INSERT INTO maitred.leases (key, fence, until) VALUES ($1, nextval('maitred.fences'), now() - $2::interval)`, [
        key,
        until,
      ]);
    await put("killed long ago", "25 hours");
    await put("stopped just now", "1 hour");
    const maitred = await start();
    const held = await leases();
    expect(held).not.toContain("killed long ago");
    expect(held).toContain("stopped just now");
    // And its own, of itself and of its local files.
    expect(held).toHaveLength(3);
    await maitred.close();
    expect(await leases()).toEqual(["stopped just now"]);
  });
});
