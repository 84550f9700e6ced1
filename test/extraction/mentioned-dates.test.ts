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
