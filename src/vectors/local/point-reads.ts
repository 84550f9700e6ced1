import type { Filter, Payload, ScoredPoint, StoredPoint } from "../../ports/vectors.js";
import { VectorStoreError } from "../../ports/vectors.js";
import { Best } from "./best.js";
import { bothFilters, type Matcher, matcherOf, pinnedValues } from "./filter-match.js";
import { distributionBasedFusion, type Ranked, reciprocalRankFusion } from "./fusion.js";
import type { CollectionRow, LocalTables } from "./local-tables.js";
import { type DenseNumbers, isDense } from "./packed-vectors.js";
import type { KeptPoint, Partition } from "./partition.js";
import type { Partitions } from "./partitions.js";
import { kindOf, requireIndexes, requireOrder } from "./payload-index.js";
import { elementsAt, isPlain, pick } from "./payload-path.js";
import { idOf, keyOf } from "./point-id.js";
import { denseOf, sparseOf, unknownName } from "./point-input.js";
import type { Requests } from "./requests.js";
import type { KeptSparse } from "./sparse-index.js";

const DEFAULT_LIMIT = 10;
type FacetValue = string | number | boolean;
type Selection = boolean | string[] | undefined;
type Query = NonNullable<Requests["query"]["query"]>;

/** Queries, scrolls and counts. */
export class PointReads {
  readonly #tables: LocalTables;
  readonly #partitions: Partitions;

  constructor(tables: LocalTables, partitions: Partitions) {
    this.#tables = tables;
    this.#partitions = partitions;
  }

  query(collection: CollectionRow, args: Requests["query"]): { points: ScoredPoint[] } {
    const filter = args.filter as Filter | undefined;
    requireIndexes(filter, collection.indexes);
    const offset = args.offset ?? 0;
    const wanted = offset + (args.limit ?? DEFAULT_LIMIT);
    const threshold = args.score_threshold ?? Number.NEGATIVE_INFINITY;
    // A fused score may equal the threshold; a cosine or a dot product has to be above it, which is looked at where they are computed.
    const ranked = this.#ranked(collection, args, filter, wanted, threshold)
      .filter(({ score }) => score >= threshold)
      .slice(offset, wanted);
    const shown = this.#shower(collection, filter, args.with_payload ?? false, args.with_vector);
    return { points: ranked.map(({ key, score }) => ({ ...shown(key), score })) };
  }

  scroll(
    collection: CollectionRow,
    { filter: given, limit = DEFAULT_LIMIT, offset, with_payload = true, with_vector, order_by }: Requests["scroll"],
  ): { points: StoredPoint[]; next_page_offset: StoredPoint["id"] | null } {
    const filter = given as Filter | undefined;
    requireIndexes(filter, collection.indexes);
    const shown = this.#shower(collection, filter, with_payload, with_vector);
    if (order_by !== undefined) {
      if (offset !== undefined) throw new VectorStoreError(400, "Cannot use an `offset` when using `order_by`.");
      const ordered = this.#ordered(collection, filter, order_by).slice(0, limit);
      return { points: ordered.map(({ key, value }) => ({ ...shown(key), order_value: value })), next_page_offset: null };
    }
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

  count(collection: CollectionRow, { filter: given }: Requests["count"]): { count: number } {
    const filter = given as Filter | undefined;
    requireIndexes(filter, collection.indexes);
    return { count: filter === undefined ? collection.points : this.matching(collection, filter).length };
  }

  facet(
    collection: CollectionRow,
    { key: counted, filter: given, limit = DEFAULT_LIMIT }: Requests["facet"],
  ): { hits: { value: FacetValue; count: number }[] } {
    const filter = given as Filter | undefined;
    requireIndexes(filter, collection.indexes);
    if (!collection.indexes.has(counted))
      throw new VectorStoreError(400, `Bad request: No appropriate index for faceting: "${counted}". Create a payload index for this key.`);
    const counts = new Map<FacetValue, number>();
    const passes = matcherOf(filter);
    for (const { key, payload } of this.#payloads(collection, filter)) {
      if (!passes(key, payload)) continue;
      for (const value of new Set(elementsAt(payload, counted).filter(isFacetValue))) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    const hits = [...counts].map(([value, count]) => ({ value, count }));
    return { hits: hits.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1)).slice(0, limit) };
  }

  /** Ids of the points that a filter lets pass, in id order. */
  matching(collection: CollectionRow, filter: Filter | undefined, { from = "", limit = Number.POSITIVE_INFINITY } = {}): string[] {
    const passes = matcherOf(filter);
    const keys: string[] = [];
    const partitions = this.#pinned(collection, filter);
    if (partitions !== null) {
      for (const partition of partitions)
        for (const { key, payload } of pointsFor(partition, filter, collection)) if (key >= from && passes(key, payload)) keys.push(key);
      return keys.sort().slice(0, limit);
    }
    for (const { key, payload } of this.#tables.payloads(collection.id, from)) {
      if (keys.length >= limit) break;
      if (passes(key, payload)) keys.push(key);
    }
    return keys;
  }

  #ranked(collection: CollectionRow, args: Requests["query"], filter: Filter | undefined, wanted: number, threshold: number): Ranked[] {
    const { query, prefetch, using } = args;
    if (query === undefined) {
      if (prefetch !== undefined && prefetch.length > 0)
        throw new VectorStoreError(400, "A query with prefetch needs a fusion or a vector.");
      if (args.score_threshold !== undefined) throw new VectorStoreError(400, "A score threshold needs a query.");
      return this.matching(collection, filter, { limit: wanted }).map((key) => ({ key, score: 1 }));
    }
    const candidates = (prefetch ?? []).map((each) => {
      requireIndexes(each.filter as Filter | undefined, collection.indexes);
      // The outer filter holds for the candidates too, as a server propagates it.
      const both = bothFilters(filter, each.filter as Filter | undefined);
      return this.#nearest(
        collection,
        each.query,
        each.using,
        both,
        matcherOf(both),
        each.limit ?? DEFAULT_LIMIT,
        Number.NEGATIVE_INFINITY,
      );
    });
    if ("fusion" in query) {
      if (candidates.length === 0) throw new VectorStoreError(400, "A fusion needs prefetches.");
      return query.fusion === "rrf" ? reciprocalRankFusion(candidates) : distributionBasedFusion(candidates);
    }
    if (prefetch === undefined || prefetch.length === 0)
      return this.#nearest(collection, query, using, filter, matcherOf(filter), wanted, threshold);
    const among = new Set(candidates.flat().map(({ key }) => key));
    if (isDense(query)) return this.#rescored(collection, query, using, filter, among, wanted, threshold);
    return this.#nearest(collection, query, using, filter, (key) => among.has(key), wanted, threshold);
  }

  #nearest(
    collection: CollectionRow,
    query: Exclude<Query, { fusion: unknown }>,
    using: string | undefined,
    filter: Filter | undefined,
    passes: Matcher,
    limit: number,
    threshold: number,
  ): Ranked[] {
    const best = new Best(limit);
    const partitions = this.#pinned(collection, filter) ?? this.#all(collection);
    if (isDense(query)) {
      if (using !== undefined && using !== "") throw unknownName(using);
      const vector = denseOf(collection.config, query);
      for (const partition of partitions) partition.scoreDense(vector, passes, threshold, best);
    } else {
      const name = using ?? "";
      const config = collection.config.sparse_vectors?.[name];
      if (config === undefined) throw unknownName(name);
      const plain = sparseOf(query);
      const vector = config.modifier === "idf" ? this.#withIdf(collection, name, plain) : plain;
      for (const partition of partitions) partition.scoreSparse(name, vector, passes, threshold, best);
    }
    return best.sorted();
  }

  /** What was found by others, by its dense vector; what has none is left out. */
  #rescored(
    collection: CollectionRow,
    query: DenseNumbers,
    using: string | undefined,
    filter: Filter | undefined,
    among: ReadonlySet<string>,
    limit: number,
    threshold: number,
  ): Ranked[] {
    if (using !== undefined && using !== "") throw unknownName(using);
    const best = new Best(limit);
    const vector = denseOf(collection.config, query);
    for (const partition of this.#pinned(collection, filter) ?? this.#all(collection))
      partition.scoreDenseOf(among, vector, threshold, best);
    return best.sorted();
  }

  /**
   * IDF over the whole collection, all tenants, as the server has it: ln(1 + (n − df + ½) / (df + ½)), n being the points that have
   * this vector. (A server counts for each shard by itself, and what was deleted until its optimizer has been there.)
   */
  #withIdf(collection: CollectionRow, name: string, query: KeptSparse): KeptSparse {
    const n = this.#tables.vectorCount(collection.id, name);
    const values = query.values.map((value, i) => {
      const df = this.#tables.documentFrequency(collection.id, name, query.indices[i] ?? 0);
      return value * Math.log(1 + (n - df + 0.5) / (df + 0.5));
    });
    return { indices: query.indices, values };
  }

  #ordered(
    collection: CollectionRow,
    filter: Filter | undefined,
    { key: path, direction = "asc", start_from }: NonNullable<Requests["scroll"]["order_by"]>,
  ): { key: string; value: number }[] {
    requireOrder(path, collection.indexes);
    const sign = direction === "asc" ? 1 : -1;
    // An integer index holds integers only.
    const schema = collection.indexes.get(path);
    const isInteger = schema !== undefined && kindOf(schema) === "integer";
    const isOrdered = (value: unknown): value is number => typeof value === "number" && (!isInteger || Number.isInteger(value));
    const found: { key: string; value: number }[] = [];
    for (const { key, payload } of this.#payloadsOf(collection, filter))
      for (const value of elementsAt(payload, path))
        if (isOrdered(value) && (start_from === undefined || sign * (value - start_from) >= 0)) found.push({ key, value });
    return found.sort((a, b) => sign * (a.value - b.value || (a.key < b.key ? -1 : 1)));
  }

  *#payloadsOf(collection: CollectionRow, filter: Filter | undefined): Generator<{ key: string; payload: Payload }> {
    const passes = matcherOf(filter);
    const partitions = this.#pinned(collection, filter);
    const points = partitions === null ? this.#tables.payloads(collection.id) : partitions.flatMap((partition) => [...partition.points()]);
    for (const { key, payload } of points) if (passes(key, payload)) yield { key, payload };
  }

  /** The partitions that can hold what the filter lets pass; null where it doesn't pin the tenant. */
  #pinned(collection: CollectionRow, filter: Filter | undefined): Partition[] | null {
    if (collection.tenantKey === null) return null;
    const tenants = pinnedValues(filter, collection.tenantKey);
    if (tenants === null) return null;
    return [...tenants, null].map((tenant) => this.#partitions.of(collection.id, collection.config.vectors.size, tenant));
  }

  /** What a filter may let pass, without vectors: of many tenants at once, whose partitions would push out those that are in use. */
  *#payloads(collection: CollectionRow, filter: Filter | undefined): Generator<Pick<KeptPoint, "key" | "payload">> {
    const tenants = collection.tenantKey === null ? null : pinnedValues(filter, collection.tenantKey);
    if (tenants === null) yield* this.#tables.payloads(collection.id);
    else for (const tenant of [...tenants, null]) yield* this.#tables.payloadsOfTenant(collection.id, tenant);
  }

  *#all(collection: CollectionRow): Generator<Partition> {
    for (const tenant of this.#tables.tenants(collection.id))
      yield this.#partitions.of(collection.id, collection.config.vectors.size, tenant, { keep: false });
  }

  #shower(
    collection: CollectionRow,
    filter: Filter | undefined,
    withPayload: Selection,
    withVector: Selection,
  ): (key: string) => StoredPoint {
    // Memory holds vectors in the form in which they are searched, so those are read from the file.
    const partitions = withVector === undefined || withVector === false ? (this.#pinned(collection, filter) ?? []) : [];
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

/** Those that a filter may let pass: of a key whose values are many, by the values that it pins. */
function pointsFor(partition: Partition, filter: Filter | undefined, { indexes, tenantKey }: CollectionRow): Iterable<KeptPoint> {
  for (const [key, schema] of indexes) {
    if (key === tenantKey || kindOf(schema) !== "keyword" || !isPlain(key)) continue;
    const values = pinnedValues(filter, key);
    const points = values === null ? null : partition.pointsWith(key, values);
    if (points !== null) return points;
  }
  return partition.points();
}

function shownPoint(point: KeptPoint, withPayload: Selection, withVector: Selection): StoredPoint {
  const shown: StoredPoint = { id: idOf(point.key) };
  if (withPayload === true) shown.payload = point.payload;
  else if (Array.isArray(withPayload)) shown.payload = pick(point.payload, withPayload);
  if (withVector === true || Array.isArray(withVector)) shown.vector = shownVectors(point, withVector);
  return shown;
}

function shownVectors(point: KeptPoint, names: true | string[]): unknown {
  const wanted = (name: string) => names === true || names.includes(name);
  const shown: Record<string, unknown> = {};
  if (point.dense !== null && wanted("")) shown[""] = [...point.dense];
  for (const [name, { indices, values }] of point.sparse) if (wanted(name)) shown[name] = { indices: [...indices], values: [...values] };
  return Object.keys(shown).length === 1 && "" in shown ? shown[""] : shown;
}

function isFacetValue(value: unknown): value is FacetValue {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
