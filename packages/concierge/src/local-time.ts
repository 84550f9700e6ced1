/** Days and wall-clock times of a place. Days are `YYYY-MM-DD`, times `HH:mm`. */

const DAY_MS = 86_400_000;

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** 0 is Sunday. */
export function weekdayOf(day: string): number {
  return new Date(`${day}T00:00:00Z`).getUTCDay();
}

/** Counts weeks since the epoch; a week begins on Monday. */
export function weekOf(day: string): number {
  return Math.floor((Date.parse(`${day}T00:00:00Z`) / DAY_MS + 3) / 7);
}

const LONG_DAY = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" });

/** "Saturday 14 March". */
export function longDay(day: string): string {
  return LONG_DAY.format(new Date(`${day}T00:00:00Z`)).replace(",", "");
}

/** The clocks of one time zone. Costly to make, cheap to use. */
export interface ZoneClock {
  /** The day that an instant falls on. */
  dayOf(instant: Date): string;
  /** The instant of a wall-clock time. In a gap of the clocks the time after it, in a doubled hour the first. */
  instantOf(day: string, time: string): Date;
  /** Minutes that local time is ahead of UTC. */
  offsetMinutes(instant: Date): number;
}

/** An unknown zone is read as UTC. */
export function zoneClock(timeZone: string): ZoneClock {
  const formatter = formatterOf(timeZone);
  const wallOf = (instant: Date): string => {
    const parts: Record<string, string> = {};
    for (const { type, value } of formatter.formatToParts(instant)) parts[type] = value;
    return `${parts.year}-${parts.month}-${parts.day}T${parts.hour}:${parts.minute}:${parts.second}Z`;
  };
  const offsetMs = (instant: Date): number => Date.parse(wallOf(instant)) - Math.floor(instant.getTime() / 1000) * 1000;
  return {
    dayOf: (instant) => wallOf(instant).slice(0, 10),
    instantOf: (day, time) => {
      const wall = Date.parse(`${day}T${time}:00Z`);
      const guess = new Date(wall - offsetMs(new Date(wall)));
      return new Date(wall - offsetMs(guess));
    },
    offsetMinutes: (instant) => Math.round(offsetMs(instant) / 60_000),
  };
}

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const options = {
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  } as const;
  try {
    return new Intl.DateTimeFormat("en-CA", { timeZone, ...options });
  } catch {
    return new Intl.DateTimeFormat("en-CA", { timeZone: "UTC", ...options });
  }
}
