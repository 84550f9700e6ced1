import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/platform/clock.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import { RedisDatabase } from "../../src/stores/redis/database.js";
import { redisSessionStore } from "../../src/stores/redis/redis-session-store.js";
import { ALICE, collected, JournalRecords } from "../../src/testing/journal-records.js";
import { needing } from "../support/needing.js";
import { openRedisServer, type RedisServer } from "../support/redis-server.js";

const WRITERS = 20;
const UNAVAILABLE = { code: "STORAGE_UNAVAILABLE" };

async function untilWritten(write: () => Promise<unknown>): Promise<void> {
  const tried = () =>
    write().then(
      () => "written",
      () => "refused",
    );
  await expect.poll(tried, { timeout: 20_000 }).toBe("written");
}

needing("redis")("what Redis acknowledged", () => {
  let opened: RedisDatabase[];
  beforeEach(() => {
    opened = [];
  });
  afterEach(async () => {
    for (const database of opened) await database.close();
  });
  const open = async (url: string, options: Partial<Parameters<typeof RedisDatabase.open>[0]> = {}) => {
    const database = await RedisDatabase.open({ url, durability: "strict", logger: silentLogger, ...options });
    opened.push(database);
    return database;
  };
  const storeOn = (database: RedisDatabase) => redisSessionStore(database, { logger: silentLogger, clock: systemClock });

  describe.each([
    ["appendonly", "no"],
    ["appendfsync", "everysec"],
    ["no-appendfsync-on-rewrite", "yes"],
    ["maxmemory-policy", "allkeys-lru"],
  ])("%s %s", (name, value) => {
    let server: RedisServer;
    beforeEach(async () => {
      server = await openRedisServer({ settings: { [name]: value } });
    });
    afterEach(() => server.close());

    test("may be lost: it is refused, or accepted and told", async () => {
      await expect(open(server.url)).rejects.toMatchObject({ ...UNAVAILABLE, message: expect.stringContaining(`${name} is ${value}`) });
      expect((await open(server.url, { durability: "relaxed" })).notDurable).toEqual([expect.stringContaining(`${name} is ${value}`)]);
    });
  });

  describe("on a server that syncs every write", () => {
    let server: RedisServer;
    beforeEach(async () => {
      server = await openRedisServer();
    });
    afterEach(() => server.close());

    test("nothing is to be told", async () => {
      expect((await open(server.url)).notDurable).toEqual([]);
    });

    test("a service that lets nobody read its configuration is refused, or accepted and told", async () => {
      const admin = new Redis(server.url);
      await admin.acl("SETUSER", "app", "on", ">secret", "~*", "&*", "+@all", "-config");
      admin.disconnect();
      const url = server.url.replace("redis://", "redis://app:secret@");
      await expect(open(url)).rejects.toMatchObject({ ...UNAVAILABLE, message: expect.stringContaining("CONFIG is refused") });
      const database = await open(url, { durability: "relaxed" });
      expect(database.notDurable).toEqual([expect.stringContaining("CONFIG is refused")]);
      await expect(open(server.url.replace("redis://", "redis://app:wrong@"))).rejects.toMatchObject(UNAVAILABLE);
    });

    test("a killed server has lost nothing of it under twenty writers, and its clients go on by themselves", async () => {
      const database = await open(server.url);
      const { journal } = storeOn(database);
      const records = new JournalRecords();
      const ids = Array.from({ length: WRITERS }, () => newId());
      for (const id of ids) await journal.create(ALICE, id, [records.session(ALICE)]);
      const acknowledged = new Map<string, number>();
      let written = 0;
      const writers = ids.map(async (id) => {
        for (let turn = 1; ; turn++) {
          const kept = await journal.append(ALICE, id, records.round(turn)).catch(() => null);
          if (kept === null) return;
          acknowledged.set(id, kept.at(-1)?.seq ?? 0);
          written += kept.length;
          if (written > 1_500) await server.kill();
        }
      });
      await Promise.all(writers);
      await server.start();
      const { journal: again } = storeOn(await open(server.url));
      expect(acknowledged.size).toBe(WRITERS);
      for (const [id, seq] of acknowledged) {
        const seqs = (await collected(again.read(ALICE, id))).map((record) => record.seq);
        expect(seqs).toEqual(seqs.map((_, index) => index + 1));
        expect(seqs.length).toBeGreaterThanOrEqual(seq);
      }
      await untilWritten(() => journal.append(ALICE, ids[0] ?? "", records.round(9_999)));
    });

    test("a server that hangs is given up within the bound, and used again when it goes on", async () => {
      const database = await open(server.url, { timeoutMs: 2_000 });
      const { journal } = storeOn(database);
      const records = new JournalRecords();
      const id = newId();
      await journal.create(ALICE, id, [records.session(ALICE)]);
      server.hang();
      await expect(journal.append(ALICE, id, records.round(1))).rejects.toMatchObject({ ...UNAVAILABLE, retryAfterSeconds: 1 });
      server.goOn();
      await untilWritten(() => journal.append(ALICE, id, records.round(2)));
    });

    test("an error of the server's says nothing of what was to be written", async () => {
      const database = await open(server.url);
      await database.command("SET", "maitred:a", "text");
      const failed = await database.command("HSET", "maitred:a", "field", "a secret").catch((error: unknown) => error);
      expect(failed).toMatchObject({ ...UNAVAILABLE, message: "Redis answered WRONGTYPE." });
      expect(JSON.stringify({ cause: { ...((failed as Error).cause as object) } })).not.toContain("secret");
      expect(String((failed as Error).cause)).not.toContain("secret");
      const unknown = await database.command("NO-SUCH", "a secret").catch((error: unknown) => error);
      expect(String((unknown as Error).cause)).not.toContain("secret");
    });
  });
});
