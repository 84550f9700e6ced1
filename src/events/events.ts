import { type Owner, parseOwner } from "../domain/owner.js";
import { deferred } from "../platform/bounded-signal.js";
import type { Clock } from "../platform/clock.js";
import { AppError, isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { Sessions } from "../ports/application.js";
import {
  BEGINNING,
  type EventListener,
  type EventListQuery,
  type EventLog,
  type EventPattern,
  type EventQueue,
  type EventScope,
  type Events,
  type FollowedEvents,
  type KeptEvent,
  type ToldEvent,
} from "../ports/events.js";
import type { Memories } from "../ports/memories.js";

interface EventFeedParts {
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

/** Events that are looked at in one go for what other processes have added. */
const SCOPE_PAGE = 500;

/** The next addition to a scope. */
interface NextChange {
  /** Resolves when something was added since this was made, or when the signal aborts. */
  orAborted(signal: AbortSignal): Promise<void>;
  /** To be called when nobody waits any more. */
  forget(): void;
}

/** Wakes those who wait for events of an owner, of a tenant or of all: told by this process, looked for where others write as well. */
class ChangedScopes {
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #waiting = new Map<string, Set<() => void>>();
  #stopListening: (() => void) | null = null;
  #timer: NodeJS.Timeout | null = null;
  #seen: string | null = null;

  constructor(log: EventLog, logger: Logger) {
    this.#log = log;
    this.#logger = logger;
  }

  next(scope: EventScope): NextChange {
    const key = keyOf(scope);
    let changed = false;
    const { promise: change, resolve } = deferred();
    const wake = () => {
      changed = true;
      resolve();
    };
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting.add(wake));
    this.#stopListening ??= this.#log.onAdded((owner) => this.#wake(owner));
    this.#look();
    return {
      orAborted: async (signal) => {
        if (changed || signal.aborted) return;
        signal.addEventListener("abort", resolve, { once: true });
        await change.finally(() => signal.removeEventListener("abort", resolve));
      },
      forget: () => {
        waiting.delete(wake);
        if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
        if (this.#waiting.size === 0) this.#listenNoMore();
      },
    };
  }

  close(): void {
    this.#listenNoMore();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#waiting.clear();
  }

  #listenNoMore(): void {
    this.#stopListening?.();
    this.#stopListening = null;
  }

  #wake(owner: Owner): void {
    for (const key of [keyOf({ owner }), keyOf({ tenant: parseOwner(owner).tenant }), keyOf("all")])
      for (const wake of this.#waiting.get(key) ?? []) wake();
  }

  /** As long as somebody waits. */
  #look(): void {
    const { pollMs } = this.#log;
    if (pollMs === null || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      void this.#lookNow().finally(() => {
        this.#timer = null;
        if (this.#waiting.size > 0) this.#look();
      });
    }, pollMs).unref();
  }

  async #lookNow(): Promise<void> {
    try {
      if (this.#seen === null) {
        this.#seen = (await this.#log.newest("all")) ?? BEGINNING;
        // What was added before this look is nobody's to be told: all look once.
        for (const waiting of this.#waiting.values()) for (const wake of waiting) wake();
        return;
      }
      for (let page: readonly KeptEvent[] = []; ; ) {
        page = await this.#log.read("all", { after: this.#seen, limit: SCOPE_PAGE });
        for (const { owner } of page) this.#wake(owner);
        this.#seen = page.at(-1)?.event.id ?? this.#seen;
        if (page.length < SCOPE_PAGE) return;
      }
    } catch (error) {
      this.#logger.warn({ err: error }, "events of other processes could not be looked for");
    }
  }
}

function keyOf(scope: EventScope): string {
  if (scope === "all") return scope;
  return "owner" in scope ? `owner ${scope.owner}` : `tenant ${scope.tenant}`;
}
