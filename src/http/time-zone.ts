import type { Context } from "hono";
import { AppError } from "../platform/errors.js";
import { isTimeZone } from "../platform/time-zone.js";
import type { Application } from "../ports/application.js";
import type { HttpEnv } from "./http-env.js";

/** An IANA time zone that this machine knows, as it came. @throws INVALID_REQUEST */
export function timeZoneFrom(header: string | undefined): string | undefined {
  if (header === undefined || isTimeZone(header)) return header;
  throw new AppError("INVALID_REQUEST", {
    detail: "X-Timezone is not an IANA time zone.",
    hint: "Send a name such as Europe/Rome.",
    errors: [{ pointer: "/header/X-Timezone", detail: "not an IANA time zone" }],
  });
}

/** Where dates of a request without a time end with their day; nothing where none is given. */
export function zoneOfDates(
  c: Context<HttpEnv>,
  user: Application["user"],
  dates: readonly (string | null | undefined)[],
): Promise<{ readonly timeZone?: string }> {
  return zoneOfEnds(dates, c.get("timeZone") ?? c.get("identity").timeZone, () => user(c.get("owner")));
}

/** Where memories' ends that are dates end with their day: the zone that is known, else the user's own. Nothing where none was given. */
export async function zoneOfEnds(
  dates: readonly (string | null | undefined)[],
  known: string | undefined,
  user: () => Promise<{ readonly timeZone: string | null } | null>,
): Promise<{ readonly timeZone?: string }> {
  if (dates.every((date) => date === null || date === undefined || date.includes("T"))) return {};
  return { timeZone: known ?? (await user())?.timeZone ?? "UTC" };
}
