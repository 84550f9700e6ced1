import type { Chrono, ParsedResult } from "chrono-node";
import { dateReader } from "../../../platform/language/date-reader.js";
import { anyPhrase } from "../../../platform/phrase-list.js";
import { WORDS } from "./question.js";

const DAY_MS = 86_400_000;
/** People tell of a day on that day or the next, and of tomorrow the day before. */
const DAY_BEFORE_MS = DAY_MS;
const DAY_AFTER_MS = DAY_MS;

/** A time that a question names: an interval, or a month of any year. */
export type NamedTime =
  | { readonly kind: "interval"; readonly fromMs: number; readonly toMs: number; readonly day: boolean }
  | { readonly kind: "month"; readonly month: number };

/** `last`: the newest counts most. `first`: the oldest. */
export type AskedOrder = "last" | "first" | null;

const MAYBE_A_TIME = anyPhrase(WORDS.maybe_a_time, { begins: true });
const SEASON = /(?<!\p{L})(?:(last|this|past)\s+)?(spring|summer|autumn|fall|winter)(?:\s+(?:of\s+)?(\d{4}))?(?!\p{L})/iu;
const SEASON_MONTH: Readonly<Record<string, number>> = { spring: 2, summer: 5, autumn: 8, fall: 8, winter: 11 };
const LAST = anyPhrase(WORDS.asks_for_the_last);
const FIRST = anyPhrase(WORDS.asks_for_the_first);

/**
 * The times that a question names, read against `now` (UTC). A month or weekday without a year is the month of any year.
 * Source: temporal expressions in queries, Alonso, Gertz and Baeza-Yates, "On the value of temporal information in IR", SIGIR Forum 2007.
 */
export function namedTimes(question: string, now: Date): NamedTime[] {
  const season = seasonOf(question, now);
  if (season !== null) return [season];
  const parser = parserFor(question);
  if (parser === null) return [];
  const years = [...question.matchAll(/\b(?:19|20)\d\d\b/gu)].map(([year]) => Number(year));
  const times = parser.parse(question, { instant: now, timezone: 0 }).flatMap((result) => named(result));
  if (times.some((time) => time.kind === "interval") || years.length === 0) return times;
  return [...times, ...years.map((year) => interval(Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1)))];
}

/** Null: it names no time. */
function parserFor(question: string): Chrono | null {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(question)) return dateReader().ja.casual;
  if (/\p{Script=Han}/u.test(question)) return dateReader().zh.casual;
  if (/\p{Script=Cyrillic}/u.test(question)) return dateReader().ru.casual;
  return /\p{N}/u.test(question) || MAYBE_A_TIME.test(question) ? dateReader().casual : null;
}

/** How well a time fits what the question names: "day" for a day that it names, "span" for a month, season or year, else null. */
export function fits(atMs: number, times: readonly NamedTime[]): "day" | "span" | null {
  let best: "day" | "span" | null = null;
  for (const time of times) {
    if (time.kind === "month") {
      if (new Date(atMs).getUTCMonth() === time.month) best ??= "span";
    } else if (atMs >= time.fromMs && atMs < time.toMs) {
      if (time.day) return "day";
      best = "span";
    }
  }
  return best;
}

export function askedOrder(question: string): AskedOrder {
  const [last, first] = [LAST.test(question), FIRST.test(question)];
  return last === first ? null : last ? "last" : "first";
}

function named(result: ParsedResult): NamedTime[] {
  const { start, end } = result;
  const [year, month, day] = [start.get("year"), start.get("month"), start.get("day")];
  if (year === null || month === null || day === null) return [];
  const certain = (part: "day" | "month" | "year" | "weekday") => start.isCertain(part);
  if (end !== null && end !== undefined) return [interval(start.date().getTime(), end.date().getTime() + DAY_MS)];
  if (certain("month") && certain("day") && !/\d{4}|ago|last|yesterday|today/iu.test(result.text) && !certain("year"))
    return [{ kind: "month", month: month - 1 }];
  if (certain("day")) {
    const from = Date.UTC(year, month - 1, day);
    return [{ kind: "interval", fromMs: from - DAY_BEFORE_MS, toMs: from + DAY_MS + DAY_AFTER_MS, day: true }];
  }
  if (certain("month"))
    return certain("year") ? [interval(Date.UTC(year, month - 1, 1), Date.UTC(year, month, 1))] : [{ kind: "month", month: month - 1 }];
  if (certain("year")) return [interval(Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1))];
  if (certain("weekday")) {
    const from = Date.UTC(year, month - 1, day);
    return [{ kind: "interval", fromMs: from, toMs: from + DAY_MS + DAY_AFTER_MS, day: true }];
  }
  return /week|month|year/iu.test(result.text) ? [relativeSpan(result)] : [];
}

/** "last week", "two months ago": the span around the reckoned day that the unit has. */
function relativeSpan(result: ParsedResult): NamedTime {
  const days = /year/iu.test(result.text) ? 183 : /month/iu.test(result.text) ? 16 : 4;
  const centre = result.start.date().getTime();
  return interval(centre - days * DAY_MS, centre + days * DAY_MS);
}

/** Meteorological seasons of the northern hemisphere: three months, winter from December. */
function seasonOf(question: string, now: Date): NamedTime | null {
  const match = SEASON.exec(question);
  if (match === null) return null;
  const [, relative, season, year] = match;
  const month = SEASON_MONTH[season?.toLowerCase() ?? ""];
  if (month === undefined || (relative === undefined && year === undefined)) return null;
  const startIn = (y: number) => Date.UTC(y, month, 1);
  const endIn = (y: number) => Date.UTC(y, month + 3, 1);
  let y = year === undefined ? now.getUTCFullYear() : Number(year);
  if (year === undefined) while ((relative?.toLowerCase() === "this" ? startIn(y) : endIn(y)) > now.getTime()) y--;
  return interval(startIn(y), endIn(y));
}

function interval(fromMs: number, toMs: number): NamedTime {
  return { kind: "interval", fromMs, toMs, day: false };
}
