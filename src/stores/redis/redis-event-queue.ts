import type { Owner } from "../../domain/owner.js";
import { parseOwner } from "../../domain/owner.js";
import type { ClaimedOwner, DeadEvent, EventQueue } from "../../ports/event-queue.js";
import type { RedisDatabase } from "./database.js";
import { eventKeysOf, marksOf, tenantMarkOf, unplaced } from "./event-keys.js";
import { type KeptRow, parsedRow } from "./event-outbox.js";
import {
  BURY_EVENT,
  CLAIM_EVENTS,
  DEAD_EVENTS,
  DELIVERED,
  NEXT_DUE,
  NEXT_EVENTS,
  PRUNE_DEAD,
  RELEASE_OWNER,
  RETRY_EVENT,
} from "./event-queue-scripts.js";
import { tagOf } from "./keys.js";

/** What was given up, as it is kept: its place in lines is found by the marks of its owner. */
export interface DeadRow extends Pick<DeadEvent, "owner" | "event" | "attempts" | "error" | "deadSince"> {
  readonly v: 1;
  readonly marks: readonly [tag: string, tenant: string];
}

export function deadRowOf(dead: DeadEvent): DeadRow {
  return { v: 1, marks: marksOf(dead.owner), ...dead };
}

/** Dropped in one step. */
const PAGE = 500;

/** The queue of events in Redis, for as many workers as like. Times are the server's. */
export class RedisEventQueue implements EventQueue {
  readonly #database: RedisDatabase;
  readonly #keys: ReturnType<typeof eventKeysOf>;

  constructor(database: RedisDatabase) {
    this.#database = database;
    this.#keys = eventKeysOf(database.prefix);
  }

  async claim(_now: Date, limit: number, leaseMs: number): Promise<readonly ClaimedOwner[]> {
    const found = (await this.#database.run(CLAIM_EVENTS, this.#keys, limit, leaseMs)) as readonly string[];
    return found.flatMap((tries, at) =>
      at % 2 === 0 ? [{ owner: parsedRow(found[at + 1] ?? "").owner, attempts: Number(tries), mark: 0 }] : [],
    );
  }

  async next(owner: Owner, limit: number): ReturnType<EventQueue["next"]> {
    const rows = (await this.#database.run(NEXT_EVENTS, this.#keys, tagOf(owner), limit)) as readonly string[];
    return rows.map((row) => parsedRow(row).event);
  }

  async delivered(owner: Owner, id: string): Promise<void> {
    await this.#database.run(DELIVERED, this.#keys, tagOf(owner), id);
  }

  async bury(owner: Owner, id: string, end: Parameters<EventQueue["bury"]>[2]): Promise<void> {
    const row = (await this.#database.command("HGET", this.#keys.waiting, id)) as string | null;
    if (row === null) return;
    const dead = deadRowOf({ owner, event: parsedRow(unplaced(row)).event, ...end });
    await this.#database.run(BURY_EVENT, this.#keys, ...dead.marks, id, JSON.stringify(dead), Date.parse(end.deadSince));
  }

  /** What is left decides, and not the mark: whoever adds an event does so in a step of its own. */
  async release({ owner }: ClaimedOwner, { dueAt, attempts }: Parameters<EventQueue["release"]>[1]): Promise<void> {
    const inMs = dueAt === null ? 0 : Math.max(0, Math.ceil(dueAt.getTime() - Date.now()));
    await this.#database.run(RELEASE_OWNER, this.#keys, tagOf(owner), attempts, inMs);
  }

  async nextDueMs(): Promise<number | null> {
    const inMs = await this.#database.run(NEXT_DUE, this.#keys);
    return inMs === null ? null : Date.now() + Number(inMs);
  }

  async dead(tenant: string, { after, limit }: { readonly after?: string; readonly limit: number }): Promise<readonly DeadEvent[]> {
    const rows = (await this.#database.run(DEAD_EVENTS, this.#keys, tenantMarkOf(tenant), after ?? "", limit)) as readonly string[];
    return rows.map((row) => {
      const { owner, event, attempts, error, deadSince } = JSON.parse(row) as DeadRow;
      return { owner, event, attempts, error, deadSince };
    });
  }

  async retry(tenant: string, id: string): Promise<boolean> {
    const row = (await this.#database.command("HGET", this.#keys.dead, id)) as string | null;
    if (row === null) return false;
    const { owner, event, marks } = JSON.parse(unplaced(row)) as DeadRow;
    if (parseOwner(owner).tenant !== tenant) return false;
    const waiting: KeptRow = { v: 1, owner, queued: true, event };
    return (await this.#database.run(RETRY_EVENT, this.#keys, ...marks, id, JSON.stringify(waiting))) === 1;
  }

  async pruneDead(before: Date): Promise<number> {
    for (let all = 0; ; ) {
      const gone = Number(await this.#database.run(PRUNE_DEAD, this.#keys, before.getTime(), PAGE));
      all += gone;
      if (gone < PAGE) return all;
    }
  }

  async counts(): Promise<{ readonly waiting: number; readonly dead: number }> {
    const [waiting, dead] = await Promise.all([
      this.#database.command("HLEN", this.#keys.waiting),
      this.#database.command("HLEN", this.#keys.dead),
    ]);
    return { waiting: Number(waiting), dead: Number(dead) };
  }
}
