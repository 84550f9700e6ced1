import { LRUCache } from "lru-cache";
import { AppError } from "../../platform/errors.js";
import { KeyedMutex } from "../../platform/keyed-mutex.js";
import { type Filter, type Payload, type PayloadSchema, type StoredPoint, VectorStoreError } from "../../ports/vectors.js";
import { PointReads } from "../local/point-reads.js";
import { describe, noCollection } from "../requests/collection.js";
import { isTenantIndex, pinnedValues, requireIndexes } from "../requests/filter.js";
import { idOf, keptPoint, keyOf, merged, noPoint, shownPoint } from "../requests/point.js";
import { DEFAULT_LIMIT, type Method, parseRequest, type Requests } from "../requests/requests.js";
import { type ChromaApi, isNotFound, type Metadata } from "./chroma-driver.js";
import {
  allRecords,
  fetchRecords,
  newest,
  type Opened,
  pushLog,
  putRecords,
  recordsByKey,
  recordsOf,
  removeRecords,
  SYNC_THRESHOLD,
} from "./chroma-records.js";
import { HeldPoints, sourceOf } from "./held-points.js";

const LAYOUT = 1;
const COMPLETED = { status: "completed" } as const;

/**
 * Qdrant's calls on what Chroma keeps: records, each written once. What is asked of an owner's points is answered from memory, exactly,
 * once Chroma has told by the ids of their records what has changed: one small request, and the new records. What names no owner is read
 * whole. @throws VectorStoreError; what the client throws
 */
export class ChromaCalls {
  readonly #api: ChromaApi;
  readonly #opened = new Map<string, Opened>();
  readonly #held: LRUCache<string, HeldPoints>;
  readonly #oneAtATime = new KeyedMutex();
  readonly #waiting = new Map<string, Promise<HeldPoints>>();

  /** `cacheBytes`: of points in memory. */
  constructor(api: ChromaApi, cacheBytes: number) {
    this.#api = api;
    this.#held = new LRUCache({ maxSize: cacheBytes, sizeCalculation: ({ partition }) => Math.max(1, 2 * partition.bytes) });
  }

  async call(method: Method, name: string, args: unknown): Promise<unknown> {
    if (method === "collectionExists") return { exists: (await this.#find(name)) !== null };
    if (method === "createCollection") return this.#createCollection(name, parseRequest(method, args));
    if (method === "deleteCollection") return this.#deleteCollection(name);
    const collection = this.#opened.get(name) ?? (await this.#find(name));
    if (collection === null) throw noCollection(name);
    this.#opened.set(name, collection);
    return this.#callOn(collection, method, args).catch((error: unknown) => {
      // Another process has deleted it, and may have made it anew.
      if (isNotFound(error)) this.#opened.delete(name);
      throw error;
    });
  }

  async #callOn(collection: Opened, method: Method, args: unknown): Promise<unknown> {
    const { name } = collection;
    switch (method) {
      case "getCollection":
        return describe(collection, (await this.#keys(collection)).length);
      case "createPayloadIndex":
        return this.#writing(name, () => this.#createPayloadIndex(collection, parseRequest(method, args)));
      case "upsert":
        return this.#writing(name, () => this.#upsert(collection, parseRequest("upsert", args)));
      case "setPayload":
        return this.#writing(name, () => this.#setPayload(collection, parseRequest("setPayload", args)));
      case "delete":
        return this.#writing(name, () => this.#delete(collection, parseRequest("delete", args)));
      case "retrieve":
        return this.#retrieve(collection, parseRequest(method, args));
      case "query":
      case "scroll":
        return this.#points(collection, method, parseRequest(method, args));
      case "count":
      case "facet":
        return this.#read(collection, method, parseRequest(method, args));
    }
  }

  /** Pushes what was deleted out of Chroma's log of the last writes. */
  async scrub(): Promise<void> {
    for (const collection of this.#opened.values()) await this.#writing(collection.name, () => pushLog(collection));
  }

  // ---- collections ----

  async #find(name: string): Promise<Opened | null> {
    const chroma = await this.#api.getCollection({ name }).catch((error: unknown) => {
      if (isNotFound(error)) return null;
      throw error;
    });
    if (chroma === null) return null;
    const { layout, config, indexes, tenant_key } = chroma.metadata ?? {};
    if (layout !== LAYOUT)
      throw new AppError("STORAGE_UNAVAILABLE", {
        detail: `Chroma has a collection \`${name}\` that is not Maitred's, or another version's.`,
        hint: "Rename or delete it, or name another server with CHROMA_URL.",
      });
    return {
      name,
      chroma,
      config: JSON.parse(String(config)),
      tenantKey: typeof tenant_key === "string" ? tenant_key : null,
      indexes: new Map(Object.entries(JSON.parse(String(indexes)) as Record<string, PayloadSchema>)),
    };
  }

  async #createCollection(name: string, config: Requests["createCollection"]): Promise<boolean> {
    const metadata = { layout: LAYOUT, config: JSON.stringify(config), indexes: "{}" };
    const configuration = { hnsw: { space: "ip", sync_threshold: SYNC_THRESHOLD } } as const;
    await this.#api.createCollection({ name, metadata, configuration, embeddingFunction: null });
    return true;
  }

  async #deleteCollection(name: string): Promise<boolean> {
    this.#opened.delete(name);
    if ((await this.#find(name)) === null) return false;
    await this.#api.deleteCollection({ name });
    return true;
  }

  async #createPayloadIndex(collection: Opened, { field_name, field_schema }: Requests["createPayloadIndex"]): Promise<unknown> {
    const schema = field_schema as PayloadSchema;
    const indexes = new Map([...collection.indexes, [field_name, schema]]);
    const tenantKey = isTenantIndex(schema) ? field_name : collection.tenantKey;
    const metadata: Metadata = {
      ...{ layout: LAYOUT, config: JSON.stringify(collection.config), indexes: JSON.stringify(Object.fromEntries(indexes)) },
      ...(tenantKey !== null && { tenant_key: tenantKey }),
    };
    await collection.chroma.modify({ metadata });
    const changed = { ...collection, indexes, tenantKey };
    this.#opened.set(collection.name, changed);
    if (tenantKey !== collection.tenantKey) await this.#rewrite(changed, await this.#keys(changed), (payload) => payload);
    return COMPLETED;
  }

  // ---- writes ----

  #writing<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.#oneAtATime.run(name, work);
  }

  async #upsert(collection: Opened, { points, update_mode }: Requests["upsert"]): Promise<unknown> {
    // Of two points with one id the later one counts.
    const kept = new Map(points.map((each) => keptPoint(collection.config, each).point).map((point) => [point.key, point]));
    const before = recordsByKey(await recordsOf(collection, [...kept.keys()]));
    const written = [...kept.values()].filter(({ key }) =>
      before.has(key) ? update_mode !== "insert_only" : update_mode !== "update_only",
    );
    await putRecords(
      collection,
      written,
      written.flatMap(({ key }) => before.get(key) ?? []),
    );
    return COMPLETED;
  }

  async #setPayload(collection: Opened, { payload, ...chosen }: Requests["setPayload"]): Promise<unknown> {
    const keys = await this.#chosen(collection, chosen);
    await this.#rewrite(collection, keys, (before) => merged(before, payload), chosen.points !== undefined);
    return COMPLETED;
  }

  async #rewrite(collection: Opened, keys: readonly string[], change: (payload: Payload) => Payload, mustBeThere = false): Promise<void> {
    const records = await recordsOf(collection, keys);
    const points = newest(await fetchRecords(collection, records));
    if (mustBeThere && points.length < keys.length) throw noPoint();
    const changed = points.map((point) => {
      const text = JSON.stringify(change(point.payload));
      return { ...point, payload: JSON.parse(text) as Payload, payloadChars: text.length };
    });
    await putRecords(collection, changed, records);
  }

  async #delete(collection: Opened, args: Requests["delete"]): Promise<unknown> {
    await removeRecords(collection, await recordsOf(collection, await this.#chosen(collection, args)));
    return COMPLETED;
  }

  async #chosen(collection: Opened, { points, filter }: Requests["delete"]): Promise<string[]> {
    if ((points === undefined) === (filter === undefined))
      throw new VectorStoreError(400, "Either `points` or `filter` says which points are meant.");
    if (points !== undefined) return [...new Set(points.map(keyOf))];
    requireIndexes(filter, collection.indexes);
    const { reads, row } = await this.#reads(collection, filter);
    return reads.matching(row, filter);
  }

  // ---- reads ----

  async #read(
    collection: Opened,
    method: "count" | "facet",
    args: (Requests["count"] & Requests["facet"]) | Requests["count"],
  ): Promise<unknown> {
    if (method === "count" && args.filter === undefined) return { count: (await this.#keys(collection)).length };
    requireIndexes(args.filter, collection.indexes);
    const { reads, row } = await this.#reads(collection, args.filter);
    return method === "count" ? reads.count(row, args) : reads.facet(row, args as Requests["facet"]);
  }

  async #points(collection: Opened, method: "query" | "scroll", args: Requests["query"] | Requests["scroll"]): Promise<unknown> {
    if (method === "scroll" && args.filter === undefined && !("order_by" in args))
      return this.#page(collection, args as Requests["scroll"]);
    requireIndexes(args.filter, collection.indexes);
    const { reads, row } = await this.#reads(collection, args.filter);
    const plain = { ...args, with_vector: false };
    const answer = method === "query" ? reads.query(row, plain as Requests["query"]) : reads.scroll(row, plain as Requests["scroll"]);
    if (args.with_vector !== true) return answer;
    const withVectors = await this.#retrieve(collection, {
      ids: answer.points.map(({ id }) => id),
      with_payload: false,
      with_vector: true,
    });
    const vectors = new Map(withVectors.map(({ id, vector }) => [id, vector]));
    return { ...answer, points: answer.points.map((point) => ({ ...point, vector: vectors.get(point.id) })) };
  }

  /** Without reading more than the page. */
  async #page(collection: Opened, { limit = DEFAULT_LIMIT, offset, ...shown }: Requests["scroll"]): Promise<unknown> {
    const from = offset === undefined ? "" : keyOf(offset);
    const keys = (await this.#keys(collection)).filter((key) => key >= from);
    const points = await this.#retrieve(collection, { ids: keys.slice(0, limit).map(idOf), ...shown });
    const next = keys[limit];
    return { points, next_page_offset: next === undefined ? null : idOf(next) };
  }

  async #retrieve(collection: Opened, { ids, with_payload = true, with_vector }: Requests["retrieve"]): Promise<StoredPoint[]> {
    const keys = [...new Set(ids.map(keyOf))];
    const points = newest(await fetchRecords(collection, await recordsOf(collection, keys)));
    const byKey = new Map(points.map((point) => [point.key, point]));
    return keys.flatMap((key) => {
      const point = byKey.get(key);
      return point === undefined ? [] : [shownPoint(point, with_payload, with_vector)];
    });
  }

  /** What answers a filter's calls: the points of the owners whom it names, as they are now; else all there are. */
  async #reads(collection: Opened, filter: Filter | undefined) {
    const owners = collection.tenantKey === null ? null : pinnedValues(filter, collection.tenantKey);
    const dimension = collection.config.vectors.size;
    const held = new Map<string | null, HeldPoints>();
    if (owners === null) held.set(null, await this.#filled(collection, new HeldPoints(dimension), await allRecords(collection)));
    else for (const owner of owners) held.set(owner, await this.#current(collection, owner));
    const source = sourceOf(held, dimension);
    const points = [...held.values()].reduce((sum, { size }) => sum + size, 0);
    return { reads: new PointReads(source, source), row: { ...collection, id: 0, points } };
  }

  /** Calls that come while Chroma is asked for the owner share the next asking: it begins after each of them. */
  #current(collection: Opened, owner: string): Promise<HeldPoints> {
    const name = `${collection.chroma.id} ${owner}`;
    const waiting = this.#waiting.get(name);
    if (waiting !== undefined) return waiting;
    let hasBegun = false;
    const next = this.#oneAtATime.run(name, () => {
      hasBegun = true;
      this.#waiting.delete(name);
      return this.#ofOwner(collection, owner, name);
    });
    if (!hasBegun) this.#waiting.set(name, next);
    return next;
  }

  async #ofOwner(collection: Opened, owner: string, name: string): Promise<HeldPoints> {
    const { ids } = await collection.chroma.get({ where: { owner }, include: [] });
    const known = this.#held.get(name);
    const held = known?.keepOnly(ids) === true ? known : new HeldPoints(collection.config.vectors.size);
    const isNew = held !== known || held.missing(ids).length > 0;
    await this.#filled(collection, held, ids);
    // The cache counts a value as it is when it comes.
    if (isNew) this.#held.delete(name);
    if (isNew) this.#held.set(name, held);
    return held;
  }

  async #filled(collection: Opened, held: HeldPoints, records: readonly string[]): Promise<HeldPoints> {
    for (const { record, point } of await fetchRecords(collection, held.missing(records))) held.add(record, point);
    return held;
  }

  async #keys(collection: Opened): Promise<string[]> {
    return [...recordsByKey(await allRecords(collection)).keys()].sort();
  }
}
