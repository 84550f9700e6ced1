import { expect, test } from "vitest";
import { wordSegments } from "../../src/platform/language/word-segments.js";

const whole = (text: string) =>
  [...new Intl.Segmenter("und", { granularity: "word" }).segment(text)]
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment);
const inPieces = (text: string) => [...wordSegments(text)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);

test.each([
  "The guest's table is at 7.30 p.m., for 1,000 people: isn't it? ",
  "Wir hätten gern zwei Plätze im Parkett, möglichst am Gang. ",
  "صلى الله عليه وسلم ",
  "私は窓側の席が好きです。明日の夜、二人で予約できますか？",
  "我喜欢爵士乐，不喜欢歌剧。",
])("a long text gives the words that it would give at once: %s", (sentence) => {
  const text = sentence.repeat(100);
  expect(inPieces(text)).toEqual(whole(text));
});

test("a run without any space is cut between characters, and nothing of it is lost", () => {
  for (const run of ["😀", "e\u0301", "字", "a"]) {
    const text = run.repeat(3_000);
    const segments = [...wordSegments(text)].map(({ segment }) => segment);
    expect(segments.join("")).toBe(text);
    expect(segments.filter((segment) => /^(?:[\udc00-\udfff]|\p{M})/u.test(segment))).toEqual([]);
  }
});
