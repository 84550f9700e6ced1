import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { scheduleRetention } from "../../src/after-turn/retention.js";
import { compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { ownerOf } from "../../src/domain/owner.js";
import { type Logger, silentLogger } from "../../src/platform/logger.js";
import { InProcessLock } from "../../src/state/sessions/in-process-lock.js";

const HOUR_MS = 3_600_000;
const START = Date.parse("2026-03-01T09:30:00.000Z");

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: START });
});
afterEach(() => {
  vi.useRealTimers();
});

const hours = (times: readonly number[]) => times.map((time) => (time - START) / HOUR_MS);

test.each([
  [1, [0.5, 1.5, 2.5, 3.5]],
  [6, [0.5, 6.5, 12.5, 18.5]],
  [24, [0.5, 24.5, 48.5, 72.5]],
  [168, [0.5, 168.5]],
])("every %i hours, from the next full hour on", async (everyHours, expected) => {
  const runs: number[] = [];
  const run = async () => void runs.push(Date.now());
  const schedule = scheduleRetention({ everyHours, run, locks: new InProcessLock(), logger: silentLogger });
  await vi.advanceTimersByTimeAsync(((expected.at(-1) ?? 0) + 0.25) * HOUR_MS);
  await schedule.stop();
  expect(hours(runs)).toEqual(expected);
  await vi.advanceTimersByTimeAsync(2 * everyHours * HOUR_MS);
  expect(runs).toHaveLength(expected.length);
});

test("a server runs it every RETENTION_INTERVAL_HOURS, and it deletes and purges what is due by then", async () => {
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
