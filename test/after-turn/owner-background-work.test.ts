import { expect, test } from "vitest";
import { OwnerBackgroundWork } from "../../src/after-turn/owner-background-work.js";
import { ownerOf } from "../../src/domain/owner.js";

const ada = ownerOf("default", "ada");
const bob = ownerOf("default", "bob");
const never = new AbortController().signal;

/** Work that lasts until it is told to end, or is ended. */
function lasting(signal: AbortSignal): { readonly ended: Promise<string>; readonly end: () => void } {
  let end: () => void = () => {};
  const ended = new Promise<string>((resolve, reject) => {
    end = () => resolve("done");
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  return { ended, end };
}

test("a hold ends what runs for its owner, waits for it, and leaves others alone", async () => {
  const work = new OwnerBackgroundWork();
  const runs: ReturnType<typeof lasting>[] = [];
  const start = (signal: AbortSignal) => {
    const run = lasting(signal);
    runs.push(run);
    return run.ended;
  };
  const adas = work.run(ada, never, start);
  const bobs = work.run(bob, never, start);
  const release = await work.hold(ada);
  await expect(runs[0]?.ended).rejects.toThrow();
  runs[1]?.end();
  expect(await bobs).toBe("done");
  expect(runs).toHaveLength(2);
  release();
  await Promise.resolve();
  await work.hold(bob);
  expect(runs, "begun again").toHaveLength(3);
  runs[2]?.end();
  expect(await adas).toBe("done");
});

test("nothing begins while anybody holds the owner", async () => {
  const work = new OwnerBackgroundWork();
  const first = await work.hold(ada);
  const second = await work.hold(ada);
  const order: string[] = [];
  const run = work.run(ada, never, async () => order.push("ran"));
  first();
  await Promise.resolve();
  order.push("released");
  second();
  await run;
  expect(order).toEqual(["released", "ran"]);
});

test("who waits for the end of a hold can be called off; a failure of its own is not repeated", async () => {
  const work = new OwnerBackgroundWork();
  const release = await work.hold(ada);
  const caller = new AbortController();
  const waiting = work.run(ada, caller.signal, async () => "never");
  caller.abort(new Error("called off"));
  await expect(waiting).rejects.toThrow("called off");
  release();
  let times = 0;
  const failing = work.run(ada, never, async () => {
    times += 1;
    throw new Error("broken");
  });
  await expect(failing).rejects.toThrow("broken");
  expect(times).toBe(1);
});
