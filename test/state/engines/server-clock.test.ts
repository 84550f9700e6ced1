import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ServerClock } from "../../../src/state/engines/cosmos/cosmos-client.js";

const NOON = Date.parse("2026-03-01T12:00:00.000Z");
beforeEach(() => void vi.useFakeTimers({ now: NOON + 400 }));
afterEach(() => void vi.useRealTimers());

/** An answer that took `ms`, given at its end by a server whose clock then says `serverMs`. */
function answered(clock: ServerClock, serverMs: number, ms = 0): void {
  const askedMs = performance.now();
  vi.advanceTimersByTime(ms);
  clock.observe(new Date(serverMs).toUTCString(), askedMs);
}

test("a clock that agrees with the server's is kept, to the millisecond", () => {
  const clock = new ServerClock();
  answered(clock, NOON + 400);
  expect(clock.nowMs()).toBe(NOON + 400);
  vi.advanceTimersByTime(777);
  expect(clock.nowMs()).toBe(NOON + 1_177);
});

test("one that is wrong by an hour is put right to within a second, and closer with each answer", () => {
  const clock = new ServerClock();
  const offBy = () => Math.abs(clock.nowMs() - (Date.now() + 3_600_000));
  answered(clock, Date.now() + 3_600_000);
  expect(offBy()).toBeLessThanOrEqual(1_000);
  for (let step = 0; step < 20; step++) {
    vi.advanceTimersByTime(1_050);
    answered(clock, Date.now() + 3_600_000);
  }
  expect(offBy()).toBeLessThanOrEqual(100);
});

test("a server whose clock is set anew is followed, and an answer without a date changes nothing", () => {
  const clock = new ServerClock();
  answered(clock, NOON + 400);
  answered(clock, NOON + 86_400_000);
  expect(clock.nowMs() - (NOON + 86_400_000)).toBeGreaterThanOrEqual(-1_000);
  const before = clock.nowMs();
  clock.observe(undefined, performance.now());
  clock.observe("no date", performance.now());
  expect(clock.nowMs()).toBe(before);
});
