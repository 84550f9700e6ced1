/**
 * The same value, of which nothing that can change is shared: objects, arrays, dates, maps and sets are made anew. What is of another
 * class, and a function, is given as it is. Not for values that hold themselves.
 */
export function deepCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deepCopy);
  if (value instanceof Date) return new Date(value);
  if (value instanceof Set) return new Set([...value].map(deepCopy));
  if (value instanceof Map) return new Map([...value].map(([key, each]) => [deepCopy(key), deepCopy(each)]));
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, deepCopy(each)]));
}

function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
