import { formatterOf } from "./time-zone.js";

/** Text of others put into a prompt: as data, on one line, and times as a person would say them. */

const DAY_MS = 86_400_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced here
const BREAKS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** One line without line breaks, control characters, or characters that hide or reorder text. */
export function asOneLine(text: string): string {
  return text.replace(INVISIBLE, "").replace(BREAKS, " ").trim();
}

/** "since March", with the year where it is not the present one. */
export function sinceMonth(date: Date, now: Date, timeZone: string): string {
  return `since ${format(date, timeZone, { month: "long", ...yearUnlessSame(date, now, timeZone) })}`;
}

/** "12 March", with the year where it is not the present one. */
export function dayOf(date: Date, now: Date, timeZone: string): string {
  return format(date, timeZone, { day: "numeric", month: "long", ...yearUnlessSame(date, now, timeZone) });
}

/** "Saturday 28 March 2026, 23:30": what a clock on the wall of the place shows. */
export function wallClock(date: Date, timeZone: string): string {
  return `${longDay(date, timeZone)}, ${format(date, timeZone, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" })}`;
}

/**
 * "Sunday 22 November 2026, 14:05 Europe/Lisbon; this weekend: 28–29 November": what calendar and clock of the place show, and the next
 * weekend that has not begun before today.
 */
export function timeLine(date: Date, timeZone: string): string {
  const [first, last] = weekendFrom(date, timeZone);
  const days = formatterOf("UTC", { day: "numeric", month: "long" }).formatRange(first, last);
  // Within a month without spaces: what stands around the dash differs from one release of the tables to another.
  const weekend = days.replace(/\s/g, " ").replace(/(\d) ?– ?(\d)/, "$1–$2");
  return `${wallClock(date, timeZone)} ${timeZone}; this weekend: ${weekend}`;
}

/** Saturday and Sunday, the Saturday today or later, each as midnight UTC of that day. */
function weekendFrom(date: Date, timeZone: string): readonly [Date, Date] {
  const part = (type: "year" | "month" | "day") => Number(format(date, timeZone, { [type]: "numeric" }));
  const day = Date.UTC(part("year"), part("month") - 1, part("day"));
  const saturday = day + ((6 - new Date(day).getUTCDay()) % 7) * DAY_MS;
  return [new Date(saturday), new Date(saturday + DAY_MS)];
}

/** "Saturday 28 March 2026". */
export function longDay(date: Date, timeZone: string): string {
  return format(date, timeZone, { weekday: "long", day: "numeric", month: "long", year: "numeric" }).replace(",", "");
}

function yearUnlessSame(date: Date, now: Date, timeZone: string): Intl.DateTimeFormatOptions {
  const year = (of: Date) => format(of, timeZone, { year: "numeric" });
  return year(date) === year(now) ? {} : { year: "numeric" };
}

function format(date: Date, timeZone: string, options: Intl.DateTimeFormatOptions): string {
  return formatterOf(timeZone, options).format(date);
}

/** So many UTF-16 units of a text's beginning, and never half of a surrogate pair. */
export function cutText(text: string, units: number): string {
  return text.slice(0, units).replace(/[\uD800-\uDBFF]$/, "");
}
