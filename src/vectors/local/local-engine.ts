import { type CreateCollectionArgs, type PayloadSchema, VectorStoreError } from "../../ports/vectors.js";
import { describe, noCollection } from "../requests/collection.js";
import { isTenantIndex, namedKeys } from "../requests/filter.js";
import { type KeptPoint, keptPoint, merged, noPoint, tenantOf } from "../requests/point.js";
import { type CollectionCalls, callOn, type Method, parseRequest, type Requests } from "../requests/requests.js";
import { type CollectionRow, LocalTables, type PointRow } from "./local-tables.js";
import { type Change, Partitions } from "./partition.js";
import { PointReads } from "./point-reads.js";

const COMPLETED = { status: "completed" } as const;

/**
 * LocalQdrant without its thread: Qdrant's calls, answered one at a time from a SQLite file. What a write has done survives a kill when
 * its call returns. Points lie by tenant (the key of the collection's `is_tenant` index): a filter that pins the tenant by `must` reads
 * nothing of others.
 */
export class LocalEngine implements CollectionCalls<CollectionRow> {
  readonly #tables: LocalTables;
  readonly #partitions: Partitions;
  readonly #reads: PointReads;
  readonly query: PointReads["query"] = (...args) => this.#reads.query(...args);
  readonly scroll: PointReads["scroll"] = (...args) => this.#reads.scroll(...args);
  readonly retrieve: PointReads["retrieve"] = (...args) => this.#reads.retrieve(...args);
  readonly facet: PointReads["facet"] = (...args) => this.#reads.facet(...args);

  private constructor(tables: LocalTables, cacheBytes: number) {
    this.#tables = tables;
    this.#partitions = new Partitions(tables, cacheBytes);
    this.#reads = new PointReads(tables, this.#partitions);
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
    const collection = this.#tables.collection(name);
    if (method === "collectionExists") return { exists: collection !== null };
    if (method === "createCollection") return this.#createCollection(name, parseRequest(method, args) as CreateCollectionArgs);
    if (method === "deleteCollection") return this.#deleteCollection(collection);
    if (collection === null) throw noCollection(name);
    return callOn<CollectionRow>(this, method, collection, args);
  }

  count(collection: CollectionRow, args: Requests["count"]): { count: number } {
    return args.filter === undefined ? { count: this.#tables.count(collection.id) } : this.#reads.count(collection, args);
  }

  getCollection(collection: CollectionRow): unknown {
    return describe(collection);
  }

  #createCollection(name: string, config: CreateCollectionArgs): boolean {
    if (this.#tables.collection(name) !== null) throw new VectorStoreError(409, `Collection \`${name}\` already exists!`);
    this.#tables.write(() => this.#tables.createCollection(name, config));
    return true;
  }

  #deleteCollection(collection: CollectionRow | null): boolean {
    if (collection === null) return false;
    this.#tables.write(() => this.#tables.deleteCollection(collection.id));
    this.#partitions.clear();
    this.#tables.checkpoint();
    return true;
  }

  createPayloadIndex(collection: CollectionRow, { field_name, field_schema }: Requests["createPayloadIndex"]): typeof COMPLETED {
    const schema = field_schema as PayloadSchema;
    this.#tables.write(() => {
      this.#tables.putIndex(collection.id, field_name, schema);
      if (isTenantIndex(schema) && collection.tenantKey !== field_name) this.#partitionBy(collection, field_name);
    });
    this.#partitions.clear();
    return COMPLETED;
  }

  #partitionBy(collection: CollectionRow, key: string): void {
    this.#tables.setTenantKey(collection.id, key);
    for (const { key: id } of [...this.#tables.payloads(collection.id)]) {
      const point = this.#tables.point(collection.id, id);
      if (point !== null) this.#tables.setPayload(point, JSON.stringify(point.payload), tenantOf(point.payload, key));
    }
  }

  upsert(collection: CollectionRow, { points, update_mode = "upsert" }: Requests["upsert"]): typeof COMPLETED {
    const kept = points.map((point) => keptPoint(collection.config, point));
    const isThere = (key: string) => this.#tables.hasPoint(collection.id, key);
    const isChanged = this.#commit(collection, (batch) => {
      let changed = false;
      // Of two points with one id the later one counts, also where both are new.
      const known = new Set(update_mode === "upsert" ? [] : kept.map(({ point: { key } }) => key).filter(isThere));
      for (const { point, payloadText } of kept) {
        if (known.has(point.key) ? update_mode === "insert_only" : update_mode === "update_only") continue;
        const before = this.#tables.point(collection.id, point.key);
        if (before === null) batch.insert(point, payloadText);
        else {
          batch.replace(before, point, payloadText);
          changed ||= leavesWords(before, point);
        }
      }
      return changed;
    });
    if (isChanged) this.#tables.checkpointSoon();
    return COMPLETED;
  }

  setPayload(collection: CollectionRow, args: Requests["setPayload"]): typeof COMPLETED {
    const keys = this.#chosen(collection, args);
    const isChanged = this.#commit(collection, (batch) => {
      let changed = false;
      for (const key of keys) {
        const before = this.#tables.point(collection.id, key);
        if (before === null) throw noPoint();
        const text = JSON.stringify(merged(before.payload, args.payload));
        const after = { ...before, payload: JSON.parse(text), payloadChars: text.length };
        batch.change(before, after, text);
        changed ||= leavesWords(before, after);
      }
      return changed;
    });
    if (isChanged) this.#tables.checkpointSoon();
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

  #chosen(collection: CollectionRow, args: Requests["delete"]): readonly string[] {
    return namedKeys(args, collection.indexes) ?? this.#reads.matching(collection, args.filter);
  }

  /** Writes of one call: one transaction, whose changes memory follows once it is committed. */
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

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]{1,15}Z$/;

/** Whether what a point told before lies in the log behind its change. Numbers and times tell nothing. */
function leavesWords(before: KeptPoint, after: KeptPoint): boolean {
  const changed = Object.entries(before.payload).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(after.payload[key]));
  const tells = (value: unknown) => (typeof value === "string" && !TIME.test(value)) || (typeof value === "object" && value !== null);
  return changed.some(([, value]) => tells(value)) || (before.sparse !== after.sparse && before.sparse.size > 0) || !isSame(before, after);
}

function isSame({ dense: before }: KeptPoint, { dense: after }: KeptPoint): boolean {
  return before === after || (before !== null && after !== null && before.every((value, at) => value === after[at]));
}

/** Term frequencies are added up over the call and written once. */
class Batch {
  readonly changes: Change[] = [];
  readonly #tables: LocalTables;
  readonly #collection: CollectionRow;
  /** By vector and term; null: the vector itself. */
  readonly #terms = new Map<string, Map<number | null, number>>();

  constructor(tables: LocalTables, collection: CollectionRow) {
    this.#tables = tables;
    this.#collection = collection;
  }

  insert(point: KeptPoint, payloadText: string): void {
    const tenant = tenantOf(point.payload, this.#collection.tenantKey);
    this.#tables.insert(this.#collection.id, tenant, point, payloadText);
    this.#countTerms(point, 1);
    this.changes.push({ type: "put", tenant, point });
  }

  replace(before: PointRow, point: KeptPoint, payloadText: string): void {
    const tenant = tenantOf(point.payload, this.#collection.tenantKey);
    this.#tables.replace(before, tenant, point, payloadText);
    this.#countTerms(before, -1);
    this.#countTerms(point, 1);
    this.changes.push({ type: "remove", tenant: before.tenant, key: before.key }, { type: "put", tenant, point });
  }

  remove(point: PointRow): void {
    this.#tables.remove(point);
    this.#countTerms(point, -1);
    this.changes.push({ type: "remove", tenant: point.tenant, key: point.key });
  }

  change(before: PointRow, after: KeptPoint, payloadText: string): void {
    const tenant = tenantOf(after.payload, this.#collection.tenantKey);
    this.#tables.setPayload(before, payloadText, tenant);
    if (tenant === before.tenant) {
      this.changes.push({ type: "payload", tenant, point: after });
      return;
    }
    this.changes.push({ type: "remove", tenant: before.tenant, key: before.key }, { type: "put", tenant, point: after });
  }

  settle(): void {
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
