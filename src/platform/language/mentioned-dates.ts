import { de, en, es, fr, it, type ParsedResult } from "chrono-node";
import { type NamedPeriod, type PeriodLanguage, periodsIn } from "./named-periods.js";

/** Dates in a sentence, read against when and where it was said: "next Friday" is a day of the calendar. */

export type DateLanguage = PeriodLanguage;
const PARSERS = { en, de, fr, es, it } as const;

export interface SaidAt {
  readonly at: Date;
  /** IANA name. An unknown one counts as UTC. */
  readonly timeZone: string;
}

export interface MentionedDate {
  /** As it was said. */
  readonly text: string;
  /** The last second, in the user's zone, of the day, weekend, week or month that was named. */
  readonly end: Date;
}

/**
 * Days to come, in the order in which they are named. Left out: days gone by, recurring ones ("on Saturdays"), and times of day
 * that name no day ("evening shows", "after 9 pm"); "this evening" does. A bare weekday on that weekday is today until noon, and a
 * week from then on; "this Friday" and "until Friday" are today all Friday.
 */
export function datesIn(text: string, said: SaidAt, language: DateLanguage = "en"): MentionedDate[] {
  const today = dayIn(said.at, said.timeZone);
  const periods = periodsIn(text, language);
  const reference = { instant: said.at, timezone: offsetMinutes(said.at, said.timeZone) };
  const holiday = holidayIn(text, said);
  if (holiday !== null) return [holiday];
  const days = PARSERS[language]
    .parse(text, reference, { forwardDate: true })
    .filter((result) => !periods.some((period) => overlaps(period, result)))
    .filter((result) => !PLURAL_PART.test(text.slice(result.index + result.text.length)))
    .filter((result) => !STRETCH.test(result.text) && !PERIOD_ALONE.test(result.text) && result.text !== MODAL)
    .filter((result) => namesADay(result) || TODAY.test(result.text))
    .map((result) => ({ index: result.index, text: result.text, end: endOf(result, said, text.slice(0, result.index)) }));
  return [
    ...days,
    ...periods.map((period) => ({ index: period.index, text: period.text, end: endOfDay(lastDayOf(period, today), said.timeZone) })),
  ]
    .filter((named) => !RECURRING.test(text.slice(Math.max(0, named.index - 12), named.index + named.text.length + 2)))
    .filter((named) => named.end.getTime() + LAST_SECOND_MS >= said.at.getTime())
    .sort((a, b) => a.index - b.index)
    .map((named) => ({ text: named.text, end: named.end }));
}

/** The end is a whole second, which may have begun. */
const LAST_SECOND_MS = 999;
/** "Until Christmas": the days of the calendar that have a name, as month and day. */
const HOLIDAYS: readonly (readonly [name: RegExp, month: number, day: number])[] = [
  [/(?<=\b(?:until|till|til) )christmas(?: eve| day)?\b/iu, 12, 25],
  [/(?<=\b(?:until|till|til) )(?:the )?new year(?:'s(?: (?:eve|day))?)?\b/iu, 12, 31],
  [/(?<=\b(?:until|till|til) )hallowe'?en\b/iu, 10, 31],
  [/(?<=\bbis )weihnachten\b/iu, 12, 25],
  [/(?<=\bjusqu'à )noël\b/iu, 12, 25],
];

function holidayIn(text: string, said: SaidAt): MentionedDate | null {
  for (const [name, month, day] of HOLIDAYS) {
    const found = name.exec(text);
    if (found === null) continue;
    const { year } = dayIn(said.at, said.timeZone);
    const end = endOfDay({ year, month, day }, said.timeZone);
    return { text: found[0], end: end.getTime() < said.at.getTime() ? endOfDay({ year: year + 1, month, day }, said.timeZone) : end };
  }
  return null;
}

/** "Every Friday", "on Saturdays", "weekday evenings"; "since January" and "last month" are over. */
const RECURRING =
  /(?<!\p{L})(?:every|each|weekday|jeden|jede|chaque|tous les|cada|todos los|ogni|tutti i|since|last|seit|letzte[nrs]?|depuis|desde|dal?)\s|(?:day|evening|morning|afternoon|night|weekend)s(?!\p{L})/iu;
/** "Friday nights" are all of them. */
const PLURAL_PART = /^\s+(?:morning|afternoon|evening|night)s(?!\p{L})/iu;
/** A stretch of time is no day: "20 minutes", "two weeks' notice"; "in two weeks" is. */
const STRETCH =
  /^(?:now|right now|jetzt|maintenant|ahora|adesso|ora)$|minute|hour|stunde|heure|hora|\bor[ae]\b|^(?:\d+|an?|one|two|three|four|five|six|half)\s+(?:days?|weeks?|months?|years?|nights?)'?$/iu;
/** A period that is not said to be this or the next: "weekend trips", "during the week". */
const PERIOD_ALONE = /^(?:(?:the|il|la)\s+)?(?:weekend|week-end|week|month|year|fine settimana|settimana)(?:\s+(?:after|before))?$/iu;
/** A time of day that is today's. */
const TODAY = /^(?:this|ce|cet|cette|esta|este|questa|questo)(?!\p{L})/iu;
/** "I may come" names no month. */
const MODAL = "may";
const WEEK_OF = /(?<!\p{L})(?:week|weekend)\s+of\s+(?:the\s+)?$/iu;
const NEXT = /(?<!\p{L})(?:next|following|nächste[nrs]?|prochaine?|próxim[oa]|prossim[oa]|que viene)(?!\p{L})/iu;
/** The nearest one, today's included. */
const NEAREST =
  /(?<!\p{L})(?:this|until|till|til|by|through|diesen|bis(?: zum)?|ce|jusqu['’](?:à|au)|este|hasta(?: el)?|questo|questa|fino a)\s*$/iu;

function namesADay({ start }: ParsedResult): boolean {
  return (["day", "weekday", "month", "year"] as const).some((part) => start.isCertain(part));
}

function overlaps(period: NamedPeriod, { index, text }: ParsedResult): boolean {
  return period.index < index + text.length && index < period.index + period.text.length;
}

/** `before`: what stands before it in the text. */
function endOf(result: ParsedResult, said: SaidAt, before: string): Date {
  const parts = result.end ?? result.start;
  const today = dayIn(said.at, said.timeZone);
  if (!namesADay(result)) return endOfDay(today, said.timeZone);
  let day = { year: parts.get("year") ?? 1970, month: parts.get("month") ?? 1, day: parts.get("day") ?? 1 };
  if (!parts.isCertain("day") && !parts.isCertain("weekday")) {
    if (!parts.isCertain("month")) day = { ...day, month: 12 };
    day = lastOfMonth(day);
  } else if (WEEK_OF.test(before)) day = sundayFrom(day);
  else if (
    isWeekFrom(today, day) &&
    parts.isCertain("weekday") &&
    !parts.isCertain("day") &&
    !NEXT.test(`${before.slice(-12)}${result.text}`)
  ) {
    const named = /\p{L}+/u.exec(result.text)?.[0] ?? "";
    if (NEAREST.test(before) || NEAREST.test(named)) day = today;
  }
  return endOfDay(day, said.timeZone);
}

function lastDayOf({ unit, ahead }: NamedPeriod, today: Day): Day {
  switch (unit) {
    case "day":
      return later(today, ahead);
    case "weekend":
    case "week":
      return later(sundayFrom(today), 7 * ahead);
    case "month":
      return lastOfMonth({ ...today, month: today.month + ahead });
    case "year":
      return { year: today.year + ahead, month: 12, day: 31 };
  }
}

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

function dayIn(at: Date, timeZone: string): Day {
  const there = new Date(at.getTime() + offsetMinutes(at, timeZone) * 60_000);
  return asDay(there);
}

function asDay(date: Date): Day {
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

function later({ year, month, day }: Day, days: number): Day {
  return asDay(new Date(Date.UTC(year, month - 1, day + days)));
}

/** The month may lie beyond December. */
function lastOfMonth({ year, month }: Day): Day {
  return asDay(new Date(Date.UTC(year, month, 0)));
}

function isWeekFrom(today: Day, day: Day): boolean {
  const then = later(today, 7);
  return then.year === day.year && then.month === day.month && then.day === day.day;
}

/** The Sunday of a day's week: the day itself where it is one. */
function sundayFrom(day: Day): Day {
  const weekday = new Date(Date.UTC(day.year, day.month - 1, day.day)).getUTCDay();
  return later(day, (7 - weekday) % 7);
}

/** 23:59:59 there. The offset is asked for near that moment, so that a change of clocks in between counts. */
function endOfDay({ year, month, day }: Day, timeZone: string): Date {
  const asUtc = Date.UTC(year, month - 1, day, 23, 59, 59);
  const guess = asUtc - offsetMinutes(new Date(asUtc), timeZone) * 60_000;
  return new Date(asUtc - offsetMinutes(new Date(guess), timeZone) * 60_000);
}

/** Minutes that a zone is ahead of UTC at a moment. */
function offsetMinutes(at: Date, timeZone: string): number {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  } catch {
    return 0;
  }
  const name = format.formatToParts(at).find((part) => part.type === "timeZoneName")?.value ?? "GMT";
  const match = /([+-])(\d{2}):(\d{2})/.exec(name);
  if (match === null) return 0;
  return (match[1] === "-" ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3]));
}

/** The calendar day of a moment in a zone, as `2026-03-14`. */
export function localDay(at: Date, timeZone: string): string {
  return new Date(at.getTime() + offsetMinutes(at, timeZone) * 60_000).toISOString().slice(0, 10);
}
