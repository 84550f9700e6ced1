import type { Page } from "./session-store.js";

/** The items of all pages, asked for one after the other: each by the cursor of the page before. */
export async function* everyItem<T>(pageAt: (cursor: { readonly cursor?: string }) => Promise<Page<T>>): AsyncGenerator<T> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data, nextCursor } = await pageAt(cursor === undefined ? {} : { cursor });
    yield* data;
    cursor = nextCursor;
  }
}
