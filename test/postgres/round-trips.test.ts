import { AsyncLocalStorage } from "node:async_hooks";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Composed, compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { ownerOf } from "../../src/domain/owner.js";
import { needing } from "../support/needing.js";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.js";

const ADA = ownerOf("acme", "ada");
const BOB = ownerOf("acme", "bob");
const asked = new AsyncLocalStorage<string[]>();

/** A statement is named by the first that fits. */
const KINDS: readonly (readonly [kind: string, is: RegExp])[] = [
  ["start", /"start_turn"/],
  ["renewal", /UPDATE \S+"leases" SET until/],
  ["pending", /^SELECT \* FROM \S+"pending"/],
  ["claim", /^WITH due AS/],
  ["create", /INSERT INTO \S+"journals"/],
  ["append and release", /UPDATE \S+"journals"[\s\S]*DELETE FROM \S+"leases"/],
  ["append", /UPDATE \S+"journals"/],
];
/** No reply waits for them: a lock is renewed each second, and a new session lets the worker look for what is due. */
const BESIDE = new Set(["renewal", "pending", "claim"]);

needing("postgres")("what PostgreSQL adds to a turn", () => {
  let server: PostgresServer;
  let dir: string;
  const { query } = pg.Client.prototype;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "maitred-round-trips-"));
    server = await openPostgresServer();
    pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
      const [given] = args as [string | { text: string }];
      asked.getStore()?.push(typeof given === "string" ? given : given.text);
      return Reflect.apply(query, this, args);
    } as typeof query;
  }, 60_000);
  afterAll(async () => {
    pg.Client.prototype.query = query;
    await server.close();
    await rm(dir, { recursive: true });
  });

  /** What the driver was asked between a message and its answer for that message, in order. */
  const statementsOf = async (maitred: Composed, said: Parameters<Composed["chat"]["chat"]>[0]): Promise<readonly string[]> => {
    const statements: string[] = [];
    await asked.run(statements, () => maitred.chat.chat(said));
    const kinds = statements.map((sql) => KINDS.find(([, is]) => is.test(sql))?.[0] ?? sql);
    return kinds.filter((kind) => !BESIDE.has(kind));
  };

  test("a turn asks it three things: what it goes out from, with its lock; the message; the answer, with the lock's end", async () => {
    const maitred = await compose(
      parseConfig({ DATABASE_URL: server.url, EMBEDDING_PROVIDER: "hashing", MEMORY_STORAGE_DIR: dir, EXTRACTION_DELAY_MS: "60000" }),
    );
    try {
      const first = await maitred.chat.chat({ owner: ADA, message: "Hi, I prefer jazz." });
      await maitred.sessions.flush(ADA, first.session_id, 10_000);
      // That a memory was recalled is noted once a day, off the reply path.
      await maitred.chat.chat({ owner: ADA, message: "Good evening.", sessionId: first.session_id });
      await maitred.sessions.flush(ADA, first.session_id, 10_000);
      await expect.poll(() => recallsNoted(server.url), { timeout: 10_000 }).toBe(1);
      for (const message of ["And I like opera, too.", "Thank you."])
        expect(await statementsOf(maitred, { owner: ADA, message, sessionId: first.session_id })).toEqual([
          "start",
          "append",
          "append and release",
        ]);
      // Whether a user was merged with another is asked in the first turn that a process sees of them, and believed for a day.
      await maitred.chat.chat({ owner: BOB, message: "Hello.", incognito: true });
      // A session off the record, so that nothing is read of memories; what follows its answer is its upkeep.
      const begun = await statementsOf(maitred, { owner: BOB, message: "Hello.", incognito: true });
      expect(begun.slice(0, begun.indexOf("append and release") + 1)).toEqual(["start", "create", "append and release"]);
    } finally {
      await maitred.close();
    }
  }, 120_000);
});

async function recallsNoted(connectionString: string): Promise<number> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query(`SELECT 1 FROM maitred.memory_log WHERE entry LIKE '%"kind":"recalled"%'`);
    return rows.length;
  } finally {
    await client.end();
  }
}
