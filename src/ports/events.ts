import type { EventDataOf, EventType, OwnerEvent } from "../domain/event.js";
import type { Owner } from "../domain/owner.js";
import type { JsonValue } from "../domain/session.js";

/** An event as it is told to the outside. Its type says what its data holds. */
export type ToldEvent<Type extends EventType = EventType> = { readonly [Each in Type]: ToldEventOf<Each> }[Type];

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

/** Whose events are asked for. */
export type EventScope = { readonly owner: Owner } | { readonly tenant: string } | "all";

export interface KeptEvent {
  readonly owner: Owner;
  readonly event: OwnerEvent;
}

export interface EventQuery {
  /** The id of the last event that the caller has; one that is not known (any more) stands for the beginning of what is kept. */
  readonly after: string;
  readonly limit: number;
}

/** Stands in {@link EventQuery.after} for the beginning of what is kept. */
export const BEGINNING = "00000000-0000-0000-0000-000000000000";

/**
 * What is told to the outside, in order: an owner's events in the order in which they happened. Those that follow from a journal or a
 * memory log are written by the store, together with what they tell of or caught up with behind it, and so never lost.
 */
export interface EventLog {
  /** Those whose id is there are passed over. Durable on resolve as far as what they follow from is. */
  add(owner: Owner, events: readonly OwnerEvent[]): Promise<void>;
  /** Oldest first. */
  read(scope: EventScope, query: EventQuery): Promise<readonly KeptEvent[]>;
  /** The id of the newest; null where there is none. */
  newest(scope: EventScope): Promise<string | null>;
  /** Calls back when this process has added something. Returns how to stop it. */
  onAdded(listener: (owner: Owner) => void): () => void;
  /** How often a follower looks for what other processes have added, in milliseconds; null: there are none. */
  readonly pollMs: number | null;
  /** Drops what happened before a time. Returns how many went. */
  prune(before: Date): Promise<number>;
  /** Drops the owner's, but for those that tell of an erasure. Returns how many went. Idempotent. */
  erase(owner: Owner): Promise<number>;
  /** What is left of an owner, but for those that tell of an erasure. */
  residue(owner: Owner): Promise<number>;
}

/** An owner some of whose events are to be delivered, taken for one worker. */
export interface ClaimedOwner {
  readonly owner: Owner;
  /** How often the first of them was tried already. */
  readonly attempts: number;
  /** Which claim it is. */
  readonly claim: string;
}

/** An event that was given up. */
export interface DeadEvent {
  readonly owner: Owner;
  readonly event: OwnerEvent;
  readonly attempts: number;
  /** How the last try ended: `HTTP_500`, `TIMEOUT`, `UNREACHABLE`. */
  readonly error: string;
  /** ISO 8601 UTC. */
  readonly deadSince: string;
}

/**
 * Events that are to be delivered, an owner's one after the other. Each is put here together with what it tells of, and stays until it is
 * delivered, or given up and then repeated or, in time, dropped. An erasure takes the owner's out, but for those that tell of it.
 */
export interface EventQueue {
  /** Owners with something due, the longest due first: nobody else is given them for `leaseMs`, or until they are released. */
  claim(now: Date, limit: number, leaseMs: number): Promise<readonly ClaimedOwner[]>;
  /** For `leaseMs` from now; null: it was released, somebody else was given the owner, or nothing of theirs waits any more. */
  renew(claimed: ClaimedOwner, leaseMs: number): Promise<ClaimedOwner | null>;
  /** The next of a claimed owner's, oldest first. */
  next(owner: Owner, limit: number): Promise<readonly OwnerEvent[]>;
  delivered(owner: Owner, id: string): Promise<void>;
  /** Gives one up, so that those behind it go on. Without effect where it is gone. */
  bury(owner: Owner, id: string, end: Pick<DeadEvent, "attempts" | "error" | "deadSince">): Promise<void>;
  /**
   * `dueAt`: when the first is to be tried again; null: there was no more, and what came meanwhile is due at once. Without effect where
   * somebody else has the owner.
   */
  release(claimed: ClaimedOwner, next: { readonly dueAt: Date | null; readonly attempts: number }): Promise<void>;
  /** When the next is due, in milliseconds since the epoch; null where nothing waits. */
  nextDueMs(): Promise<number | null>;
  /** Those that were given up, of a tenant, oldest first, behind the one whose id is `after`. */
  dead(tenant: string, query: { readonly after?: string; readonly limit: number }): Promise<readonly DeadEvent[]>;
  /** Queues one again, behind its owner's others. False where the tenant has no such dead event. */
  retry(tenant: string, id: string, now: Date): Promise<boolean>;
  /** Drops what was given up before a time. Returns how many went. */
  pruneDead(before: Date): Promise<number>;
  /** Over all tenants. */
  counts(): Promise<{ readonly waiting: number; readonly dead: number }>;
}

/** How a try to deliver an event ended. `gone`: the receiver wants no more of it. */
export type DeliveryEnd = { readonly outcome: "delivered" } | { readonly outcome: "failed" | "gone"; readonly error: string };

/** Delivers events to somebody else's server. */
export interface WebhookSender {
  /** Never rejects, but when the signal aborts. */
  send(event: ToldEvent, signal: AbortSignal): Promise<DeliveryEnd>;
}
