import { describe, expect, test } from "vitest";
import { readAlone, readKnowing } from "../support/read-alone.js";

const STEP_FREE = "I need step-free access";
const NUTS = "I'm allergic to nuts";

/** What becomes of what the first message told, and whether anything that must hold is made of the second one. */
async function outcomeOf(before: string, text: string) {
  const operations = await readAlone(text, null, await readKnowing(before));
  return operations
    .filter(({ op, strength }) => op === "end" || op === "supersede" || strength === "hard")
    .map(({ op, stance }) => `${op}, ${stance}`);
}

describe("[ended-in-other-words] that a need is over is asked about, whatever words say it", () => {
  test.each([
    [STEP_FREE, "my knee is fine now, stairs are no problem"],
    [STEP_FREE, "My knee is fine now"],
    [STEP_FREE, "my hip has healed"],
    [STEP_FREE, "Stairs are no problem for me now"],
    [STEP_FREE, "Good news: my leg is back to normal, thanks"],
    [STEP_FREE, "I can do stairs again"],
    [STEP_FREE, "I don't need the wheelchair any more"],
    [STEP_FREE, "I'm off the crutches"],
    [STEP_FREE, "No more crutches!"],
    ["My dad needs step-free access", "Dad's knee is fine now"],
    ["I'm vegan", "the vegan thing is over"],
    ["I'm vegan", "My vegan phase is behind me"],
    [NUTS, "Nuts are no problem these days"],
    [NUTS, "I can eat nuts again"],
    ["I'm pescatarian", "the pescatarian diet is history"],
  ])("%s. %s", async (before, text) => {
    expect(await outcomeOf(before, text)).toEqual(["end, unsure"]);
  });
});

describe("[ended-in-other-words] nothing ends, and nothing is asked", () => {
  test.each([
    [STEP_FREE, "my knee is fine with the stairs if there's a lift"],
    [STEP_FREE, "Is my knee fine now?"],
    [STEP_FREE, "I hope my knee is fine by then"],
    [STEP_FREE, "Once my knee is better we'll come back"],
    [STEP_FREE, "My wife's knee is fine now"],
    [STEP_FREE, "They no longer have wheelchair spaces"],
    [STEP_FREE, "My knee isn't fine yet"],
    ["I'm vegan", "the vegan place was great"],
    ["I'm vegan", "The vegan menu is fine"],
    ["I'm vegan", "The vegan dinner is over at nine"],
    [NUTS, "My knee is fine now"],
    [NUTS, "Sorry, I typed that wrong: it's walnuts, almonds are OK."],
    ["I can't eat pork", "Kiwi is fine"],
    [NUTS, "Can I eat nuts again?"],
  ])("%s. %s", async (before, text) => {
    expect(await outcomeOf(before, text)).toEqual([]);
  });

  test.each(["I might be allergic to nuts, not sure", "Maybe I'm allergic to nuts", "I can't do stairs any more"])(
    "what is told of another need, or of the same, ends none: %s",
    async (text) => {
      expect((await readAlone(text, null, await readKnowing(STEP_FREE))).filter(({ op }) => op === "end")).toEqual([]);
    },
  );
});
