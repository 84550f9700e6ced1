import { describe, expect, onTestFinished, test } from "vitest";
import { InstallationJobs, type JobWork } from "../../src/operations/jobs.js";
import { systemClock } from "../../src/platform/clock.js";
import { AppError } from "../../src/platform/errors.js";
import { LEASE_MS } from "../../src/platform/held-lease.js";
import { type Logger, silentLogger } from "../../src/platform/logger.js";
import type { JobKind } from "../../src/ports/operator.js";
import type { StateEngine } from "../../src/state/engine.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { EngineJobs } from "../../src/state/jobs/installation-jobs.js";
import { CutEngine } from "../state/cut-engine.js";

const nothing: JobWork = { dryRun: false, run: async () => ({}) };

/** One process of an installation. */
function jobsOf(work: Partial<JobWork>, { engine = new MemoryEngine() as StateEngine, logger = silentLogger as Logger } = {}) {
  const works: Record<JobKind, JobWork> = { retention: nothing, promote: nothing, reindex: nothing, reindex_memories: nothing };
  works.reindex = { dryRun: false, run: async () => ({}), ...work };
  const jobs = new InstallationJobs({ works, rows: new EngineJobs(engine), isShared: true, clock: systemClock, logger });
  onTestFinished(() => jobs.close());
  return jobs;
}

/** Runs until it is stopped or let go. */
function held() {
  let letGo = () => {};
  let runs = 0;
  const promise = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const run: JobWork["run"] = ({ signal, onProgress }) => {
    runs += 1;
    onProgress(3, 7);
    const stopped = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    return Promise.race([promise.then(() => ({ sessions: 7 })), stopped]);
  };
  return { run, letGo: () => letGo(), runs: () => runs };
}

/** An engine whose time is turned by hand. */
function engineAt() {
  let now = Date.parse("2026-03-01T10:00:00.000Z");
  const pass = (ms: number) => {
    now += ms;
  };
  return { engine: new MemoryEngine({ clock: { now: () => new Date(now) } }), pass };
}

const SOON = { interval: 5, timeout: 5_000 };
const ended = (jobs: InstallationJobs, id: string) =>
  expect.poll(async () => (await jobs.get(id)).ended_at, { ...SOON, interval: 1 }).not.toBeNull();
const start = { dryRun: false };

describe("a job", () => {
  test("tells how far it is, then what came of it", async () => {
    const { run, letGo } = held();
    const jobs = jobsOf({ run });
    const { id, state, progress } = await jobs.start("reindex", start);
    expect([state, progress]).toEqual(["running", { done: 0, total: null }]);
    await expect.poll(async () => (await jobs.get(id)).progress).toEqual({ done: 3, total: 7 });
    letGo();
    await ended(jobs, id);
    expect(await jobs.get(id)).toMatchObject({ state: "succeeded", result: { sessions: 7 }, problem: null });
  });

  test("[one-job-of-a-kind] runs alone of its kind, over all processes, each of which names it", async () => {
    const engine = new MemoryEngine();
    const [here, there] = [held(), held()];
    const [jobs, others] = [jobsOf(here, { engine }), jobsOf(there, { engine })];
    const { id } = await jobs.start("reindex", start);
    for (const each of [jobs, others])
      await expect(each.start("reindex", start)).rejects.toMatchObject({ code: "JOB_RUNNING", message: `The job ${id} is running.` });
    await jobs.start("promote", start);
    here.letGo();
    await ended(jobs, id);
    expect((await others.start("reindex", start)).state).toBe("running");
    expect((await jobs.list()).map(({ kind }) => kind)).toEqual(["reindex", "promote", "reindex"]);
  });

  test("[one-job-of-a-kind] of eight processes that begin it at once one does", async () => {
    const engine = new MemoryEngine();
    const work = held();
    const begun = await Promise.allSettled(Array.from({ length: 8 }, () => jobsOf(work, { engine }).start("reindex", start)));
    expect(begun.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect.poll(work.runs, SOON).toBe(1);
  });

  test("[jobs-survive] is seen and stopped from another process", async () => {
    const engine = new MemoryEngine();
    const [jobs, others] = [jobsOf(held(), { engine }), jobsOf({}, { engine })];
    const { id } = await jobs.start("reindex", start);
    await expect.poll(async () => (await others.get(id)).progress, SOON).toEqual({ done: 3, total: 7 });
    expect((await others.stop(id)).state).toBe("stopping");
    await ended(others, id);
    expect(await jobs.get(id)).toMatchObject({ state: "stopped", result: null, problem: null });
    expect(await others.list()).toEqual(await jobs.list());
  });

  test("stops when it is asked to, and then another may begin; one that has ended stays as it is", async () => {
    const jobs = jobsOf(held());
    const { id } = await jobs.start("reindex", start);
    expect((await jobs.stop(id)).state).toBe("stopping");
    await ended(jobs, id);
    expect(await jobs.stop(id)).toMatchObject({ state: "stopped", result: null, problem: null });
    await jobs.start("reindex", start);
  });

  test("[no-text-in-logs] tells why it failed: our own errors by code, of others' texts nothing", async () => {
    const logged: object[] = [];
    const logger = { ...silentLogger, error: (fields: object) => void logged.push(fields) };
    const failing = (error: Error) => jobsOf({ run: () => Promise.reject(error) }, { logger });
    const disabled = failing(new AppError("LONG_TERM_MEMORY_DISABLED"));
    const foreign = failing(new Error("Ada has a nut allergy"));
    const ids = [(await disabled.start("reindex", start)).id, (await foreign.start("reindex", start)).id];
    await Promise.all([ended(disabled, ids[0] ?? ""), ended(foreign, ids[1] ?? "")]);
    expect((await disabled.get(ids[0] ?? "")).problem?.code).toBe("LONG_TERM_MEMORY_DISABLED");
    expect(await foreign.get(ids[1] ?? "")).toMatchObject({ state: "failed", problem: { code: "INTERNAL" } });
    expect(JSON.stringify(await foreign.list())).not.toContain("allergy");
    expect(logged.length).toBe(2);
  });

  test("has a dry run only where it can say what it would do", async () => {
    await expect(jobsOf({}).start("reindex", { dryRun: true })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    const asked: boolean[] = [];
    const jobs = jobsOf({ dryRun: true, run: async ({ dryRun }) => ({ dry_run: asked.push(dryRun) > 0 }) });
    const { id } = await jobs.start("reindex", { dryRun: true });
    await ended(jobs, id);
    expect([(await jobs.get(id)).dry_run, asked]).toEqual([true, [true]]);
  });
});

describe("a job whose process is killed", () => {
  test.each([
    ["before it is written", 1],
    ["before anybody has it", 2],
    ["before its end is written", 3],
  ])("[jobs-survive] %s is run by another, or was never begun", async (_, killed) => {
    const { engine, pass } = engineAt();
    const gone = jobsOf({ run: async () => ({ sessions: 1 }) }, { engine: new CutEngine(engine, { killed }) });
    const begun = await gone.start("reindex", start).catch(() => null);
    expect(begun === null).toBe(killed === 1);
    const next = jobsOf({ run: async () => ({ sessions: 2 }) }, { engine });
    if (begun === null) {
      expect(await next.list()).toEqual([]);
      await next.start("reindex", start);
      return;
    }
    if (killed === 3) {
      await expect.poll(async () => (await new EngineJobs(engine).find(begun.id))?.attempts, SOON).toBe(1);
      await expect(next.start("reindex", start)).rejects.toMatchObject({ code: "JOB_RUNNING" });
    }
    pass(LEASE_MS + 1);
    next.open();
    await ended(next, begun.id);
    expect(await next.list()).toMatchObject([{ id: begun.id, state: "succeeded", result: { sessions: 2 } }]);
  });

  test("[jobs-survive] while it was to stop has stopped; one that no process outlives is given up", async () => {
    const { engine, pass } = engineAt();
    const rows = new EngineJobs(engine);
    const work = held();
    const jobs = jobsOf(work, { engine });
    const killed = async (id: string, times: number) => {
      for (let time = 0; time < times; time++) {
        expect((await rows.claim(1, LEASE_MS)).map(({ job }) => job.id)).toEqual([id]);
        pass(LEASE_MS + 1);
      }
    };
    const written = async (id: string) => {
      const job = { id, kind: "reindex", dry_run: false, state: "running", started_at: "2026-03-01T10:00:00.000Z" } as const;
      const rest = { ended_at: null, progress: { done: 0, total: null }, result: null, problem: null };
      expect(await rows.begin({ job: { ...job, ...rest }, begunBy: "a process that is gone" })).toBeNull();
    };
    await written("1");
    await killed("1", 1);
    await jobs.stop("1");
    jobs.open();
    await ended(jobs, "1");
    expect((await jobs.get("1")).state).toBe("stopped");
    await written("2");
    await killed("2", 3);
    await jobs.start("promote", start);
    await ended(jobs, "2");
    expect(await jobs.get("2")).toMatchObject({ state: "failed", problem: { code: "INTERNAL" } });
    expect(work.runs()).toBe(0);
  });
});

test("a stop of the server stops its jobs, and begins none", async () => {
  const jobs = jobsOf(held());
  const { id } = await jobs.start("reindex", start);
  await jobs.close();
  expect((await jobs.get(id)).state).toBe("stopped");
  await expect(jobs.start("reindex", start)).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
});

test("of the jobs that have ended the newest hundred are told", async () => {
  const jobs = jobsOf({});
  for (let count = 0; count < 105; count++) await ended(jobs, (await jobs.start("reindex", start)).id);
  expect(await jobs.list()).toHaveLength(100);
  await expect(jobs.get("gone")).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
});

test("[jobs-survive] of eight processes that would do the same from time to time one does it, each time", async () => {
  const { engine, pass } = engineAt();
  const rows = Array.from({ length: 8 }, () => new EngineJobs(engine));
  const turns = async () => (await Promise.all(rows.map((each) => each.takeTurn("leftovers", 30_000)))).filter(Boolean).length;
  expect(await turns()).toBe(1);
  pass(29_999);
  expect(await turns()).toBe(0);
  pass(1);
  expect(await turns()).toBe(1);
});
