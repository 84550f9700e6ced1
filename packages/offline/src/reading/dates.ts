import type { ParsedComponents } from "chrono-node";
import type { MessageToRead } from "maitred";
import { aheadOfUtcMs, dateReader, wordsIn } from "maitred/stand-in";

/** From when and until when something holds, where a sentence says so ("until March", "from 3 May"). Days, as the guest counts them. */
export interface Dates {
  readonly valid_from: string | null;
  readonly valid_until: string | null;
}

const NONE: Dates = { valid_from: null, valid_until: null };
const UNTIL = new Set(["until", "till", "til", "through", "bis", "hasta", "fino", "jusqu'au", "jusqu'a", "tot"]);
const FROM = new Set(["from", "starting", "ab", "desde", "vanaf"]);
const HOLD_DAY = new Set(["tonight", "today", "weekend", "evening"]);

export function datesIn(clause: string, said: Pick<MessageToRead, "stated_at" | "time_zone">): Dates {
  if (!/\d|\p{L}/u.test(clause)) return NONE;
  const results = dateReader().parse(
    clause,
    { instant: said.stated_at, timezone: aheadOfUtcMs(said.stated_at, said.time_zone) / 60_000 },
    { forwardDate: true },
  );
  for (const { index, text, start, end } of results) {
    const before = wordsIn(clause.slice(0, index)).at(-1) ?? "";
    const first = wordsIn(text)[0] ?? "";
    if (UNTIL.has(before) || UNTIL.has(first)) return { valid_from: null, valid_until: endOf(start) };
    if ((FROM.has(before) || FROM.has(first)) && start.isCertain("month")) return { valid_from: dayOf(start), valid_until: null };
    if (wordsIn(text).some((word) => HOLD_DAY.has(word))) return { valid_from: null, valid_until: endOf(end ?? start) };
  }
  return NONE;
}

/** The last day: the one that was named, or the one before a month of which only the name was said. */
function endOf(date: ParsedComponents): string {
  return date.isCertain("month") && !date.isCertain("day") ? isoDay(date.get("year"), date.get("month"), 0) : dayOf(date);
}

function dayOf(date: ParsedComponents): string {
  return isoDay(date.get("year"), date.get("month"), date.get("day"));
}

function isoDay(year: number | null, month: number | null, day: number | null): string {
  return new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, day ?? 1)).toISOString().slice(0, 10);
}
