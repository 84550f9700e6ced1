import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { AppError } from "../platform/errors.js";
import { derivedId } from "../platform/ids.js";

declare const ownerBrand: unique symbol;

/** Tenant and user in one string, injectively encoded. The only identity in ports, payloads, journals and keys. */
export type Owner = string & { readonly [ownerBrand]: true };

export const DEFAULT_TENANT = "default";
const MAX_USER_ID_CHARS = 256;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused here
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\s\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Cs}/u;

function checkPart(value: string, what: "tenant" | "user"): string {
  const bad = typeof value !== "string" || value === "" || value === "*" || [...value].length > MAX_USER_ID_CHARS || FORBIDDEN.test(value);
  if (bad)
    throw new AppError("INVALID_USER_ID", {
      detail: `The ${what} id is empty, too long, reserved, or holds characters that are not allowed.`,
    });
  return value;
}

/** Percent-encodes all but `A-Z a-z 0-9 - . _`, so that the `:` between the parts can't come from either. */
function encodePart(value: string): string {
  return encodeURIComponent(value).replace(/[!'()*~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * The owner of one tenant's user. No two pairs share one: `user:x` is another user than `x`, though doors at which people name themselves
 * take it for `x` (`plainUser`). What versions before kept for `user:x` is kept under `x`, and is reached as `x`.
 * @throws INVALID_USER_ID for an empty or reserved (`*`) id, one over 256 characters, or with control characters or white space.
 */
export function ownerOf(tenant: string, user: string): Owner {
  return `${encodePart(checkPart(tenant, "tenant"))}:${encodePart(checkPart(user, "user"))}` as Owner;
}

/** What the owners of a tenant, and no others, begin with. @throws INVALID_USER_ID as {@link ownerOf} */
export function tenantPrefix(tenant: string): string {
  return `${encodePart(checkPart(tenant, "tenant"))}:`;
}

/** Stands for all users of a tenant, where who speaks for them names none. No user's owner is the same; nothing is kept under it. */
export function everybodyOf(tenant: string): Owner {
  return `${tenantPrefix(tenant)}*` as Owner;
}

/** A user as a header or the command line names them: `user:x` is `x`. A token's subject and a key's user are taken as they are. */
export function plainUser(named: string): string {
  return named.startsWith("user:") ? named.slice("user:".length) : named;
}

/** The tenant and user that {@link ownerOf} encoded. @throws INVALID_USER_ID for a string that it can't have made. */
export function parseOwner(owner: string): { tenant: string; user: string } {
  const [tenant, user, ...rest] = owner.split(":");
  try {
    if (tenant !== undefined && user !== undefined && rest.length === 0) {
      const parts = { tenant: decodeURIComponent(tenant), user: decodeURIComponent(user) };
      if (`${encodePart(checkPart(parts.tenant, "tenant"))}:${encodePart(checkPart(parts.user, "user"))}` === owner) return parts;
    }
  } catch (cause) {
    throw new AppError("INVALID_USER_ID", { cause });
  }
  throw new AppError("INVALID_USER_ID");
}

/** A turn asks some dozen times for the hash of its owner. */
const hashes = new LRUCache<Owner, string>({ max: 1_000 });

/** A file-name-safe name for an owner: SHA-256 in hex. */
export function ownerHash(owner: Owner): string {
  const known = hashes.get(owner) ?? hash("sha256", owner);
  hashes.set(owner, known);
  return known;
}

/** Ids that follow from what they stand for, and are another owner's for the same content. */

export function memoryIdOf(owner: Owner, sessionId: string, messageId: string, index: number): string {
  return derivedId("memory", owner, sessionId, messageId, index);
}

export function importedSessionId(owner: Owner, externalId: string): string {
  return derivedId("session", owner, externalId);
}

export function importedMemoryId(owner: Owner, externalId: string): string {
  return derivedId("memory", owner, "imported", externalId);
}

/** Of what a merge gave an owner: the same for every try. */
export function mergedId(kind: "memory" | "receipt" | "session", to: Owner, mergeId: string, id: string): string {
  return derivedId(kind, to, "merge", mergeId, id);
}

/** Of what the domain's records say that an owner did. */
export function happenedId(owner: Owner, eventId: string): string {
  return derivedId("memory", owner, "happened", eventId);
}
