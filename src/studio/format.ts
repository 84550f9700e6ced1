import { about } from "./session.js";

/** How numbers and times are written. What is not known has no form here: see `Known`. */

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

export const countOf = (count: number): string => whole.format(count);
export const scoreOf = (score: number): string => fine.format(score);

/** "4 ms", "1.1 s", "2.5 min". */
export function durationOf(ms: number): string {
  if (ms < 1_000) return `${whole.format(ms)} ms`;
  return ms < 120_000 ? `${fine.format(ms / 1_000)} s` : `${fine.format(ms / 60_000)} min`;
}

/** In the server's currency; without one a bare number, as it is priced in something. */
export function moneyOf(cost: number): string {
  const digits = cost !== 0 && Math.abs(cost) < 1 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 2 };
  const currency = about.value?.currency ?? null;
  try {
    return new Intl.NumberFormat(undefined, { ...(currency !== null && { style: "currency", currency }), ...digits }).format(cost);
  } catch {
    return `${new Intl.NumberFormat(undefined, digits).format(cost)} ${currency}`;
  }
}

/** Null for what is no time. */
export function timeOf(iso: string): Date | null {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? null : time;
}

const hour = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
export const hourOf = (time: Date): string => hour.format(time);
export const dayOf = (time: Date): string => day.format(time);
export const momentOf = (time: Date): string => moment.format(time);

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** "5 minutes ago". */
export function agoOf(time: Date): string {
  const ms = time.getTime() - Date.now();
  for (const [unit, size] of UNITS) if (Math.abs(ms) >= size) return relative.format(Math.trunc(ms / size), unit);
  return relative.format(0, "minute");
}

export { wordsOf } from "../web/format.js";

/** The beginning of a local day as an instant; undefined for what is no day. */
export function dayStart(day: string | undefined, plusDays = 0): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? "") ?? [];
  if (year === undefined) return undefined;
  return new Date(Number(year), Number(month) - 1, Number(date) + plusDays).toISOString();
}
