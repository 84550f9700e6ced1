import type { PointId, StoredPoint, VectorClient } from "../../ports/vectors.js";

type ScrollArgs = Omit<Parameters<VectorClient["scroll"]>[1], "offset">;

/** All points that a filter lets pass, in the order of ids, a page of `limit` at a time. */
export async function* scrolled(client: VectorClient, collection: string, args: ScrollArgs): AsyncGenerator<readonly StoredPoint[]> {
  for (let offset: PointId | undefined; ; ) {
    const { points, next_page_offset: next } = await client.scroll(collection, { ...args, ...(offset !== undefined && { offset }) });
    yield points;
    if (typeof next !== "string" && typeof next !== "number") return;
    offset = next;
  }
}
