import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { silentLogger } from "../../../src/platform/logger.js";
import { MemoryEngine } from "../../../src/state/engines/memory/memory-engine.js";
import { LeasedLock } from "../../../src/state/sessions/leased-lock.js";
import { EngineLeases } from "../../../src/state/sessions/leases.js";
import { ALICE } from "../../../src/testing/journal-records.js";
import { CutEngine } from "../cut-engine.js";
import { connectionTo } from "./connection.js";

const LEASE_MS = 6_000;
const SOON = { waitMs: 0, owner: ALICE };

function world() {
  const shared = new MemoryEngine();
  const connection = connectionTo(shared);
  const open = (engine: ConstructorParameters<typeof EngineLeases>[0]) =>
    new LeasedLock(new EngineLeases(engine), { logger: silentLogger, leaseMs: LEASE_MS });
  return { shared, open, connection, one: open(connection.engine), other: open(shared) };
}

test("a lock is held through a moment in which the engine is out of reach", async () => {
  const { connection, one, other } = world();
  const held = await one.acquire("a", SOON);
  connection.cut(true);
  await pause(1_200);
  connection.cut(false);
  await pause(1_000);
  expect(held.signal.aborted).toBe(false);
  await expect(other.acquire("a", SOON)).rejects.toMatchObject({ code: "SESSION_BUSY" });
  await held.release();
  await (await other.acquire("a", SOON)).release();
});

test("a lock is held on where a renewal takes longer than the time between two of them", async () => {
  const engine = new MemoryEngine();
  const commit = engine.commit.bind(engine);
  engine.commit = async (...args) => {
    await pause(150);
    return commit(...args);
  };
  const held = await new LeasedLock(new EngineLeases(engine), { logger: silentLogger, leaseMs: 600 }).acquire("a", SOON);
  await pause(1_500);
  expect(held.signal.aborted).toBe(false);
  await held.release();
});

test("one that could not be released is free for its own process at once, and for others soon", async () => {
  const { connection, one, other } = world();
  const first = await one.acquire("a", SOON);
  connection.cut(true);
  await first.release();
  connection.cut(false);
  const again = await one.acquire("a", SOON);
  expect(again.fence).toBeGreaterThan(first.fence);
  await expect(other.acquire("a", SOON)).rejects.toMatchObject({ code: "SESSION_BUSY" });
  connection.cut(true);
  await again.release();
  connection.cut(false);
  const next = await other.acquire("a", { waitMs: 3_000, owner: ALICE });
  expect(next.fence).toBeGreaterThan(again.fence);
  await next.release();
});

test("fences grow over everything: releases, takeovers, and replies that were lost", async () => {
  const { shared, open } = world();
  let last = 0;
  for (let at = 1; at <= 4; at++) {
    const lock = open(new CutEngine(shared, { lostReply: at }));
    for (let times = 0; times < 3; times++) {
      const lease = await lock.acquire("a", SOON);
      expect(lease.fence).toBeGreaterThan(last);
      last = lease.fence;
      await lease.release();
    }
  }
});
