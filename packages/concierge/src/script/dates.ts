import { MONTHS } from "@maitred/offline";
import type { ParsedComponents, ParsedResult } from "chrono-node";
import { dateReader, editDistance, isStopWord, latinLanguageOf, wordsIn } from "maitred/stand-in";
import { addDays, weekdayOf, type ZoneClock, zoneClock } from "../local-time.js";
import { says } from "../phrases.js";
import type { PartOfDay } from "../vocabulary.js";

/** Local days, inclusive. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

const EVENING = "16:00";
const WEEKEND = /\b(next )?weekend\b( after next)?/i;
/** Not "the 14th one", which is a place in a list. */
const ON_THE = new RegExp(`\\bon the (\\d{1,2})(?:st|nd|rd|th)\\b(?!\\s+(?:of\\s+)?(?:one|${MONTHS}))`, "i");
/** "Between 3 and 9 May", which the parser reads as a range when it is written as one. */
const BETWEEN = /\bbetween (\d{1,2}) and (?=\d)/i;

/** "Mon", "sept": a day or month in English, other words elsewhere. */
const isShort = /^\p{L}{3,4}$/u;

/** "Mon budget", not "Das Rheingold Mon": a title of another language says nothing of the day behind it. */
function isWordAbroad(day: string, text: string): boolean {
  const words = wordsIn(text);
  const language = latinLanguageOf(words);
  if (language === "english") return false;
  const itsOwn = words.filter((word) => isStopWord(word, language) && !isStopWord(word, "english"));
  return itsOwn.length > 1 || wordsIn(day).some((word) => itsOwn.includes(word)) || says(day, "no_day_abroad");
}

/** The days that a message names, in the guest's time zone, and the words that name them. Never in the past. */
export function daysIn(text: string, now: Date, timeZone: string): { readonly days: Days; readonly words: string } | undefined {
  const clock = zoneClock(timeZone);
  const today = clock.dayOf(now);
  const weekend = WEEKEND.exec(text);
  if (weekend !== null)
    return { days: weekendOf(today, weekend[2] ? 2 : weekend[1] || isLate(now, today, clock) ? 1 : 0), words: weekend[0] };
  const onThe = ON_THE.exec(text);
  if (onThe !== null) return { days: nextOf(today, String(onThe[1]).padStart(2, "0")), words: onThe[0] };
  const at = { instant: now, timezone: clock.offsetMinutes(now) };
  for (const result of dateReader().parse(text.replace(BETWEEN, "$1 - "), at, { forwardDate: true })) {
    if (isShort.test(result.text) && isWordAbroad(result.text, text)) continue;
    const span = spanOf(result, today);
    if (span !== undefined && span.to >= today) return { days: { from: later(span.from, today), to: span.to }, words: result.text };
  }
  return undefined;
}

const PART_OF_DAY = /(?<!\bgood )\b(?:(morning)|(afternoon|matin[eé]e)|(evening|tonight))s?\b/giu;

/** The part of a day that a message asks for, and its words. `dated`: the words that name the day: "Friday night". */
export function partOfDayIn(text: string, dated = ""): { readonly part: PartOfDay; readonly words: string } | undefined {
  const parts = [...text.matchAll(PART_OF_DAY)];
  const [found] = parts;
  // "In the morning or in the evening": either will do.
  if (found === undefined || parts.length > 1) return /\bnight$/iu.test(dated) ? { part: "evening", words: "" } : undefined;
  const [words, morning, afternoon] = found;
  return { part: morning !== undefined ? "morning" : afternoon !== undefined ? "afternoon" : "evening", words };
}

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "tomorrow", "tonight", "weekend"];

/** With a slip in the name of a day taken out: "saturdy", "tommorow". Shorter words are others as a rule. */
export function withDaysSpelt(text: string): string {
  return text.replaceAll(/(?<!\p{L})\p{L}{6,10}(?!\p{L})/gu, (word) => {
    const said = word.toLowerCase();
    if (WEEKDAYS.some((day) => said === day || said === `${day}s`)) return word;
    return WEEKDAYS.find((day) => day[0] === said[0] && editDistance(said, day, 2) <= (day.length < 8 ? 1 : 2)) ?? word;
  });
}

/** Weeks and months are read as one day of theirs; a bare hour names no day. */
function spanOf({ text, start, end }: ParsedResult, today: string): Days | undefined {
  const day = dayOf(start);
  if (/\bweek\b/i.test(text)) return weekOf(day);
  if (/\bnext\b.*\b(?:days|weeks)\b/i.test(text)) return { from: today, to: day };
  if (start.isCertain("day") || start.isCertain("weekday")) return { from: day, to: later(day, end ? dayOf(end) : day) };
  if (start.isCertain("month")) return monthOf(day);
  return /\bthis (?:morning|afternoon|evening)\b/i.test(text) ? { from: day, to: day } : undefined;
}

/** On a Sunday evening the next weekend is meant. */
function isLate(now: Date, today: string, clock: ZoneClock): boolean {
  return weekdayOf(today) === 0 && now >= clock.instantOf(today, EVENING);
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}

/** Saturday and Sunday, so many weeks ahead; on a Sunday what is left of it. */
function weekendOf(today: string, weeks: number): Days {
  const saturday = addDays(today, (weekdayOf(today) === 0 ? -1 : 6 - weekdayOf(today)) + 7 * weeks);
  return { from: later(saturday, today), to: addDays(saturday, 1) };
}

/** The next day of that number. */
function nextOf(today: string, day: string): Days {
  const month = today.slice(8) <= day ? today : addDays(monthOf(today).to, 1);
  return { from: `${month.slice(0, 7)}-${day}`, to: `${month.slice(0, 7)}-${day}` };
}

function weekOf(day: string): Days {
  const monday = addDays(day, -((weekdayOf(day) + 6) % 7));
  return { from: monday, to: addDays(monday, 6) };
}

function monthOf(day: string): Days {
  const from = `${day.slice(0, 7)}-01`;
  return { from, to: addDays(`${addDays(from, 31).slice(0, 7)}-01`, -1) };
}

function dayOf(date: ParsedComponents): string {
  const [year, month, day] = [date.get("year") ?? 1970, date.get("month") ?? 1, date.get("day") ?? 1];
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10);
}
