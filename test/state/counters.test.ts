import { RateLimiterRes } from "rate-limiter-flexible";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { AppError } from "../../src/platform/errors.js";
import { EngineDailyCounts } from "../../src/state/counters/daily-counts.js";
import { engineLimiter } from "../../src/state/counters/engine-limiter.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { TestClock } from "../support/session-world.js";
import { FaultyEngine } from "./faulty-engine.js";

const DAY = "2026-03-01";

describe("tokens by day", () => {
  test("what several processes count is added up, by tenant and day", async () => {
    const engine = new MemoryEngine();
    const processes = [
      new EngineDailyCounts(engine, "count"),
      new EngineDailyCounts(engine, "count"),
      new EngineDailyCounts(engine, "count"),
    ];
    await Promise.all(
      processes.map(async (daily) => {
        for (let each = 0; each < 10; each++) await daily.add("default", DAY, 5);
        await daily.add("acme", DAY, 3);
        await daily.close();
      }),
    );
    const after = new EngineDailyCounts(engine, "count");
    expect(await after.spent("default", DAY)).toBe(150);
    expect(await after.spent("acme", DAY)).toBe(9);
    expect(await after.spent("default", "2026-03-02")).toBe(0);
    expect([await after.tenantsFrom(DAY, 9), await after.tenantsFrom(DAY, 10), await after.tenantsFrom(DAY, 151)]).toEqual([2, 1, 0]);
  });

  test("counts of many calls are one write, after a moment", async () => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const engine = new FaultyEngine(new MemoryEngine());
    const daily = new EngineDailyCounts(engine, "count");
    for (let each = 0; each < 10; each++) await daily.add("default", DAY, 1);
    expect(engine.commits).toBe(0);
    await vi.advanceTimersByTimeAsync(250);
    expect(engine.commits).toBe(1);
    expect(await new EngineDailyCounts(engine, "count").spent("default", DAY)).toBe(10);
  });

  test("more tenants than fit into one commit are all counted", async () => {
    const engine = new MemoryEngine();
    const daily = new EngineDailyCounts(engine, "count");
    for (let tenant = 0; tenant < 250; tenant++) await daily.add(`tenant-${tenant}`, DAY, 7);
    await daily.close();
    expect(await new EngineDailyCounts(engine, "count").tenantsFrom(DAY, 7)).toBe(250);
  });

  test("a reply that was lost counts nothing twice; what can't be written is counted with the next", async () => {
    const engine = new FaultyEngine(new MemoryEngine());
    const daily = new EngineDailyCounts(engine, "count");
    engine.loseReply(1);
    await daily.add("default", DAY, 5);
    expect(await daily.spent("default", DAY)).toBe(5);
    engine.crashBefore(1, new AppError("STORAGE_DAMAGED"));
    await daily.add("default", DAY, 6);
    await expect(daily.spent("default", DAY)).rejects.toMatchObject({ code: "STORAGE_DAMAGED" });
    await daily.add("default", DAY, 1);
    expect(await daily.spent("default", DAY)).toBe(12);
  });

  test("days more than three before the last are dropped", async () => {
    const engine = new MemoryEngine();
    const daily = new EngineDailyCounts(engine, "count");
    for (let day = 1; day <= 9; day++) {
      await daily.add("default", `2026-03-0${day}`, day);
      await daily.spent("default", `2026-03-0${day}`);
    }
    const spent = await Promise.all(["2026-03-01", "2026-03-05", "2026-03-06", "2026-03-09"].map((day) => daily.spent("default", day)));
    expect(spent).toEqual([0, 0, 6, 9]);
  });
});

describe("requests that are counted together", () => {
  const fixed = (start = "2026-03-01T10:00:10.000Z") => {
    let now = new Date(start);
    return { now: () => now, set: (at: string) => (now = new Date(at)) };
  };
  const refusal = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail("it was not refused"),
      (error: unknown) => error,
    );

  test("so many go through in a window, whichever process they come to; then it rejects with how things stand", async () => {
    const engine = new MemoryEngine({ clock: fixed() });
    const [one, other] = [engineLimiter(engine)(3, 60), engineLimiter(engine)(3, 60)];
    expect(await one.consume("ada")).toMatchObject({ consumedPoints: 1, remainingPoints: 2, msBeforeNext: 50_000 });
    expect(await other.consume("ada")).toMatchObject({ consumedPoints: 2, remainingPoints: 1 });
    expect(await one.consume("ada")).toMatchObject({ consumedPoints: 3, remainingPoints: 0 });
    const refused = await refusal(other.consume("ada"));
    expect(refused).toBeInstanceOf(RateLimiterRes);
    expect(refused).toMatchObject({ consumedPoints: 4, remainingPoints: 0, msBeforeNext: 50_000 });
    expect(await other.consume("ben")).toMatchObject({ consumedPoints: 1 });
  });

  test("the next window by the engine's clock begins anew, and counters of before are gone", async () => {
    const clock = fixed();
    const engine = new MemoryEngine({ clock });
    const limiter = engineLimiter(engine)(1, 60);
    await limiter.consume("ada");
    await refusal(limiter.consume("ada"));
    clock.set("2026-03-01T10:01:00.000Z");
    expect(await limiter.consume("ada")).toMatchObject({ consumedPoints: 1, msBeforeNext: 60_000 });
    const [kept] = await engine.partitions({ limit: 10 });
    const { ranges } = await engine.read(kept?.partition ?? "", { ranges: [{ from: "", to: "~" }] });
    expect(ranges[0]).toHaveLength(1);
  });

  test("of many at once no more go through than may", async () => {
    const engine = new MemoryEngine({ clock: fixed() });
    const limiters = Array.from({ length: 4 }, () => engineLimiter(engine)(10, 60));
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, (_, index) => limiters[index % 4]?.consume("ada")));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  });

  test("a reply that was lost counts one request once", async () => {
    const engine = new FaultyEngine(new MemoryEngine({ clock: new TestClock() }));
    engine.loseReply(1);
    const limiter = engineLimiter(engine)(5, 60);
    expect(await limiter.consume("ada")).toMatchObject({ consumedPoints: 1 });
    expect(await limiter.consume("ada")).toMatchObject({ consumedPoints: 2 });
  });
});
