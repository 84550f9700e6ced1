import { describe, expect, test } from "vitest";
import { type JobWork, RunningJobs } from "../../src/operations/jobs.js";
import { systemClock } from "../../src/platform/clock.js";
import { AppError } from "../../src/platform/errors.js";
import { type Logger, silentLogger } from "../../src/platform/logger.js";
import type { JobKind } from "../../src/ports/operator.js";
import { InProcessLock } from "../../src/state/sessions/in-process-lock.js";

const nothing: JobWork = { lock: "nothing", dryRun: false, run: async () => ({}) };

function jobsOf(work: Partial<JobWork>, { locks = new InProcessLock(), logger = silentLogger as Logger } = {}) {
  const works: Record<JobKind, JobWork> = { retention: nothing, promote: nothing, reindex: nothing, reindex_memories: nothing };
  works.reindex = { lock: "job reindex", dryRun: false, run: async () => ({}), ...work };
  return new RunningJobs({ works, locks, clock: systemClock, logger });
}

/** Runs until it is stopped or let go. */
function held() {
  let letGo = () => {};
  const promise = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const run: JobWork["run"] = ({ signal, onProgress }) => {
    onProgress(3, 7);
    const stopped = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    return Promise.race([promise.then(() => ({ sessions: 7 })), stopped]);
  };
  return { run, letGo: () => letGo() };
}

const ended = (jobs: RunningJobs, id: string) => expect.poll(() => jobs.get(id).ended_at, { interval: 1 }).not.toBeNull();
const start = { dryRun: false };

describe("a job", () => {
  test("tells how far it is, then what came of it", async () => {
    const { run, letGo } = held();
    const jobs = jobsOf({ run });
    const { id, state, progress } = await jobs.start("reindex", start);
    expect([state, progress]).toEqual(["running", { done: 0, total: null }]);
    await expect.poll(() => jobs.get(id).progress).toEqual({ done: 3, total: 7 });
    letGo();
    await ended(jobs, id);
    expect(jobs.get(id)).toMatchObject({ state: "succeeded", result: { sessions: 7 }, problem: null });
  });

  test("[one-job-of-a-kind] runs alone of its kind, over all processes; one of this process is named", async () => {
    const locks = new InProcessLock();
    const [here, there] = [held(), held()];
    const [jobs, others] = [jobsOf(here, { locks }), jobsOf(there, { locks })];
    const { id } = await jobs.start("reindex", start);
    await expect(jobs.start("reindex", start)).rejects.toMatchObject({ code: "JOB_RUNNING", message: `The job ${id} is running.` });
    await expect(others.start("reindex", start)).rejects.toMatchObject({ code: "JOB_RUNNING", message: expect.not.stringContaining(id) });
    await jobs.start("promote", start);
    here.letGo();
    await ended(jobs, id);
    expect((await others.start("reindex", start)).state).toBe("running");
    expect(jobs.list().map(({ kind }) => kind)).toEqual(["promote", "reindex"]);
  });

  test("stops when it is asked to, and then another may begin; one that has ended stays as it is", async () => {
    const jobs = jobsOf(held());
    const { id } = await jobs.start("reindex", start);
    expect(jobs.stop(id).state).toBe("stopping");
    await ended(jobs, id);
    expect(jobs.stop(id)).toMatchObject({ state: "stopped", result: null, problem: null });
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
    expect(disabled.get(ids[0] ?? "").problem?.code).toBe("LONG_TERM_MEMORY_DISABLED");
    expect(foreign.get(ids[1] ?? "")).toMatchObject({ state: "failed", problem: { code: "INTERNAL" } });
    expect(JSON.stringify(foreign.list())).not.toContain("allergy");
    expect(logged.length).toBe(2);
  });

  test("has a dry run only where it can say what it would do", async () => {
    await expect(jobsOf({}).start("reindex", { dryRun: true })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    const asked: boolean[] = [];
    const jobs = jobsOf({ dryRun: true, run: async ({ dryRun }) => ({ dry_run: asked.push(dryRun) > 0 }) });
    const { id } = await jobs.start("reindex", { dryRun: true });
    await ended(jobs, id);
    expect([jobs.get(id).dry_run, asked]).toEqual([true, [true]]);
  });
});

test("a stop of the server stops its jobs, and begins none", async () => {
  const jobs = jobsOf(held());
  const { id } = await jobs.start("reindex", start);
  await jobs.close();
  expect(jobs.get(id).state).toBe("stopped");
  await expect(jobs.start("reindex", start)).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
});

test("of the jobs that have ended the newest hundred are told", async () => {
  const jobs = jobsOf({});
  for (let count = 0; count < 105; count++) await ended(jobs, (await jobs.start("reindex", start)).id);
  expect(jobs.list()).toHaveLength(100);
  expect(() => jobs.get("gone")).toThrow(expect.objectContaining({ code: "JOB_NOT_FOUND" }));
});
