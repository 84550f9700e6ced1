import { AppError } from "../errors.js";
import { isTimeZone } from "../platform/time-zone.js";

/** An IANA time zone that this machine knows, as it came. @throws INVALID_REQUEST */
export function timeZoneFrom(header: string | undefined): string | undefined {
  if (header === undefined || isTimeZone(header)) return header;
  throw new AppError("INVALID_REQUEST", {
    detail: "X-Timezone is not an IANA time zone.",
    hint: "Send a name such as Europe/Rome.",
    errors: [{ pointer: "/header/X-Timezone", detail: "not an IANA time zone" }],
  });
}
