import { addTo } from "../lists.js";

/** Weekdays, months and parts of the day, as the platform's own tables write them in some languages: they say when, not what. Pure. */

const LANGUAGES = ["en", "de", "fr", "es", "it"] as const;
/** Letters by which names are looked up. */
const BEGINNING = 3;
const STYLES = ["long", "short"] as const;
const DAY = [...Array(24).keys()].map((hour) => Date.UTC(2026, 0, 1, hour));
const WEEK = [...Array(7).keys()].map((day) => Date.UTC(2026, 0, 1 + day));
const WEEK_FROM_MONDAY = [...Array(7).keys()].map((day) => Date.UTC(2026, 0, 5 + day));
const YEAR = [...Array(12).keys()].map((month) => Date.UTC(2026, month, 1));

interface CalendarName {
  readonly n: number;
  readonly parts: readonly string[];
}

const WEEKDAYS: readonly string[] = LANGUAGES.flatMap(weekdaysOf).map(plain);
const DAY_PARTS: ReadonlySet<string> = new Set(LANGUAGES.flatMap(dayPartsOf).flatMap(withoutEnding));
const CALENDAR: ReadonlySet<string> = new Set([...WEEKDAYS, ...LANGUAGES.flatMap(monthsOf).map(plain), ...DAY_PARTS]);

/** Of these the weekdays and months that are named are told, by their whole names. */
const NAMED_IN = [...LANGUAGES, "pt", "nl"] as const;
/** Names by their first letters; a weekday may go on into a longer word. */
const WEEKDAY_NAMES = byBeginning(NAMED_IN.flatMap((language) => namesOf(written(language, { weekday: "long" }, WEEK_FROM_MONDAY))));
const MONTH_NAMES = byBeginning(NAMED_IN.flatMap((language) => namesOf(written(language, { month: "long" }, YEAR))));

/** Weekdays that words name, 0 for Monday: "Saturdays", "Freitagabend". Words in lower case without accents, parted at hyphens. */
export function weekdaysIn(words: readonly string[]): ReadonlySet<number> {
  const named = new Set<number>();
  for (const [at, word] of words.entries())
    for (const { n, parts } of WEEKDAY_NAMES.get(word.slice(0, BEGINNING)) ?? []) {
      const [first = "", ...rest] = parts;
      if (rest.length === 0 ? word.startsWith(first) : word === first && rest.every((part, k) => words[at + 1 + k] === part)) named.add(n);
    }
  return named;
}

/** Months that words name, 0 for January. */
export function monthsIn(words: readonly string[]): ReadonlySet<number> {
  const named = new Set<number>();
  for (const word of words) for (const { n, parts } of MONTH_NAMES.get(word.slice(0, BEGINNING)) ?? []) if (word === parts[0]) named.add(n);
  return named;
}

/** True for "Saturday", "samstags", "Nov.", "Evening", "PM", "Freitagabend": in any of the languages. */
export function isCalendarWord(word: string): boolean {
  return withoutEnding(word).some((form) => CALENDAR.has(form) || isPartOfWeekday(form));
}

/** A weekday and a part of the day, written as one word. */
function isPartOfWeekday(word: string): boolean {
  return WEEKDAYS.some((day) => word.startsWith(day) && DAY_PARTS.has(word.slice(day.length)));
}

function byBeginning(names: readonly CalendarName[]): ReadonlyMap<string, readonly CalendarName[]> {
  const groups = new Map<string, CalendarName[]>();
  for (const name of names) addTo(groups, (name.parts[0] ?? "").slice(0, BEGINNING), name);
  return groups;
}

function namesOf(names: readonly string[]): CalendarName[] {
  return names.map((name, n) => ({ n, parts: plain(name).split("-") }));
}

function weekdaysOf(language: string): string[] {
  return STYLES.flatMap((weekday) => written(language, { weekday }, WEEK));
}

function monthsOf(language: string): string[] {
  return STYLES.flatMap((month) => written(language, { month }, YEAR));
}

/** "evening" of "in the evening", and what stands beside an hour: "PM", "Uhr". */
function dayPartsOf(language: string): string[] {
  const parts = STYLES.flatMap((dayPeriod) => written(language, { dayPeriod }, DAY));
  const hours = (["h12", "h23"] as const).flatMap((hourCycle) => {
    const format = new Intl.DateTimeFormat(language, { hour: "numeric", hourCycle, timeZone: "UTC" });
    return DAY.flatMap((hour) => format.formatToParts(hour).flatMap(({ type, value }) => (type === "hour" ? [] : [value])));
  });
  return [...parts, ...hours].map((said) => said.trim().split(/\s/u).at(-1) ?? "").filter((said) => said !== "");
}

function written(language: string, options: Intl.DateTimeFormatOptions, moments: readonly number[]): string[] {
  const format = new Intl.DateTimeFormat(language, { ...options, timeZone: "UTC" });
  return moments.map((moment) => format.format(moment));
}

function withoutEnding(word: string): string[] {
  const said = plain(word);
  return [said, said.replace(/s$/u, "")];
}

/** Without case, accents, dots and a genitive. */
function plain(word: string): string {
  return word
    .toLowerCase()
    .normalize("NFD")
    .replace(/[\p{M}.]/gu, "")
    .replace(/['’]s?$/u, "");
}
