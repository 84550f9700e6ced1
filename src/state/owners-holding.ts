import { type Owner, tenantPrefix } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import type { OwnersQuery } from "../ports/owner-activity.js";
import type { Page } from "../ports/session-store.js";
import type { PartitionEntry, StateEngine } from "./engine.js";
import { listLimit } from "./sessions/list.js";
import { jsonOf, partitionPages } from "./stored-rows.js";

/** Partitions looked at for one page: it may hold less than was asked for. */
const MOST_LOOKED_AT = 1_000;
const PARTITION = /^o:[0-9a-f]{64}$/;

/**
 * What is told of owners whose partition holds a key, in the engine's order of partitions; null: nothing. The key's value is the owner, or
 * a list that begins with the owner. `together`: partitions read at once, where telling costs nothing; default: as many as a page holds.
 * @throws INVALID_REQUEST, INVALID_CURSOR
 */
export async function ownersHolding<T>(
  engine: StateEngine,
  key: string,
  { tenant, limit, cursor, together = 0 }: OwnersQuery & { readonly together?: number },
  told: (owner: Owner, entry: PartitionEntry) => T | null | Promise<T | null>,
): Promise<Page<T>> {
  const size = listLimit(limit);
  const prefix = tenant === undefined ? "" : tenantPrefix(tenant);
  const data: T[] = [];
  let after = cursor === undefined ? undefined : decoded(cursor);
  const asked = Math.max(size + 1, together);
  let looked = 0;
  for await (const page of partitionPages(engine, key, asked, after)) {
    for (const entry of page) {
      if (data.length === size) return { data, nextCursor: after === undefined ? null : encoded(after) };
      after = entry.partition;
      const [owner = ""] = [jsonOf<string | readonly string[]>(entry)].flat();
      const each = owner.startsWith(prefix) ? await told(owner as Owner, entry) : null;
      if (each !== null) data.push(each);
    }
    looked += page.length;
    if (looked >= MOST_LOOKED_AT && page.length === asked && after !== undefined) return { data, nextCursor: encoded(after) };
  }
  return { data, nextCursor: null };
}

function encoded(partition: string): string {
  return Buffer.from(partition).toString("base64url");
}

function decoded(cursor: string): string {
  const partition = Buffer.from(cursor, "base64url").toString("utf8");
  if (!PARTITION.test(partition)) throw new AppError("INVALID_CURSOR");
  return partition;
}
