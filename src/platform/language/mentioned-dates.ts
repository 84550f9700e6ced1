import { de, en, es, fr, it, type ParsedResult } from "chrono-node";

/** Dates in a sentence, read against when and where it was said: "next Friday" is a day of the calendar. */

export type DateLanguage = "en" | "de" | "fr" | "es" | "it";
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
 * that name no day ("evening shows", "after 9 pm"); "this evening" does.
 */
export function datesIn(text: string, said: SaidAt, language: DateLanguage = "en"): MentionedDate[] {
  const reference = { instant: said.at, timezone: offsetMinutes(said.at, said.timeZone) };
  const holiday = holidayIn(text, said);
  if (holiday !== null) return [holiday];
  return PARSERS[language]
    .parse(text, reference, { forwardDate: true })
    .filter((result) => !RECURRING.test(text.slice(Math.max(0, result.index - 12), result.index + result.text.length + 2)))
    .filter((result) => !PLURAL_PART.test(text.slice(result.index + result.text.length)))
    .filter((result) => !STRETCH.test(result.text) && result.text !== MODAL)
    .filter((result) => namesADay(result) || TODAY.test(result.text))
    .map((result) => ({ text: result.text, end: endOf(result, said) }))
    .filter((date) => date.end.getTime() >= said.at.getTime());
}

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
/** A time of day that is today's, or a week that is this one. */
const TODAY = /^(?:this|ce|cet|cette|esta|este|questa|questo)(?!\p{L})/iu;
/** "I may come" names no month. */
const MODAL = "may";
const WEEKEND = /weekend|wochenende|week-end|fin de semana|fine settimana/iu;
const WEEK = /(?<!\p{L})(?:week|woche|semaine|semana|settimana)(?!\p{L})/iu;

function namesADay({ start }: ParsedResult): boolean {
  return (["day", "weekday", "month", "year"] as const).some((part) => start.isCertain(part));
}

function endOf(result: ParsedResult, said: SaidAt): Date {
  const parts = result.end ?? result.start;
  if (!namesADay(result) && !WEEK.test(result.text) && !WEEKEND.test(result.text))
    return endOfDay(dayIn(said.at, said.timeZone), said.timeZone);
  let day = { year: parts.get("year") ?? 1970, month: parts.get("month") ?? 1, day: parts.get("day") ?? 1 };
  const counted = /\d|\b(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten)\s+weeks?/iu.test(result.text);
  if (WEEKEND.test(result.text) || (WEEK.test(result.text) && !counted)) day = sundayFrom(day);
  else if (!parts.isCertain("day") && !parts.isCertain("weekday")) {
    if (!parts.isCertain("month")) day = { ...day, month: 12 };
    day = { ...day, day: new Date(Date.UTC(day.year, day.month, 0)).getUTCDate() };
  }
  return endOfDay(day, said.timeZone);
}

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

function dayIn(at: Date, timeZone: string): Day {
  const there = new Date(at.getTime() + offsetMinutes(at, timeZone) * 60_000);
  return { year: there.getUTCFullYear(), month: there.getUTCMonth() + 1, day: there.getUTCDate() };
}

function sundayFrom({ year, month, day }: Day): Day {
  const date = new Date(Date.UTC(year, month - 1, day));
  date.setUTCDate(date.getUTCDate() + ((7 - date.getUTCDay()) % 7));
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
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
