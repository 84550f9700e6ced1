import type { PointId } from "../../ports/vectors.js";
import { VectorStoreError } from "../../ports/vectors.js";

const UUID = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/;
const DIGITS = 16;

/**
 * A string that sorts as Qdrant sorts ids: numbers by size, then UUIDs. Number and text of a number are different ids in Qdrant,
 * and the text is none. @throws status 400 for anything but an unsigned (safe) integer or a UUID.
 */
export function keyOf(id: unknown): string {
  if (typeof id === "number" && Number.isSafeInteger(id) && id >= 0) return `n${String(id).padStart(DIGITS, "0")}`;
  if (typeof id === "string") {
    const lower = id.toLowerCase();
    if (UUID.test(lower)) return `u${hyphenated(lower.replaceAll("-", ""))}`;
  }
  throw new VectorStoreError(400, "A point id is an unsigned integer or a UUID.");
}

export function idOf(key: string): PointId {
  return key.startsWith("n") ? Number(key.slice(1)) : key.slice(1);
}

function hyphenated(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
