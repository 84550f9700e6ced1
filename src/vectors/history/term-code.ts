import type { SparseVector } from "../../ports/vectors.js";

/** Weights are kept in steps of 1/100; BM25 term weights stay under 2.55 with k1 up to 1.5. */
const STEPS = 100;
const BYTES_A_TERM = 5;

/**
 * A message's own terms as a short text for the payload: index (4 bytes, little-endian) and weight (1 byte) each, in base64. A search
 * gets them with the payload, so that it needs no vectors back from the store.
 */
export function encodeTerms({ indices, values }: SparseVector): string {
  const bytes = Buffer.alloc(indices.length * BYTES_A_TERM);
  indices.forEach((index, i) => {
    bytes.writeUInt32LE(index, i * BYTES_A_TERM);
    bytes.writeUInt8(Math.min(255, Math.max(1, Math.round((values[i] ?? 0) * STEPS))), i * BYTES_A_TERM + 4);
  });
  return bytes.toString("base64");
}

/** Where codes are decoded, one after the other: a search reads some hundreds. */
let scratch = Buffer.allocUnsafeSlow(4096);
let view = new DataView(scratch.buffer);

/** Calls `each`, which must not call this again, with every term and its weight; bytes that make no whole term are passed over. */
export function forEachTerm(code: string, each: (index: number, weight: number) => void): void {
  if (code.length > scratch.length) {
    scratch = Buffer.allocUnsafeSlow(2 * code.length);
    view = new DataView(scratch.buffer);
  }
  const length = scratch.write(code, "base64");
  for (let at = 0; at + BYTES_A_TERM <= length; at += BYTES_A_TERM) each(view.getUint32(at, true), view.getUint8(at + 4) / STEPS);
}

/** How many different terms a code holds. */
export function termCount(code: string): number {
  return Math.floor(Buffer.byteLength(code, "base64") / BYTES_A_TERM);
}
