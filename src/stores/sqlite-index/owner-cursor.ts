import { type Owner, parseOwner, tenantPrefix } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import type { OwnerActivity, OwnersQuery } from "../../ports/owner-activity.js";
import type { Page } from "../../ports/session-store.js";
import { listLimit } from "./list-cursor.js";

/** The owners behind one (text, "" for all), of a tenant's prefix (text, "" for all), in the store's order, at most `most`. */
export type ReadOwners = (after: string, prefix: string, most: number) => Promise<readonly OwnerActivity[]>;

/** A page of owners, `read` with one more than it holds. @throws INVALID_REQUEST, INVALID_CURSOR */
export async function listedOwners({ tenant, limit, cursor }: OwnersQuery, read: ReadOwners): Promise<Page<OwnerActivity>> {
  const size = listLimit(limit);
  const found = await read(cursor === undefined ? "" : decoded(cursor), tenant === undefined ? "" : tenantPrefix(tenant), size + 1);
  const data = found.slice(0, size);
  const last = data.at(-1);
  return { data, nextCursor: found.length > size && last !== undefined ? encoded(last.owner) : null };
}

function encoded(owner: Owner): string {
  return Buffer.from(owner).toString("base64url");
}

function decoded(cursor: string): string {
  const owner = Buffer.from(cursor, "base64url").toString("utf8");
  try {
    parseOwner(owner);
    return owner;
  } catch (cause) {
    throw new AppError("INVALID_CURSOR", { cause });
  }
}
