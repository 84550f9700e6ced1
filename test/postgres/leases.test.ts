import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { type JobWork, RunningJobs } from "../../src/operations/jobs.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import { LeasedLock } from "../../src/stores/journal/leased-lock.js";
import { PostgresDatabase } from "../../src/stores/postgres/database.js";
import { PostgresLeases } from "../../src/stores/postgres/leases.js";
import { OwnerRows } from "../../src/stores/postgres/owner-rows.js";
import { tempDir } from "../e2e/world.js";
import { needing } from "../support/needing.js";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.js";

needing("postgres")("leases on PostgreSQL", () => {
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

  test("of processes that were killed are deleted by a start a day after they ended; one that ended just now may find its own again", async () => {
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

  test("[one-job-of-a-kind] a job that runs in one process is refused in another, until it has ended", async () => {
    const databases = await Promise.all(
      [1, 2].map(() => PostgresDatabase.open({ url: server.url, schema: "jobs", connections: 2, logger: silentLogger })),
    );
    let letGo = () => {};
    const ends = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const work: JobWork = { lock: "job", dryRun: false, run: () => ends.then(() => ({})) };
    const works = { retention: work, promote: work, reindex: work, reindex_memories: work };
    const [one, other] = databases.map((database) => {
      const locks = new LeasedLock(new PostgresLeases(database, new OwnerRows(database)), { logger: silentLogger });
      return new RunningJobs({ works, locks, clock: systemClock, logger: silentLogger });
    });
    const { id = "" } = (await one?.start("reindex", { dryRun: false })) ?? {};
    await expect(other?.start("reindex", { dryRun: false })).rejects.toMatchObject({ code: "JOB_RUNNING" });
    letGo();
    await expect.poll(() => one?.get(id).ended_at, { timeout: 20_000 }).not.toBeNull();
    await other?.start("reindex", { dryRun: false });
    await Promise.all([one?.close(), other?.close()]);
    for (const database of databases) await database.close();
  });
});
