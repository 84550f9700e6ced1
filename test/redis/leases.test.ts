import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLogger } from "../../src/platform/logger.js";
import { leaseKey } from "../../src/stores/journal/leased-lock.js";
import { RedisDatabase } from "../../src/stores/redis/database.js";
import { RedisLeases } from "../../src/stores/redis/leases.js";
import { ALICE } from "../../src/testing/journal-records.js";
import { needing } from "../support/needing.js";
import { openRedisServer, type RedisServer } from "../support/redis-server.js";

const DAY_MS = 24 * 60 * 60 * 1000;

needing("redis")("a lease on Redis", () => {
  let server: RedisServer;
  let database: RedisDatabase;
  beforeAll(async () => {
    server = await openRedisServer();
    database = await RedisDatabase.open({ url: server.url, prefix: "leases", durability: "strict", logger: silentLogger });
  }, 60_000);
  afterAll(async () => {
    await database.close();
    await server.close();
  });

  test("of a process that was killed is gone a day after it ended, and every renewal puts that off", async () => {
    const leases = new RedisLeases(database);
    const lease = { key: leaseKey("process 1"), owner: undefined, leaseMs: 15_000 };
    const fence = (await leases.take(lease)) ?? 0;
    const key = `leases:{lock:${lease.key}}:leases`;
    const left = async () => Number(await database.command("PTTL", key));
    expect(await left()).toBeGreaterThan(DAY_MS);
    await database.command("PEXPIRE", key, 1_000);
    expect(await leases.renew(lease, fence)).toBe(true);
    expect(await left()).toBeGreaterThan(DAY_MS);
    await database.command("DEL", key);
    expect(await leases.renew(lease, fence)).toBe(false);
    expect(await leases.take(lease)).toBeGreaterThan(fence);
  });

  test("of an owner's session lies with the owner's others, and has no end of its own", async () => {
    const leases = new RedisLeases(database);
    const lease = { key: leaseKey("session"), owner: ALICE, leaseMs: 15_000 };
    const fence = (await leases.take(lease)) ?? 0;
    expect(await leases.renew(lease, fence)).toBe(true);
    expect(Number(await database.command("PTTL", database.keys(ALICE).leases))).toBe(-1);
  });
});
