import { describe, expect, test } from "vitest";
import { readAlone, readKnowing } from "../support/read-alone.js";

/** How what the first message told ends with the second: `stated` at once, `unsure` when the guest agrees, undefined not at all. */
async function endOf(before: string, text: string) {
  return (await readAlone(text, null, await readKnowing(before))).find(({ op }) => op === "end")?.stance;
}

const NUTS = "I'm allergic to nuts";

describe("what must hold ends at once only where a whole sentence says so", () => {
  test.each([
    ["I'm vegan", "I'm no longer vegan"],
    ["I'm vegan", "Hi, I am not vegan any more, thanks."],
    ["I'm coeliac", "Hello! I'm no longer coeliac."],
    ["I'm vegetarian", "I have stopped being vegetarian."],
    ["I'm vegetarian", "We've given up being vegetarian"],
    [NUTS, "I'm no longer allergic to nuts."],
    [NUTS, "I don't have a nut allergy anymore"],
    ["My wife is vegan", "My wife is no longer vegan"],
    ["My son Leo is allergic to peanuts", "Leo is no longer allergic to peanuts"],
    ["I use a wheelchair", "I no longer use a wheelchair"],
  ])("%s. %s", async (before, text) => {
    expect(await endOf(before, text)).toBe("stated");
  });

  test.each([
    ["I'm vegan", "I quit being vegan last year"],
    ["I'm vegan", "No longer vegan"],
    ["I'm vegan", "I'm not vegan"],
    ["I'm vegan", "I'm no longer vegan, what do you have?"],
    ["I'm vegan", "I'm no longer vegan. Just kidding!"],
    ["I'm vegan", "My doctor says I'm no longer vegan"],
    ["I'm halal", "They believe I'm no longer halal"],
    ["My wife is vegan", "She's no longer vegan"],
    [NUTS, "It is not true that I'm no longer allergic to nuts"],
    [NUTS, "He said I'm no longer allergic to nuts, but he is wrong"],
    [NUTS, "I'm no longer allergic to nuts, I dreamt"],
    [NUTS, "I'm no longer allergic to nuts? I wish!"],
    [NUTS, "Nuts are no longer a problem"],
    [NUTS, "My nut allergy has stopped"],
    [NUTS, "I've outgrown my nut allergy"],
    [NUTS, "No more nuts, please"],
  ])("asked about: %s. %s", async (before, text) => {
    expect(await endOf(before, text)).toBe("unsure");
  });

  test.each([
    ["I'm vegan", "I stopped by a vegan place today, lovely"],
    ["I'm vegan", "I never stopped being vegan"],
    ["I'm vegan", "I haven't stopped being vegan"],
    ["I'm vegan", "I've given up explaining that I'm vegan"],
    ["I'm vegan", "The vegan café next door quit"],
    ["I'm vegetarian", "We stopped at a vegetarian restaurant yesterday"],
    ["I'm vegetarian", "My vegetarian aunt gave up dancing"],
    ["I'm coeliac", "My coeliac group stopped meeting"],
    ["I'm coeliac", "My coeliac friend quit smoking"],
    ["I'm deaf", "The deaf club gave up its lease"],
    ["I'm lactose intolerant", "Is it right that I'm no longer lactose intolerant in your files? I still am!"],
    [NUTS, "I have given up explaining that I'm allergic to nuts"],
    [NUTS, "The waiter didn't believe I'm allergic to nuts any more than my boss does"],
    [NUTS, "I never outgrew my nut allergy"],
    [NUTS, "They no longer serve nuts"],
    ["I love jazz", "I stopped by a jazz club today"],
    ["We live in Vienna", "My sister moved to Berlin"],
    ["We live in Vienna", "My brother used to live in Vienna"],
    ["We live in Vienna", "I moved our table to Friday"],
  ])("nothing: %s. %s", async (before, text) => {
    expect(await endOf(before, text)).toBeUndefined();
  });

  test.each([
    ["We live in Vienna", "We've just moved to Graz"],
    ["We live in Vienna", "My wife and I moved to Graz"],
    ["I love jazz", "I've gone off jazz"],
  ])("a taste or a home ends when the guest says so: %s. %s", async (before, text) => {
    expect(await endOf(before, text)).toBe("stated");
  });

  test.each([
    ["I'm vegan", "My dog is no longer vegan"],
    ["I'm vegan", "The dog's no longer vegan"],
    ["I'm vegan", "Our old cat has stopped being vegan"],
  ])("a pet's are not the guest's: %s. %s", async (before, text) => {
    expect(await endOf(before, text)).toBeUndefined();
  });

  test("an allergy to pets is", async () => {
    expect(await endOf("I'm allergic to cats", "I'm no longer allergic to cats")).toBe("stated");
    expect(await endOf("I'm allergic to cats", "My cat allergy has stopped")).toBe("unsure");
  });
});
