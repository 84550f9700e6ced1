import { batchesOf } from "../../platform/bounded-parallel.js";
import { newId } from "../../platform/ids.js";
import { type CreateCollectionArgs, type PayloadSchema, VectorStoreError } from "../../ports/vectors.js";
import { committed } from "../../state/durable-commit.js";
import { behind, type KeyRange, prefixRange, type StateEngine } from "../../state/engine.js";
import { optimisticCommit, unchanged } from "../../state/optimistic-commit.js";
import { named, numberKey } from "../../state/partition.js";
import { OwnersPoints } from "../in-memory/owners-points.js";
import type { PointKeeper, WriteMode } from "../in-memory/point-calls.js";
import { Partition } from "../local/partition.js";
import { type Collection, noCollection } from "../requests/collection.js";
import { type KeptPoint, tenantOf } from "../requests/point.js";
import type { Requests } from "../requests/requests.js";
import {
  AT_ONCE,
  allOf,
  COLLECTIONS,
  commitsOf,
  groupedBy,
  type Head,
  headIn,
  headOf,
  ownerIn,
  partitionOf,
  partitionOfTenant,
  placesOf,
  pointIn,
  pointsOf,
  type StateCollection,
  shardOf,
  shards,
  textOf,
  writesOf,
} from "./points-in-state.js";

const NAMED = "collection/";
/** Points read at once. */
const READ_AT_ONCE = 200;
/** Writes whose points are named one by one: who has seen the one before reads these alone. */
const CHANGES_KEPT = 64;

interface Held {
  readonly partition: Partition;
  /** Of the last write that is in it. */
  readonly head: Head;
}

/**
 * Points in an engine of state: an owner's in their partition, a key for each, beside all that is theirs. They are erased, copied, moved
 * and encrypted with it. A write counts up in the partition and names its points, so that another process reads what has changed since it
 * looked last, and where nothing has it is one read. Which partition a point lies in is told by a table of ids, which has a new point
 * before it is there.
 */
export class StateKeeper implements PointKeeper<StateCollection> {
  readonly #engine: StateEngine;
  readonly #owners: OwnersPoints<Held>;

  /** `cacheBytes`: of points in memory. */
  constructor(engine: StateEngine, cacheBytes: number) {
    this.#engine = engine;
    this.#owners = new OwnersPoints(cacheBytes);
  }

  async find(name: string): Promise<StateCollection | null> {
    const entry = (await this.#engine.read(COLLECTIONS, { keys: [NAMED + name] })).entries.get(NAMED + name);
    if (entry === undefined) return null;
    const { id, config, indexes, tenantKey } = JSON.parse(entry.value) as StoredCollection;
    return { id, name, config, tenantKey, indexes: new Map(Object.entries(indexes)) };
  }

  async create(name: string, config: Requests["createCollection"]): Promise<void> {
    const made = { id: newId(), name, config: config as CreateCollectionArgs, indexes: new Map(), tenantKey: null };
    if (!(await this.#put(made, { isThere: false }))) throw new VectorStoreError(409, `Collection \`${name}\` already exists!`);
  }

  async drop(collection: StateCollection): Promise<void> {
    await committed(this.#engine, COLLECTIONS, { deletes: [NAMED + collection.name] });
    for (const partition of [...(await this.#partitions(collection)), ...shards()])
      await this.#clear(partition, prefixRange(allOf(collection)));
  }

  async change(collection: StateCollection, changed: Pick<Collection, "indexes" | "tenantKey">): Promise<StateCollection> {
    const next = { ...collection, ...changed };
    if (!(await this.#put(next, { isThere: true }))) throw noCollection(collection.name);
    return next;
  }

  /** `isThere`: whether there has to be one of that name, or none. False where that isn't so, and nothing is written. */
  #put({ name, indexes, ...collection }: StateCollection, { isThere }: { readonly isThere: boolean }): Promise<boolean> {
    const key = NAMED + name;
    const stored: StoredCollection = { ...collection, indexes: Object.fromEntries(indexes) };
    return optimisticCommit(this.#engine, COLLECTIONS, { keys: [key] }, (read) => {
      if (read.entries.has(key) !== isThere) return { commit: null, result: false };
      return { commit: { checks: unchanged(read, key), puts: [{ key, value: JSON.stringify(stored) }] }, result: true };
    });
  }

  async keys(collection: StateCollection): Promise<readonly string[]> {
    const prefix = placesOf(collection);
    const read = await Promise.all(shards().map((shard) => this.#engine.read(shard, { ranges: [prefixRange(prefix)] })));
    return read.flatMap(({ ranges }) => (ranges[0] ?? []).map(({ key }) => key.slice(prefix.length))).sort();
  }

  async read(collection: StateCollection, keys: readonly string[]): Promise<readonly KeptPoint[]> {
    const points: KeptPoint[] = [];
    for (const [partition, inIt] of groupedBy(await this.#placesOf(collection, keys)))
      points.push(...(await this.#readIn(collection, partition, inIt)));
    return points;
  }

  async write(collection: StateCollection, points: readonly KeptPoint[], mode: WriteMode): Promise<void> {
    const keys = points.map(({ key }) => key);
    const places = new Map(await this.#placesOf(collection, keys));
    const there = mode === "upsert" ? [] : await this.read(collection, [...places.keys()]);
    const written = points.filter(({ key }) => mode === "upsert" || there.some((each) => each.key === key) === (mode === "update_only"));
    const target = new Map(written.map((point) => [point.key, partitionOf(collection, point)]));
    const placed = async (which: readonly KeptPoint[]) => {
      const whither = which.map(({ key }) => [key, target.get(key) ?? null] as const);
      await this.#place(collection, whither);
    };
    await placed(written.filter(({ key }) => !places.has(key)));
    const byPartition = groupedBy(written.map((point) => [point, target.get(point.key) ?? ""] as const));
    for (const [partition, inIt] of byPartition)
      for (const batch of commitsOf(inIt)) await this.#change(collection, partition, { put: batch, remove: [] });
    const moved = written.filter(({ key }) => places.has(key) && places.get(key) !== target.get(key));
    await placed(moved);
    for (const [partition, keys] of groupedBy(moved.map(({ key }) => [key, places.get(key) ?? ""] as const)))
      await this.#removeFrom(collection, partition, keys);
  }

  async remove(collection: StateCollection, keys: readonly string[], owners: Iterable<string>): Promise<void> {
    const places = new Map<string, readonly string[]>(groupedBy(await this.#placesOf(collection, keys)));
    // Also where a write was broken off, and the table of ids does not say so.
    for (const owner of owners) places.set(partitionOfTenant(owner), keys);
    for (const [partition, inIt] of places) await this.#removeFrom(collection, partition, inIt);
    const nowhere = keys.map((key) => [key, null] as const);
    await this.#place(collection, nowhere);
  }

  async ofOwner(collection: StateCollection, owner: string): Promise<Partition> {
    return this.#ofPartition(collection, partitionOfTenant(owner));
  }

  async ofAll(collection: StateCollection): Promise<Partition> {
    const all = new Partition(collection.config.vectors.size);
    for (const partition of await this.#partitions(collection)) await this.#readAll(collection, partition, (point) => all.put(point));
    return all;
  }

  /** Those that hold points of the collection. */
  async #partitions(collection: StateCollection): Promise<readonly string[]> {
    const found: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await this.#engine.partitions({ key: headOf(collection), limit: 500, ...(after !== undefined && { after }) });
      found.push(...page.map(({ partition }) => partition));
      after = page.at(-1)?.partition;
      if (after === undefined || page.length < 500) return found;
    }
  }

  async #ofPartition(collection: StateCollection, partition: string): Promise<Partition> {
    const held = await this.#owners.current(heldAs(collection, partition), async (known) => {
      const since = writesOf(collection) + numberKey((known?.head.seq ?? 0) + 1);
      const read = await this.#engine.read(partition, {
        keys: [headOf(collection)],
        ranges: [{ ...prefixRange(writesOf(collection)), from: since, limit: CHANGES_KEPT + 1 }],
      });
      const head = headIn(read, collection);
      const writes = read.ranges[0] ?? [];
      const isFollowed = known?.head.since === head.since && known.head.seq + writes.length === head.seq;
      if (known !== undefined && isFollowed && !known.partition.wasteful) {
        const keys = [...new Set(writes.flatMap(({ value }) => JSON.parse(value) as string[]))];
        const points = new Map((await this.#readIn(collection, partition, keys)).map((point) => [point.key, point]));
        for (const key of keys) {
          const point = points.get(key);
          if (point === undefined) known.partition.remove(key);
          else known.partition.put(point);
        }
        return { partition: known.partition, head };
      }
      const fresh: Held = { partition: new Partition(collection.config.vectors.size), head };
      if (head.seq > 0) await this.#readAll(collection, partition, (point) => fresh.partition.put(point));
      return fresh;
    });
    return held.partition;
  }

  /** What is written meanwhile may be among them, and is read again with the next look. */
  async #readAll(collection: StateCollection, partition: string, take: (point: KeptPoint) => void): Promise<void> {
    const all = prefixRange(pointsOf(collection));
    for (let from = all.from; ; ) {
      const { ranges } = await this.#engine.read(partition, { ranges: [{ ...all, from, limit: READ_AT_ONCE }] });
      const entries = ranges[0] ?? [];
      for (const { key, value } of entries) take(pointIn(key.slice(pointsOf(collection).length), value));
      const last = entries[READ_AT_ONCE - 1];
      if (last === undefined) return;
      from = behind(last.key);
    }
  }

  async #readIn(collection: StateCollection, partition: string, keys: readonly string[]): Promise<readonly KeptPoint[]> {
    const points: KeptPoint[] = [];
    for (const batch of batchesOf(keys, READ_AT_ONCE)) {
      const { entries } = await this.#engine.read(partition, { keys: batch.map((key) => pointsOf(collection) + key) });
      for (const { key, value } of entries.values()) points.push(pointIn(key.slice(pointsOf(collection).length), value));
    }
    return points;
  }

  async #removeFrom(collection: StateCollection, partition: string, keys: readonly string[]): Promise<void> {
    for (const remove of batchesOf(keys, AT_ONCE)) await this.#change(collection, partition, { put: [], remove });
    await this.#forgetWrites(collection, partition);
  }

  /** Where no point is left nothing is: what an erasure looks for is an owner's empty range. */
  async #forgetWrites(collection: StateCollection, partition: string): Promise<void> {
    const head = headOf(collection);
    const query = { keys: [head], ranges: [{ ...prefixRange(pointsOf(collection)), limit: 1 }, prefixRange(writesOf(collection))] };
    await optimisticCommit(this.#engine, partition, query, (read) => {
      const [points = [], writes = []] = read.ranges;
      if (points.length > 0) return { commit: null, result: null };
      return { commit: { checks: unchanged(read, head), deletes: [head, ...writes.map(({ key }) => key)] }, result: null };
    });
  }

  /** One write of a partition, which names its points. */
  async #change(
    collection: StateCollection,
    partition: string,
    { put, remove }: { readonly put: readonly KeptPoint[]; readonly remove: readonly string[] },
  ): Promise<void> {
    const head = headOf(collection);
    const owner = put.map((point) => ownerIn(tenantOf(point.payload, collection.tenantKey))).find((each) => each !== null);
    const written = await optimisticCommit<Head>(this.#engine, partition, { keys: [head] }, (read) => {
      const before = headIn(read, collection);
      const now: Head = { seq: before.seq + 1, since: before.seq === 0 ? newId() : before.since };
      const names = [...put.map(({ key }) => key), ...remove];
      const puts = [
        ...(owner === undefined || owner === null ? [] : [named(owner)]),
        { key: head, value: JSON.stringify(now) },
        { key: writesOf(collection) + numberKey(now.seq), value: JSON.stringify(names) },
        ...put.map((point) => ({ key: pointsOf(collection) + point.key, value: textOf(point) })),
      ];
      const forgotten = now.seq > CHANGES_KEPT ? [writesOf(collection) + numberKey(now.seq - CHANGES_KEPT)] : [];
      const deletes = [...remove.map((key) => pointsOf(collection) + key), ...forgotten];
      return { commit: { epoch: read.epoch, checks: unchanged(read, head), puts, deletes }, result: now };
    });
    // What this process has written itself it need not read again.
    await this.#owners.changed(heldAs(collection, partition), (known) => {
      const isNext = known.head.seq + 1 === written.seq && (known.head.seq === 0 || known.head.since === written.since);
      if (!isNext) return known;
      for (const point of put) known.partition.put(pointIn(point.key, textOf(point)));
      for (const key of remove) known.partition.remove(key);
      return { partition: known.partition, head: written };
    });
  }

  /** Where points lie, of those that are known. */
  async #placesOf(collection: StateCollection, keys: readonly string[]): Promise<(readonly [key: string, partition: string])[]> {
    const prefix = placesOf(collection);
    const asked = groupedBy(keys.map((key) => [key, shardOf(key)] as const));
    const read = await Promise.all([...asked].map(([shard, inIt]) => this.#engine.read(shard, { keys: inIt.map((key) => prefix + key) })));
    return read.flatMap(({ entries }) => [...entries.values()].map(({ key, value }) => [key.slice(prefix.length), value] as const));
  }

  /** `null`: nowhere. */
  async #place(collection: StateCollection, places: readonly (readonly [key: string, partition: string | null])[]): Promise<void> {
    const prefix = placesOf(collection);
    const byShard = groupedBy(places.map((place) => [place, shardOf(place[0])] as const));
    await Promise.all(
      [...byShard].map(async ([shard, inIt]) => {
        for (const batch of batchesOf(inIt, AT_ONCE)) {
          const puts = batch.flatMap(([key, partition]) => (partition === null ? [] : [{ key: prefix + key, value: partition }]));
          const deletes = batch.flatMap(([key, partition]) => (partition === null ? [prefix + key] : []));
          await committed(this.#engine, shard, { puts, deletes });
        }
      }),
    );
  }

  async #clear(partition: string, range: KeyRange): Promise<void> {
    for (;;) {
      const { ranges } = await this.#engine.read(partition, { ranges: [{ ...range, limit: AT_ONCE }] });
      const keys = (ranges[0] ?? []).map(({ key }) => key);
      if (keys.length === 0) return;
      await committed(this.#engine, partition, { deletes: keys });
    }
  }
}

function heldAs({ id }: StateCollection, partition: string): string {
  return `${id} ${partition}`;
}

type StoredCollection = Pick<StateCollection, "id" | "config" | "tenantKey"> & {
  readonly indexes: Readonly<Record<string, PayloadSchema>>;
};
