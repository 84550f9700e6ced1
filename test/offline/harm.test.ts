import { describe, expect, test } from "vitest";
import { WordsJudge } from "../../packages/offline/src/learnt/sentence-judge.js";
import { readAlone } from "../support/read-alone.js";

const judge = new WordsJudge();
const hardOf = async (text: string) => (await readAlone(text, judge)).filter(({ strength }) => strength === "hard");

describe("what something does to somebody may have to hold", () => {
  test.each([
    ["peanuts could kill me", "Peanuts could kill me", "no_nuts", "self"],
    ["Nuts could kill me.", "Nuts could kill me", "no_nuts", "self"],
    ["I nearly died from a cashew once", "I nearly died from a cashew once", "no_nuts", "self"],
    ["A peanut once put me in intensive care", "A peanut once put me in intensive care", "no_nuts", "self"],
    ["Shellfish would kill my husband", "Shellfish would kill my husband", "no_shellfish", "companion:husband"],
    ["An egg landed me in hospital", "An egg landed me in hospital", "no_egg", "self"],
    ["I have stopped eating dairy", "Has stopped eating dairy", "no_lactose", "self"],
  ])("asked about: %s", async (said, text, need, subject) => {
    expect(await hardOf(said)).toMatchObject([{ op: "add", text, need, subject, stance: "unsure" }]);
  });

  test("what leads into it is no part of it", async () => {
    const [first, ...more] = await hardOf("Just so you know, nuts make me really ill");
    expect(first).toMatchObject({ text: "Nuts make me really ill", need: "no_nuts" });
    expect(more).toEqual([]);
  });

  test.each([
    "I could kill for a peanut butter cake",
    "I'm sick of eggs",
    "The eggs there are to die for",
    "Eggs don't make me ill",
    "Where can I eat nuts?",
    "We stopped for eggs",
  ])("no rule reads one into: %s", async (text) => {
    expect(await readAlone(text)).toEqual([]);
  });
});

test.each([
  "I'm a doctor specialised in nut allergy",
  "I work for a nut allergy charity",
  "She wrote a book about egg allergies and I love it",
])("an allergy that is spoken of is nobody's without a question: %s", async (text) => {
  expect((await hardOf(text)).filter(({ stance }) => stance === "stated")).toEqual([]);
});

test.each(["I have a nut allergy", "Nut allergy here", "Please mind my nut allergy", "Watch out for my egg allergy"])(
  "one of one's own is: %s",
  async (text) => {
    expect((await hardOf(text)).length).toBe(1);
  },
);

test.each([
  "<script>alert(1)</script>",
  "I have no dietary requirements",
  "We don't have any dietary restrictions",
  "I eat everything, no allergies",
  "I'm not vegetarian",
  "I have no special needs",
])("no words of a need: %s", async (text) => {
  expect(await hardOf(text)).toEqual([]);
});

test.each(["I love jazz and I am vegan", "I am vegan and I love jazz", "I adore opera, and I'm coeliac"])(
  "a taste beside what must hold is kept, in either order: %s",
  async (text) => {
    expect((await readAlone(text)).map(({ strength }) => strength).toSorted()).toEqual(["hard", "soft"]);
  },
);

test.each(["He can eat everything but pork", "I can eat anything except shellfish"])(
  "who minds one thing alone may have a need: %s",
  async (text) => {
    expect(await hardOf(text)).toMatchObject([{ stance: "unsure" }]);
  },
);

test.each(["I don't mind at all, I eat everything", "My wife eats anything", "We can eat everything", "I don't mind the stairs"])(
  "who minds nothing has none: %s",
  async (text) => {
    expect(await hardOf(text)).toEqual([]);
  },
);
