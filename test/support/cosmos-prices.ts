import { INDEXED } from "../../src/state/engines/cosmos/container.js";

/** Microsoft's table of April 2026, by an item's size up to so many KB: request units of a point read, and of making it without an index. */
const PRICES = [
  { kb: 1, read: 1, create: 4.95 },
  { kb: 2, read: 1.04, create: 6.29 },
  { kb: 4, read: 1.14, create: 6.67 },
  { kb: 8, read: 1.33, create: 7.04 },
  { kb: 16, read: 1.67, create: 9.52 },
] as const;
/** Of an older page, for an item of 100 KB. What is between the two is taken to be in proportion, and so is what is larger. */
const AT_100_KB = { kb: 100, read: 10, create: 50 } as const;
/** For each term of an item that an index holds. */
const TERM = 0.2;
/** Of a query that finds nothing, beside a point read of what it finds: a small one is said to cost about three. */
const QUERY = 2;
/** Reads under Strong or Bounded Staleness cost so many times what the table says. */
const CONSISTENT = 2;
/** A replaced item costs so many times a new one. */
const REPLACED = 2;

export function readUnits(bytes: number): number {
  return CONSISTENT * tabled(bytes, "read");
}

/** `bytes`: of all items that it finds. */
export function queryUnits(bytes: number): number {
  return CONSISTENT * QUERY + readUnits(bytes);
}

/** One operation of a batch, by the status that answers it. `item`: as it is written, or as it was deleted. */
export function writeUnits(item: Readonly<Record<string, unknown>>, statusCode: number): number {
  if (statusCode >= 400) return 0;
  const made = tabled(Buffer.byteLength(JSON.stringify(item)), "create") + TERM * terms(item);
  return statusCode === 200 ? REPLACED * made : made;
}

function terms(item: Readonly<Record<string, unknown>>): number {
  const values = INDEXED.map((path) => item[path.split("/")[1] ?? ""]);
  return values.reduce<number>((sum, value) => sum + (Array.isArray(value) ? value.length : Number(value !== undefined)), 0);
}

function tabled(bytes: number, operation: "read" | "create"): number {
  const kb = bytes / 1_024;
  const row = PRICES.find((price) => kb <= price.kb);
  if (row !== undefined) return row[operation];
  const [last] = PRICES.slice(-1) as [(typeof PRICES)[number]];
  return last[operation] + ((kb - last.kb) * (AT_100_KB[operation] - last[operation])) / (AT_100_KB.kb - last.kb);
}
