import type { JsonObject, JsonValue } from "../domain/session.js";

/**
 * JSON Merge Patch (RFC 7396): null takes a key out, objects are merged, all else replaces. Keys such as `__proto__` are plain data.
 */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map(Object.entries(target));
  for (const [key, value] of Object.entries(patch)) {
    const before = merged.get(key);
    if (value === null) merged.delete(key);
    else merged.set(key, isObject(value) ? mergePatch(isObject(before) ? before : {}, value) : value);
  }
  return Object.fromEntries(merged);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
