import { expect, test } from "vitest";
import { eventOf } from "../../src/domain/event.js";
import { WebhookWorker } from "../../src/events/webhook-worker.js";
import { systemClock } from "../../src/platform/clock.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { EventQueue, KeptEvent, ToldEvent } from "../../src/ports/events.js";
import { ALICE } from "../support/journal-records.js";

test.each([
  ["behind an event that was delivered", 1],
  ["while the one behind it is sent", 2],
])("who is stopped %s counts none of its tries for the next", async (_when, stoppedAt) => {
  const waiting = [1, 2].map((n) => eventOf(ALICE, "session.created", [n], new Date(n).toISOString(), { session_id: newId() }));
  const claimed = { owner: ALICE, attempts: 5, claim: newId() };
  const released: unknown[] = [];
  let given = false;
  const queue = {
    claim: async () => (given ? [] : [claimed]),
    renew: async () => claimed,
    next: async () => [...waiting],
    delivered: async () => void waiting.shift(),
    release: async (_owner: unknown, { attempts }: { readonly attempts: number }) => void released.push(attempts),
    nextDueMs: async () => null,
  };
  let stopped: Promise<void> | null = null;
  const sent: string[] = [];
  const worker = new WebhookWorker({
    queue: queue as Partial<EventQueue> as EventQueue,
    log: { onAdded: () => () => {}, pollMs: null },
    sender: {
      send: async ({ id }, signal) => {
        given = true;
        sent.push(id);
        if (sent.length === stoppedAt) stopped ??= worker.stop();
        if (sent.length === 2) signal.throwIfAborted();
        return { outcome: "delivered" };
      },
    },
    told: async ({ event }: KeptEvent) => event as unknown as ToldEvent,
    clock: systemClock,
    logger: silentLogger,
  });
  const ids = waiting.map(({ id }) => id);
  worker.kick();
  await expect.poll(() => stopped).not.toBeNull();
  await stopped;
  expect(sent).toEqual(ids.slice(0, stoppedAt));
  expect(released).toEqual([0]);
});
