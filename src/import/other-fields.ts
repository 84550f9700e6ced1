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
