import { type CreateCollectionArgs, type PayloadSchema, VectorStoreError } from "../../ports/vectors.js";
import { describe, noCollection } from "../requests/collection.js";
import { isTenantIndex, requireIndexes } from "../requests/filter.js";
import { type KeptPoint, keptPoint, keyOf, merged, noPoint, tenantOf } from "../requests/point.js";
import { type Method, parseRequest, type Requests } from "../requests/requests.js";
import { type CollectionRow, LocalTables, type PointRow } from "./local-tables.js";
import { type Change, Partitions } from "./partition.js";
import { PointReads } from "./point-reads.js";

/**
 * LocalQdrant without its thread: Qdrant's calls, answered one at a time from a SQLite file. What a write has done survives a kill when
 * its call returns. Points lie by tenant (the key of the collection's `is_tenant` index): a filter that pins the tenant by `must` reads
 * nothing of others.
 */
export class LocalEngine {
  readonly #tables: LocalTables;
  readonly #partitions: Partitions;
  readonly #reads: PointReads;
  readonly #writes: PointWrites;

  private constructor(tables: LocalTables, cacheBytes: number) {
    this.#tables = tables;
    this.#partitions = new Partitions(tables, cacheBytes);
    this.#reads = new PointReads(tables, this.#partitions);
    this.#writes = new PointWrites(tables, this.#partitions, this.#reads);
  }

  /** @throws STORAGE_UNAVAILABLE, STORAGE_DAMAGED */
  static open(options: { readonly path: string; readonly cacheBytes: number }): LocalEngine {
    return new LocalEngine(LocalTables.open(options.path), options.cacheBytes);
  }

  /** False when a page of the file is damaged. Takes time in proportion to the file. */
  isSound(): boolean {
    return this.#tables.isSound();
  }

  close(): void {
    this.#partitions.clear();
    this.#tables.close();
  }

  /** Rewrites the file without the remains of deleted rows. */
  scrub(): void {
    this.#tables.rewrite();
  }

  /** @throws VectorStoreError */
  call(method: Method, name: string, args: unknown): unknown {
    switch (method) {
      case "collectionExists":
        return { exists: this.#tables.collection(name) !== null };
      case "createCollection":
        return this.#createCollection(name, parseRequest("createCollection", args) as CreateCollectionArgs);
      case "deleteCollection":
        return this.#deleteCollection(name);
      default:
        return this.#callOn(this.#collection(name), method, args);
    }
  }

  #callOn(collection: CollectionRow, method: Method, args: unknown): unknown {
    switch (method) {
      case "getCollection":
        return describe(collection, collection.points);
      case "createPayloadIndex":
        return this.#createPayloadIndex(collection, parseRequest("createPayloadIndex", args));
      case "upsert":
        return this.#writes.upsert(collection, parseRequest("upsert", args));
      case "setPayload":
        return this.#writes.setPayload(collection, parseRequest("setPayload", args));
      case "delete":
        return this.#writes.delete(collection, parseRequest("delete", args));
      case "query":
        return this.#reads.query(collection, parseRequest("query", args));
      case "scroll":
        return this.#reads.scroll(collection, parseRequest("scroll", args));
      case "retrieve":
        return this.#reads.retrieve(collection, parseRequest("retrieve", args));
      case "count":
        return this.#reads.count(collection, parseRequest("count", args));
      case "facet":
        return this.#reads.facet(collection, parseRequest("facet", args));
      default:
        throw new VectorStoreError(400, "Unknown call.");
    }
  }

  #collection(name: string): CollectionRow {
    const collection = this.#tables.collection(name);
    if (collection === null) throw noCollection(name);
    return collection;
  }

  #createCollection(name: string, config: CreateCollectionArgs): boolean {
    if (this.#tables.collection(name) !== null) throw new VectorStoreError(409, `Collection \`${name}\` already exists!`);
    this.#tables.write(() => this.#tables.createCollection(name, config));
    return true;
  }

  #deleteCollection(name: string): boolean {
    const collection = this.#tables.collection(name);
    if (collection === null) return false;
    this.#tables.write(() => this.#tables.deleteCollection(collection.id));
    this.#partitions.clear();
    this.#tables.checkpoint();
    return true;
  }

  #createPayloadIndex(collection: CollectionRow, { field_name, field_schema }: { field_name: string; field_schema: unknown }): unknown {
    const schema = field_schema as PayloadSchema;
    this.#tables.write(() => {
      this.#tables.putIndex(collection.id, field_name, schema);
      if (isTenantIndex(schema) && collection.tenantKey !== field_name) this.#partitionBy(collection, field_name);
    });
    this.#partitions.clear();
    return { status: "completed" };
  }

  #partitionBy(collection: CollectionRow, key: string): void {
    this.#tables.setTenantKey(collection.id, key);
    for (const { key: id } of [...this.#tables.payloads(collection.id)]) {
      const point = this.#tables.point(collection.id, id);
      if (point !== null) this.#tables.setPayload(point.row, JSON.stringify(point.payload), tenantOf(point.payload, key));
    }
  }
}

const COMPLETED = { status: "completed" } as const;

/** Writes of one call: one transaction, whose changes memory follows once it is committed. */
class PointWrites {
  readonly #tables: LocalTables;
  readonly #partitions: Partitions;
  readonly #reads: PointReads;

  constructor(tables: LocalTables, partitions: Partitions, reads: PointReads) {
    this.#tables = tables;
    this.#partitions = partitions;
    this.#reads = reads;
  }

  upsert(collection: CollectionRow, { points, update_mode }: Requests["upsert"]): typeof COMPLETED {
    const kept = points.map((point) => keptPoint(collection.config, point));
    const replaced = this.#commit(collection, (batch) => {
      let replacements = 0;
      // Of two points with one id the later one counts, also where both are new.
      const known = new Set(update_mode === undefined || update_mode === "upsert" ? [] : this.#known(collection, kept));
      for (const { point, payloadText } of kept) {
        const exists = this.#tables.hasPoint(collection.id, point.key);
        if (known.has(point.key) ? update_mode === "insert_only" : update_mode === "update_only") continue;
        if (exists) {
          const before = this.#tables.point(collection.id, point.key);
          if (before !== null) batch.remove(before);
          replacements++;
        }
        batch.insert(point, payloadText);
      }
      return replacements;
    });
    if (replaced > 0) this.#tables.checkpointSoon();
    return COMPLETED;
  }

  #known(collection: CollectionRow, kept: readonly { readonly point: KeptPoint }[]): string[] {
    return kept.flatMap(({ point: { key } }) => (this.#tables.hasPoint(collection.id, key) ? [key] : []));
  }

  setPayload(collection: CollectionRow, args: Requests["setPayload"]): typeof COMPLETED {
    const keys = this.#chosen(collection, args);
    this.#commit(collection, (batch) => {
      for (const key of keys) {
        const before = this.#tables.point(collection.id, key);
        if (before === null) throw noPoint();
        const text = JSON.stringify(merged(before.payload, args.payload));
        batch.change(before, { ...before, payload: JSON.parse(text), payloadChars: text.length }, text);
      }
    });
    if (keys.length > 0) this.#tables.checkpointSoon();
    return COMPLETED;
  }

  delete(collection: CollectionRow, args: Requests["delete"]): typeof COMPLETED {
    const keys = this.#chosen(collection, args);
    const removed = this.#commit(collection, (batch) => {
      let count = 0;
      for (const key of keys) {
        const before = this.#tables.point(collection.id, key);
        if (before === null) continue;
        batch.remove(before);
        count++;
      }
      return count;
    });
    // Also for nothing: a crash may have come between an earlier deletion's commit and its checkpoint.
    if (removed > 0 || args.filter !== undefined) this.#tables.checkpoint();
    return COMPLETED;
  }

  #chosen(collection: CollectionRow, { points, filter }: Requests["delete"]): string[] {
    if ((points === undefined) === (filter === undefined))
      throw new VectorStoreError(400, "Either `points` or `filter` says which points are meant.");
    if (points !== undefined) return [...new Set(points.map(keyOf))];
    requireIndexes(filter, collection.indexes);
    return this.#reads.matching(collection, filter);
  }

  #commit<T>(collection: CollectionRow, work: (batch: Batch) => T): T {
    const batch = new Batch(this.#tables, collection);
    const result = this.#tables.write(() => {
      const made = work(batch);
      batch.settle();
      return made;
    });
    this.#partitions.follow(collection.id, batch.changes);
    return result;
  }
}

/** Counts and term frequencies are added up over the call and written once. */
class Batch {
  readonly changes: Change[] = [];
  readonly #tables: LocalTables;
  readonly #collection: CollectionRow;
  /** By vector and term; null: the vector itself. */
  readonly #terms = new Map<string, Map<number | null, number>>();
  #count = 0;

  constructor(tables: LocalTables, collection: CollectionRow) {
    this.#tables = tables;
    this.#collection = collection;
  }

  insert(point: KeptPoint, payloadText: string): void {
    const tenant = tenantOf(point.payload, this.#collection.tenantKey);
    this.#tables.insert(this.#collection.id, tenant, point, payloadText);
    this.#count++;
    this.#countTerms(point, 1);
    this.changes.push({ type: "put", tenant, point });
  }

  remove(point: PointRow): void {
    this.#tables.remove(point);
    this.#count--;
    this.#countTerms(point, -1);
    this.changes.push({ type: "remove", tenant: point.tenant, key: point.key });
  }

  change(before: PointRow, after: KeptPoint, payloadText: string): void {
    const tenant = tenantOf(after.payload, this.#collection.tenantKey);
    this.#tables.setPayload(before.row, payloadText, tenant);
    if (tenant === before.tenant) {
      this.changes.push({ type: "payload", tenant, point: after });
      return;
    }
    this.changes.push({ type: "remove", tenant: before.tenant, key: before.key }, { type: "put", tenant, point: after });
  }

  settle(): void {
    this.#tables.addToCount(this.#collection.id, this.#count);
    for (const [name, terms] of this.#terms)
      for (const [term, delta] of terms) if (delta !== 0) this.#tables.addToTerm(this.#collection.id, name, term, delta);
  }

  #countTerms(point: KeptPoint, delta: number): void {
    for (const [name, { indices }] of point.sparse) {
      const terms = this.#terms.get(name) ?? new Map<number | null, number>();
      this.#terms.set(name, terms);
      for (const term of [null, ...indices]) terms.set(term, (terms.get(term) ?? 0) + delta);
    }
  }
}
