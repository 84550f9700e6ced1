import { daysFrom } from "../domain/lifecycle.js";
import { contentOfEvents } from "../events/event-content.js";
import { EventFeed } from "../events/events.js";
import type { Events } from "../ports/events.js";
import type { Stores } from "./stores.js";
import type { Wiring } from "./wiring.js";

/** What is told to the outside. */
export interface ComposedEvents {
  readonly feed: Events;
  /** Drops those that have been kept long enough. */
  prune(): Promise<void>;
}

/** `words`: where what events tell of is looked up, where they are to hold it. */
export function composeEvents(
  { config, clock, logger, closing }: Wiring,
  { events: log }: Stores,
  words: Parameters<typeof contentOfEvents>[0],
): ComposedEvents {
  const contentOf = config.EVENTS_CONTENT ? contentOfEvents(words) : null;
  const feed = closing(new EventFeed({ log, contentOf, logger }), (it) => it.close());
  return {
    feed,
    prune: async () => {
      const events = await log.prune(new Date(daysFrom(clock.now(), -config.EVENTS_RETENTION_DAYS)));
      if (events > 0) logger.info({ events }, "events were kept long enough");
    },
  };
}
