import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type DateLanguage, datesIn, localDay } from "../../src/platform/language/mentioned-dates.js";

const SAID = { at: new Date("2026-03-11T10:00:00Z"), timeZone: "Europe/Berlin" };

function days(text: string, language: DateLanguage = "en", said = SAID): string[] {
  return datesIn(text, said, language).map((date) => localDay(date.end, said.timeZone));
}

describe("dates are read against the message's own time and zone", () => {
  test.each<[string, DateLanguage, string[]]>([
    ["There will be six of us on Saturday.", "en", ["2026-03-14"]],
    ["next Friday", "en", ["2026-03-20"]],
    ["I'm on crutches until the end of March.", "en", ["2026-03-31"]],
    ["all of June", "en", ["2026-06-30"]],
    ["this weekend", "en", ["2026-03-15"]],
    ["next week", "en", ["2026-03-22"]],
    ["in two weeks", "en", ["2026-03-25"]],
    ["tonight", "en", ["2026-03-11"]],
    ["I work on Saturdays.", "en", []],
    ["every Friday", "en", []],
    ["yesterday", "en", []],
    ["I prefer evening shows.", "en", []],
    ["nothing that starts after 9 pm", "en", []],
    ["I may come along", "en", []],
    ["this evening", "en", ["2026-03-11"]],
    ["this morning", "en", ["2026-03-11"]],
    ["this week", "en", ["2026-03-15"]],
    ["this year", "en", ["2026-12-31"]],
    ["am Abend", "de", []],
    ["heute Abend", "de", ["2026-03-11"]],
    ["le soir", "fr", []],
    ["ce soir", "fr", ["2026-03-11"]],
    ["por la noche", "es", []],
    ["before 8 pm", "en", []],
    ["within 20 minutes", "en", []],
    ["two weeks' notice", "en", []],
    ["vegan since January", "en", []],
    ["bis Freitag", "de", ["2026-03-13"]],
    ["jusqu'à vendredi", "fr", ["2026-03-13"]],
    ["el sábado", "es", ["2026-03-14"]],
    ["domani", "it", ["2026-03-12"]],
  ])("%s (%s)", (text, language, expected) => {
    expect(days(text, language)).toEqual(expected);
  });

  test("the same words late at night are another day elsewhere", () => {
    const at = new Date("2026-03-11T23:30:00Z");
    expect(days("tomorrow", "en", { at, timeZone: "America/New_York" })).toEqual(["2026-03-12"]);
    expect(days("tomorrow", "en", { at, timeZone: "Asia/Tokyo" })).toEqual(["2026-03-13"]);
  });

  test("a day ends at its last second there, also when the clocks change in between", () => {
    expect(datesIn("on 14 March", SAID)[0]?.end.toISOString()).toBe("2026-03-14T22:59:59.000Z");
    expect(datesIn("on 30 March", SAID)[0]?.end.toISOString()).toBe("2026-03-30T21:59:59.000Z");
  });

  test("an unknown zone counts as UTC", () => {
    expect(datesIn("on 14 March", { ...SAID, timeZone: "Mars/Olympus" })[0]?.end.toISOString()).toBe("2026-03-14T23:59:59.000Z");
  });
});

describe("a period that has begun lasts until its end, whatever the hour", () => {
  // Saturday 21 November 2026, noon and evening; Sunday noon and night.
  const HOURS = ["2026-11-21T00:30:00Z", "2026-11-21T12:00:00Z", "2026-11-21T18:00:00Z", "2026-11-22T12:00:00Z", "2026-11-22T23:30:00Z"];
  test.each<[string, DateLanguage, string]>([
    ["I'm in Dublin this weekend.", "en", "2026-11-22"],
    ["at the weekend", "en", "2026-11-22"],
    ["next weekend", "en", "2026-11-29"],
    ["the weekend after next", "en", "2026-12-06"],
    ["this week", "en", "2026-11-22"],
    ["until the end of the week", "en", "2026-11-22"],
    ["next week", "en", "2026-11-29"],
    ["until the end of the month", "en", "2026-11-30"],
    ["until the end of the year", "en", "2026-12-31"],
    ["dieses Wochenende", "de", "2026-11-22"],
    ["am Wochenende", "de", "2026-11-22"],
    ["nächstes Wochenende", "de", "2026-11-29"],
    ["diese Woche", "de", "2026-11-22"],
    ["bis Ende des Monats", "de", "2026-11-30"],
    ["ce week-end", "fr", "2026-11-22"],
    ["le week-end prochain", "fr", "2026-11-29"],
    ["cette semaine", "fr", "2026-11-22"],
    ["ce mois-ci", "fr", "2026-11-30"],
    ["este fin de semana", "es", "2026-11-22"],
    ["el fin de semana que viene", "es", "2026-11-29"],
    ["esta semana", "es", "2026-11-22"],
    ["el mes que viene", "es", "2026-12-31"],
    ["questo fine settimana", "it", "2026-11-22"],
  ])("%s (%s)", (text, language, expected) => {
    for (const at of HOURS) expect(days(text, language, { at: new Date(at), timeZone: "UTC" })).toEqual([expected]);
  });

  test("the day after tomorrow is not tomorrow", () => {
    expect(days("après-demain", "fr")).toEqual(["2026-03-13"]);
    expect(days("pasado mañana", "es")).toEqual(["2026-03-13"]);
    expect(days("übermorgen", "de")).toEqual(["2026-03-13"]);
  });

  test("this Friday and until Friday are today on a Friday evening; next Friday is not", () => {
    const friday = { at: new Date("2026-11-20T20:00:00Z"), timeZone: "UTC" };
    expect(days("this Friday", "en", friday)).toEqual(["2026-11-20"]);
    expect(days("I'm here until Friday", "en", friday)).toEqual(["2026-11-20"]);
    expect(days("bis Freitag", "de", friday)).toEqual(["2026-11-20"]);
    expect(days("jusqu'à vendredi", "fr", friday)).toEqual(["2026-11-20"]);
    expect(days("hasta el viernes", "es", friday)).toEqual(["2026-11-20"]);
    expect(days("next Friday", "en", friday)).toEqual(["2026-11-27"]);
    expect(days("on Friday", "en", friday)).toEqual(["2026-11-27"]);
  });

  test("the weekend of a date ends on its Sunday; a weekend that is none in particular is no date", () => {
    expect(days("the weekend of 14 March")).toEqual(["2026-03-15"]);
    for (const text of ["I love weekend trips", "during the week", "At the weekend I usually sleep in.", "On the weekend I prefer brunch."])
      expect(days(text)).toEqual([]);
    expect(days("Am Wochenende gehe ich gern wandern.", "de")).toEqual([]);
  });

  test("tonight, said after midnight, is the night of the day that has begun; at the year's end the year turns", () => {
    expect(days("tonight", "en", { at: new Date("2026-11-21T00:30:00Z"), timeZone: "UTC" })).toEqual(["2026-11-21"]);
    const newYearsEve = { at: new Date("2026-12-31T22:00:00Z"), timeZone: "UTC" };
    expect(days("this weekend", "en", newYearsEve)).toEqual(["2027-01-03"]);
    expect(days("next month", "en", newYearsEve)).toEqual(["2027-01-31"]);
    // Kiritimati is in the new year already.
    expect(days("this year", "en", { ...newYearsEve, timeZone: "Pacific/Kiritimati" })).toEqual(["2027-12-31"]);
    expect(days("this week", "en", { at: new Date("2026-11-23T02:00:00Z"), timeZone: "America/Los_Angeles" })).toEqual(["2026-11-22"]);
  });

  /** At most so many days after the day on which it is said. */
  const REACH: readonly (readonly [language: DateLanguage, days: number, ...texts: string[]])[] = [
    ["en", 0, "today", "tonight", "this evening"],
    ["en", 1, "tomorrow"],
    ["en", 6, "this weekend", "this week", "until the weekend", "this Sunday", "until Friday"],
    ["en", 7, "on Monday", "on Friday", "on Sunday"],
    ["en", 13, "next weekend", "next week", "next Friday"],
    ["en", 30, "this month"],
    ["en", 61, "next month"],
    ["en", 365, "this year"],
    ["de", 0, "heute", "heute Abend"],
    ["de", 6, "dieses Wochenende", "diese Woche", "bis Freitag"],
    ["de", 13, "nächstes Wochenende", "nächste Woche"],
    ["de", 30, "diesen Monat"],
    ["fr", 0, "aujourd'hui", "ce soir"],
    ["fr", 6, "ce week-end", "cette semaine"],
    ["fr", 13, "le week-end prochain", "la semaine prochaine"],
    ["es", 0, "hoy", "esta noche"],
    ["es", 6, "este fin de semana", "esta semana"],
    ["es", 13, "el próximo fin de semana", "la próxima semana"],
    ["it", 6, "questo fine settimana", "questa settimana"],
  ];
  const ZONES = [
    "UTC",
    "Europe/Berlin",
    "America/Los_Angeles",
    "Asia/Kolkata",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
    "Australia/Lord_Howe",
  ];

  test("the end is never before now, and never further away than the words can mean", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...REACH.flatMap(([language, reach, ...texts]) => texts.map((text) => ({ language, reach, text })))),
        fc.date({ min: new Date("2026-01-01T00:00:00Z"), max: new Date("2028-12-31T23:59:00Z"), noInvalidDate: true }),
        fc.constantFrom(...ZONES),
        ({ language, reach, text }, at, timeZone) => {
          const found = datesIn(text, { at, timeZone }, language);
          expect(found).toHaveLength(1);
          const end = found[0]?.end ?? new Date(0);
          expect(end.getTime()).toBeGreaterThanOrEqual(at.getTime() - 1_000);
          const today = Date.parse(localDay(at, timeZone));
          expect((Date.parse(localDay(end, timeZone)) - today) / 86_400_000).toBeLessThanOrEqual(reach);
          if (/week/u.test(text)) expect(new Date(localDay(end, timeZone)).getUTCDay()).toBe(0);
        },
      ),
      { numRuns: 400 },
    );
  });
});
