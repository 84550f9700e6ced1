import { importedSessionId } from "../domain/owned-ids.js";
import type { Owner } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import type { SessionIndex } from "./session-store.js";

/** UTF-16 units of an application's own name of a session. */
const MAX_EXTERNAL_ID_CHARS = 256;

/**
 * The id of the owner's session of an application's own name: of the one that is there, else what a new one of that name gets, so that
 * every door and every process gives it the same. @throws INVALID_REQUEST for what can't be a name
 */
export async function sessionIdFor(index: Pick<SessionIndex, "findByExternalId">, owner: Owner, externalId: string): Promise<string> {
  if (typeof externalId !== "string" || externalId === "" || externalId.length > MAX_EXTERNAL_ID_CHARS)
    throw new AppError("INVALID_REQUEST", {
      errors: [{ pointer: "/external_id", detail: `text of 1 to ${MAX_EXTERNAL_ID_CHARS} characters` }],
    });
  return (await index.findByExternalId(owner, externalId))?.id ?? importedSessionId(owner, externalId);
}
