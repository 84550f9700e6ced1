import { expect, onTestFinished, test } from "vitest";
import type { WriteBackWorkerOptions } from "../../src/after-turn/write-back-retries.js";
import { WriteBackWorker } from "../../src/after-turn/write-back-worker.js";
import { AppError, type ErrorCode } from "../../src/platform/errors.js";
import { silentLogger } from "../../src/platform/logger.js";
import { alice, makeWorld } from "../support/session-world.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A turn of Alice's, and a worker whose tries end as they are told to. */
async function makeTries(fails: (attempt: number) => ErrorCode | "defect" | null, options: WriteBackWorkerOptions = {}) {
  const { store, writer, sessions, say, clock } = await makeWorld();
  const { id } = await sessions.create(alice, {});
  await say(alice, id, "I am allergic to nuts.", "Noted.");
  const tries: number[] = [];
  const given: ErrorCode[] = [];
  const done = async (status: "stored" | "failed") => {
    const body = { status, memory_ids: [], attempts: tries.length };
    await writer.append(alice, id, [{ type: "write_back_done", id: `done ${tries.length}`, turn: 1, at: clock.now().toISOString(), body }]);
  };
  const worker = new WriteBackWorker(
    {
      writeBack: {
        run: async () => {
          tries.push(clock.now().getTime());
          const code = fails(tries.length);
          if (code === "defect") throw new TypeError("undefined is not a function");
          if (code !== null) throw new AppError(code);
          await done("stored");
          return "done";
        },
        fail: async (_pending, error) => {
          if (error instanceof AppError) given.push(error.code);
          await done("failed");
        },
      },
      store,
      clock,
      logger: silentLogger,
      afterDone: async () => {},
    },
    { random: () => 0.5, ...options },
  );
  onTestFinished(() => worker.stop());
  const pending = async () => (await store.turns.of(alice, id))[0] ?? null;
  return {
    worker,
    sessionId: id,
    tries,
    given,
    pending,
    clock,
    /** Lets every try come, at its time. Returns how long each was waited for, in milliseconds. */
    async untilNothingWaits(limit = Number.POSITIVE_INFINITY): Promise<readonly number[]> {
      for (;;) {
        await worker.drain(20_000);
        const waits = tries.slice(1).map((at, place) => at - (tries[place] ?? at));
        const turn = await pending();
        if (turn?.state !== "pending" || tries.length >= limit) return waits;
        clock.seconds(Math.max(0, turn.dueAtMs - clock.now().getTime()) / 1_000);
      }
    },
  };
}

test("[outage-caught-up] a model that is away for hours loses no turn: tries go on, at most ten minutes apart, and the first after it reads", async () => {
  let away = true;
  const { tries, pending, clock, untilNothingWaits } = await makeTries(() => (away ? "MODEL_UNAVAILABLE" : null));
  const began = clock.now().getTime();
  const waits = await untilNothingWaits(60);
  expect(clock.now().getTime() - began).toBeGreaterThan(6 * HOUR);
  expect(Math.max(...waits)).toBeLessThanOrEqual(10 * MINUTE);
  away = false;
  await untilNothingWaits();
  expect(await pending()).toBeNull();
  expect(tries).toHaveLength(61);
});

test.each([0, 0.5, 0.999])(
  "[outage-caught-up] an outage's tries last some eight hours in all, however the dice fall (%f)",
  async (dice) => {
    const { given, untilNothingWaits } = await makeTries(() => "STORAGE_UNAVAILABLE", { random: () => dice });
    const waits = await untilNothingWaits();
    const hours = waits.reduce((sum, ms) => sum + ms, 0) / HOUR;
    expect(hours).toBeGreaterThan(5);
    expect(hours).toBeLessThan(11);
    if (dice === 0.5) expect(hours).toBeCloseTo(8, 0);
    expect(given).toEqual(["STORAGE_UNAVAILABLE"]);
  },
);

test.each(["MODEL_REFUSED_REQUEST", "defect"] as const)("a message that fails by itself (%s) is given up after 8 tries", async (code) => {
  const { tries, pending, untilNothingWaits } = await makeTries(() => code);
  await untilNothingWaits();
  expect(tries).toHaveLength(8);
  expect(await pending()).toMatchObject({ state: "failed" });
});

test.each([0, 20])(
  "[reading-bounded] a message that was read in vain is given up at once, also behind an outage of %i tries",
  async (away) => {
    const { tries, pending, untilNothingWaits } = await makeTries((attempt) => (attempt <= away ? "MODEL_TIMEOUT" : "EXTRACTION_FAILED"));
    await untilNothingWaits();
    expect(tries).toHaveLength(away + 1);
    expect(await pending()).toMatchObject({ state: "failed" });
  },
);

test("behind a long outage a message that is refused has one more try, and no more", async () => {
  const { tries, pending, untilNothingWaits } = await makeTries((attempt) => (attempt <= 20 ? "MODEL_TIMEOUT" : "MODEL_REFUSED_REQUEST"));
  await untilNothingWaits();
  expect(tries).toHaveLength(22);
  expect(await pending()).toMatchObject({ state: "failed" });
});

test("a number of tries that is given holds for outages too", async () => {
  const { tries, untilNothingWaits } = await makeTries(() => "MODEL_QUOTA", { maxAttempts: 3 });
  await untilNothingWaits();
  expect(tries).toHaveLength(3);
});

test("a try whose time is up is an outage, whatever it was broken off in", async () => {
  const { store, sessions, say, clock } = await makeWorld();
  const { id } = await sessions.create(alice, {});
  await say(alice, id, "I am allergic to nuts.", "Noted.");
  await store.turns.recordAttempt(
    { owner: alice, sessionId: id, turn: 1 },
    { attempts: 20, dueAtMs: clock.now().getTime(), errorCode: "INTERNAL" },
  );
  const run = (_pending: unknown, signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
  const fail = async () => expect.unreachable("it is not given up");
  const parts = { writeBack: { run, fail }, store, clock, logger: silentLogger, afterDone: async () => {} };
  const worker = new WriteBackWorker(parts, { timeoutMs: () => 20 });
  onTestFinished(() => worker.stop());
  await worker.drain(20_000);
  expect(await store.turns.of(alice, id)).toMatchObject([{ state: "pending", attempts: 21 }]);
});

test("[outage-caught-up] who waits for what is pending doesn't wait for the end of an outage, and is told that something isn't read", async () => {
  const { worker, sessionId, pending, untilNothingWaits } = await makeTries(() => "MODEL_UNAVAILABLE");
  await untilNothingWaits(12);
  expect(await pending()).toMatchObject({ state: "pending", attempts: 12 });
  await worker.flush(alice, sessionId, 10 * MINUTE);
  expect(await worker.written(alice, AbortSignal.timeout(10 * MINUTE))).toBe(false);
  expect(await worker.drain(10 * MINUTE)).toBe(true);
});
