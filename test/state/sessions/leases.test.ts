import { afterEach, expect, test, vi } from "vitest";
import { deferred } from "../../../src/platform/bounded-signal.js";
import { type Logger, silentLogger } from "../../../src/platform/logger.js";
import { MemoryEngine } from "../../../src/state/engines/memory/memory-engine.js";
import { LeasedLock } from "../../../src/state/sessions/leased-lock.js";
import { EngineLeases } from "../../../src/state/sessions/leases.js";
import { ALICE } from "../../support/journal-records.js";
import { CutEngine } from "../cut-engine.js";
import { connectionTo } from "./connection.js";

const LEASE_MS = 6_000;
const TIME = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"] as const;
const SOON = { waitMs: 0, owner: ALICE };

afterEach(() => void vi.useRealTimers());

function world() {
  const shared = new MemoryEngine();
  const connection = connectionTo(shared);
  const { promise: notRenewed, resolve: failed } = deferred();
  const logger: Logger = { ...silentLogger, warn: (_: object, message = "") => message === "A lock could not be renewed" && failed() };
  const open = (engine: ConstructorParameters<typeof EngineLeases>[0]) =>
    new LeasedLock(new EngineLeases(engine), { logger, leaseMs: LEASE_MS });
  return { shared, open, connection, notRenewed, one: open(connection.engine), other: open(shared) };
}

test("a lock is held through a moment in which the engine is out of reach", async () => {
  vi.useFakeTimers({ toFake: [...TIME] });
  const { connection, one, other, notRenewed } = world();
  const held = await one.acquire("a", SOON);
  connection.cut(true);
  await vi.advanceTimersByTimeAsync(1_000);
  await notRenewed;
  connection.cut(false);
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  expect(held.signal.aborted).toBe(false);
  await expect(other.acquire("a", SOON)).rejects.toMatchObject({ code: "SESSION_BUSY" });
  await held.release();
  await (await other.acquire("a", SOON)).release();
});

test("a lock is held on where a renewal takes longer than the time between two of them", async () => {
  const engine = new MemoryEngine();
  const commit = engine.commit.bind(engine);
  engine.commit = async (...args) => {
    await new Promise((resolve) => setTimeout(resolve, 150));
    return commit(...args);
  };
  vi.useFakeTimers({ toFake: [...TIME] });
  const acquired = new LeasedLock(new EngineLeases(engine), { logger: silentLogger, leaseMs: 600 }).acquire("a", SOON);
  await vi.advanceTimersByTimeAsync(150);
  const held = await acquired;
  await vi.advanceTimersByTimeAsync(1_500);
  expect(held.signal.aborted).toBe(false);
  const released = held.release();
  await vi.advanceTimersByTimeAsync(300);
  await released;
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
