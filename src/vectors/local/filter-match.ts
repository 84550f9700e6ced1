import { isDeepStrictEqual } from "node:util";
import type { Condition, FieldCondition, Filter, Payload } from "../../ports/vectors.js";
import { elementsAt, isPlain, valuesAt } from "./payload-path.js";
import { keyOf } from "./point-id.js";

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
