import type { Payload } from "../../ports/vectors.js";

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
