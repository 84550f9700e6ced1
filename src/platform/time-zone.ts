import { LRUCache } from "lru-cache";

const IANA_NAME = /^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/;

/** True for an IANA time zone that this machine knows. */
export function isTimeZone(name: string): boolean {
  if (!IANA_NAME.test(name)) return false;
  try {
    clockOf(name);
    return true;
  } catch {
    return false;
  }
}

/** By zone: making one takes a hundred times as long as using it. There are some 600 names. */
const clocks = new LRUCache<string, Intl.DateTimeFormat>({ max: 1_000 });

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  clocks.set(timeZone, made);
  return made;
}

/** What the zone's clocks are ahead of UTC at that moment, in milliseconds. An unknown zone counts as UTC. */
export function aheadOfUtcMs(at: Date, timeZone: string): number {
  try {
    const parts = clockOf(timeZone).formatToParts(at);
    const part = (type: string) => Number(parts.find((each) => each.type === type)?.value);
    const local = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"));
    return local - Math.floor(at.getTime() / 60_000) * 60_000;
  } catch {
    return 0;
  }
}
