import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { boundedSignal } from "../../src/platform/bounded-signal.js";

test("a bounded signal aborts with the first of its sources, for its reason, and lets go of all of them", () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const bound = boundedSignal([first.signal, undefined, second.signal], 60_000);
  expect(bound.signal.aborted).toBe(false);
  const reason = new Error("gone");
  second.abort(reason);
  first.abort(new Error("later"));
  expect(bound.signal.reason).toBe(reason);
  expect(bound.late).toBe(false);
  expect(getEventListeners(first.signal, "abort")).toEqual([]);
});

test("a bounded signal of a source that is aborted is aborted at once", () => {
  const reason = new Error("gone");
  expect(boundedSignal([new AbortController().signal, AbortSignal.abort(reason)], 60_000).signal.reason).toBe(reason);
});

test("a bounded signal whose time is up says so as AbortSignal.timeout does", async () => {
  const bound = boundedSignal([], 1);
  // Its own timer keeps no process alive.
  const alive = setInterval(() => {}, 1_000);
  await new Promise((resolve) => bound.signal.addEventListener("abort", resolve, { once: true }));
  clearInterval(alive);
  expect(bound.late).toBe(true);
  expect(bound.signal.reason).toMatchObject({ name: "TimeoutError" });
});

test("a bounded signal that was ended aborts no more, and is listened for nowhere", async () => {
  const source = new AbortController();
  const bound = boundedSignal([source.signal], 1);
  bound.end();
  expect(getEventListeners(source.signal, "abort")).toEqual([]);
  source.abort();
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(bound.signal.aborted).toBe(false);
});
