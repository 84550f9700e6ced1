import { LRUCache } from "lru-cache";

const IANA_NAME = /^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/;

/** True for an IANA time zone that this machine knows. */
export function isTimeZone(name: string): boolean {
  if (!IANA_NAME.test(name)) return false;
  try {
    formatterOf(name, MINUTE);
    return true;
  } catch {
    return false;
  }
}

const MINUTE = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;

/** To make a formatter costs a hundred times what using it does, and a turn dates every memory. Only kept for speed: a turn can't tell. */
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: 1_000 });

/** In English as Britons write it. @throws RangeError for a zone that this machine does not know */
export function formatterOf(timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify([timeZone, options]);
  let formatter = formatters.get(key);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat("en-GB", { timeZone, ...options });
    formatters.set(key, formatter);
  }
  return formatter;
}

/** What the zone's clocks are ahead of UTC at that moment, in milliseconds. An unknown zone counts as UTC. */
export function aheadOfUtcMs(at: Date, timeZone: string): number {
  try {
    const parts = formatterOf(timeZone, MINUTE).formatToParts(at);
    const part = (type: string) => Number(parts.find((each) => each.type === type)?.value);
    const local = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"));
    return local - Math.floor(at.getTime() / 60_000) * 60_000;
  } catch {
    return 0;
  }
}
