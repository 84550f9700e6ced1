import { isDeepStrictEqual } from "node:util";
import type { Condition, FieldCondition, Filter, Payload, PayloadSchema } from "../../ports/vectors.js";
import { VectorStoreError } from "../../ports/vectors.js";
import { keyOf } from "./point.js";

/** Does a point satisfy a filter? */
export type Matcher = (key: string, payload: Payload) => boolean;

const everything: Matcher = () => true;

/**
 * Qdrant's filter semantics: all of `must`, one of `should` where there are any, none of `must_not`. On arrays a condition holds if any
 * element fits; on a missing key no condition on its value holds, `except` neither, so that `must_not` does.
 */
export function matcherOf(filter: Filter | undefined): Matcher {
  if (filter === undefined) return everything;
  const must = (filter.must ?? []).map(matcherOfCondition);
  const should = (filter.should ?? []).map(matcherOfCondition);
  const mustNot = (filter.must_not ?? []).map(matcherOfCondition);
  if (must.length + should.length + mustNot.length === 0) return everything;
  return (key, payload) =>
    must.every((holds) => holds(key, payload)) &&
    (should.length === 0 || should.some((holds) => holds(key, payload))) &&
    !mustNot.some((holds) => holds(key, payload));
}

/** Both have to hold. */
export function bothFilters(a: Filter | undefined, b: Filter | undefined): Filter | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  // As a search of history has it: looked at once for each point, not twice.
  if (isDeepStrictEqual(a, b)) return a;
  return { must: [a, b] };
}

function matcherOfCondition(condition: Condition): Matcher {
  if ("has_id" in condition) {
    const keys = new Set(condition.has_id.map(keyOf));
    return (key) => keys.has(key);
  }
  if ("is_empty" in condition) return (_, payload) => isEmpty(payload, condition.is_empty.key);
  if ("is_null" in condition) return (_, payload) => elementsAt(payload, condition.is_null.key).includes(null);
  if (!("key" in condition)) return matcherOf(condition);
  const fits = valueTest(condition);
  const { key } = condition;
  if (!isPlain(key)) return (_, payload) => elementsAt(payload, key).some(fits);
  // The same without building arrays: this runs for every point of an owner.
  return (_, payload) => {
    const value = Object.hasOwn(payload, key) ? payload[key] : undefined;
    return Array.isArray(value) ? value.some(fits) : value !== undefined && fits(value);
  };
}

function isEmpty(payload: Payload, path: string): boolean {
  return valuesAt(payload, path).every((value) => value === null || (Array.isArray(value) && value.length === 0));
}

function valueTest({ match, range }: FieldCondition): (value: unknown) => boolean {
  if (match !== undefined) {
    if ("value" in match) return (value) => value === match.value;
    const listed: ReadonlySet<unknown> = new Set<string | number>("any" in match ? match.any : match.except);
    if ("any" in match) return (value) => listed.has(value);
    // Like Qdrant's: only strings and integers can be "another value"; null isn't one.
    return (value) => (typeof value === "string" || Number.isInteger(value)) && !listed.has(value);
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
  const pins = (filter?.must ?? []).map((condition) => pinnedByCondition(condition, key)).filter((values) => values !== null);
  const [first, ...rest] = pins;
  return first === undefined ? null : new Set([...first].filter((value) => rest.every((values) => values.has(value))));
}

function pinnedByCondition(condition: Condition, key: string): ReadonlySet<string> | null {
  if ("key" in condition) {
    if (condition.key !== key || condition.match === undefined) return null;
    if ("value" in condition.match) return new Set(typeof condition.match.value === "string" ? [condition.match.value] : []);
    if ("any" in condition.match) {
      const listed: readonly (string | number)[] = condition.match.any;
      return new Set(listed.filter((value) => typeof value === "string"));
    }
    return null;
  }
  if ("has_id" in condition || "is_empty" in condition || "is_null" in condition) return null;
  return pinnedValues(condition, key);
}

/** Every field condition of a filter, however deep. */
export function* fieldsOf(filter: Filter | undefined): Generator<{ key: string; condition: FieldCondition | null }> {
  for (const condition of [...(filter?.must ?? []), ...(filter?.should ?? []), ...(filter?.must_not ?? [])]) {
    if ("has_id" in condition) continue;
    if ("is_empty" in condition) yield { key: condition.is_empty.key, condition: null };
    else if ("is_null" in condition) yield { key: condition.is_null.key, condition: null };
    else if ("key" in condition) yield { key: condition.key, condition };
    else yield* fieldsOf(condition);
  }
}

/**
 * The values at a Qdrant payload path: `a.b` goes into objects, `a[].b` into every element of an array. A path that leads
 * nowhere has no values. An array at the end is one value; see {@link elementsAt}.
 */
export function valuesAt(payload: Payload, path: string): unknown[] {
  // Nearly every key is plain.
  if (isPlain(path)) return Object.hasOwn(payload, path) ? [payload[path]] : [];
  let found: unknown[] = [payload];
  for (const step of path.split(".")) {
    const each = step.endsWith("[]");
    const key = each ? step.slice(0, -2) : step;
    const next: unknown[] = [];
    for (const value of found) {
      if (!isObject(value) || !Object.hasOwn(value, key)) continue;
      const inner = value[key];
      if (each) next.push(...(Array.isArray(inner) ? inner : []));
      else next.push(inner);
    }
    found = next;
  }
  return found;
}

/** Names a top-level key. */
export function isPlain(path: string): boolean {
  return !path.includes(".") && !path.includes("[");
}

/** As {@link valuesAt}, with an array at the end taken apart: conditions look at elements. */
export function elementsAt(payload: Payload, path: string): unknown[] {
  return valuesAt(payload, path).flatMap((value) => (Array.isArray(value) ? value : [value]));
}

/** The payload's top-level keys that were asked for; a path keeps its whole first key's branch to the value. */
export function pick(payload: Payload, paths: readonly string[]): Payload {
  const picked: Payload = {};
  for (const path of paths) {
    const [first = path, ...rest] = path.split(".");
    if (!Object.hasOwn(payload, first)) continue;
    picked[first] = rest.length === 0 ? payload[first] : pickInside(payload[first], rest.join("."), picked[first]);
  }
  return picked;
}

function pickInside(value: unknown, path: string, before: unknown): unknown {
  if (!isObject(value)) return before;
  return { ...(isObject(before) ? before : {}), ...pick(value, [path]) };
}

function isObject(value: unknown): value is Payload {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What is indexed of a collection's payloads, by key. */
export type PayloadIndexes = ReadonlyMap<string, PayloadSchema>;

export function kindOf(schema: PayloadSchema): "keyword" | "integer" | "float" | "bool" {
  return typeof schema === "string" ? schema : schema.type;
}

export function isTenantIndex(schema: PayloadSchema): boolean {
  return typeof schema !== "string" && schema.type === "keyword" && schema.is_tenant === true;
}

/**
 * Refuses a filter on keys that no fitting index serves, as a Qdrant collection in strict mode does: on a server such a filter
 * reads every point of every tenant. @throws status 400
 */
export function requireIndexes(filter: Filter | undefined, indexes: PayloadIndexes): void {
  for (const { key, condition } of fieldsOf(filter)) {
    const schema = indexes.get(key);
    if (schema === undefined || !serves(schema, condition))
      throw new VectorStoreError(400, `Bad request: Index required but not found for "${key}". Create a payload index for this key.`);
  }
}

/** @throws status 400 where the key has no index that knows an order. */
export function requireOrder(key: string, indexes: PayloadIndexes): void {
  const schema = indexes.get(key);
  if (schema === undefined || !serves(schema, { key, range: {} }))
    throw new VectorStoreError(400, `Bad request: No range index for \`order_by\` key: "${key}". Please create one to use \`order_by\`.`);
}

function serves(schema: PayloadSchema, condition: FieldCondition | null): boolean {
  if (condition === null) return true;
  const kind = kindOf(schema);
  if (condition.range !== undefined) {
    if (kind === "float") return true;
    return kind === "integer" && !(typeof schema !== "string" && schema.type === "integer" && schema.range === false);
  }
  const { match } = condition;
  if (match === undefined) return false;
  const sample = "value" in match ? match.value : "any" in match ? match.any[0] : match.except[0];
  if (sample === undefined) return true;
  if (typeof sample === "string") return kind === "keyword";
  if (typeof sample === "boolean") return kind === "bool";
  return kind === "integer" && !(typeof schema !== "string" && schema.type === "integer" && schema.lookup === false);
}
