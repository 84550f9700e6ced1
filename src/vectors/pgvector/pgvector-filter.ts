import type { Condition, Filter, Payload } from "../../ports/vectors.js";
import type { Collection } from "../requests/collection.js";
import { elementsAt } from "../requests/filter.js";
import { keyOf } from "../requests/point.js";

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
