import type { JsonObject, JsonValue } from "./session.js";

/** Parts of a tool's output, for those that later turns are told less of. What has another shape stays as it is. */

/** An object's members of these names alone. */
export function only(output: JsonValue, ...names: readonly string[]): JsonValue {
  return isObject(output) ? Object.fromEntries(Object.entries(output).filter(([name]) => names.includes(name))) : output;
}

/** The same object, with the items of one of its lists told shorter. */
export function shorterList(output: JsonValue, name: string, shorter: (item: JsonValue) => JsonValue): JsonValue {
  const list = isObject(output) ? output[name] : undefined;
  return isObject(output) && Array.isArray(list) ? { ...output, [name]: list.map(shorter) } : output;
}

/** An object without its lists. */
export function withoutLists(output: JsonValue): JsonValue {
  return isObject(output) ? Object.fromEntries(Object.entries(output).filter(([, value]) => !Array.isArray(value))) : output;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
