import { parseOwner } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import { AppError, isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { Sessions } from "../ports/application.js";
import { BEGINNING, type EventLog, type EventScope, type KeptEvent } from "../ports/event-log.js";
import type { EventQueue } from "../ports/event-queue.js";
import type { EventListener, EventListQuery, EventPattern, Events, FollowedEvents, ToldEvent } from "../ports/events.js";
import type { Memories } from "../ports/memories.js";
import { ChangedScopes } from "./changed-scopes.js";

export interface EventFeedParts {
  readonly log: EventLog;
  readonly queue: EventQueue;
  /** What an event tells of, in words. Null: events hold none. */
  readonly contentOf: ((kept: KeptEvent) => Promise<ToldEvent["content"]>) | null;
  /** Told that something is to be delivered. */
  readonly onQueued: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Events that a follower reads at once. */
const PAGE = 100;
const DEFAULT_LIMIT = 20;

/** The event log, as it is listed, followed and listened to. */
export class EventFeed implements Events {
  readonly #parts: EventFeedParts;
  readonly #changes: ChangedScopes;
  readonly #ended = new AbortController();
  readonly #listeners = new Set<readonly [EventPattern, EventListener]>();
  #listening = false;

  constructor(parts: EventFeedParts) {
    this.#parts = parts;
    this.#changes = new ChangedScopes(parts.log, parts.logger);
  }

  async list(scope: EventScope, { after = BEGINNING, limit = DEFAULT_LIMIT }: EventListQuery): ReturnType<Events["list"]> {
    const kept = await this.#parts.log.read(scope, { after, limit: limit + 1 });
    const data = await Promise.all(kept.slice(0, limit).map((each) => this.told(each)));
    return { data, nextCursor: kept.length > limit ? (data.at(-1)?.id ?? null) : null };
  }

  async follow(scope: EventScope, { after, signal }: { readonly after?: string; readonly signal: AbortSignal }): Promise<FollowedEvents> {
    const from = after ?? (await this.#parts.log.newest(scope)) ?? BEGINNING;
    return { from, events: this.#follow(scope, from, AbortSignal.any([signal, this.#ended.signal])) };
  }

  on<Pattern extends EventPattern>(pattern: Pattern, listener: EventListener<Pattern>): () => void {
    // It is called with what the pattern takes alone.
    const entry = [pattern, listener as EventListener] as const;
    this.#listeners.add(entry);
    if (!this.#listening) void this.#listen();
    return () => void this.#listeners.delete(entry);
  }

  async undelivered(tenant: string, { after, limit = DEFAULT_LIMIT }: EventListQuery): ReturnType<Events["undelivered"]> {
    const dead = await this.#parts.queue.dead(tenant, { limit: limit + 1, ...(after !== undefined && { after }) });
    const shown = dead.slice(0, limit).map(async ({ owner, event, attempts, error, deadSince }) => ({
      event: await this.told({ owner, event }),
      attempts,
      error,
      dead_since: deadSince,
    }));
    const data = await Promise.all(shown);
    return { data, nextCursor: dead.length > limit ? (data.at(-1)?.event.id ?? null) : null };
  }

  async deliverAgain(tenant: string, id: string): Promise<void> {
    const { queue, onQueued, clock } = this.#parts;
    if (!(await queue.retry(tenant, id, clock.now()))) throw new AppError("EVENT_NOT_FOUND");
    onQueued();
  }

  endFollowers(): void {
    this.#ended.abort();
  }

  /** To be called before the store is closed. */
  close(): void {
    this.endFollowers();
    this.#changes.close();
  }

  /** An event as the outside is told of it. */
  async told(kept: KeptEvent): Promise<ToldEvent> {
    const { id, type, timestamp, data } = kept.event;
    const { tenant, user } = parseOwner(kept.owner);
    const content = this.#parts.contentOf === null ? undefined : await this.#parts.contentOf(kept);
    // Kept as it was made, with the data of its type.
    return { id, type, timestamp, tenant, user, data, ...(content !== undefined && { content }) } as ToldEvent;
  }

  async *#follow(scope: EventScope, from: string, signal: AbortSignal): AsyncGenerator<ToldEvent> {
    let after = from;
    while (!signal.aborted) {
      const change = this.#changes.next(scope);
      try {
        const kept = await this.#parts.log.read(scope, { after, limit: PAGE });
        for (const each of kept) {
          if (signal.aborted) return;
          yield await this.told(each);
          after = each.event.id;
        }
        if (kept.length === 0) await change.orAborted(signal);
      } finally {
        change.forget();
      }
    }
  }

  async #listen(): Promise<void> {
    this.#listening = true;
    const { logger } = this.#parts;
    try {
      const { events } = await this.follow("all", { signal: this.#ended.signal });
      for await (const event of events)
        for (const [pattern, listener] of [...this.#listeners]) {
          if (pattern !== "*" && pattern !== event.type) continue;
          try {
            await listener(event);
          } catch (error) {
            logger.error({ err: error, event: event.type }, "a listener to events failed");
          }
        }
    } catch (error) {
      logger.error({ err: error }, "events could not be read for those who listen");
    } finally {
      this.#listening = false;
    }
  }
}

/**
 * The words that events tell of, looked up when they are told and kept with none: what was forgotten or erased meanwhile is in no event.
 * Null where they are gone; nothing for an event of something that has no words.
 */
export function contentOfEvents({
  memories,
  sessions,
}: {
  readonly memories: Pick<Memories, "get">;
  readonly sessions: Pick<Sessions, "message">;
}): (kept: KeptEvent) => Promise<ToldEvent["content"]> {
  return async ({ owner, event: { type, data } }) => {
    const { memory_id, session_id, message_id } = data;
    try {
      if (memory_id !== undefined) return { text: (await memories.get(owner, memory_id)).text };
      if (type !== "turn.completed" || session_id === undefined || message_id === undefined) return undefined;
      const message = await sessions.message(owner, session_id, message_id);
      return message === null ? null : { text: message.content };
    } catch (error) {
      if (isAppError(error) && (error.status === 404 || error.code === "LONG_TERM_MEMORY_DISABLED")) return null;
      throw error;
    }
  };
}
