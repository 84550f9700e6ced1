import { afterAll, beforeAll, expect, test } from "vitest";
import { eventOf } from "../../src/domain/event.js";
import type { Owner } from "../../src/domain/owner.js";
import { migrate } from "../../src/operations/migrate.js";
import { systemClock } from "../../src/platform/clock.js";
import { newId } from "../../src/platform/ids.js";
import { BEGINNING } from "../../src/ports/events.js";
import { committed } from "../../src/state/durable-commit.js";
import type { StateEngine } from "../../src/state/engine.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { EngineEventQueue } from "../../src/state/events/event-queue.js";
import { EngineEventLog } from "../../src/state/events/events.js";
import { eventPuts } from "../../src/state/events/outbox.js";
import { ownerPartition } from "../../src/state/partition.js";
import { ALICE, BOB } from "../support/journal-records.js";
import { needing } from "../support/needing.js";
import { ENGINES, type EngineServer, movable } from "./engines.js";

const AT = "2026-03-01T10:00:00.000Z";
const LEASE_MS = 60_000;

function eventsOn(engine: StateEngine) {
  const log = new EngineEventLog(engine, { queued: true });
  return { log, queue: new EngineEventQueue(engine, { clock: systemClock, log }) };
}

const created = (owner: Owner) => eventOf(owner, "session.created", [owner], AT, { session_id: newId() });

for (const kind of ENGINES)
  needing(...kind.needs)(`events that are moved to ${kind.name}`, () => {
    let server: EngineServer;
    beforeAll(async () => {
      server = await kind.start();
    }, 60_000);
    afterAll(() => server.close());

    test("[events-moved] are told and delivered there, once, also what a killed process left, and what was given up is repeated there", async () => {
      const [engine, target] = [new MemoryEngine(), await server.open()];
      const source = eventsOn(engine);
      const [left, givenUp] = [created(ALICE), created(BOB)];
      await source.log.add(BOB, [givenUp]);
      const end = { attempts: 8, error: "HTTP_500", deadSince: AT };
      await source.queue.bury(BOB, givenUp.id, end);
      // Of one that is killed before what it wrote is published.
      await committed(engine, ownerPartition(ALICE), { puts: eventPuts(ALICE, [left]) });
      await source.log.close();

      const options = { signal: new AbortController().signal, now: new Date(AT) };
      const report = await migrate(movable(engine), movable(target), options);
      expect(report).toMatchObject({ differences: [], target: { rows: { events: 1, "events given up": 1 } } });

      const { log, queue } = eventsOn(target);
      await log.catchUpAll();
      const told = await log.read("all", { after: BEGINNING, limit: 10 });
      expect(told.map(({ event }) => event.id)).toEqual([givenUp.id, left.id]);
      const claimed = await queue.claim(systemClock.now(), 10, LEASE_MS);
      expect(claimed.map(({ owner }) => owner)).toContain(ALICE);
      expect(await queue.next(ALICE, 10)).toEqual([left]);
      expect(await queue.dead("default", { limit: 10 })).toMatchObject([{ event: givenUp, attempts: 8 }]);
      expect(await queue.retry("default", givenUp.id, systemClock.now())).toBe(true);
      expect(await queue.next(BOB, 10)).toEqual([givenUp]);
      await log.close();
    });
  });
