import type { Filter, Point, PointVector, VectorClient } from "../../ports/vectors.js";
import { scrolled } from "../requests/scrolled.js";
import { DENSE_VERSION, SEALED, tellsWords } from "./encrypted-vectors.js";

const PAGE = 128;

type Resealed = "clear" | "with a clear vector" | "sealed";

const IS_MEANT: Readonly<Record<Resealed, (point: Pick<Point, "payload" | "vector">, isSealed: boolean) => boolean>> = {
  clear: (point, isSealed) => !isSealed && tellsWords(point),
  "with a clear vector": (point, isSealed) => (isSealed ? point.payload?.[DENSE_VERSION] === undefined : tellsWords(point)),
  sealed: (_, isSealed) => isSealed,
};

/**
 * Writes points of a collection again, through the client that seals: those in clear, also of their vector where that is asked for, or
 * those that are sealed, under the key of now. Returns how many. Broken off, the same again does the rest.
 */
export async function resealPoints(
  { stored, sealing }: { readonly stored: VectorClient; readonly sealing: VectorClient },
  collection: string,
  { which, filter, signal }: { readonly which: Resealed; readonly filter?: Filter; readonly signal: AbortSignal },
): Promise<number> {
  if (!(await stored.collectionExists(collection)).exists) return 0;
  let done = 0;
  const all = { limit: PAGE, with_payload: true, with_vector: true, ...(filter && { filter }) };
  for await (const points of scrolled(stored, collection, all)) {
    signal.throwIfAborted();
    for (const { id, payload, vector } of points) {
      const point = { id, vector: vector as PointVector, payload: payload ?? {} };
      const isSealed = SEALED in point.payload;
      if (!IS_MEANT[which](point, isSealed)) continue;
      // Sparse vectors that the sealing client gave out are hashed already, and stay as they are.
      const [read] = !isSealed ? [point] : await sealing.retrieve(collection, { ids: [id], with_payload: true, with_vector: true });
      if (read !== undefined) await sealing.upsert(collection, { points: [{ ...point, ...(read as Point) }], wait: true });
      done += 1;
    }
  }
  return done;
}
