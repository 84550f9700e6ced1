import type { OwnerEvent } from "../domain/event.js";
import type { Owner } from "../domain/owner.js";

/** An owner some of whose events are to be delivered, taken for one worker. */
export interface ClaimedOwner {
  readonly owner: Owner;
  /** How often the first of them was tried already. */
  readonly attempts: number;
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
  /** The next of a claimed owner's, oldest first. */
  next(owner: Owner, limit: number): Promise<readonly OwnerEvent[]>;
  delivered(owner: Owner, id: string): Promise<void>;
  /** Gives one up, so that those behind it go on. Without effect where it is gone. */
  bury(owner: Owner, id: string, end: Pick<DeadEvent, "attempts" | "error" | "deadSince">): Promise<void>;
  /** `dueAt`: when the first is to be tried again; null: there was no more, and what came meanwhile is due at once. */
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
