import { RateLimiterRes } from "rate-limiter-flexible";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { AppError } from "../../src/platform/errors.js";
import { EngineDailyCounts } from "../../src/state/counters/daily-counts.js";
import { engineLimiter } from "../../src/state/counters/engine-limiter.js";
import type { StateEngine } from "../../src/state/engine.js";
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
  type Limiter = ReturnType<ReturnType<typeof engineLimiter>>;
  /** As a process of its own has it, by the clock that the engine goes by. */
  const limiterOf = (engine: StateEngine, clock: ReturnType<typeof fixed>, points: number): Limiter =>
    engineLimiter(engine, () => clock.now().getTime())(points, 60);
  /** The same, once it has learned the engine's clock from somebody else's requests. */
  const startedLimiter = async (...given: Parameters<typeof limiterOf>): Promise<Limiter> => {
    const limiter = limiterOf(...given);
    for (let request = 1; request <= 3; request++) await limiter.consume("eve");
    return limiter;
  };
  const refusal = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail("it was not refused"),
      (error: unknown) => error,
    );
  const through = (outcomes: readonly PromiseSettledResult<unknown>[]) => outcomes.filter(({ status }) => status === "fulfilled").length;
  /** Requests of ada's at one process after the other, each when the one before was answered. */
  const inTurns = async (limiters: readonly Limiter[], requests: number) => {
    const outcomes: PromiseSettledResult<unknown>[] = [];
    for (let request = 0; request < requests; request++)
      outcomes.push(...(await Promise.allSettled([limiters[request % limiters.length]?.consume("ada")])));
    return through(outcomes);
  };
  /** What is under way in the background ends. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  test("so many go through in a window, whichever process they come to; then it rejects with how things stand", async () => {
    const clock = fixed();
    const engine = new MemoryEngine({ clock });
    const [one, other] = [limiterOf(engine, clock, 3), limiterOf(engine, clock, 3)];
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
    const limiter = limiterOf(engine, clock, 1);
    await limiter.consume("ada");
    await refusal(limiter.consume("ada"));
    clock.set("2026-03-01T10:01:00.000Z");
    expect(await limiter.consume("ada")).toMatchObject({ consumedPoints: 1, msBeforeNext: 60_000 });
    const [kept] = await engine.partitions({ limit: 10 });
    const { ranges } = await engine.read(kept?.partition ?? "", { ranges: [{ from: "", to: "~" }] });
    expect(ranges[0]).toHaveLength(1);
  });

  test("of many at once no more go through than may", async () => {
    const clock = fixed();
    const engine = new MemoryEngine({ clock });
    const limiters = Array.from({ length: 4 }, () => limiterOf(engine, clock, 10));
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, (_, index) => limiters[index % 4]?.consume("ada")));
    expect(through(outcomes)).toBe(10);
  });

  test("one process lets just the limit through, one after the other and all at once, and tells what is left", async () => {
    const clock = fixed();
    const limiter = await startedLimiter(new MemoryEngine({ clock }), clock, 120);
    for (let request = 1; request <= 60; request++)
      expect(await limiter.consume("ada")).toMatchObject({ consumedPoints: request, remainingPoints: 120 - request });
    expect(through(await Promise.allSettled(Array.from({ length: 100 }, () => limiter.consume("ada"))))).toBe(60);
    expect(await refusal(limiter.consume("ada"))).toMatchObject({ consumedPoints: 121, remainingPoints: 0, msBeforeNext: 50_000 });
  });

  test.each([
    ["in turns", (limiters: readonly Limiter[]) => inTurns(limiters, 400)],
    [
      "all at once",
      async (limiters: readonly Limiter[]) => {
        const outcomes = await Promise.allSettled(Array.from({ length: 400 }, (_, index) => limiters[index % 4]?.consume("ada")));
        return through(outcomes);
      },
    ],
    [
      "at one until it refuses, then at the next",
      async (limiters: readonly Limiter[]) => {
        let count = 0;
        for (const limiter of limiters) count += await inTurns([limiter], 150);
        return count;
      },
    ],
  ])("four processes let the limit through, and at most two more each but one: %s", async (_, ask) => {
    const clock = fixed();
    const engine = new MemoryEngine({ clock });
    const limiters = await Promise.all([1, 2, 3, 4].map(() => startedLimiter(engine, clock, 120)));
    const count = await ask(limiters);
    expect(count).toBeGreaterThanOrEqual(120);
    expect(count).toBeLessThanOrEqual(120 + 3 * 2);
  });

  test("two requests of a window ask the engine for nothing", async () => {
    const clock = fixed();
    const engine = new FaultyEngine(new MemoryEngine({ clock }));
    const limiter = await startedLimiter(engine, clock, 120);
    await settled();
    const read = vi.spyOn(engine, "read");
    await limiter.consume("ada");
    await settled();
    expect([engine.commits, read.mock.calls.length]).toEqual([0, 0]);
  });

  test("those that follow wait for no engine, and every fourth or so is written", async () => {
    const clock = fixed();
    const engine = new FaultyEngine(new MemoryEngine({ clock }));
    const limiter = await startedLimiter(engine, clock, 120);
    let answer = () => {};
    const read = engine.read.bind(engine);
    vi.spyOn(engine, "read").mockImplementation(async (...asked) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return read(...asked);
    });
    const waited: number[] = [];
    for (let request = 1; request <= 20; request++) {
      const waits = await Promise.race([limiter.consume("ada").then(() => false), settled().then(() => true)]);
      if (waits) waited.push(request);
      answer();
      await settled();
    }
    expect(waited).toEqual([]);
    expect(engine.commits).toBeLessThanOrEqual(5);
  });

  test("where the engine gives no answer in the background, the next who needs one waits, and is told", async () => {
    const clock = fixed();
    const engine = new FaultyEngine(new MemoryEngine({ clock }));
    const limiter = await startedLimiter(engine, clock, 120);
    await settled();
    engine.crashBefore(1, new AppError("STORAGE_DAMAGED"));
    await limiter.consume("ada");
    await limiter.consume("ada");
    await settled();
    engine.crashBefore(1, new AppError("STORAGE_DAMAGED"));
    expect(await refusal(limiter.consume("ada"))).toMatchObject({ code: "STORAGE_DAMAGED" });
    expect(await limiter.consume("ada")).toMatchObject({ consumedPoints: 3 });
  });

  test("whoever is refused asks the engine no more in that window", async () => {
    const clock = fixed();
    const engine = new FaultyEngine(new MemoryEngine({ clock }));
    const limiter = limiterOf(engine, clock, 1);
    await limiter.consume("ada");
    const read = vi.spyOn(engine, "read");
    for (let request = 0; request < 5; request++) await refusal(limiter.consume("ada"));
    expect(read).not.toHaveBeenCalled();
  });

  test("clocks that are apart by an hour, and one that jumps, change nothing for long", async () => {
    const clock = fixed();
    const engine = new MemoryEngine({ clock });
    let own = 0;
    const limiter = engineLimiter(engine, () => own)(3, 60);
    for (let request = 1; request <= 3; request++) expect(await limiter.consume("ada")).toMatchObject({ msBeforeNext: 50_000 });
    expect(await refusal(limiter.consume("ada"))).toMatchObject({ msBeforeNext: 50_000 });
    own += 20_000;
    expect(await refusal(limiter.consume("ada"))).toMatchObject({ msBeforeNext: 30_000 });
  });

  test("a reply that was lost counts one request once", async () => {
    const engine = new FaultyEngine(new MemoryEngine({ clock: new TestClock() }));
    engine.loseReply(1);
    const limiter = engineLimiter(engine)(5, 60);
    expect(await limiter.consume("ada")).toMatchObject({ consumedPoints: 1 });
    expect(await limiter.consume("ada")).toMatchObject({ consumedPoints: 2 });
  });
});
