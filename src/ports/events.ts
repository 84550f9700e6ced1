import type { EventDataOf, EventType } from "../domain/event.js";
import type { JsonValue } from "../domain/session.js";
import type { EventScope } from "./event-log.js";
import type { DeadEvent } from "./event-queue.js";

/** An event as it is told to the outside. Its type says what its data holds. */
export type ToldEvent<Type extends EventType = EventType> = { readonly [Each in Type]: ToldEventOf<Each> }[Type];

/** An event of one type. */
export interface ToldEventOf<Type extends EventType> {
  /** The same however often it is told: what repeats are dropped by. */
  readonly id: string;
  readonly type: Type;
  /** When it happened, ISO 8601 UTC. */
  readonly timestamp: string;
  readonly tenant: string;
  readonly user: string;
  readonly data: EventDataOf[Type];
  /** The words that it tells of, as they are when it is told; null where they are gone. Only with `EVENTS_CONTENT=true`. */
  readonly content?: JsonValue;
}

export interface EventListQuery {
  /** The id of the last event that the caller has. Default: from the oldest that is kept. */
  readonly after?: string;
  /** 1 to 200. Default 20. */
  readonly limit?: number;
}

/** What a follower goes on behind, and what comes then. */
export interface FollowedEvents {
  /** An id for {@link EventListQuery.after}, also where there is no event yet. */
  readonly from: string;
  /** Ends when the signal aborts, or when the application stops. */
  readonly events: AsyncIterable<ToldEvent>;
}

/** An event that a webhook could not deliver, and how often it was tried. */
export interface UndeliveredEvent extends Pick<DeadEvent, "attempts" | "error"> {
  readonly event: ToldEvent;
  readonly dead_since: string;
}

/** `*`: all of them. */
export type EventPattern = EventType | "*";
/** Is given events of the pattern's type; with `*` of any, which its `type` tells. */
export type EventListener<Pattern extends EventPattern = "*"> = (
  event: ToldEvent<Pattern extends EventType ? Pattern : EventType>,
) => void | Promise<void>;

/** What happened, of one owner, of a tenant, or of all. Kept for as many days as `EVENTS_RETENTION_DAYS` says, and told at least once. */
export interface Events {
  /** Oldest first. */
  list(scope: EventScope, query: EventListQuery): Promise<{ readonly data: readonly ToldEvent[]; readonly nextCursor: string | null }>;
  /** `after`: as {@link EventListQuery.after}. Default: from now on. */
  follow(scope: EventScope, options: { readonly after?: string; readonly signal: AbortSignal }): Promise<FollowedEvents>;
  /**
   * Calls the listener with what happens from now on, to any owner and in any process that shares the store, one event after the other.
   * What it throws is logged. Nothing is repeated after a restart: what must not be missed is listed or followed from the last id.
   * Returns how to stop it.
   */
  on<Pattern extends EventPattern>(pattern: Pattern, listener: EventListener<Pattern>): () => void;
  /** Events of a tenant that the webhook could not deliver and that are not tried again, oldest first. */
  undelivered(
    tenant: string,
    query: EventListQuery,
  ): Promise<{ readonly data: readonly UndeliveredEvent[]; readonly nextCursor: string | null }>;
  /** Delivers one of them again, behind its user's others. @throws EVENT_NOT_FOUND */
  deliverAgain(tenant: string, id: string): Promise<void>;
  /** Ends all that is followed, so that a server can stop. */
  endFollowers(): void;
}
