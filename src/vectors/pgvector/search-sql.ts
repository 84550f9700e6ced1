import { type Condition, type Filter, type Payload, type SparseVector, VectorStoreError } from "../../ports/vectors.js";
import type { Collection } from "../requests/collection.js";
import { bothFilters, elementsAt, requireIndexes } from "../requests/filter.js";
import { denseOf, keyOf, sparseOf, unknownName } from "../requests/point.js";
import { RRF_K } from "../requests/ranked.js";
import { DEFAULT_LIMIT, type Requests } from "../requests/requests.js";

/** The word that each sparse vector has. */
export const ANY_TERM = -1;

interface SearchSqlParts {
  readonly collection: Collection;
  /** The schema of the extension, quoted. */
  readonly extension: string;
  /** The dense vector, as an index of it has it. */
  readonly dense: string;
  /** Whether there is an index of those that a filter lets pass. */
  readonly isIndexed: (filter: Filter | undefined) => boolean;
}

type Vector = Exclude<Requests["query"]["query"], { fusion: unknown }>;
interface Leg {
  readonly query: Vector;
  readonly using?: string | undefined;
  readonly filter?: Filter | undefined;
  readonly limit: number;
}

/** The places of a collection's sparse vectors, from 1. */
export function placesOf({ config }: Collection): ReadonlyMap<string, number> {
  return new Map(Object.keys(config.sparse_vectors ?? {}).map((name, i) => [name, i + 1]));
}

/**
 * One statement for a whole query. What the same filter lets pass is read once, for all the scores that are wanted of it; but where there
 * is an index of dense vectors, or nothing else is asked, PostgreSQL chooses how to find the nearest.
 */
export class SearchSql {
  readonly values = new Values();
  readonly #parts: SearchSqlParts;
  /** By condition: the relation, and its columns by expression. */
  readonly #scored = new Map<string, { readonly name: string; readonly columns: Map<string, string> }>();
  readonly #ctes: string[] = [];
  readonly #alone: boolean;

  /** @throws VectorStoreError with status 400 */
  constructor(parts: SearchSqlParts, { query, prefetch = [], using, filter, limit = DEFAULT_LIMIT }: Requests["query"]) {
    this.#parts = parts;
    this.#alone = prefetch.length === 0;
    const { indexes } = parts.collection;
    requireIndexes(filter, indexes);
    const legs = prefetch.map((each) => {
      requireIndexes(each.filter, indexes);
      // The outer filter holds for the candidates too, as a server propagates it.
      return this.#nearest({ ...each, filter: bothFilters(filter, each.filter), limit: each.limit ?? DEFAULT_LIMIT });
    });
    const names = legs.map((_, i) => `leg${i}`);
    let best: string;
    if ("fusion" in query) {
      if (legs.length === 0) throw new VectorStoreError(400, "A fusion needs prefetches.");
      const ranks = names.map((name) => `SELECT key, row_number() OVER (ORDER BY score DESC, key) - 1 AS rank FROM ${name}`);
      best = `SELECT key, sum(1.0 / (${RRF_K} + rank))::float8 AS score FROM (${ranks.join(" UNION ALL ")}) AS ranked
        GROUP BY key ORDER BY 2 DESC, 1 LIMIT ${limit}`;
    } else best = this.#nearest({ query, using, filter, limit }, names.map((name) => `SELECT key FROM ${name}`).join(" UNION "));
    this.#ctes.push(...legs.map((sql, i) => `${names[i]} AS (${sql})`), `best AS (${best})`);
  }

  /** What goes before a statement that reads `best`: keys and scores, the best first. */
  get with(): string {
    const scored = [...this.#scored].map(([where, { name, columns }]) => {
      const selected = [...columns].map(([expression, column]) => `(${expression})::float8 AS ${column}`);
      return `${name} AS MATERIALIZED (SELECT key, ${selected.join(", ")} FROM {vector_points} WHERE ${where})`;
    });
    return `WITH ${[...scored, ...this.#ctes].join(", ")}`;
  }

  /** Of those that have the vector, or share a word with it. `among`: the keys to choose from; empty: all. */
  #nearest({ query, using = "", filter, limit }: Leg, among = ""): string {
    const where = conditionOf(this.#parts.collection, filter, this.values);
    const chosen = among === "" ? "" : ` AND key IN (${among})`;
    const byIndex = Array.isArray(query) && (this.#alone || this.#parts.isIndexed(filter));
    const distance = Array.isArray(query) ? this.#denseDistance(query, using, byIndex) : this.#sparseDistance(query, using);
    if (byIndex)
      return `SELECT key, -(${distance})::float8 AS score FROM {vector_points}
        WHERE ${where}${chosen} AND dense IS NOT NULL ORDER BY ${distance} LIMIT ${limit}`;
    const scored = this.#scored.get(where) ?? { name: `scored${this.#scored.size}`, columns: new Map<string, string>() };
    this.#scored.set(where, scored);
    const score = Array.isArray(query) ? `-(${distance})` : `nullif(-(${distance}), 0)`;
    const column = scored.columns.get(score) ?? `score${scored.columns.size}`;
    scored.columns.set(score, column);
    return `SELECT key, ${column} AS score FROM ${scored.name} WHERE ${column} IS NOT NULL${chosen} ORDER BY ${column} DESC LIMIT ${limit}`;
  }

  #denseDistance(query: Exclude<Vector, SparseVector>, using: string, byIndex: boolean): string {
    const { collection, extension, dense } = this.#parts;
    if (using !== "") throw unknownName(using);
    const vector = this.values.of(JSON.stringify([...denseOf(collection.config, query)]), `${extension}.vector`);
    return `${byIndex ? dense : "dense"} OPERATOR(${extension}.<#>) ${vector}`;
  }

  /**
   * To the words with their weight × IDF over the whole collection, all owners, as the server has it: ln(1 + (n − df + ½) / (df + ½)), n
   * being the points that have the vector.
   */
  #sparseDistance(query: SparseVector, using: string): string {
    const { collection, extension } = this.#parts;
    const place = placesOf(collection).get(using);
    const config = collection.config.sparse_vectors?.[using];
    if (place === undefined || config === undefined) throw unknownName(using);
    const { indices, values: weights } = sparseOf(query);
    const asked = `unnest(${this.values.of([...indices], "bigint[]")}, ${this.values.of([...weights], "real[]")}) AS q(term, weight)`;
    const ofVector = `collection = ${this.values.of(collection.name, "text")} AND place = ${place}`;
    const all = `(SELECT points FROM {vector_terms} WHERE ${ofVector} AND term = ${ANY_TERM})`;
    const weight = config.modifier === "idf" ? `q.weight * ln(1 + (${all} - t.points + 0.5) / (t.points + 0.5))` : "q.weight";
    return `sparse[${place}] OPERATOR(${extension}.<#>) (
      SELECT ('{' || string_agg(t.id || ':' || (${weight})::real, ',') || '}/1000000000')::${extension}.sparsevec
      FROM ${asked} JOIN {vector_terms} t ON ${ofVector} AND t.term = q.term)`;
  }
}

/** The values of a statement that is put together. */
export class Values {
  readonly list: unknown[] = [];
  readonly #places = new Map<string, string>();

  /** How the statement has it: `$3::text`. What is the same has one place, so that conditions which are the same read the same. */
  of(value: unknown, type: string): string {
    const known = `${type} ${JSON.stringify(value)}`;
    const place = this.#places.get(known) ?? `$${this.list.push(value)}::${type}`;
    this.#places.set(known, place);
    return place;
  }
}

/** What a text in JSON begins with that `jsonb` would not take as it is. */
const AS_JSON = "\u0001";

/** `jsonb` takes neither NUL nor half of a pair of UTF-16. */
export function toField(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const unfit = value.startsWith(AS_JSON) || value.includes("\0") || !/^\P{Surrogate}*$/u.test(value);
  return unfit ? AS_JSON + JSON.stringify(value) : value;
}

export function fromField(value: unknown): unknown {
  return typeof value === "string" && value.startsWith(AS_JSON) ? JSON.parse(value.slice(AS_JSON.length)) : value;
}

/** What of a payload is indexed: by key its values, which conditions look at one by one. */
export function fieldsOf(payload: Payload, indexes: Collection["indexes"]): string {
  const fields = [...indexes.keys()].map((key) => {
    const values = elementsAt(payload, key).filter((value) => ["string", "number", "boolean"].includes(typeof value));
    return [key, values.map(toField)] as const;
  });
  return JSON.stringify(Object.fromEntries(fields.filter(([, values]) => values.length > 0)));
}

/** A condition of SQL on rows of `vector_points` that is true or false. */
export function conditionOf(collection: Collection, filter: Filter | undefined, values: Values): string {
  const holds = (condition: Condition) => conditionSql(collection, condition, values);
  const must = (filter?.must ?? []).map(holds);
  const mustNot = (filter?.must_not ?? []).map((condition) => `NOT coalesce(${holds(condition)}, false)`);
  return [`collection = ${values.of(collection.name, "text")}`, ...must, ...mustNot].join(" AND ");
}

function conditionSql({ tenantKey }: Collection, condition: Condition, values: Values): string {
  if ("has_id" in condition) return `key = ANY(${values.of(condition.has_id.map(keyOf), "text[]")})`;
  const { key, match, range } = condition;
  const field = () => `(fields -> ${values.of(key, "text")})`;
  if (match !== undefined) {
    const wanted = "value" in match ? [match.value] : match.any;
    // As constants they tell which index serves.
    if (key === tenantKey && wanted.length === 1) return `owner = ${values.of(toField(String(wanted[0])), "text")}`;
    if (key === tenantKey)
      return `owner = ANY(${values.of(
        wanted.map((value) => toField(String(value))),
        "text[]",
      )})`;
    const listed = wanted.map((value) => JSON.stringify(toField(value)));
    return listed.length === 1 ? `${field()} @> ${values.of(listed[0], "jsonb")}` : `${field()} @> ANY(${values.of(listed, "jsonb[]")})`;
  }
  const bounds = Object.entries(range ?? {}).filter(([, bound]) => bound !== undefined);
  const tests = bounds.map(([name]) => `@ ${SIGNS[name as keyof typeof SIGNS]} $${name}`);
  const path = `$[*] ? (${['@.type() == "number"', ...tests].join(" && ")})`;
  return `jsonb_path_exists(${field()}, ${values.of(path, "jsonpath")}, ${values.of(JSON.stringify(Object.fromEntries(bounds)), "jsonb")})`;
}

const SIGNS = { lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;
