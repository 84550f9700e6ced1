import type { FieldCondition, Filter, PayloadSchema } from "../../ports/vectors.js";
import { VectorStoreError } from "../../ports/vectors.js";
import { fieldsOf } from "./filter-match.js";

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
