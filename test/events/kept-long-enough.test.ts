import { expect, onTestFinished, test } from "vitest";
import { parseConfig } from "../../src/compose/config.js";
import { composeEvents } from "../../src/compose/events.js";
import type { Stores } from "../../src/compose/stores.js";
import { wiringOf } from "../../src/compose/wiring.js";
import { eventOf } from "../../src/domain/event.js";
import { daysFrom } from "../../src/domain/lifecycle.js";
import { silentLogger } from "../../src/platform/logger.js";
import { openMemoryEventLog } from "../../src/stores/sqlite-index/memory-event-log.js";
import { ALICE } from "../../src/testing/journal-records.js";

const NOW = new Date("2026-03-20T10:00:00.000Z");

test("[events-dead-kept] events, and what a webhook gave up, are dropped once EVENTS_RETENTION_DAYS have passed", async () => {
  const { log, close } = openMemoryEventLog({ now: () => new Date(0) });
  onTestFinished(close);
  log.keepQueue();
  const config = parseConfig({ EVENTS_RETENTION_DAYS: "3", MEM0_ENABLED: "false" });
  const wiring = wiringOf(config, { logger: silentLogger, clock: { now: () => NOW } }, (value) => value);
  const stores = { events: log, eventQueue: log.queue } as unknown as Stores;
  const words = {} as Parameters<typeof composeEvents>[2];
  for (const days of [5, 4, 2, 1]) {
    const at = new Date(daysFrom(NOW, -days)).toISOString();
    const event = eventOf(ALICE, "session.created", [days], at, { session_id: String(days) });
    await log.add(ALICE, [event]);
    if (days % 2 === 0) await log.queue.bury(ALICE, event.id, { attempts: 8, error: "HTTP_500", deadSince: at });
  }
  expect(await log.queue.counts()).toEqual({ waiting: 2, dead: 2 });
  await composeEvents(wiring, stores, words).prune();
  expect(await log.read("all", { after: "", limit: 10 })).toHaveLength(2);
  expect(await log.queue.counts()).toEqual({ waiting: 2, dead: 1 });
});
