import { expect, onTestFinished, test } from "vitest";
import { parseConfig } from "../../src/compose/config.js";
import { composeEvents } from "../../src/compose/events.js";
import { type Stores, wiringOf } from "../../src/compose/wiring.js";
import { eventOf } from "../../src/domain/event.js";
import { daysFrom } from "../../src/domain/lifecycle.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { EngineEventQueue } from "../../src/state/events/event-queue.js";
import { EngineEventLog } from "../../src/state/events/events.js";
import { ALICE } from "../support/journal-records.js";

const NOW = new Date("2026-03-20T10:00:00.000Z");

test("[events-dead-kept] events, and what a webhook gave up, are dropped once EVENTS_RETENTION_DAYS have passed", async () => {
  const engine = new MemoryEngine();
  const log = new EngineEventLog(engine, { queued: true });
  onTestFinished(() => log.close());
  const queue = new EngineEventQueue(engine, { clock: systemClock, log });
  const config = parseConfig({ EVENTS_RETENTION_DAYS: "3", MEM0_ENABLED: "false" });
  const wiring = wiringOf(config, { logger: silentLogger, clock: { now: () => NOW } }, (value) => value);
  const stores = { events: log, eventQueue: queue } as unknown as Stores;
  const words = {} as Parameters<typeof composeEvents>[2];
  for (const days of [5, 4, 2, 1]) {
    const at = new Date(daysFrom(NOW, -days)).toISOString();
    const event = eventOf(ALICE, "session.created", [days], at, { session_id: String(days) });
    await log.add(ALICE, [event]);
    if (days % 2 === 0) await queue.bury(ALICE, event.id, { attempts: 8, error: "HTTP_500", deadSince: at });
  }
  expect(await queue.counts()).toEqual({ waiting: 2, dead: 2 });
  await composeEvents(wiring, stores, words).prune();
  expect(await log.read("all", { after: "", limit: 10 })).toHaveLength(2);
  expect(await queue.counts()).toEqual({ waiting: 2, dead: 1 });
});
