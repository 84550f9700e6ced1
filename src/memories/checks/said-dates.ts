import { aheadOfUtcMs } from "../../platform/time-zone.js";

/** The model's dates as instants: they stand unless they are impossible. */

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/u;
const MONTH = /^(\d{4})-(\d{2})$/u;

/** ISO 8601 UTC. A bare date begins when that day begins where the guest is. Null for what is no date. */
export function validFrom(said: string | null, timeZone: string): string | null {
  return instant(said, timeZone, 0);
}

/** As {@link validFrom}; a bare date is over when that day is. Null too where it would end before it begins. */
export function validUntil(said: string | null, from: Date, timeZone: string): string | null {
  const until = instant(said, timeZone, 1);
  return until === null || Date.parse(until) <= from.getTime() ? null : until;
}

/** When a bare date (`2026-03-11`) is over there: the midnight after it, in milliseconds. Null for what is no bare date. */
export function endOfDay(said: string, timeZone: string): number | null {
  return midnightAfter(said, timeZone, 1);
}

function instant(said: string | null, timeZone: string, daysLater: 0 | 1): string | null {
  if (said === null || said.length > 40) return null;
  const month = MONTH.exec(said.trim());
  if (month !== null) return instant(dayOfMonth(Number(month[1]), Number(month[2]), daysLater), timeZone, daysLater);
  if (!DAY.test(said.trim())) {
    const time = /^\d{4}-\d{2}-\d{2}T/u.test(said) ? Date.parse(said) : Number.NaN;
    return Number.isNaN(time) ? null : new Date(time).toISOString();
  }
  const midnight = midnightAfter(said, timeZone, daysLater);
  // The last second of the day, where it is an end.
  return midnight === null ? null : new Date(midnight - daysLater * 1000).toISOString();
}

/** Of "2026-03" the first day where it begins something, the last where it ends it. Null for a month that there isn't. */
function dayOfMonth(year: number, month: number, last: 0 | 1): string | null {
  return month < 1 || month > 12 ? null : new Date(Date.UTC(year, month - 1 + last, 1 - last)).toISOString().slice(0, 10);
}

function midnightAfter(said: string, timeZone: string, daysLater: 0 | 1): number | null {
  const day = DAY.exec(said.trim());
  if (day === null) return null;
  const midnight = Date.UTC(Number(day[1]), Number(day[2]) - 1, Number(day[3]) + daysLater);
  if (Number.isNaN(midnight) || new Date(midnight - daysLater * 86_400_000).toISOString().slice(0, 10) !== said.trim()) return null;
  const local = midnight - aheadOfUtcMs(new Date(midnight), timeZone);
  return midnight - aheadOfUtcMs(new Date(local), timeZone);
}
