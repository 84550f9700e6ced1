import type { Owner } from "../domain/owner.js";
import type { JsonObject } from "../domain/session.js";
import { AppError } from "../platform/errors.js";
import { isTimeZone } from "../platform/time-zone.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";

/** The zone of a request: its own, the session's, the one that identity gives, the user's record's, UTC. @throws INVALID_REQUEST */
export async function timeZoneOf(
  ledger: Pick<OwnerLedger, "user">,
  request: { readonly owner: Owner; readonly timeZone?: string; readonly homeTimeZone?: string },
  metadata: JsonObject,
): Promise<string> {
  if (request.timeZone !== undefined && !isTimeZone(request.timeZone))
    throw new AppError("INVALID_REQUEST", { detail: "timeZone is not an IANA time zone." });
  const isKnown = (zone: unknown): zone is string => typeof zone === "string" && isTimeZone(zone);
  // Metadata is the client's own, a record may come from elsewhere: what is no time zone there is passed over.
  const stated = [request.timeZone, metadata.time_zone, request.homeTimeZone].find(isKnown);
  if (stated !== undefined) return stated;
  const recorded = (await ledger.user(request.owner))?.timeZone;
  return isKnown(recorded) ? recorded : "UTC";
}
