/** Numbers of a dense vector: an array as clients give it, or packed for the way to the thread. */
export type DenseNumbers = readonly number[] | Float64Array;

/** Shorter ones cost more to pack than to send. */
const WORTH_PACKING = 32;

export function isDense(value: unknown): value is DenseNumbers {
  return Array.isArray(value) || value instanceof Float64Array;
}

/**
 * The arguments of a call, with its dense vectors as they are sent to a thread: a packed one is copied as it lies, an array number by
 * number. Exact: the numbers stay as wide as they were.
 */
export function withPackedVectors(method: string, args: unknown): unknown {
  if (!isRecord(args)) return args;
  if (method === "query") {
    const { query, prefetch } = args;
    const packedPrefetch = Array.isArray(prefetch) ? prefetch.map((each) => (isRecord(each) ? packedAt(each, "query") : each)) : prefetch;
    return { ...args, ...("query" in args && { query: packed(query) }), ...("prefetch" in args && { prefetch: packedPrefetch }) };
  }
  if (method !== "upsert" || !Array.isArray(args.points)) return args;
  return { ...args, points: args.points.map((point) => (isRecord(point) ? packedPoint(point) : point)) };
}

function packedPoint(point: Record<string, unknown>): Record<string, unknown> {
  return isRecord(point.vector) ? { ...point, vector: packedAt(point.vector, "") } : packedAt(point, "vector");
}

function packedAt(record: Record<string, unknown>, key: string): Record<string, unknown> {
  return key in record ? { ...record, [key]: packed(record[key]) } : record;
}

/** What is no vector is left for whoever checks it. */
function packed(value: unknown): unknown {
  if (!Array.isArray(value) || value.length < WORTH_PACKING) return value;
  return value.every((each) => typeof each === "number") ? Float64Array.from(value) : value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
