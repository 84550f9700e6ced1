import { describe, expect, test } from "vitest";
import { guarded } from "../../src/long-term/promotable.js";
import { RuleExtractor } from "../../src/offline/rule-extractor.js";
import { extractionInput } from "../contract/extractor.contract.js";
import { IN_PASSING } from "../corpus/in-passing.js";
import { IN_PASSING_HELD_OUT } from "../corpus/in-passing-held-out.js";
import { scoreOf } from "../corpus/score.js";

/** What guests say in passing, as a score, and the classes of speech that once were misread. */

const signal = new AbortController().signal;
const rules = guarded(new RuleExtractor());

describe("on what guests say in passing", () => {
  test("the open half: precision is at least 0.97 and recall at least 0.80", async () => {
    const score = await scoreOf(rules, IN_PASSING);
    console.log(`in passing, open: precision ${score.precision.toFixed(3)}, recall ${score.recall.toFixed(3)}`);
    expect(score.precision).toBeGreaterThanOrEqual(0.97);
    expect(score.recall).toBeGreaterThanOrEqual(0.8);
  });

  // Before a rule was mended by the open half this one stood at 0.816 and 0.282.
  test("the half that was held out: precision is at least 0.96 and recall at least 0.80", async () => {
    const score = await scoreOf(rules, IN_PASSING_HELD_OUT);
    console.log(`in passing, held out: precision ${score.precision.toFixed(3)}, recall ${score.recall.toFixed(3)}`);
    expect(score.precision).toBeGreaterThanOrEqual(0.96);
    expect(score.recall).toBeGreaterThanOrEqual(0.8);
  });

  test("each half holds what is to be remembered and what is not", () => {
    for (const half of [IN_PASSING, IN_PASSING_HELD_OUT]) {
      const silent = half.filter(({ expect: expected }) => expected.length === 0).length;
      expect(half.length - silent).toBeGreaterThanOrEqual(75);
      expect(silent).toBeGreaterThanOrEqual(50);
    }
  });
});

async function textsIn(text: string): Promise<string[]> {
  const proposals = await rules.extract(extractionInput(text), { signal });
  return proposals.flatMap((proposal) => (proposal.op === "add" && proposal.review !== true ? [proposal.statement.text] : []));
}

describe("what is said beside a statement is no part of it", () => {
  test.each([
    ["I'm allergic to peanuts, unfortunately.", ["Is allergic to peanuts"]],
    ["I'm allergic to peanuts, by the way.", ["Is allergic to peanuts"]],
    ["I'm allergic to peanuts, as I told you.", ["Is allergic to peanuts"]],
    ["I'm allergic to peanuts, sadly, so be careful.", ["Is allergic to peanuts"]],
    ["I'm allergic to peanuts, to be honest.", ["Is allergic to peanuts"]],
    ["I'm allergic to bees, wasps and latex.", ["Is allergic to bees", "Is allergic to wasps", "Is allergic to latex"]],
    ["I love jazz, of course.", ["Loves jazz"]],
    ["Honestly, ballet bores me to tears.", ["Ballet bores them to tears"]],
  ])("%s", async (text, expected) => {
    expect(await textsIn(text)).toEqual(expected);
  });
});

describe("the opposite of what is said is not taken at its word", () => {
  test.each([
    "Yeah right, I absolutely adore queuing in the rain.",
    "Sure, because I'm made of money and love paying 300 euros for a seat.",
    "Guess what, I'm vegan, not.",
    "I'm vegetarian... not.",
    "I love waiting for an hour, said no one ever.",
  ])("%s", async (text) => {
    expect(await textsIn(text)).toEqual([]);
  });

  test.each(["I love jazz, why not.", "I'm vegan, and my wife is not.", "I hate waiting, so early shows are best."])(
    "%s is meant as it stands",
    async (text) => {
      expect((await textsIn(text)).length).toBeGreaterThan(0);
    },
  );
});

describe("for one evening", () => {
  test.each(["I'd like something quiet this evening.", "I'm happy with the balcony this once."])("%s", async (text) => {
    expect(await textsIn(text)).toEqual([]);
  });
});

describe("other languages are not turned round", () => {
  test.each([
    ["J'aime plus le jazz.", ["No longer likes jazz"]],
    ["Ich mag keine Oper mehr.", ["No longer likes opera"]],
    ["Ich esse kein Fleisch mehr.", ["Does not eat meat"]],
    ["Ich habe eine Nussallergie.", ["Is allergic to nuts"]],
    ["Meine Tochter hat eine Nussallergie.", ["Daughter is allergic to nuts"]],
    ["Guten Tag, ich bin Vegetarier.", ["Is vegetarian"]],
    ["Ich bin Vegetarier und sitze gern am Gang.", ["Is vegetarian", "Prefers aisle"]],
    ["Ich sitze am liebsten ganz hinten.", ["Prefers back"]],
    ["Je préfère les places près de l'allée.", ["Prefers aisle"]],
    ["Soy vegetariana desde hace años.", ["Is vegetarian"]],
    ["Normalmente reservo para cuatro personas.", ["Usually comes as a party of 4"]],
    ["Ich bin seit einem Jahr vegan.", ["Is vegan"]],
    ["Meine Tochter und ich sind vegan.", ["Is vegan", "Daughter is vegan"]],
    ["Ich brauche einen barrierefreien Zugang.", ["Needs step-free access"]],
    ["J'aime plus le jazz que le rock.", []],
    ["Je ne suis pas végétarien.", []],
  ])("%s", async (text, expected) => {
    expect(await textsIn(text)).toEqual(expected);
  });
});

test("a message of the greatest length is read in good time", async () => {
  for (const part of ["I love ", "my mother and ", "so, not, ", "a firm bed for me ", ", sadly"]) {
    const started = performance.now();
    await new RuleExtractor().extract(extractionInput(part.repeat(8_000 / part.length)));
    await new RuleExtractor().extract(extractionInput(`${part.repeat(590 / part.length)}. `.repeat(10)));
    expect(performance.now() - started).toBeLessThan(2_000);
  }
});
