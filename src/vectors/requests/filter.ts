import { isDeepStrictEqual } from "node:util";
import {
  type Condition,
  type FieldCondition,
  type Filter,
  type Payload,
  type PayloadSchema,
  VectorStoreError,
} from "../../ports/vectors.js";
import { keyOf } from "./point.js";
import type { Requests } from "./requests.js";

/** Does a point satisfy a filter? */
export type Matcher = (key: string, payload: Payload) => boolean;

/**
 * Qdrant's filter semantics: all of `must`, none of `must_not`. On arrays a condition holds if any element fits; on a missing key no
 * condition on its value holds, so that `must_not` does.
 */
export function matcherOf(filter: Filter | undefined): Matcher {
  const must = (filter?.must ?? []).map(matcherOfCondition);
  const mustNot = (filter?.must_not ?? []).map(matcherOfCondition);
  return (key, payload) => must.every((holds) => holds(key, payload)) && !mustNot.some((holds) => holds(key, payload));
}

/** Both have to hold. */
export function bothFilters(a: Filter | undefined, b: Filter | undefined): Filter | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  // As a search of history has it: looked at once for each point, not twice.
  if (isDeepStrictEqual(a, b)) return a;
  return { must: [...(a.must ?? []), ...(b.must ?? [])], must_not: [...(a.must_not ?? []), ...(b.must_not ?? [])] };
}

function matcherOfCondition(condition: Condition): Matcher {
  if ("has_id" in condition) {
    const keys = new Set(condition.has_id.map(keyOf));
    return (key) => keys.has(key);
  }
  const fits = valueTest(condition);
  const { key } = condition;
  // Without building arrays: this runs for every point of an owner.
  return (_, payload) => {
    const value = Object.hasOwn(payload, key) ? payload[key] : undefined;
    return Array.isArray(value) ? value.some(fits) : value !== undefined && fits(value);
  };
}

function valueTest({ match, range }: FieldCondition): (value: unknown) => boolean {
  if (match !== undefined) {
    if ("value" in match) return (value) => value === match.value;
    const listed: ReadonlySet<unknown> = new Set<string | number>(match.any);
    return (value) => listed.has(value);
  }
  const { lt, lte, gt, gte } = range ?? {};
  return (value) =>
    typeof value === "number" &&
    (lt === undefined || value < lt) &&
    (lte === undefined || value <= lte) &&
    (gt === undefined || value > gt) &&
    (gte === undefined || value >= gte);
}

/**
 * The values that a filter allows for `key`, where it pins them by `must`: the points of these tenants are all that can match.
 * Null: it doesn't pin the key.
 */
export function pinnedValues(filter: Filter | undefined, key: string): ReadonlySet<string> | null {
  const [first, ...rest] = (filter?.must ?? []).flatMap((condition) => {
    if ("has_id" in condition || condition.key !== key || condition.match === undefined) return [];
    const values: readonly unknown[] = "value" in condition.match ? [condition.match.value] : condition.match.any;
    return [new Set(values.filter((value) => typeof value === "string"))];
  });
  return first === undefined ? null : new Set([...first].filter((value) => rest.every((values) => values.has(value))));
}

/** The values of a payload's key: an array is taken apart, as conditions look at elements. */
export function elementsAt(payload: Payload, key: string): unknown[] {
  if (!Object.hasOwn(payload, key)) return [];
  const value = payload[key];
  return Array.isArray(value) ? value : [value];
}

/** What is indexed of a collection's payloads, by key. */
export type PayloadIndexes = ReadonlyMap<string, PayloadSchema>;

export function kindOf(schema: PayloadSchema): "keyword" | "integer" | "bool" {
  return typeof schema === "string" ? schema : schema.type;
}

export function isTenantIndex(schema: PayloadSchema): boolean {
  return typeof schema !== "string" && schema.is_tenant === true;
}

/**
 * Refuses a filter on keys that no fitting index serves, as a Qdrant collection in strict mode does: on a server such a filter
 * reads every point of every tenant. @throws status 400
 */
export function requireIndexes(filter: Filter | undefined, indexes: PayloadIndexes): void {
  for (const condition of [...(filter?.must ?? []), ...(filter?.must_not ?? [])]) {
    if ("has_id" in condition) continue;
    const schema = indexes.get(condition.key);
    if (schema === undefined || !serves(kindOf(schema), condition))
      throw new VectorStoreError(
        400,
        `Bad request: Index required but not found for "${condition.key}". Create a payload index for this key.`,
      );
  }
}

/** The keys of the points that a call names; null where its filter says which. @throws status 400 unless it is one of the two, indexed */
export function namedKeys({ points, filter }: Requests["delete"], indexes: PayloadIndexes): string[] | null {
  if ((points === undefined) === (filter === undefined))
    throw new VectorStoreError(400, "Either `points` or `filter` says which points are meant.");
  requireIndexes(filter, indexes);
  return points === undefined ? null : [...new Set(points.map(keyOf))];
}

/** @throws status 400 where what is to be counted has no index. */
export function requireFacet(key: string, indexes: PayloadIndexes): void {
  if (!indexes.has(key))
    throw new VectorStoreError(400, `Bad request: No appropriate index for faceting: "${key}". Create a payload index for this key.`);
}

function serves(kind: ReturnType<typeof kindOf>, { match, range }: FieldCondition): boolean {
  if (range !== undefined) return kind === "integer";
  if (match === undefined) return false;
  const sample = "value" in match ? match.value : match.any[0];
  if (sample === undefined) return true;
  return kind === { string: "keyword", boolean: "bool", number: "integer" }[typeof sample as "string" | "boolean" | "number"];
}
