import { expect, test } from "vitest";
import { anyPhrase } from "../../src/platform/phrase-list.js";

const PHRASES = ["no", "not now", "nein", "いいえ", "不要", "c++", "nie wieder"];
const TEXTS = [
  "No!",
  "I know.",
  "not   now",
  "notnow",
  "Nein, nein",
  "はいいいえ",
  "我不要",
  "in c++ please",
  "nie\nwieder",
  "niemals",
  "",
  "ÑO",
];

test("a list finds what any of its phrases finds, at the same place", () => {
  const found = (text: string) =>
    PHRASES.map((each) => text.search(anyPhrase([each])))
      .filter((at) => at !== -1)
      .sort((a, b) => a - b)[0] ?? -1;
  for (const text of TEXTS) expect([text, text.search(anyPhrase(PHRASES))]).toEqual([text, found(text)]);
  expect("mondays".search(anyPhrase(["mon", "tue"], { begins: true }))).toBe(0);
  expect(anyPhrase([]).test("anything")).toBe(false);
});

test("what a list costs to be made ready doesn't grow with its phrases: letters are asked for once on each side", () => {
  const many = Array.from({ length: 100 }, (_, n) => `phrase ${n}`);
  expect(anyPhrase(many).source.match(/\\p\{L\}/g)).toHaveLength(2);
});
