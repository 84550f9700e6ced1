/** How texts, days and times are written and compared. Days are `YYYY-MM-DD` where the thing is. */

const ISO_DAY = /^\d{4}-\d\d-\d\d$/;
const DAY_MS = 86_400_000;

const isDay = (day: unknown): day is string => typeof day === "string" && ISO_DAY.test(day);
/** A day as this device has it. */
export const isoDay = (date: Date): string => date.toLocaleDateString("sv");

/** Weekday, day and month of a date tile; null for what is no day. */
export function tileOf(day: unknown): { readonly weekday: string; readonly day: string; readonly month: string } | null {
  const date = new Date(isDay(day) ? `${day}T00:00:00Z` : Number.NaN);
  if (Number.isNaN(date.getTime())) return null;
  const part = (options: Intl.DateTimeFormatOptions) => date.toLocaleDateString([], { ...options, timeZone: "UTC" });
  return { weekday: part({ weekday: "short" }), day: String(date.getUTCDate()), month: part({ month: "short" }) };
}

/** Whether a day is over, as this device's clock has it. */
export const isOver = (day: unknown): boolean => isDay(day) && day < isoDay(new Date());

/** "14:05", "yesterday", "3 May". */
export function when(iso: string): string {
  const date = new Date(iso);
  const days = Math.floor((new Date().setHours(0, 0, 0, 0) - new Date(date).setHours(0, 0, 0, 0)) / DAY_MS);
  if (days === 0) return date.toLocaleTimeString([], { timeStyle: "short" });
  if (days === 1) return "yesterday";
  return date.toLocaleDateString([], { day: "numeric", month: "short", ...(days > 300 && { year: "numeric" }) });
}

/** "3 May 2026". */
export const dayOf = (date: Date | string, month: "long" | "short" = "long"): string =>
  new Date(date).toLocaleDateString([], { day: "numeric", month, year: "numeric" });

/** The last day of what holds until a moment: what holds through a day ends where the next one begins. */
export const lastDay = (end: string): Date => new Date(Date.parse(end) - 1);

/** "held_back" → "held back": codes as they are read. */
export const wordsOf = (code: unknown): string => String(code).replaceAll("_", " ");

const folded = (text: string) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** Whether the text holds every word of the query, or the beginning of one, as a reader would say: case and accents don't count. */
export function holdsWords(text: string, query: string): boolean {
  const words = folded(query).match(/[\p{L}\p{N}]+/gu) ?? [];
  const within = folded(text);
  return words.length > 0 && words.every((word) => within.includes(word));
}

/** Those that say something, in one line. */
export const joined = (texts: readonly unknown[], between = ", "): string => texts.filter(Boolean).join(between);

/** Who a memory is about, where that is somebody else. */
export const companionOf = ({ subject }: { readonly subject?: string | undefined }): string | null =>
  subject?.startsWith("companion:") ? subject.slice("companion:".length) : null;

/** The address of a message in its conversation. */
export const messageLink = (session: string, message: string): string => `#${session}/${encodeURIComponent(message)}`;

/** Values by name; those that are nothing are not set. */
export type Query = Readonly<Record<string, string | number | null | undefined>>;

/** What stands behind an address. */
export function queryOf(params: Query): string {
  const set = Object.entries(params).flatMap(([name, value]) => ((value ?? "") === "" ? [] : [[name, String(value)]]));
  return set.length > 0 ? `?${new URLSearchParams(set)}` : "";
}
