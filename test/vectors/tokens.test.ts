import { describe, expect, test } from "vitest";
import { documentVector, queryVector } from "../../src/embedding/sparse-vectors.js";
import { queryTermsOf, termsOf, wordsOf } from "../../src/platform/language/tokens.js";

function meet(query: string, text: string): boolean {
  const terms = new Set(termsOf(text));
  return queryTermsOf(query).some((term) => terms.has(term));
}

describe("words", () => {
  test.each([
    ["booked concerts", "book a concert"],
    ["CAFÉ", "the cafe"],
    ["hotel", "l’hôtel du port"],
    ["Anna's", "anna"],
    ["die Bücher", "Wo ist das Buch?"],
    ["hotel", "Quiero reservar los hoteles para mañana"],
    ["билет", "два билета на концерт"],
    ["音乐会", "我想去爵士音乐会"],
    ["コンサート", "ジャズのコンサートが好き"],
    ["재즈", "재즈를 좋아해요"],
    ["แจ๊ส", "คอนเสิร์ตแจ๊สคืนนี้"],
    ["ｊａｚｚ", "jazz"],
  ])("%s meets %s", (query, text) => expect(meet(query, text)).toBe(true));

  test("stop words tell nothing, unless there is nothing else", () => {
    expect(queryTermsOf("what is the jazz")).toEqual(["jazz"]);
    expect(queryTermsOf("what is it").length).toBeGreaterThan(0);
  });

  test("text without words has none", () => expect(wordsOf(" \n🎷!? ")).toEqual([]));
});

describe("BM25 weights", () => {
  const weightOf = (text: string, word: string) => {
    const [index = -1] = queryVector(word).indices;
    const { indices, values } = documentVector(text);
    return values[indices.indexOf(index)] ?? 0;
  };

  test("repeating a word helps less each time, and a longer text pays", () => {
    const [one, two, three] = ["jazz rock", "jazz jazz", "jazz jazz jazz"].map((text) => weightOf(text, "jazz"));
    expect(two ?? 0).toBeGreaterThan(one ?? 0);
    expect((three ?? 0) - (two ?? 0)).toBeLessThan((two ?? 0) - (one ?? 0));
    expect(weightOf(`jazz ${"other words ".repeat(40)}`, "jazz")).toBeLessThan(one ?? 0);
  });

  test("a word of an average text that holds it once weighs 1", () => {
    const text = ["jazz", ...Array.from({ length: 23 }, (_, i) => `word${i}`)].join(" ");
    expect(weightOf(text, "jazz")).toBeCloseTo(1, 6);
  });

  test("indices ascend, are unique, and fit 32 bits", () => {
    const { indices } = documentVector("two tickets for the jazz night, and two for the opera");
    expect(indices).toEqual([...new Set(indices)].sort((a, b) => a - b));
    expect(indices.every((index) => Number.isInteger(index) && index >= 0 && index < 2 ** 32)).toBe(true);
  });
});
