import type { OwnerEvent } from "../domain/event.js";
import type { Owner } from "../domain/owner.js";

/** Whose events are asked for. */
export type EventScope = { readonly owner: Owner } | { readonly tenant: string } | "all";

/** An event as it is kept. */
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
