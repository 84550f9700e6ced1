import { isDeepStrictEqual } from "node:util";
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

/** Settings, which hold no words and go on holding. */
const SETTINGS: readonly string[] = ["incognito", "time_zone"];

/** Metadata without what was `inherited` from another user, as it was; settings stay. Pure. */
export function ownMetadata(metadata: JsonObject, inherited: JsonObject): JsonObject {
  const settings = Object.entries(metadata).filter(([key]) => SETTINGS.includes(key));
  return { ...withoutEntries(metadata, inherited), ...Object.fromEntries(settings) };
}

/** Without those that `others` has with the same value. Pure. */
export function withoutEntries(metadata: JsonObject, others: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([key, value]) => !isDeepStrictEqual(value, others[key])));
}
