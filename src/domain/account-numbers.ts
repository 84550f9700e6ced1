import type { Span } from "./compared-words.js";

/** Numbers of cards and accounts in a text: what must never become a memory. */

const CARD = /(?<![\d+])\d(?:[ .-]?\d){12,18}(?!\d)/gu;

/** Card numbers, by their checksum. */
export function cardNumbers(text: string): readonly Span[] {
  return spansOf(text, CARD).filter((span) => passesLuhn(text.slice(span.start, span.end).replace(/\D/gu, "")));
}

/** ISO/IEC 7812-1, annex B. */
function passesLuhn(digits: string): boolean {
  if (/^(\d)\1*$/u.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const doubled = Number(digits[digits.length - 1 - i]) * (i % 2 === 1 ? 2 : 1);
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

const IBAN_START = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}/gu;
/** With a space behind every fourth of 34 characters. */
const MAX_IBAN_CHARS = 42;
/** Beginnings that are looked at: nobody writes so many. */
const MAX_IBANS = 100;
/** ISO 13616: how many characters each country's have. */
const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  [
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18",
    "FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21",
    "LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24",
    "SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30",
  ].flatMap((line) => line.split(" ").map((entry) => [entry.slice(0, 2), Number(entry.slice(2))] as const)),
);

/** International bank account numbers, by their checksum. */
export function accountNumbers(text: string): readonly Span[] {
  return spansOf(text, IBAN_START)
    .slice(0, MAX_IBANS)
    .flatMap(({ start }) => {
      const run = /^[A-Za-z0-9 ]+/u.exec(text.slice(start, start + MAX_IBAN_CHARS))?.[0] ?? "";
      const length = IBAN_LENGTHS.get(run.slice(0, 2).toUpperCase()) ?? 0;
      const last = [...run.matchAll(/[A-Za-z0-9]/g)][length - 1];
      const written = run.slice(0, last === undefined ? 0 : last.index + 1);
      return isIban(written) ? [{ start, end: start + written.length }] : [];
    });
}

/** Digits of an account at least: "BA42 to Madrid on Friday" is a flight. */
const MIN_IBAN_DIGITS = 10;

/** However it is parted. ISO 13616: rearranged, letters as 10 to 35, it leaves 1 when divided by 97. */
function isIban(written: string): boolean {
  const account = written.replaceAll(" ", "").toUpperCase();
  if (account.replace(/\D/gu, "").length < MIN_IBAN_DIGITS) return false;
  let rest = 0;
  for (const character of account.slice(4) + account.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

export function spansOf(text: string, pattern: RegExp): Span[] {
  return [...text.matchAll(pattern)].map((match) => ({ start: match.index, end: match.index + match[0].length }));
}
