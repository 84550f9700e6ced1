import { importedSessionId, type Owner } from "../domain/owner.js";
import { AppError, isAppError } from "../platform/errors.js";
import { isId } from "../platform/ids.js";
import type { SessionIndex } from "./session-store.js";

/** UTF-16 units of an application's own name of a session, or of a message. */
export const MAX_NAME_CHARS = 256;

/** A session, by Maitred's id of it or by an application's own name. */
export type SessionRef = { readonly sessionId: string } | { readonly externalId: string };

/** What can be an application's own name of a session, in words. */
export const SESSION_NAME_RULE = `text of 1 to ${MAX_NAME_CHARS} characters without control characters`;

export function isSessionName(name: unknown): name is string {
  return typeof name === "string" && name !== "" && name.length <= MAX_NAME_CHARS && !/\p{Cc}/u.test(name);
}

/**
 * The id of the owner's session of an application's own name: of the one that is there, else what a new one of that name gets, so that
 * every door and every process gives it the same. @throws INVALID_REQUEST for what can't be a name
 */
export async function sessionIdFor(index: Pick<SessionIndex, "findByExternalId">, owner: Owner, externalId: string): Promise<string> {
  if (!isSessionName(externalId))
    throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/external_id", detail: SESSION_NAME_RULE }] });
  return (await index.findByExternalId(owner, externalId))?.id ?? importedSessionId(owner, externalId);
}

/** The id of an owner's session, of one that it had before its user was merged with the owner; null where there is none. */
export type FormerSessionIds = (owner: Owner, formerId: string) => Promise<string | null>;

/** Work on a session by the id that a client knows, also by a former one. Nothing may be done before the session is found. */
export async function byAnyId<T>(
  former: FormerSessionIds,
  owner: Owner,
  id: string | undefined,
  work: (id: string | undefined) => Promise<T>,
): Promise<T> {
  try {
    return await work(id);
  } catch (error) {
    const now = isAppError(error, "SESSION_NOT_FOUND") && id !== undefined && isId(id) ? await former(owner, id) : null;
    if (now === null) throw error;
    return work(now);
  }
}

/** A filter on a session, which throws nothing where there is none, by the session's id of today. */
export async function withIdOfToday<Q extends object, K extends keyof Q>(
  former: FormerSessionIds,
  owner: Owner,
  query: Q & { readonly [key in K]?: string | undefined },
  field: K,
): Promise<Q> {
  const id: string | undefined = query[field];
  const now = id !== undefined && isId(id) ? await former(owner, id) : null;
  return now === null ? query : { ...query, [field]: now };
}
