import type { OwnerEvent } from "../../domain/event.js";
import { type Owner, ownerHash } from "../../domain/owner.js";
import type { Commit, PartitionRead, StateEngine } from "../engine.js";
import { type Decision, optimisticCommit, unchanged } from "../optimistic-commit.js";
import { numberKey } from "../partition.js";
import { erasedKey, FEED, feedKey, idKey, LAST, ownerRows, queueRows, tenantHashOf, tenantRows, waitingKey } from "./event-keys.js";
import { type Changes, queuedFor, waitingChanges, waitingOf } from "./waiting-owners.js";

/** Operations of one event in the feed, of one that is queued as well, and of each owner in the queue. */
const OF_EVENT = 4;
const OF_QUEUED = 5;
const OF_WAITING = 3;

interface Addition {
  readonly owner: Owner;
  readonly hash: string;
  readonly erasures: number;
  left: number;
  added: boolean;
  failed: boolean;
  resolve(added: boolean): void;
  reject(error: unknown): void;
}

interface Item {
  readonly of: Addition;
  readonly event: OwnerEvent;
}

/** Adds events to the feed: what several owners have at the same time goes in one commit. What is there, by its id, is passed over. */
export class FeedWriter {
  readonly #engine: StateEngine;
  readonly #queued: boolean;
  /** On one machine commits are durable in their order: an outbox is not emptied by one that outlives what this brings. */
  readonly #durability: Pick<Commit, "durability">;
  #items: Item[] = [];
  #writing = false;

  /** `queued`: events are also to be delivered. */
  constructor(engine: StateEngine, queued: boolean) {
    this.#engine = engine;
    this.#queued = queued;
    this.#durability = engine.manifest.shared ? {} : { durability: "relaxed" };
  }

  /**
   * In order; durable on resolve, on one machine with the next commit that is. `erasures`: how often the owner's outbox had been emptied
   * when they were read there; what was taken out since is not added. Whether any is new.
   */
  add(owner: Owner, events: readonly OwnerEvent[], erasures: number): Promise<boolean> {
    if (events.length === 0) return Promise.resolve(false);
    return new Promise<boolean>((resolve, reject) => {
      const of = { owner, hash: ownerHash(owner), erasures, left: events.length, added: false, failed: false, resolve, reject };
      this.#items.push(...events.map((event) => ({ of, event })));
      if (!this.#writing) void this.#write();
    });
  }

  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#items.length > 0) {
      const batch = this.#batch();
      try {
        const fresh = await this.#append(batch);
        for (const item of batch) {
          item.of.added ||= fresh.has(item);
          item.of.left -= 1;
          if (item.of.left === 0) item.of.resolve(item.of.added);
        }
      } catch (error) {
        for (const { of } of batch) {
          of.failed = true;
          of.reject(error);
        }
        // What comes behind one that failed would stand before it.
        this.#items = this.#items.filter(({ of }) => !of.failed);
      }
    }
    this.#writing = false;
  }

  #batch(): readonly Item[] {
    const owners = new Set<string>();
    let operations = 1;
    let count = 0;
    for (const { of } of this.#items) {
      operations += this.#queued ? OF_QUEUED + (owners.has(of.hash) ? 0 : OF_WAITING) : OF_EVENT;
      if (operations > this.#engine.manifest.maxOperations && count > 0) break;
      owners.add(of.hash);
      count += 1;
    }
    return this.#items.splice(0, count);
  }

  #append(batch: readonly Item[]): Promise<ReadonlySet<Item>> {
    const hashes = [...new Set(batch.map(({ of }) => of.hash))];
    const keys = [LAST, ...batch.map(({ event }) => idKey(event.id)), ...hashes.map(erasedKey)];
    const query = { keys: [...new Set([...keys, ...(this.#queued ? hashes.map(waitingKey) : [])])] };
    return optimisticCommit(this.#engine, FEED, query, (read) => this.#decide(batch, read));
  }

  #decide(batch: readonly Item[], read: PartitionRead): Decision<ReadonlySet<Item>> {
    const fresh = freshOf(batch, read);
    if (fresh.length === 0) return { commit: null, result: new Set() };
    let place = Number(read.entries.get(LAST)?.value ?? 0);
    const changes: Changes = { puts: [], deletes: [] };
    for (const item of fresh) {
      place += 1;
      changes.puts.push(...this.#rows(item, place));
    }
    changes.puts.push({ key: LAST, value: String(place) });
    const owners = new Map(this.#queued ? fresh.map(({ of }) => [of.hash, of.owner] as const) : []);
    for (const [hash, owner] of owners) {
      const before = waitingOf(read, hash);
      const moved = waitingChanges(hash, before, queuedFor(owner, before, read.nowMs));
      changes.puts.push(...moved.puts);
      changes.deletes.push(...moved.deletes);
    }
    const checks = unchanged(read, LAST, ...[...owners.keys()].map(waitingKey));
    return { commit: { checks, ...changes, ...this.#durability }, result: new Set(fresh) };
  }

  #rows({ of: { owner, hash }, event }: Item, place: number): readonly { readonly key: string; readonly value: string }[] {
    const tenant = tenantHashOf(owner);
    const at = numberKey(place);
    const rows = [
      { key: feedKey(place), value: JSON.stringify({ owner, event }) },
      { key: idKey(event.id), value: JSON.stringify([place, hash, tenant]) },
      { key: `${ownerRows(hash)}${at}`, value: JSON.stringify([event.id, event.type]) },
      { key: `${tenantRows(tenant)}${at}`, value: JSON.stringify([event.id, event.type]) },
    ];
    return this.#queued ? [...rows, { key: `${queueRows(hash)}${at}`, value: JSON.stringify(event) }] : rows;
  }
}

function freshOf(batch: readonly Item[], read: PartitionRead): readonly Item[] {
  const ids = new Set<string>();
  return batch.filter(({ of, event }) => {
    if (ids.has(event.id) || read.entries.has(idKey(event.id))) return false;
    ids.add(event.id);
    return event.type === "owner.erased" || of.erasures >= Number(read.entries.get(erasedKey(of.hash))?.value ?? 0);
  });
}
