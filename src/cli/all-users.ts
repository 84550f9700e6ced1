import type { KnownUser, Operator } from "../ports/operator.js";

const PAGE = 200;

/** Page after page. */
export async function* allUsers(page: Operator["users"], tenant: string | undefined): AsyncGenerator<KnownUser> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data, nextCursor } = await page({
      limit: PAGE,
      ...(tenant !== undefined && { tenant }),
      ...(cursor !== undefined && { cursor }),
    });
    yield* data;
    cursor = nextCursor;
  }
}
