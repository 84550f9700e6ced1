import { z } from "zod";
import { jsonObject } from "../domain/session.js";
import { AppError, type ErrorDetail, pointerTo } from "../platform/errors.js";

/** UTF-16 units of a message. */
export const MAX_CONTENT_CHARS = 100_000;

/**
 * One message of a conversation from elsewhere: a line of an ndjson import. Unknown keys are refused, so that a misspelt one is
 * noticed.
 */
export const importLineSchema = z.strictObject({
  /** The importer's own id of the conversation. */
  session_id: z.string().min(1).max(256),
  role: z.enum(["user", "assistant", "system"]),
  content: z.string().min(1).max(MAX_CONTENT_CHARS),
  /** ISO 8601 with an offset, at most 24 hours from now. One that has not come yet is taken as now. Default: the time of the import. */
  created_at: z.iso
    .datetime({ offset: true })
    .transform((at) => new Date(at).toISOString())
    .optional(),
  /** The importer's own id of the message, unique in its conversation. */
  message_id: z.string().min(1).max(256).optional(),
  name: z.string().min(1).max(256).nullish(),
  metadata: jsonObject.optional(),
});
export type ImportLine = z.infer<typeof importLineSchema>;

/** Problems that are listed before reading is given up. */
const MAX_PROBLEMS = 10;

/** What is wrong with an import, by line, or as `where` names the place. Texts name fields and rules, never content. */
export class ImportProblems {
  readonly #found: ErrorDetail[] = [];

  /** @throws INVALID_IMPORT when there are too many to go on */
  add(line: number, field: string, detail: string, where = `Line ${line}`): void {
    this.#found.push({ pointer: `/${line}${field}`, detail: `${where}: ${detail}` });
    if (this.#found.length >= MAX_PROBLEMS) this.throwIfAny();
  }

  /** All that a schema refuses. @throws INVALID_IMPORT when there are too many to go on */
  addIssues(line: number, { issues }: z.ZodError, where?: string): void {
    for (const { path, message } of issues) this.add(line, pointerTo(path), `${path.join(".") || "the line"}: ${message}`, where);
  }

  /** @throws INVALID_IMPORT */
  throwIfAny(): void {
    const [first] = this.#found;
    if (first !== undefined) throw new AppError("INVALID_IMPORT", { detail: first.detail, errors: this.#found });
  }
}

/** How far ahead a time may lie: so far a local time that is labelled as UTC, and a clock, can be wrong. */
const MAX_AHEAD_MS = 24 * 60 * 60_000;

export const AHEAD =
  "created_at: lies over 24 hours ahead of the server's clock. Give the time with its own offset (+02:00, or Z for UTC alone), and look " +
  "whether seconds were taken for milliseconds";

/** False for NaN. */
export function isAhead(atMs: number, now: Date): boolean {
  return atMs > now.getTime() + MAX_AHEAD_MS;
}

/** Where a line stands, and when it is read. */
export interface LinePlace {
  readonly line: number;
  /** In words. Default: the line's number. */
  readonly where?: string;
  readonly now: Date;
}

/** The line as a message, or null with the problems noted. `value` is the line's JSON. */
export function checkLine(value: unknown, { line, where, now }: LinePlace, problems: ImportProblems): ImportLine | null {
  const parsed = importLineSchema.safeParse(value);
  if (parsed.success) {
    const { created_at: at } = parsed.data;
    if (at === undefined || !isAhead(Date.parse(at), now)) return parsed.data;
    problems.add(line, "/created_at", AHEAD, where);
    return null;
  }
  problems.addIssues(line, parsed.error, where);
  return null;
}

/** A conversation as another product keeps it. */
export interface Talk {
  readonly id: string;
  readonly title: string;
  /** Whose it says it is; undefined where it doesn't. */
  readonly user: string | undefined;
  readonly messages: readonly {
    readonly id: string | undefined;
    readonly role: unknown;
    readonly content: unknown;
    readonly at: unknown;
  }[];
}

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * ISO 8601, seconds or milliseconds since 1970, or a timestamp of Firestore's in any of its JSON forms. NaN where it is none, or is further
 * from 1970 than a Date reaches.
 */
export function millisOf(at: unknown): number {
  const millis = statedMillis(at);
  return Math.abs(millis) <= MAX_DATE_MS ? millis : Number.NaN;
}

const MAX_DATE_MS = 8.64e15;

function statedMillis(at: unknown): number {
  if (typeof at === "string") return Date.parse(at);
  if (typeof at === "number") return at < SECONDS_BELOW ? at * 1_000 : at;
  if (!isFields(at)) return Number.NaN;
  const { value = at } = at;
  const { _seconds, seconds = _seconds } = isFields(value) ? value : {};
  return typeof seconds === "number" ? seconds * 1_000 : Number.NaN;
}

/** No milliseconds of after 1973 are less. */
const SECONDS_BELOW = 100_000_000_000;

export function timeOf(at: unknown): string | undefined {
  const millis = millisOf(at);
  return Number.isNaN(millis) ? undefined : new Date(millis).toISOString();
}
