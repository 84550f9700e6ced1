import { dateReader } from "../../platform/language/date-reader.js";
import { addDays, weekdayOf, zoneClock } from "../local-time.js";

/** Local days, inclusive. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

interface Span {
  readonly pattern: RegExp;
  /** `evening`: most of today is over. */
  readonly days: (today: string, match: RegExpExecArray, evening: boolean) => Days;
}

const MONDAY = 1;
/** From then on a Sunday is hardly a weekend any more: the next one is meant. */
const EVENING_HOUR = 16;

/** Spans that a date parser reads as one day. */
const SPANS: readonly Span[] = [
  { pattern: /\b(?:the )?weekend after next\b/i, days: (today) => shift(weekend(today), 14) },
  { pattern: /\b(?:next weekend|the following weekend|weekend after(?: this)?)\b/i, days: (today) => shift(weekend(today), 7) },
  {
    pattern: /\b(?:(?:this|the|coming|at|on the|over the)\s+)*weekend\b/i,
    days: (today, _, evening) => weekend(evening && weekdayOf(today) === 0 ? addDays(today, 1) : today),
  },
  { pattern: /\bnext week\b/i, days: (today) => week(addDays(today, 7)) },
  { pattern: /\b(?:this week|(?:later )?in the week)\b/i, days: (today) => ({ from: today, to: week(today).to }) },
  { pattern: /\b(?:in |over |within )?the next (?:few|couple of) days\b/i, days: (today) => ({ from: today, to: addDays(today, 3) }) },
  {
    pattern: /\b(?:in |over |within )?the next (\d{1,2}|two|three|four|six) (days|weeks)\b/i,
    days: (today, match) => {
      const count = { two: 2, three: 3, four: 4, six: 6 }[match[1]?.toLowerCase() ?? ""] ?? Number(match[1]);
      return { from: today, to: addDays(today, count * (match[2]?.toLowerCase() === "weeks" ? 7 : 1)) };
    },
  },
  { pattern: /\bnext month\b/i, days: (today) => month(addDays(month(today).to, 1)) },
  { pattern: /\bthis month\b/i, days: (today) => ({ from: today, to: month(today).to }) },
  { pattern: /\b(?:tonight|this (?:evening|afternoon|morning)|today)\b/i, days: (today) => ({ from: today, to: today }) },
  {
    // Not "the 14th one", which is a place in a list.
    pattern: /\bon the (\d{1,2})(?:st|nd|rd|th)\b(?!\s+(?:of\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\s+one)/i,
    days: (today, match) => {
      const day = String(match[1]).padStart(2, "0");
      const next = month(today).to.slice(8) >= day && today.slice(8) <= day ? today : addDays(month(today).to, 1);
      return { from: `${next.slice(0, 7)}-${day}`, to: `${next.slice(0, 7)}-${day}` };
    },
  },
  { pattern: /\bday after tomorrow\b/i, days: (today) => ({ from: addDays(today, 2), to: addDays(today, 2) }) },
];

/** "Between 3 and 9 May", in the way that the parser reads as a range. */
const DAY = "(?:the\\s+)?(\\d{1,2})(?:st|nd|rd|th)?";
const RANGE = new RegExp(`\\b(?:between|from)\\s+${DAY}\\s+(?:and|to|until|till)\\s+${DAY}\\s+(?:of\\s+)?([a-z]+)`, "i");

/** The days that a message names, in the guest's time zone, and the words that name them. Never in the past. */
export function daysIn(text: string, now: Date, timeZone: string): { readonly days: Days; readonly words: string } | undefined {
  const clock = zoneClock(timeZone);
  const today = clock.dayOf(now);
  const hour = new Date(now.getTime() + clock.offsetMinutes(now) * 60_000).getUTCHours();
  for (const { pattern, days } of SPANS) {
    const match = pattern.exec(text);
    if (match !== null) return { days: days(today, match, hour >= EVENING_HOUR), words: match[0] };
  }
  // "second", "first" and bare hours are no dates.
  const results = dateReader().parse(
    text.replace(RANGE, "$1 - $2 $3"),
    { instant: now, timezone: clock.offsetMinutes(now) },
    { forwardDate: true },
  );
  for (const result of results) {
    const { start, end } = result;
    const from = dayString(start.get("year"), start.get("month"), start.get("day"));
    if (start.isCertain("day") || start.isCertain("weekday")) {
      const to = end === null || end === undefined ? from : dayString(end.get("year"), end.get("month"), end.get("day"));
      if (to >= today) return { days: { from: later(from, today), to: later(to, from) }, words: result.text };
    } else if (start.isCertain("month") && from.slice(0, 7) >= today.slice(0, 7)) {
      const whole = month(from);
      return { days: { from: later(whole.from, today), to: whole.to }, words: result.text };
    }
  }
  return undefined;
}

function later(a: string, b: string): string {
  return [a, b].toSorted()[1] ?? a;
}

/** Saturday and Sunday; on a Saturday or Sunday what is left of it. */
function weekend(today: string): Days {
  const weekday = weekdayOf(today);
  if (weekday === 0) return { from: today, to: today };
  const saturday = addDays(today, 6 - weekday);
  return { from: saturday, to: addDays(saturday, 1) };
}

function shift(days: Days, by: number): Days {
  // From a Sunday on, the days that follow are still a Saturday and a Sunday.
  const saturday = weekdayOf(days.from) === 0 ? addDays(days.from, -1) : days.from;
  return { from: addDays(saturday, by), to: addDays(saturday, by + 1) };
}

function week(day: string): Days {
  const monday = addDays(day, -((weekdayOf(day) + 7 - MONDAY) % 7));
  return { from: monday, to: addDays(monday, 6) };
}

function month(day: string): Days {
  const from = `${day.slice(0, 7)}-01`;
  const next = addDays(from, 31).slice(0, 7);
  return { from, to: addDays(`${next}-01`, -1) };
}

function dayString(year: number | null, monthOfYear: number | null, day: number | null): string {
  return `${year ?? 1970}-${String(monthOfYear ?? 1).padStart(2, "0")}-${String(day ?? 1).padStart(2, "0")}`;
}
