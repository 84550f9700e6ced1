import type { ExtractionInput } from "../long-term.js";
import { type DateLanguage, datesIn, localDay } from "../platform/language/mentioned-dates.js";

const LANGUAGES: readonly DateLanguage[] = ["en", "de", "fr", "es", "it"];

/**
 * Until when a statement holds. Models miscount days, so what the sentence itself says decides: the last day that it names, at
 * its end in the user's zone. A model's date is kept only where the sentence names it, or names dates that are not read here
 * (a digit, another language); a lasting statement that names a day merely in passing has no end.
 */
export function validUntil(
  answered: { readonly scope: "standing" | "trip"; readonly valid_until: string | null },
  sentence: string,
  input: Pick<ExtractionInput, "stated_at" | "time_zone">,
): string | null {
  if (answered.scope === "standing" && answered.valid_until === null) return null;
  const said = { at: input.stated_at, timeZone: input.time_zone };
  const named = LANGUAGES.flatMap((language) => datesIn(sentence, said, language));
  const claimed = answered.valid_until === null ? Number.NaN : Date.parse(answered.valid_until);
  if (!Number.isNaN(claimed)) {
    // A bare date is a calendar day of the user's, whatever the zone.
    const day = /^\d{4}-\d{2}-\d{2}$/.test(answered.valid_until ?? "")
      ? answered.valid_until
      : localDay(new Date(claimed), input.time_zone);
    const same = named.find((date) => localDay(date.end, input.time_zone) === day);
    if (same !== undefined) return same.end.toISOString();
  }
  const last = named
    .map((date) => date.end.getTime())
    .sort((a, b) => a - b)
    .at(-1);
  if (last !== undefined) return new Date(last).toISOString();
  return !Number.isNaN(claimed) && claimed >= input.stated_at.getTime() && !/^[\p{Script=Latin}\s\p{P}]*$/u.test(sentence)
    ? new Date(claimed).toISOString()
    : null;
}
