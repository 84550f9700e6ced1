import type { OwnerEvent } from "../../domain/event.js";
import { type Owner, ownerHash } from "../../domain/owner.js";
import type { Clock } from "../../platform/clock.js";
import { isId, newId } from "../../platform/ids.js";
import type { ClaimedOwner, DeadEvent, EventQueue } from "../../ports/events.js";
import { committed } from "../durable-commit.js";
import { prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { optimisticChange, optimisticCommit, unchanged } from "../optimistic-commit.js";
import { numberKey } from "../partition.js";
import { jsonOf, rowAt, rowPages, rowsIn } from "../stored-rows.js";
import {
  DEAD_ROWS,
  DUE_ROWS,
  deadIdKey,
  deadRows,
  FEED,
  hashOfDueKey,
  LAST,
  QUEUE_ROWS,
  queueRows,
  tenantHash,
  tenantHashOf,
  waitingKey,
} from "./event-keys.js";
import { availableAtMs, queuedFor, waitingChanges, waitingOf } from "./waiting-owners.js";

/** Owners claimed in one commit: each has three operations. */
const MAX_CLAIMED = 30;
/** Where an event is looked for by its id: those that are delivered stand at the front. */
const FRONT = 20;

/** The queue beside the feed, for as many workers as like. What is due and who has it is measured by the engine's clock. */
export class EngineEventQueue implements EventQueue {
  readonly #engine: StateEngine;
  readonly #clock: Clock;
  readonly #settled: (owner?: Owner) => Promise<void>;

  /** `settled`: waits for what this process is publishing. `clock`: the one whose times callers give. */
  constructor(engine: StateEngine, { clock, log }: { readonly clock: Clock; readonly log?: { settled(owner?: Owner): Promise<void> } }) {
    this.#engine = engine;
    this.#clock = clock;
    this.#settled = async (owner) => log?.settled(owner);
  }

  async claim(_now: Date, limit: number, leaseMs: number): Promise<readonly ClaimedOwner[]> {
    const query = { ranges: [{ ...prefixRange(DUE_ROWS), limit: Math.min(limit, MAX_CLAIMED) }] };
    return optimisticCommit(this.#engine, FEED, query, async ({ ranges: [found = []], nowMs }) => {
      const due = found.filter(({ key }) => key < `${DUE_ROWS}${numberKey(nowMs + 1)}`).map(({ key }) => hashOfDueKey(key));
      if (due.length === 0) return { commit: null, result: [] };
      const read = await this.#engine.read(FEED, { keys: due.map(waitingKey) });
      const puts = [];
      const deletes = [];
      const claimed: ClaimedOwner[] = [];
      for (const hash of due) {
        const before = waitingOf(read, hash);
        // Claimed by somebody else since.
        if (before === null || availableAtMs(before) > nowMs) continue;
        const claim = newId();
        const changes = waitingChanges(hash, before, { ...before, leasedUntilMs: nowMs + leaseMs, claim });
        puts.push(...changes.puts);
        deletes.push(...changes.deletes);
        claimed.push({ owner: before.owner, attempts: before.attempts, claim });
      }
      const checks = unchanged(read, ...due.map(waitingKey));
      return { commit: claimed.length === 0 ? null : { checks, puts, deletes }, result: claimed };
    });
  }

  async renew(claimed: ClaimedOwner, leaseMs: number): Promise<ClaimedOwner | null> {
    const hash = ownerHash(claimed.owner);
    return optimisticCommit(this.#engine, FEED, { keys: [waitingKey(hash)] }, (read) => {
      const before = waitingOf(read, hash);
      if (before === null || before.claim !== claimed.claim) return { commit: null, result: null };
      const changes = waitingChanges(hash, before, { ...before, leasedUntilMs: read.nowMs + leaseMs });
      // One that is lost ends sooner: then somebody else delivers, by the same ids.
      return { commit: { checks: unchanged(read, waitingKey(hash)), ...changes, durability: "relaxed" }, result: claimed };
    });
  }

  async next(owner: Owner, limit: number): Promise<readonly OwnerEvent[]> {
    await this.#settled(owner);
    const rows = await rowsIn(this.#engine, FEED, { ...prefixRange(queueRows(ownerHash(owner))), limit });
    return rows.map((row) => jsonOf<OwnerEvent>(row));
  }

  async delivered(owner: Owner, id: string): Promise<void> {
    const row = await this.#find(owner, id);
    if (row !== null) await committed(this.#engine, FEED, { deletes: [row.key] });
  }

  async bury(owner: Owner, id: string, end: Parameters<EventQueue["bury"]>[2]): Promise<void> {
    await optimisticChange(this.#engine, FEED, { keys: [LAST] }, async (read) => {
      const row = await this.#find(owner, id);
      if (row === null) return null;
      const place = lastPlace(read.entries) + 1;
      const key = `${deadRows(tenantHashOf(owner))}${numberKey(place)}`;
      const { attempts, error, deadSince } = end;
      const dead: DeadEvent = { owner, event: jsonOf<OwnerEvent>(row), attempts, error, deadSince };
      return {
        checks: [...unchanged(read, LAST), { key: row.key, version: row.version }],
        puts: [
          { key: LAST, value: String(place) },
          { key, value: JSON.stringify(dead) },
          { key: deadIdKey(id), value: key },
        ],
        deletes: [row.key],
      };
    });
  }

  async release({ owner, claim }: ClaimedOwner, { dueAt, attempts }: Parameters<EventQueue["release"]>[1]): Promise<void> {
    const hash = ownerHash(owner);
    const inMs = dueAt === null ? null : Math.max(0, dueAt.getTime() - this.#clock.now().getTime());
    const query = { keys: [waitingKey(hash)], ranges: [{ ...prefixRange(queueRows(hash)), limit: 1 }] };
    await optimisticChange(this.#engine, FEED, query, (read) => {
      const before = waitingOf(read, hash);
      if (before === null || before.claim !== claim) return null;
      const none = inMs === null && read.ranges[0]?.length === 0;
      const { claim: _, ...unclaimed } = before;
      const after = none ? null : { ...unclaimed, attempts, leasedUntilMs: 0, dueAtMs: read.nowMs + (inMs ?? 0) };
      return { checks: unchanged(read, waitingKey(hash)), ...waitingChanges(hash, before, after) };
    });
  }

  async nextDueMs(): Promise<number | null> {
    await this.#settled();
    const read = await this.#engine.read(FEED, { ranges: [{ ...prefixRange(DUE_ROWS), limit: 1 }] });
    const key = read.ranges[0]?.[0]?.key;
    if (key === undefined) return null;
    return this.#clock.now().getTime() + Number(key.slice(DUE_ROWS.length, key.indexOf("-"))) - read.nowMs;
  }

  async dead(tenant: string, { after, limit }: { readonly after?: string; readonly limit: number }): Promise<readonly DeadEvent[]> {
    const prefix = deadRows(tenantHash(tenant));
    const from = after === undefined ? null : await this.#deadKey(prefix, after);
    // From the event itself, which is passed over.
    const range = { ...prefixRange(prefix), ...(from !== null && { from }), limit: limit + 1 };
    const rows = await rowsIn(this.#engine, FEED, range);
    return rows
      .filter(({ key }) => key !== from)
      .slice(0, limit)
      .map((row) => jsonOf<DeadEvent>(row));
  }

  async retry(tenant: string, id: string, _now: Date): Promise<boolean> {
    const key = await this.#deadKey(deadRows(tenantHash(tenant)), id);
    if (key === null) return false;
    return optimisticCommit(this.#engine, FEED, { keys: [LAST, key] }, async (read) => {
      const row = read.entries.get(key);
      if (row === undefined) return { commit: null, result: false };
      const { owner, event } = jsonOf<DeadEvent>(row);
      const hash = ownerHash(owner);
      const place = lastPlace(read.entries) + 1;
      const waits = await this.#engine.read(FEED, { keys: [waitingKey(hash)] });
      const before = waitingOf(waits, hash);
      const { puts, deletes } = waitingChanges(hash, before, queuedFor(owner, before, waits.nowMs));
      return {
        commit: {
          checks: [...unchanged(read, LAST, key), ...unchanged(waits, waitingKey(hash))],
          puts: [
            ...puts,
            { key: LAST, value: String(place) },
            { key: `${queueRows(hash)}${numberKey(place)}`, value: JSON.stringify(event) },
          ],
          deletes: [...deletes, key, deadIdKey(id)],
        },
        result: true,
      };
    });
  }

  async pruneDead(before: Date): Promise<number> {
    let dropped = 0;
    for await (const rows of rowPages(this.#engine, FEED, DEAD_ROWS))
      for (const row of rows) {
        const { key, version } = row;
        const { event, deadSince } = jsonOf<DeadEvent>(row);
        if (Date.parse(deadSince) >= before.getTime()) continue;
        const done = await committed(this.#engine, FEED, { checks: [{ key, version }], deletes: [key, deadIdKey(event.id)] });
        if (done.ok) dropped += 1;
      }
    return dropped;
  }

  async counts(): Promise<{ readonly waiting: number; readonly dead: number }> {
    await this.#settled();
    return { waiting: await this.#count(QUEUE_ROWS), dead: await this.#count(DEAD_ROWS) };
  }

  async #count(prefix: string): Promise<number> {
    let count = 0;
    for await (const rows of rowPages(this.#engine, FEED, prefix)) count += rows.length;
    return count;
  }

  /** The row of an event that waits, or null. */
  async #find(owner: Owner, id: string): Promise<StoredEntry | null> {
    const prefix = queueRows(ownerHash(owner));
    const front = await rowsIn(this.#engine, FEED, { ...prefixRange(prefix), limit: FRONT });
    const isIt = (row: StoredEntry) => jsonOf<OwnerEvent>(row).id === id;
    const found = front.find(isIt);
    if (found !== undefined || front.length < FRONT) return found ?? null;
    for await (const rows of rowPages(this.#engine, FEED, prefix)) {
      const row = rows.find(isIt);
      if (row !== undefined) return row;
    }
    return null;
  }

  async #deadKey(prefix: string, id: string): Promise<string | null> {
    if (!isId(id)) return null;
    const key = (await rowAt(this.#engine, FEED, deadIdKey(id)))?.value;
    return key?.startsWith(prefix) === true ? key : null;
  }
}

function lastPlace(entries: ReadonlyMap<string, StoredEntry>): number {
  return Number(entries.get(LAST)?.value ?? 0);
}
