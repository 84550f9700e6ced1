import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ownerOf } from "../../../src/domain/owner.js";
import { RecallBreaker, RecallFailed } from "../../../src/vectors/mem0/recall-breaker.js";

const [ada, bob, cem] = ["ada", "bob", "cem"].map((user) => ownerOf("default", user)) as [
  ReturnType<typeof ownerOf>,
  ReturnType<typeof ownerOf>,
  ReturnType<typeof ownerOf>,
];
const HALF_OPEN_AFTER_MS = 5_000;

let breaker: RecallBreaker;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  breaker = new RecallBreaker({ failures: 3, halfOpenAfterMs: HALF_OPEN_AFTER_MS });
});
afterEach(() => vi.useRealTimers());

/** Whether the call got through to what may fail. */
async function calls(owner: typeof ada, how: "well" | "failing" | "going away"): Promise<boolean> {
  let called = false;
  await breaker
    .run(owner, async () => {
      called = true;
      if (how === "failing") throw new RecallFailed();
      if (how === "going away") throw new Error("the caller went away");
    })
    .catch(() => {});
  return called;
}

async function times(count: number, owner: typeof ada, how: "well" | "failing" | "going away"): Promise<boolean[]> {
  const called: boolean[] = [];
  for (let n = 0; n < count; n++) called.push(await calls(owner, how));
  return called;
}

test("[other-users-unaffected] what fails for one owner alone is left alone for that owner only", async () => {
  expect(await times(5, ada, "failing")).toEqual([true, true, true, false, false]);
  expect(await times(2, bob, "well")).toEqual([true, true]);
  expect(breaker.isOpen).toBe(true);
});

test("what fails for several owners in a row is left alone for everybody", async () => {
  expect(await calls(ada, "failing")).toBe(true);
  expect(await calls(bob, "failing")).toBe(true);
  expect(await calls(ada, "failing")).toBe(true);
  expect(await calls(cem, "well")).toBe(false);
});

test("a success of anybody between the failures keeps it closed for all", async () => {
  for (let n = 0; n < 5; n++) {
    await calls(ada, "failing");
    await calls(bob, "well");
    await calls(cem, "failing");
    await calls(bob, "well");
  }
  expect(await calls(bob, "well")).toBe(true);
});

test("after its time one call tries: a failure opens it again, a success closes it, whoever's it is", async () => {
  for (const owner of [ada, bob, ada]) await calls(owner, "failing");
  vi.setSystemTime(Date.now() + HALF_OPEN_AFTER_MS);
  expect(await calls(ada, "failing")).toBe(true);
  expect(await calls(cem, "well")).toBe(false);
  vi.setSystemTime(Date.now() + HALF_OPEN_AFTER_MS);
  expect(await calls(cem, "well")).toBe(true);
  expect(await calls(bob, "well")).toBe(true);
  expect(await calls(ada, "well")).toBe(true);
  expect(breaker.isOpen).toBe(false);
});

test("a caller that goes away says nothing about the store", async () => {
  expect(await times(6, ada, "going away")).toEqual([true, true, true, true, true, true]);
  expect(breaker.isOpen).toBe(false);
});
