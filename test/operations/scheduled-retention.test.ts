import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { ownerOf } from "../../src/domain/owner.js";
import { InstallationJobs, type JobWork, scheduleJob } from "../../src/operations/jobs.js";
import { systemClock } from "../../src/platform/clock.js";
import { type Logger, silentLogger } from "../../src/platform/logger.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { EngineJobs } from "../../src/state/jobs/installation-jobs.js";
import { SLOW } from "../support/projects.js";

const HOUR_MS = 3_600_000;
const START = Date.parse("2026-03-01T09:30:00.000Z");

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: START });
});
afterEach(() => {
  vi.useRealTimers();
});

const hours = (times: readonly number[]) => times.map((time) => (time - START) / HOUR_MS);

/** A process that runs retention by schedule. */
function scheduled(run: JobWork["run"], { everyHours = 24, engine = new MemoryEngine() } = {}) {
  const work: JobWork = { dryRun: false, run };
  const works = { retention: work, promote: work, reindex: work, reindex_memories: work };
  const jobs = new InstallationJobs({ works, rows: new EngineJobs(engine), isShared: true, clock: systemClock, logger: silentLogger });
  const schedule = scheduleJob({ kind: "retention", everyHours, jobs, logger: silentLogger });
  return { jobs, schedule };
}

test.each([
  [1, [0.5, 1.5, 2.5, 3.5]],
  [6, [0.5, 6.5, 12.5, 18.5]],
  [24, [0.5, 24.5, 48.5, 72.5]],
  [168, [0.5, 168.5]],
])("every %i hours, from the next full hour on", async (everyHours, expected) => {
  const runs: number[] = [];
  const run = async () => ({ runs: runs.push(Date.now()) });
  const { schedule } = scheduled(run, { everyHours });
  await vi.advanceTimersByTimeAsync(((expected.at(-1) ?? 0) + 0.25) * HOUR_MS);
  schedule.stop();
  expect(hours(runs)).toEqual(expected);
  await vi.advanceTimersByTimeAsync(2 * everyHours * HOUR_MS);
  expect(runs).toHaveLength(expected.length);
});

test("a server runs it every RETENTION_INTERVAL_HOURS, and it deletes and purges what is due by then", { tags: [SLOW] }, async () => {
  const runs: number[] = [];
  const logger: Logger = {
    ...silentLogger,
    info: (_fields: object, text: string) => {
      if (text === "retention") runs.push(Date.now());
    },
  };
  const config = parseConfig({
    ...{ SHORT_TERM_BACKEND: "memory", MEM0_ENABLED: "false", HISTORY_BACKEND: "none", EMBEDDING_PROVIDER: "hashing" },
    ...{ RETENTION_INTERVAL_HOURS: "6", RETENTION_ACTIVE_DAYS: "1", RETENTION_DELETED_DAYS: "1" },
  });
  const { sessions, close } = await compose(config, { logger });
  const owner = ownerOf("default", "ines");
  try {
    const { id } = await sessions.create(owner, {});
    const status = async () =>
      sessions.get(owner, id).then(
        (session) => session.status,
        () => "purged",
      );
    await vi.advanceTimersByTimeAsync(24 * HOUR_MS);
    expect([hours(runs), await status()]).toEqual([[0.5, 6.5, 12.5, 18.5], "active"]);
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    expect([hours(runs).at(-1), await status()]).toEqual([24.5, "deleted"]);
    await vi.advanceTimersByTimeAsync(24 * HOUR_MS);
    expect([hours(runs).at(-1), await status()]).toEqual([48.5, "purged"]);
  } finally {
    vi.useRealTimers();
    await close();
  }
});

describe("over several processes", () => {
  test("[jobs-survive] what all are to run at the same hour runs once, and again when its time has come", async () => {
    const engine = new MemoryEngine();
    const runs: number[] = [];
    const processes = Array.from({ length: 3 }, () => scheduled(async () => ({ runs: runs.push(Date.now()) }), { engine }));
    await vi.advanceTimersByTimeAsync(25 * HOUR_MS);
    expect(hours(runs)).toEqual([0.5, 24.5]);
    for (const { schedule } of processes) await schedule.trigger();
    expect(runs).toHaveLength(2);
    for (const { schedule } of processes) schedule.stop();
    await vi.advanceTimersByTimeAsync(24 * HOUR_MS);
    const [first, second] = processes;
    await Promise.all([first?.schedule.trigger(), second?.schedule.trigger()]);
    await vi.advanceTimersByTimeAsync(1);
    expect(runs).toHaveLength(3);
  });

  test("[jobs-survive] a run that the stop of its process breaks off is left to another; a failed one waits for its time", async () => {
    const engine = new MemoryEngine();
    let broken = 0;
    const hung: JobWork["run"] = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          broken += 1;
          reject(new Error("aborted"));
        });
      });
    const one = scheduled(hung, { engine });
    await one.schedule.trigger();
    one.schedule.stop();
    await vi.advanceTimersByTimeAsync(1);
    await one.jobs.close();
    expect([broken, (await one.jobs.list())[0]?.state]).toEqual([1, "running"]);
    const other = scheduled(async () => Promise.reject(new Error("failed")), { engine });
    other.jobs.open();
    await vi.advanceTimersByTimeAsync(1);
    expect(await other.jobs.list()).toMatchObject([{ kind: "retention", state: "failed" }]);
    await other.schedule.trigger();
    expect(await other.jobs.list()).toHaveLength(1);
    other.schedule.stop();
    await other.jobs.close();
  });
});
