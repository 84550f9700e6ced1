import { type Database, type Query, type Row, sqlFile } from "../../platform/postgres/database.js";
import { type Filter, type Payload, type PayloadSchema, VectorStoreError, type WithPayload } from "../../ports/vectors.js";
import { type Collection, describe, noCollection } from "../requests/collection.js";
import { isTenantIndex, namedKeys, requireFacet, requireIndexes } from "../requests/filter.js";
import { idOf, type KeptSparse, keptPoint, keyOf, merged, noPoint, shownPoint, sparseOf, tenantOf } from "../requests/point.js";
import { type CollectionCalls, callOn, DEFAULT_LIMIT, type Method, parseRequest, type Requests } from "../requests/requests.js";
import type { NearIndexes } from "./near-indexes.js";
import { ANY_TERM, conditionOf, fieldsOf, fromField, placesOf, SearchSql, toField, Values } from "./search-sql.js";

const GIVEN_POINTS = sqlFile("given-points", import.meta.url);
const SET =
  "fields = excluded.fields, owner = excluded.owner, payload = excluded.payload, dense = excluded.dense, sparse = excluded.sparse";
const INSERT = `INSERT INTO {vector_points} (collection, key, owner, fields, payload, dense, sparse)
  SELECT $1, key, owner, fields, payload, dense, sparse FROM points ORDER BY key ON CONFLICT (collection, key)`;
/** What follows the points that are given. */
const UPSERTS = {
  upsert: `${INSERT} DO UPDATE SET ${SET}`,
  insert_only: `${INSERT} DO NOTHING`,
  update_only: `UPDATE {vector_points} p SET ${SET.replaceAll("excluded", "g")} FROM points g WHERE p.collection = $1 AND p.key = g.key`,
} as const;
const SET_PAYLOADS = `UPDATE {vector_points} p SET payload = g.payload, fields = g.fields, owner = g.owner
  FROM unnest($2::text[], $3::text[], $4::jsonb[], $5::text[]) AS g(key, payload, fields, owner) WHERE p.collection = $1 AND p.key = g.key`;

const COMPLETED = { status: "completed" } as const;
/** Another process may make a collection anew, in milliseconds. */
const COLLECTION_KEPT_MS = 5_000;

type Shown = { readonly with_payload?: WithPayload | undefined; readonly with_vector?: boolean | undefined };

export interface PgvectorCallsParts {
  readonly database: Database;
  /** The schema of the extension. */
  readonly extension: string;
  readonly near: NearIndexes;
}

/** Qdrant's calls, each one statement (a change of payloads: one transaction). @throws VectorStoreError; STORAGE_UNAVAILABLE */
export class PgvectorCalls implements CollectionCalls<Collection> {
  readonly #database: Database;
  readonly #extension: string;
  readonly #near: NearIndexes;
  readonly #collections = new Map<string, { readonly collection: Collection; readonly untilMs: number }>();

  constructor({ database, extension, near }: PgvectorCallsParts) {
    this.#database = database;
    this.#extension = `"${extension}"`;
    this.#near = near;
  }

  async call(method: Method, name: string, args: unknown): Promise<unknown> {
    if (method === "collectionExists") return { exists: (await this.#readCollection(name)) !== null };
    if (method === "createCollection") return this.#createCollection(name, args);
    if (method === "deleteCollection") return this.#deleteCollection(name);
    return callOn<Collection>(this, method, await this.#collection(name), args);
  }

  // ---- collections ----

  getCollection(collection: Collection): unknown {
    return describe(collection);
  }

  async #collection(name: string): Promise<Collection> {
    const known = this.#collections.get(name);
    if (known !== undefined && performance.now() < known.untilMs) return known.collection;
    const collection = await this.#readCollection(name);
    if (collection === null) throw noCollection(name);
    this.#collections.set(name, { collection, untilMs: performance.now() + COLLECTION_KEPT_MS });
    return collection;
  }

  async #readCollection(name: string): Promise<Collection | null> {
    const [row] = await this.#database.query("SELECT config, owner_key, indexes FROM {vector_collections} WHERE name = $1", [name]);
    if (row === undefined) return null;
    return {
      name,
      config: row.config as Collection["config"],
      tenantKey: row.owner_key as string | null,
      indexes: new Map(Object.entries(row.indexes as Record<string, PayloadSchema>)),
    };
  }

  async #createCollection(name: string, args: unknown): Promise<boolean> {
    const made = await this.#database.query(
      "INSERT INTO {vector_collections} (name, config) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING name",
      [name, JSON.stringify(parseRequest("createCollection", args))],
    );
    if (made.length === 0) throw new VectorStoreError(409, `Collection \`${name}\` already exists!`);
    return true;
  }

  async #deleteCollection(name: string): Promise<boolean> {
    this.#collections.delete(name);
    await this.#near.dropAll(name);
    return (await this.#database.query("DELETE FROM {vector_collections} WHERE name = $1 RETURNING name", [name])).length > 0;
  }

  async createPayloadIndex(collection: Collection, { field_name, field_schema }: Requests["createPayloadIndex"]): Promise<unknown> {
    const schema = field_schema as PayloadSchema;
    const indexes = new Map([...collection.indexes, [field_name, schema]]);
    const tenantKey = isTenantIndex(schema) ? field_name : collection.tenantKey;
    await this.#database.transaction(async (query) => {
      await query(
        "UPDATE {vector_collections} SET indexes = indexes || jsonb_build_object($2::text, $3::jsonb), owner_key = $4 WHERE name = $1",
        [collection.name, field_name, JSON.stringify(schema), tenantKey],
      );
      const rows = await query("SELECT key, payload FROM {vector_points} WHERE collection = $1 ORDER BY key FOR UPDATE", [collection.name]);
      await this.#putPayloads(query, { ...collection, indexes, tenantKey }, rows, (payload) => payload);
    });
    this.#collections.delete(collection.name);
    return COMPLETED;
  }

  // ---- writes ----

  async upsert(collection: Collection, { points, update_mode = "upsert" }: Requests["upsert"]): Promise<unknown> {
    const { name, config, indexes, tenantKey } = collection;
    // Of two points with one id the later one counts.
    const kept = [...new Map(points.map((each) => keptPoint(config, each)).map((each) => [each.point.key, each])).values()];
    const places = placesOf(collection);
    const words = kept.flatMap(({ point: { key, sparse } }) =>
      [...sparse].flatMap(([vector, { indices, values }]) => {
        const place = places.get(vector) ?? 0;
        return [[key, place, ANY_TERM, 1] as const, ...Array.from(indices, (term, i) => [key, place, term, values[i] ?? 0] as const)];
      }),
    );
    const owners = kept.map(({ point }) => ownerOf(tenantOf(point.payload, tenantKey)));
    await this.#database.query(`${GIVEN_POINTS} ${UPSERTS[update_mode]}`.replaceAll("[ext]", this.#extension), [
      name,
      kept.map(({ point }) => point.key),
      owners,
      kept.map(({ point }) => fieldsOf(point.payload, indexes)),
      kept.map(({ payloadText }) => payloadText),
      kept.map(({ point: { dense } }) => (dense === null ? null : JSON.stringify([...dense]))),
      ...([0, 1, 2, 3] as const).map((column) => words.map((word) => word[column])),
      places.size,
    ]);
    for (const owner of owners) if (owner !== null) this.#near.wrote(collection, owner);
    return COMPLETED;
  }

  async setPayload(collection: Collection, { payload, ...chosen }: Requests["setPayload"]): Promise<unknown> {
    const { where, values, keys } = this.#chosen(collection, chosen);
    const isThere = await this.#database.transaction(async (query) => {
      const rows = await query(`SELECT key, payload FROM {vector_points} WHERE ${where} ORDER BY key FOR UPDATE`, values.list);
      if (keys !== null && rows.length < keys.length) return false;
      await this.#putPayloads(query, collection, rows, (before) => merged(before, payload));
      return true;
    });
    if (!isThere) throw noPoint();
    return COMPLETED;
  }

  async #putPayloads(query: Query, { name, indexes, tenantKey }: Collection, rows: readonly Row[], change: (payload: Payload) => Payload) {
    const payloads = rows.map(({ payload }) => change(payloadOf(payload)));
    await query(SET_PAYLOADS, [
      name,
      rows.map(({ key }) => key),
      payloads.map((payload) => JSON.stringify(payload)),
      payloads.map((payload) => fieldsOf(payload, indexes)),
      payloads.map((payload) => ownerOf(tenantOf(payload, tenantKey))),
    ]);
  }

  async delete(collection: Collection, args: Requests["delete"]): Promise<unknown> {
    const { where, values } = this.#chosen(collection, args);
    await this.#database.queryOnce(`DELETE FROM {vector_points} WHERE ${where}`, values.list);
    await this.#near.deleted(collection, args.filter);
    return COMPLETED;
  }

  #chosen(collection: Collection, args: Requests["delete"]) {
    const keys = namedKeys(args, collection.indexes);
    const values = new Values();
    const filter = keys === null ? args.filter : { must: [{ has_id: keys.map(idOf) }] };
    return { where: conditionOf(collection, filter, values), values, keys };
  }

  // ---- reads ----

  async query(collection: Collection, { with_payload = false, with_vector, ...args }: Requests["query"]): Promise<unknown> {
    const shown = { with_payload, with_vector };
    const near = this.#near;
    const isIndexed = (filter: Filter | undefined) => near.isIndexed(collection, filter);
    const search = new SearchSql({ collection, extension: this.#extension, dense: near.expression(collection), isIndexed }, args);
    const rows = await this.#database.queryOnce(
      `${search.with} SELECT p.key, b.score, ${this.#columns(shown)} FROM best b
       JOIN {vector_points} p ON p.collection = ${search.values.of(collection.name, "text")} AND p.key = b.key
       ORDER BY b.score DESC, p.key`,
      search.values.list,
    );
    return { points: rows.map((row) => ({ ...this.#shown(collection, row, shown), score: row.score })) };
  }

  async scroll(
    collection: Collection,
    { filter, limit = DEFAULT_LIMIT, offset, ...shown }: Requests["scroll"],
  ): Promise<{ points: unknown[]; next_page_offset: unknown }> {
    requireIndexes(filter, collection.indexes);
    const values = new Values();
    const where = conditionOf(collection, filter, values);
    const from = offset === undefined ? "" : ` AND key >= ${values.of(keyOf(offset), "text")}`;
    const rows = await this.#database.queryOnce(
      `SELECT key, ${this.#columns(shown)} FROM {vector_points} p WHERE ${where}${from} ORDER BY key LIMIT ${limit + 1}`,
      values.list,
    );
    const next = rows[limit];
    const points = rows.slice(0, limit).map((row) => this.#shown(collection, row, shown));
    return { points, next_page_offset: next === undefined ? null : idOf(String(next.key)) };
  }

  async retrieve(collection: Collection, { ids, ...shown }: Requests["retrieve"]): Promise<unknown[]> {
    const rows = await this.#database.query(
      `SELECT key, ${this.#columns(shown)} FROM {vector_points} p WHERE collection = $1 AND key = ANY($2::text[])`,
      [collection.name, [...new Set(ids.map(keyOf))]],
    );
    return rows.map((row) => this.#shown(collection, row, shown));
  }

  async count(collection: Collection, { filter }: Requests["count"]): Promise<{ readonly count: number }> {
    requireIndexes(filter, collection.indexes);
    const values = new Values();
    const where = conditionOf(collection, filter, values);
    const [row] = await this.#database.queryOnce(`SELECT count(*)::integer AS n FROM {vector_points} WHERE ${where}`, values.list);
    return { count: Number(row?.n) };
  }

  async facet(collection: Collection, { key, filter, limit = DEFAULT_LIMIT }: Requests["facet"]) {
    requireIndexes(filter, collection.indexes);
    requireFacet(key, collection.indexes);
    const values = new Values();
    const where = conditionOf(collection, filter, values);
    const rows = await this.#database.queryOnce(
      `SELECT value, count(DISTINCT key)::integer AS n FROM {vector_points},
         jsonb_path_query(fields -> ${values.of(key, "text")}, '$[*]') AS value
       WHERE ${where} GROUP BY value ORDER BY n DESC, value LIMIT ${limit}`,
      values.list,
    );
    return { hits: rows.map(({ value, n }) => ({ value: fromField(value), count: n })) };
  }

  #columns({ with_payload = true, with_vector = false }: Shown): string {
    const payload = with_payload === false ? "NULL AS payload" : "p.payload";
    if (!with_vector) return payload;
    return `${payload}, p.dense::text AS dense, (SELECT json_agg(json_build_array(t.place, t.term, w.weight))
      FROM {vector_weights}(p.sparse) w JOIN {vector_terms} t ON t.id = w.id WHERE t.term <> ${ANY_TERM}) AS sparse`;
  }

  #shown(collection: Collection, row: Row, { with_payload = true, with_vector = false }: Shown) {
    const names = [...placesOf(collection).keys()];
    const sparse = new Map<string, { indices: number[]; values: number[] }>();
    for (const [place, term, weight] of (row.sparse ?? []) as readonly [number, number, number][]) {
      const name = names[place - 1] ?? "";
      const vector = sparse.get(name) ?? { indices: [], values: [] };
      sparse.set(name, vector);
      vector.indices.push(term);
      vector.values.push(weight);
    }
    const point = {
      key: String(row.key),
      payload: with_payload === false ? {} : payloadOf(row.payload),
      dense: typeof row.dense === "string" ? new Float32Array(JSON.parse(row.dense)) : null,
      sparse: new Map<string, KeptSparse>([...sparse].map(([name, vector]) => [name, sparseOf(vector)])),
    };
    return shownPoint(point, with_payload, with_vector);
  }
}

function ownerOf(tenant: string | null): string | null {
  return tenant === null ? null : String(toField(tenant));
}

function payloadOf(text: unknown): Payload {
  return JSON.parse(String(text)) as Payload;
}
