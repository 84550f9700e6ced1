import type { Filter, Point, PointId, PointVector, VectorClient } from "../../ports/vectors.js";
import { SEALED, tellsWords } from "./encrypted-vectors.js";

const PAGE = 128;

/**
 * Writes points of a collection again, through the client that seals: those in clear, or those that are sealed, under the key of now.
 * Returns how many. Broken off, the same again does the rest.
 */
export async function resealPoints(
  { stored, sealing }: { readonly stored: VectorClient; readonly sealing: VectorClient },
  collection: string,
  { which, filter, signal }: { readonly which: "clear" | "sealed"; readonly filter?: Filter; readonly signal: AbortSignal },
): Promise<number> {
  if (!(await stored.collectionExists(collection)).exists) return 0;
  let done = 0;
  for (let offset: PointId | undefined; ; ) {
    signal.throwIfAborted();
    const page = await stored.scroll(collection, {
      ...{ limit: PAGE, with_payload: true, with_vector: true },
      ...(filter && { filter }),
      ...(offset !== undefined && { offset }),
    });
    for (const { id, payload, vector } of page.points) {
      const point = { id, vector: vector as PointVector, payload: payload ?? {} };
      if (SEALED in point.payload !== (which === "sealed") || (which === "clear" && !tellsWords(point))) continue;
      // Sparse vectors that the sealing client gave out are hashed already, and stay as they are.
      const [read] = which === "clear" ? [point] : await sealing.retrieve(collection, { ids: [id], with_payload: true, with_vector: true });
      if (read !== undefined) await sealing.upsert(collection, { points: [{ ...point, ...(read as Point) }], wait: true });
      done += 1;
    }
    if (typeof page.next_page_offset !== "string" && typeof page.next_page_offset !== "number") return done;
    offset = page.next_page_offset;
  }
}
