import { type CreateCollectionArgs, type PayloadSchema, VectorStoreError } from "../../ports/vectors.js";
import { describe, noCollection } from "../requests/collection.js";
import { isTenantIndex } from "../requests/filter.js";
import { tenantOf } from "../requests/point.js";
import { type Method, parseRequest } from "../requests/requests.js";
import { type CollectionRow, LocalTables } from "./local-tables.js";
import { Partitions } from "./partitions.js";
import { PointReads } from "./point-reads.js";
import { PointWrites } from "./point-writes.js";

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
