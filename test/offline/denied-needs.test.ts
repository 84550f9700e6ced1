import { describe, expect, test } from "vitest";
import { WordsJudge } from "../../packages/offline/src/learnt/sentence-judge.js";
import { readAlone, readKnowing } from "../support/read-alone.js";

const judge = new WordsJudge();

describe("what denies a need, or says that it is over, tells of none", () => {
  test.each([
    "I'm no longer allergic to nuts",
    "I'm not allergic to nuts",
    "Honestly, I'm not allergic to shellfish.",
    "I used to be vegan",
    "I used to be allergic to sesame",
    "My son is not allergic to eggs",
    "My wife isn't vegan any more",
    "I have stopped being vegan",
    "I've outgrown my nut allergy",
    "My husband no longer needs a wheelchair",
    "I have no allergies",
  ])("%s", async (text) => {
    expect((await readAlone(text, judge)).filter(({ strength }) => strength === "hard")).toEqual([]);
    expect((await readAlone(text)).filter(({ strength }) => strength === "hard")).toEqual([]);
  });

  test.each([
    ["I don't eat nuts", "no_nuts"],
    ["I do not eat gluten", "no_gluten"],
    ["No allergies except nuts", "no_nuts"],
    ["I'm not just vegan, I'm coeliac too", "no_gluten"],
    ["I am not kidding, I'm allergic to nuts", "no_nuts"],
    ["I'm not vegan but I'm allergic to sesame", "no_sesame"],
  ])("what is a need all the same is kept: %s", async (text, need) => {
    expect((await readAlone(text, judge)).map((operation) => operation.need)).toContain(need);
  });

  test.each(["I'm not allergic to nuts but eggs", "I'm not allergic to nuts, my son is", "I'm not allergic to nuts, only Leo is"])(
    "what may be one is no less asked about: %s",
    async (text) => {
      expect((await readAlone(text, judge)).filter(({ strength }) => strength === "hard")).toHaveLength(1);
    },
  );
});

describe("what waits for the guest's word", () => {
  test.each([
    ["I might be allergic to nuts", "I am allergic to nuts", "Is allergic to nuts"],
    ["I think my wife is vegan", "My wife is vegan", "Wife is vegan"],
  ])("is not what a plain statement says again: %s. %s", async (before, text, kept) => {
    const waiting = (await readKnowing(before, judge)).map((memory) => ({ ...memory, status: "review" as const }));
    expect(waiting).toHaveLength(1);
    expect(await readAlone(text, judge, waiting)).toMatchObject([{ op: "add", text: kept, stance: "stated", strength: "hard" }]);
  });
});
