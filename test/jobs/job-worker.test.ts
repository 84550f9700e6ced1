import { expect, onTestFinished, test } from "vitest";
import type { Owner } from "../../src/domain/owner.js";
import { type JobQueue, JobWorker } from "../../src/jobs/job-worker.js";
import { orAbort } from "../../src/platform/bounded-signal.js";
import { silentLogger } from "../../src/platform/logger.js";
import { alice, bob } from "../support/session-world.js";

interface Task {
  readonly id: string;
  readonly owner: Owner;
}

/** A queue whose jobs run until they are told to end. */
function queueOf(waiting: Task[], parts: Partial<JobQueue<Task>> = {}) {
  const begun: string[] = [];
  const given: string[] = [];
  const ends = new Map<string, () => void>();
  const queue: JobQueue<Task> = {
    name: "tasks",
    ownerOf: ({ owner }) => owner,
    keyOf: ({ id }) => id,
    placeOf: ({ id }) => ({ id }),
    claim: async (limit, except) => {
      const due = waiting.filter(({ owner }) => !except.has(owner)).slice(0, limit);
      for (const each of due) waiting.splice(waiting.indexOf(each), 1);
      return due;
    },
    letGo: async (job) => {
      given.push(job.id);
      waiting.push(job);
    },
    run: (job, signal) => {
      begun.push(job.id);
      return orAbort(new Promise<void>((resolve) => ends.set(job.id, resolve)), signal);
    },
    failed: async () => expect.unreachable(),
    nextLookMs: async () => 1,
    ...parts,
  };
  const worker = new JobWorker(queue, silentLogger, { concurrency: 4 });
  onTestFinished(() => worker.stop());
  return { worker, begun, letGo: given, end: (id: string) => ends.get(id)?.() };
}

const tasks = (owner: Owner, ...ids: readonly string[]): Task[] => ids.map((id) => ({ id, owner }));

test("one owner has half of the places at most, and others come behind whom the first look did not find", async () => {
  const { worker, begun, letGo, end } = queueOf([...tasks(alice, "a1", "a2"), ...tasks(bob, "b1", "b2"), ...tasks(alice, "a3")]);
  worker.kick();
  await expect.poll(() => begun).toEqual(["a1", "a2", "b1", "b2"]);
  end("b1");
  worker.start();
  await expect.poll(async () => (await worker.running()).map(({ id }) => id)).toEqual(["a1", "a2", "b2"]);
  expect([begun.length, letGo]).toEqual([4, []]);
  end("a1");
  await expect.poll(() => begun.at(-1)).toBe("a3");
});

test("what is broken off by a hold or a stop is let go, and is no failed attempt", async () => {
  const { worker, begun, letGo } = queueOf([...tasks(alice, "a1"), ...tasks(bob, "b1")]);
  worker.kick();
  await expect.poll(() => begun).toEqual(["a1", "b1"]);
  await worker.hold(alice);
  expect(letGo).toEqual(["a1"]);
  await worker.stop();
  expect(letGo).toEqual(["a1", "b1"]);
});

test("what follows a job takes no other's place, and is waited for", async () => {
  let follow = () => {};
  const followed = new Promise<void>((resolve) => {
    follow = resolve;
  });
  const { worker, begun, end } = queueOf(tasks(alice, "a1", "a2", "a3"), { afterDone: () => followed });
  worker.kick();
  await expect.poll(() => begun).toEqual(["a1", "a2"]);
  end("a1");
  await expect.poll(() => begun).toEqual(["a1", "a2", "a3"]);
  expect(await worker.running()).toHaveLength(3);
  follow();
  await expect.poll(async () => (await worker.running()).length).toBe(2);
});

test("whose lease is lost is broken off, whatever it does", async () => {
  const { worker, begun, letGo } = queueOf(tasks(alice, "a1"), { renew: async () => null });
  worker.kick();
  await expect.poll(() => begun).toEqual(["a1"]);
  await expect.poll(() => letGo, { timeout: 3_000 }).toEqual(["a1"]);
});
