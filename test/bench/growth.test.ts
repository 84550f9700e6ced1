import { expect, test } from "vitest";
import { inTurns, spread } from "../../bench/growth/in-turns.js";

test("sizes take turns, one operation of each at a time, and what it leaves is done before the next", async () => {
  const done: string[] = [];
  const sizes = [10, 100].map((size) => ({
    size,
    operation: async (n: number) => void done.push(`${size}: ${n}`),
    rest: async () => void done.push(`${size}: rest`),
  }));
  const points = await inTurns(sizes, { operations: 1, warmUp: 1 });
  const turn = (n: number) => [`10: ${n}`, "10: rest", `100: ${n}`, "100: rest"];
  expect(done).toEqual([...turn(0), ...turn(1)]);
  expect(points.map(({ size, ms, cpuMs }) => [size, ms >= 0, cpuMs >= 0])).toEqual([
    [10, true, true],
    [100, true, true],
  ]);
});

test("how many times the cheapest size the dearest costs, whichever is the larger", () => {
  const points = [4, 2, 3].map((cpuMs, index) => ({ size: 10 ** index, ms: 100, cpuMs }));
  expect(spread(points)).toBe(2);
});
