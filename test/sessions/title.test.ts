import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_TITLE_CHARS, MAX_TITLE_UNITS, titleFrom, UNTITLED } from "../../src/domain/title.js";

function graphemes(text: string): string[] {
  return [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)].map(({ segment }) => segment);
}

describe("a session's title", () => {
  test.each([
    ["a short message is its own title", "Two seats for the opera on Friday", "Two seats for the opera on Friday"],
    ["line breaks and runs of blanks become one space", "  Two seats\n\n for\tthe opera ", "Two seats for the opera"],
    ["a blank message has none", " \n\t ", UNTITLED],
    ["control characters are taken out", "Table\u0000 for\u001b two", "Table for two"],
  ])("%s", (_name, message, title) => {
    expect(titleFrom(message)).toBe(title);
  });

  test.each([
    ["Pay with 4111 1111 1111 1111, and a table for two", "Pay with …, and a table for two"],
    ["My password is Blue Horse Battery, and a table for two", "My …, and a table for two"],
    ["password: Tr0ub4dor&3 is mine", "… is mine"],
    ["My PIN is 9031. A table for two?", "My …. A table for two?"],
    ["IBAN DE89 3704 0044 0532 0130 00 please", "IBAN … please"],
    ["Use sk-abcdefghijklmnop1234 for it", "Use … for it"],
    ["4111 1111 1111 1111", UNTITLED],
  ])("a secret is in none: %s", (message, title) => {
    expect(titleFrom(message)).toBe(title);
  });

  test("a secret behind the part that a title is made of takes no time", () => {
    expect(titleFrom(`A table for two. ${"My password is x1, ".repeat(50_000)}`)).toMatch(/^A table for two\. My …, My …/);
  });

  test("a long message is cut between words and says so", () => {
    const title = titleFrom("We are looking for a quiet Italian restaurant near the river with a terrace for an anniversary dinner");
    expect(title).toBe("We are looking for a quiet Italian restaurant near the river with a terrace for…");
    expect(graphemes(title)).toHaveLength(80);
  });

  test("exactly 80 characters stay whole, 81 do not", () => {
    expect(titleFrom("a".repeat(80))).toBe("a".repeat(80));
    expect(titleFrom("a".repeat(81))).toBe(`${"a".repeat(79)}…`);
  });

  test("scripts without blanks are cut between words too", () => {
    const title = titleFrom("来週の金曜日に東京で開催されるジャズのコンサートのチケットを二枚予約したいのですが".repeat(4));
    expect(graphemes(title).length).toBeLessThanOrEqual(80);
    expect(graphemes(title).length).toBeGreaterThan(60);
  });

  test("an emoji family and a combining accent are one character and are never split", () => {
    const family = "👩‍👩‍👧‍👦";
    expect(titleFrom(family.repeat(18))).toBe(family.repeat(18));
    expect(titleFrom(family.repeat(200))).toBe(`${family.repeat(18)}…`);
    expect(titleFrom("e\u0301".repeat(100))).toBe(`${"e\u0301".repeat(79)}…`);
  });

  test("no more than a user may give, also in UTF-16: 200 units stay whole, 201 do not, and a character that is longer is left out", () => {
    expect(titleFrom(`${"👍".repeat(79)}e${"\u0301".repeat(41)}`)).toHaveLength(MAX_TITLE_UNITS);
    expect(titleFrom(`${"👍".repeat(79)}e${"\u0301".repeat(42)}`)).toBe(`${"👍".repeat(79)}…`);
    expect(titleFrom(`e${"\u0301".repeat(900)}`)).toBe(UNTITLED);
  });

  test("any text gives a title of 1 to 80 whole characters on one line", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (message) => {
        const title = titleFrom(message);
        expect(title.trim()).not.toBe("");
        expect(graphemes(title).length).toBeLessThanOrEqual(MAX_TITLE_CHARS);
        expect(title.length).toBeLessThanOrEqual(MAX_TITLE_UNITS);
        expect(title).not.toMatch(/[\r\n\u2028]/u);
      }),
    );
  });
});
