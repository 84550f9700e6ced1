import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { AppError } from "../platform/errors.js";
import { isId } from "../platform/ids.js";
import { unknownFields } from "../platform/nearest-name.js";
import { isTimeZone } from "../platform/time-zone.js";
import type { Application } from "../ports/application.js";
import { isSessionName, MAX_NAME_CHARS, SESSION_NAME_RULE } from "../ports/session-names.js";
import type { HttpEnv } from "./http-env.js";

/** Fields that many routes share. Each validates as its OpenAPI description says. */

const UUID_PATTERN = "^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused here
const NO_CONTROL = /^[^\u0000-\u001f\u007f-\u009f]*$/;

export const idField = z.string().refine(isId, "not an id of this API").openapi({ type: "string", format: "uuid", pattern: UUID_PATTERN });
export const idParam = z.object({ id: idField.openapi({ param: { name: "id", in: "path" } }) });

/** An id that may be an importer's own: whatever can be an application's name of something. */
export const messageIdField = z
  .string()
  .refine(isSessionName, SESSION_NAME_RULE)
  .openapi({ type: "string", minLength: 1, maxLength: MAX_NAME_CHARS, pattern: NO_CONTROL.source });

/** An application's own name of a session: one of a user's for each. */
export const externalIdField = messageIdField.openapi({
  description: "Your own name of the session: the user's session of that name, which is created where there is none.",
});

/** Text of at most `max` characters (code points, as JSON Schema counts) with something to see in it. */
export function textField(max: number, pattern?: RegExp) {
  return z
    .string()
    .refine((text) => text.length <= max || (text.length <= 2 * max && [...text].length <= max), {
      error: `at most ${max} characters`,
      abort: true,
    })
    .refine((text) => /[^\s\p{Cc}\p{Cf}\p{Z}]/u.test(text), "must not be blank")
    .refine((text) => pattern?.test(text) ?? true, "holds characters that are not allowed")
    .openapi({ type: "string", minLength: 1, maxLength: max });
}

/** A short label: one line, without control characters. */
export function labelField(max: number) {
  return textField(max, NO_CONTROL);
}

export function integerQuery(min: number, max: number, fallback?: number) {
  const message = `a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
    .optional()
    .openapi({ type: "integer", minimum: min, maximum: max, ...(fallback === undefined ? {} : { default: fallback }) });
}

export const limitQuery = integerQuery(1, 200, 20);
export const cursorQuery = z.string().min(1).max(2048).optional().openapi({ description: "`next_cursor` of the page before." });

export const flagQuery = z
  .enum(["true", "false"])
  .transform((value) => value === "true")
  .optional()
  .openapi({ type: "boolean" });

/** ISO 8601 with an offset, or a date (UTC midnight); handed on as ISO 8601 UTC. */
export const timeField = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], { error: "not an ISO 8601 time" })
  .transform((value) => new Date(value).toISOString())
  .openapi({ type: "string", format: "date-time" });

/** As {@link timeField}, but a date stays one: it ends with its day, where the user is. */
export const endField = z
  .union([z.iso.datetime({ offset: true }).transform((value) => new Date(value).toISOString()), z.iso.date()], {
    error: "not an ISO 8601 time",
  })
  .openapi({
    type: "string",
    format: "date-time",
    description: "ISO 8601. A date without a time holds through its day, in the user's time zone.",
  });

const MAX_METADATA_BYTES = 16 * 1024;

/** A JSON object of at most 16 KiB. */
export const metadataField = z
  .record(z.string(), z.unknown())
  .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= MAX_METADATA_BYTES, "more than 16 KiB of JSON")
  .openapi({ type: "object", additionalProperties: true });

export const jsonValue = z.unknown().openapi({ description: "Any JSON value." });

/** A body of these fields and no other: one that is misspelt is told, with the nearest. */
export function fieldsOf<S extends z.core.$ZodLooseShape>(shape: S) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: ({ code, keys }) => (code === "unrecognized_keys" ? unknownFields(keys as string[], known) : undefined),
  });
}

export function pageOf<S extends z.ZodType>(item: S) {
  return z.object({ data: z.array(item), next_cursor: z.string().nullable() });
}

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
