import { type Filter, type ScoredPoint, type StoredPoint, VectorStoreError, type WithPayload } from "../../ports/vectors.js";
import { bothFilters, elementsAt, kindOf, matcherOf, pinnedValues, requireFacet, requireIndexes } from "../requests/filter.js";
import { denseOf, idOf, type KeptPoint, type KeptSparse, keyOf, shownPoint, sparseOf, unknownName } from "../requests/point.js";
import { type Ranked, reciprocalRankFusion, TopK } from "../requests/ranked.js";
import { DEFAULT_LIMIT, type Requests } from "../requests/requests.js";
import type { CollectionRow } from "./local-tables.js";
import type { Partition } from "./partition.js";

type FacetValue = string | number | boolean;
type PayloadOf = Pick<KeptPoint, "key" | "payload">;
type Vector = Exclude<NonNullable<Requests["query"]["query"]>, { fusion: unknown }>;

/** Where points lie, by collection; a tenant null: those of none. */
export interface PointTables {
  point(collection: number, key: string): KeptPoint | null;
  /** In id order, from `from` on. */
  payloads(collection: number, from?: string): Iterable<PayloadOf>;
  payloadsOfTenant(collection: number, tenant: string | null): Iterable<PayloadOf>;
  tenants(collection: number): readonly (string | null)[];
  /** How many points hold the term; null: have the sparse vector. */
  documentFrequency(collection: number, name: string, term: number | null): number;
}

/** The points of a tenant in memory. */
export interface PartitionSource {
  of(collection: number, dimension: number, tenant: string | null, options?: { readonly keep?: boolean }): Partition;
}

/** Queries, scrolls and counts. */
export class PointReads {
  readonly #tables: PointTables;
  readonly #partitions: PartitionSource;

  constructor(tables: PointTables, partitions: PartitionSource) {
    this.#tables = tables;
    this.#partitions = partitions;
  }

  query(collection: CollectionRow, args: Requests["query"]): { points: ScoredPoint[] } {
    const { filter, with_payload = false, with_vector } = args;
    requireIndexes(filter, collection.indexes);
    const shown = this.#shower(collection, filter, with_payload, with_vector);
    return { points: this.#ranked(collection, args, args.limit ?? DEFAULT_LIMIT).map(({ key, score }) => ({ ...shown(key), score })) };
  }

  scroll(
    collection: CollectionRow,
    { filter, limit = DEFAULT_LIMIT, offset, with_payload = true, with_vector }: Requests["scroll"],
  ): { points: StoredPoint[]; next_page_offset: StoredPoint["id"] | null } {
    requireIndexes(filter, collection.indexes);
    const shown = this.#shower(collection, filter, with_payload, with_vector);
    const keys = this.matching(collection, filter, { from: offset === undefined ? "" : keyOf(offset), limit: limit + 1 });
    const next = keys[limit];
    return { points: keys.slice(0, limit).map(shown), next_page_offset: next === undefined ? null : idOf(next) };
  }

  retrieve(collection: CollectionRow, { ids, with_payload = true, with_vector }: Requests["retrieve"]): StoredPoint[] {
    const keys = [...new Set(ids.map(keyOf))];
    return keys.flatMap((key) => {
      const point = this.#tables.point(collection.id, key);
      return point === null ? [] : [shownPoint(point, with_payload, with_vector)];
    });
  }

  count(collection: CollectionRow, { filter }: Requests["count"]): { count: number } {
    requireIndexes(filter, collection.indexes);
    return { count: this.matching(collection, filter).length };
  }

  facet(
    collection: CollectionRow,
    { key: counted, filter, limit = DEFAULT_LIMIT }: Requests["facet"],
  ): { hits: { value: FacetValue; count: number }[] } {
    requireIndexes(filter, collection.indexes);
    requireFacet(counted, collection.indexes);
    const counts = new Map<FacetValue, number>();
    for (const { payload } of this.#stored(collection, filter))
      for (const value of new Set(elementsAt(payload, counted).filter(isFacetValue))) counts.set(value, (counts.get(value) ?? 0) + 1);
    const hits = [...counts].map(([value, count]) => ({ value, count }));
    return { hits: hits.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1)).slice(0, limit) };
  }

  /** Ids of the points that a filter lets pass, in id order. */
  matching(collection: CollectionRow, filter: Filter | undefined, { from = "", limit = Number.POSITIVE_INFINITY } = {}): string[] {
    const comesInOrder = tenantsOf(collection, filter) === null;
    const keys: string[] = [];
    for (const { key } of this.#points(collection, filter, from)) {
      if (comesInOrder && keys.length >= limit) break;
      keys.push(key);
    }
    return keys.sort().slice(0, limit);
  }

  #ranked(collection: CollectionRow, { query, prefetch, using, filter }: Requests["query"], limit: number): Ranked[] {
    const candidates = (prefetch ?? []).map((each) => {
      requireIndexes(each.filter, collection.indexes);
      // The outer filter holds for the candidates too, as a server propagates it.
      return this.#nearest(collection, { ...each, filter: bothFilters(filter, each.filter) }, each.limit ?? DEFAULT_LIMIT);
    });
    if ("fusion" in query) {
      if (candidates.length === 0) throw new VectorStoreError(400, "A fusion needs prefetches.");
      return reciprocalRankFusion(candidates).slice(0, limit);
    }
    const among = candidates.length === 0 ? null : new Set(candidates.flat().map(({ key }) => key));
    return this.#nearest(collection, { query, using, filter }, limit, among);
  }

  /** `among`: what was found by others, to be scored anew; what lacks the vector is left out. Null: all that the filter lets pass. */
  #nearest(
    collection: CollectionRow,
    { query, using = "", filter }: { query: Vector; using?: string | undefined; filter?: Filter | undefined },
    limit: number,
    among: ReadonlySet<string> | null = null,
  ): Ranked[] {
    const best = new TopK(limit);
    const partitions = this.#pinned(collection, filter) ?? this.#all(collection);
    const passes = among === null ? matcherOf(filter) : (key: string) => among.has(key);
    if (Array.isArray(query)) {
      if (using !== "") throw unknownName(using);
      const vector = denseOf(collection.config, query);
      for (const partition of partitions)
        if (among === null) partition.scoreDense(vector, passes, best);
        else partition.scoreDenseOf(among, vector, best);
    } else {
      const config = collection.config.sparse_vectors?.[using];
      if (config === undefined) throw unknownName(using);
      const plain = sparseOf(query);
      const vector = config.modifier === "idf" ? this.#withIdf(collection, using, plain) : plain;
      for (const partition of partitions) partition.scoreSparse(using, vector, passes, best);
    }
    return best.sorted();
  }

  /**
   * IDF over the whole collection, all tenants, as the server has it: ln(1 + (n − df + ½) / (df + ½)), n being the points that have
   * this vector. (A server counts for each shard by itself, and what was deleted until its optimizer has been there.)
   */
  #withIdf(collection: CollectionRow, name: string, query: KeptSparse): KeptSparse {
    const n = this.#tables.documentFrequency(collection.id, name, null);
    const values = query.values.map((value, i) => {
      const df = this.#tables.documentFrequency(collection.id, name, query.indices[i] ?? 0);
      return value * Math.log(1 + (n - df + 0.5) / (df + 0.5));
    });
    return { indices: query.indices, values };
  }

  /** What a filter lets pass, from an id on; in id order where it doesn't pin the tenant. */
  *#points(collection: CollectionRow, filter: Filter | undefined, from = ""): Generator<PayloadOf> {
    const passes = matcherOf(filter);
    const partitions = this.#pinned(collection, filter);
    const points = partitions?.flatMap((each) => [...pointsFor(each, filter, collection)]) ?? this.#tables.payloads(collection.id, from);
    for (const point of points) if (point.key >= from && passes(point.key, point.payload)) yield point;
  }

  /** The same, read from the file: of many tenants at once, whose partitions would push out those that are in use. */
  *#stored(collection: CollectionRow, filter: Filter | undefined): Generator<PayloadOf> {
    const passes = matcherOf(filter);
    const tenants = tenantsOf(collection, filter);
    const all = tenants?.map((tenant) => this.#tables.payloadsOfTenant(collection.id, tenant)) ?? [this.#tables.payloads(collection.id)];
    for (const points of all) for (const point of points) if (passes(point.key, point.payload)) yield point;
  }

  /** The partitions that can hold what the filter lets pass; null where it doesn't pin the tenant. */
  #pinned(collection: CollectionRow, filter: Filter | undefined): Partition[] | null {
    const tenants = tenantsOf(collection, filter);
    return tenants?.map((tenant) => this.#partitions.of(collection.id, collection.config.vectors.size, tenant)) ?? null;
  }

  *#all(collection: CollectionRow): Generator<Partition> {
    for (const tenant of this.#tables.tenants(collection.id))
      yield this.#partitions.of(collection.id, collection.config.vectors.size, tenant, { keep: false });
  }

  #shower(
    collection: CollectionRow,
    filter: Filter | undefined,
    withPayload: WithPayload,
    withVector = false,
  ): (key: string) => StoredPoint {
    // Memory holds vectors in the form in which they are searched, so those are read from the file.
    const partitions = withVector ? [] : (this.#pinned(collection, filter) ?? []);
    return (key) => {
      for (const partition of partitions) {
        const point = partition.get(key);
        if (point !== undefined) return shownPoint(point, withPayload, false);
      }
      const point = this.#tables.point(collection.id, key);
      if (point === null) throw new VectorStoreError(500, "A point is gone.");
      return shownPoint(point, withPayload, withVector);
    };
  }
}

/** Whose points a filter can let pass, those of none (null) among them; null where it doesn't pin the tenant. */
function tenantsOf({ tenantKey }: CollectionRow, filter: Filter | undefined): (string | null)[] | null {
  const pinned = tenantKey === null ? null : pinnedValues(filter, tenantKey);
  return pinned === null ? null : [...pinned, null];
}

/** Those that a filter may let pass: of a key whose values are many, by the values that it pins. */
function pointsFor(partition: Partition, filter: Filter | undefined, { indexes, tenantKey }: CollectionRow): Iterable<KeptPoint> {
  for (const [key, schema] of indexes) {
    if (key === tenantKey || kindOf(schema) !== "keyword") continue;
    const values = pinnedValues(filter, key);
    const points = values === null ? null : partition.pointsWith(key, values);
    if (points !== null) return points;
  }
  return partition.points();
}

function isFacetValue(value: unknown): value is FacetValue {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
