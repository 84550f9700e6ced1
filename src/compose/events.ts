import { daysFrom } from "../domain/lifecycle.js";
import { contentOfEvents, EventFeed } from "../events/events.js";
import { WebhookWorker } from "../events/webhook-worker.js";
import type { Events } from "../ports/events.js";
import { httpWebhook } from "../webhooks/http-webhook.js";
import type { Stores, Wiring } from "./wiring.js";

export interface ComposedEvents {
  readonly feed: Events;
  /** Begins to deliver, where there is a receiver. */
  start(): void;
  /** Drops those that have been kept long enough, also of those that were given up. */
  prune(): Promise<void>;
  /** What is to be delivered, and what was given up; null where nothing is delivered. */
  readonly deliveries: (() => Promise<{ readonly waiting: number; readonly dead: number }>) | null;
}

/** `words`: where what events tell of is looked up, where they are to hold it. */
export function composeEvents(
  { config, overrides, clock, logger, closing }: Wiring,
  { events: log, eventQueue: queue }: Stores,
  words: Parameters<typeof contentOfEvents>[0],
): ComposedEvents {
  const { WEBHOOK_URL: url, WEBHOOK_SECRET: secret } = config;
  const contentOf = config.EVENTS_CONTENT ? contentOfEvents(words) : null;
  const feed = closing(new EventFeed({ log, queue, contentOf, onQueued: () => worker?.kick(), clock, logger }), (it) => it.close());
  const delivers = url !== undefined && secret !== undefined;
  const worker = delivers
    ? closing(
        new WebhookWorker(
          {
            queue,
            log,
            sender: httpWebhook({ url, secret, clock, ...overrides.webhooks }),
            told: (kept) => feed.told(kept),
            clock,
            logger,
          },
          overrides.webhooks,
        ),
        (it) => it.stop(),
      )
    : null;
  return {
    feed,
    start: () => worker?.start(),
    prune: async () => {
      const before = new Date(daysFrom(clock.now(), -config.EVENTS_RETENTION_DAYS));
      const events = await log.prune(before);
      if (events > 0) logger.info({ events }, "events were kept long enough");
      const undelivered = await queue.pruneDead(before);
      if (undelivered > 0) logger.warn({ events: undelivered }, "events that no webhook could deliver were kept long enough, and are gone");
    },
    deliveries: delivers ? () => queue.counts() : null,
  };
}
