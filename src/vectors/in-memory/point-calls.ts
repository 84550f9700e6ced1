import { KeyedMutex } from "../../platform/keyed-mutex.js";
import type { Filter, Payload, PayloadSchema, StoredPoint } from "../../ports/vectors.js";
import type { Partition } from "../local/partition.js";
import { PointReads } from "../local/point-reads.js";
import { type Collection, describe, noCollection } from "../requests/collection.js";
import { isTenantIndex, namedKeys, pinnedValues, requireIndexes } from "../requests/filter.js";
import { idOf, type KeptPoint, keptPoint, keyOf, merged, noPoint, shownPoint } from "../requests/point.js";
import { type CollectionCalls, callOn, DEFAULT_LIMIT, type Method, parseRequest, type Requests } from "../requests/requests.js";
import { sourceOf } from "./owners-points.js";

export type WriteMode = NonNullable<Requests["upsert"]["update_mode"]>;

/** What keeps points, and searches none of them. Whose a point is: {@link tenantOf} its payload. */
export interface PointKeeper<C extends Collection> {
  /** Null where there is none. */
  find(name: string): Promise<C | null>;
  create(name: string, config: Requests["createCollection"]): Promise<void>;
  drop(collection: C): Promise<void>;
  /** The collection with other indexes, and another tenant's key. Its points stay where they are. */
  change(collection: C, changed: Pick<Collection, "indexes" | "tenantKey">): Promise<C>;
  /** Of all points, in order. */
  keys(collection: C): Promise<readonly string[]>;
  /** Those that are there, in no order. */
  read(collection: C, keys: readonly string[]): Promise<readonly KeptPoint[]>;
  /** Each point once. `upsert` writes all, the others those that are not there, or that are. */
  write(collection: C, points: readonly KeptPoint[], mode: WriteMode): Promise<void>;
  /** `owners`: whose they are, where the caller knows. */
  remove(collection: C, keys: readonly string[], owners: Iterable<string>): Promise<void>;
  /** As they are now. Two owners whose points are kept together have one partition. */
  ofOwner(collection: C, owner: string): Promise<Partition>;
  ofAll(collection: C): Promise<Partition>;
}

const COMPLETED = { status: "completed" } as const;
const WRITES: ReadonlySet<Method> = new Set(["createPayloadIndex", "upsert", "setPayload", "delete"]);

/**
 * Qdrant's calls on what a keeper keeps. What is asked of an owner's points is answered from memory, exactly. What names no owner is read
 * whole. @throws VectorStoreError; what the keeper throws
 */
export class PointCalls<C extends Collection> implements CollectionCalls<C> {
  readonly #keeper: PointKeeper<C>;
  readonly #opened = new Map<string, C>();
  readonly #oneAtATime = new KeyedMutex();
  readonly #isGone: (error: unknown) => boolean;

  /** `isGone`: an error that says that the collection is not there any more: another process has deleted it, and may have made it anew. */
  constructor(keeper: PointKeeper<C>, isGone: (error: unknown) => boolean) {
    this.#keeper = keeper;
    this.#isGone = isGone;
  }

  async call(method: Method, name: string, args: unknown): Promise<unknown> {
    if (method === "collectionExists") return { exists: (await this.#keeper.find(name)) !== null };
    if (method === "createCollection") return this.#create(name, parseRequest(method, args));
    if (method === "deleteCollection") return this.#drop(name);
    const known = method === "getCollection" ? undefined : this.#opened.get(name);
    const collection = known ?? (await this.#keeper.find(name));
    if (collection === null) throw noCollection(name);
    this.#opened.set(name, collection);
    const work = async () => callOn<C>(this, method, collection, args);
    try {
      return await (WRITES.has(method) ? this.writing(name, work) : work());
    } catch (error) {
      if (this.#isGone(error)) this.#opened.delete(name);
      throw error;
    }
  }

  /** Those that were used. */
  opened(): Iterable<C> {
    return this.#opened.values();
  }

  /** Beside no write of the collection's. */
  writing<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.#oneAtATime.run(name, work);
  }

  // ---- collections ----

  async #create(name: string, config: Requests["createCollection"]): Promise<boolean> {
    await this.#keeper.create(name, config);
    return true;
  }

  async #drop(name: string): Promise<boolean> {
    this.#opened.delete(name);
    const collection = await this.#keeper.find(name);
    if (collection === null) return false;
    await this.#keeper.drop(collection);
    return true;
  }

  getCollection(collection: C): unknown {
    return describe(collection);
  }

  async createPayloadIndex(collection: C, { field_name, field_schema }: Requests["createPayloadIndex"]): Promise<unknown> {
    const schema = field_schema as PayloadSchema;
    const indexes = new Map([...collection.indexes, [field_name, schema]]);
    const tenantKey = isTenantIndex(schema) ? field_name : collection.tenantKey;
    const isMoved = tenantKey !== collection.tenantKey;
    const keys = isMoved ? await this.#keeper.keys(collection) : [];
    const points = await this.#keeper.read(collection, keys);
    const changed = await this.#keeper.change(collection, { indexes, tenantKey });
    this.#opened.set(collection.name, changed);
    // Where they lie goes by whose they are.
    if (points.length > 0) await this.#keeper.write(changed, points, "update_only");
    return COMPLETED;
  }

  // ---- writes ----

  async upsert(collection: C, { points, update_mode = "upsert" }: Requests["upsert"]): Promise<unknown> {
    // Of two points with one id the later one counts.
    const kept = new Map(points.map((each) => keptPoint(collection.config, each).point).map((point) => [point.key, point]));
    await this.#keeper.write(collection, [...kept.values()], update_mode);
    return COMPLETED;
  }

  async setPayload(collection: C, { payload, ...chosen }: Requests["setPayload"]): Promise<unknown> {
    const keys = await this.#chosen(collection, chosen);
    const points = await this.#keeper.read(collection, keys);
    if (chosen.points !== undefined && points.length < keys.length) throw noPoint();
    const changed = points.map((point) => {
      const text = JSON.stringify(merged(point.payload, payload));
      return { ...point, payload: JSON.parse(text) as Payload, payloadChars: text.length };
    });
    await this.#keeper.write(collection, changed, "update_only");
    return COMPLETED;
  }

  async delete(collection: C, args: Requests["delete"]): Promise<unknown> {
    const owners = collection.tenantKey === null ? null : pinnedValues(args.filter, collection.tenantKey);
    await this.#keeper.remove(collection, await this.#chosen(collection, args), owners ?? []);
    return COMPLETED;
  }

  async #chosen(collection: C, args: Requests["delete"]): Promise<readonly string[]> {
    const keys = namedKeys(args, collection.indexes);
    if (keys !== null) return keys;
    const { reads, row } = await this.#reads(collection, args.filter);
    return reads.matching(row, args.filter);
  }

  // ---- reads ----

  async count(collection: C, args: Requests["count"]): Promise<{ readonly count: number }> {
    if (args.filter === undefined) return { count: (await this.#keeper.keys(collection)).length };
    const { reads, row } = await this.#reads(collection, args.filter);
    return reads.count(row, args);
  }

  async facet(collection: C, args: Requests["facet"]): Promise<unknown> {
    const { reads, row } = await this.#reads(collection, args.filter);
    return reads.facet(row, args);
  }

  async query(collection: C, { with_vector, ...args }: Requests["query"]): Promise<unknown> {
    const { reads, row } = await this.#reads(collection, args.filter);
    return this.#withVectors(collection, reads.query(row, args), with_vector);
  }

  async scroll(collection: C, args: Requests["scroll"]): Promise<unknown> {
    if (args.filter === undefined) return this.#page(collection, args);
    const { with_vector, ...plain } = args;
    const { reads, row } = await this.#reads(collection, args.filter);
    return this.#withVectors(collection, reads.scroll(row, plain), with_vector);
  }

  async #withVectors<A extends { readonly points: readonly StoredPoint[] }>(collection: C, answer: A, asked = false): Promise<A> {
    if (!asked) return answer;
    const ids = answer.points.map(({ id }) => id);
    const found = await this.retrieve(collection, { ids, with_payload: false, with_vector: true });
    const vectors = new Map(found.map(({ id, vector }) => [id, vector]));
    return { ...answer, points: answer.points.map((point) => ({ ...point, vector: vectors.get(point.id) })) };
  }

  /** Without reading more than the page. */
  async #page(collection: C, { limit = DEFAULT_LIMIT, offset, ...shown }: Requests["scroll"]): Promise<unknown> {
    const from = offset === undefined ? "" : keyOf(offset);
    const keys = (await this.#keeper.keys(collection)).filter((key) => key >= from);
    const points = await this.retrieve(collection, { ids: keys.slice(0, limit).map(idOf), ...shown });
    const next = keys[limit];
    return { points, next_page_offset: next === undefined ? null : idOf(next) };
  }

  async retrieve(collection: C, { ids, with_payload = true, with_vector }: Requests["retrieve"]): Promise<StoredPoint[]> {
    const keys = [...new Set(ids.map(keyOf))];
    const byKey = new Map((await this.#keeper.read(collection, keys)).map((point) => [point.key, point]));
    return keys.flatMap((key) => {
      const point = byKey.get(key);
      return point === undefined ? [] : [shownPoint(point, with_payload, with_vector)];
    });
  }

  /** What answers a filter's calls: the points of the owners whom it names, as they are now; else all there are. @throws status 400 */
  async #reads(collection: C, filter: Filter | undefined) {
    requireIndexes(filter, collection.indexes);
    const owners = collection.tenantKey === null ? null : pinnedValues(filter, collection.tenantKey);
    const held = new Map<string | null, Partition>();
    if (owners === null) held.set(null, await this.#keeper.ofAll(collection));
    else
      for (const owner of owners) {
        const partition = await this.#keeper.ofOwner(collection, owner);
        if (![...held.values()].includes(partition)) held.set(owner, partition);
      }
    const source = sourceOf(held, collection.config.vectors.size);
    return { reads: new PointReads(source, source), row: { ...collection, id: 0 } };
  }
}
