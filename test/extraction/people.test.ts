import { describe, expect, test } from "vitest";
import { RuleExtractor } from "../../src/offline/rule-extractor.js";
import { extractionInput } from "../contract/extractor.contract.js";

/** Whose need it is: companions in all the ways in which they are named. */

const MOTHER_AND_SISTER = "My mother and my sister are coming along.";

async function needsIn(text: string, before?: string): Promise<string[]> {
  const context = before === undefined ? [] : [{ role: "user" as const, content: before }];
  return (await new RuleExtractor().extract(extractionInput(text, { context }))).flatMap((proposal) =>
    proposal.op === "add" && proposal.statement.strength === "hard"
      ? [`${proposal.statement.subject.replace("companion:", "")} ${proposal.statement.aspect}`]
      : [],
  );
}

describe("several people, one need", () => {
  test.each([
    ["My wife and I are vegetarian.", ["self diet", "wife diet"]],
    ["My wife Anna and our son Max are coeliac.", ["wife gluten", "son gluten"]],
    ["Both my daughters are vegetarian.", ["daughter diet"]],
    ["My in-laws are vegetarian.", ["in-laws diet"]],
    ["Neither of us drinks alcohol.", ["self alcohol"]],
    ["Neither my wife nor I eat meat.", ["self diet", "wife diet"]],
    ["My mum's deaf and my dad can't climb stairs.", ["mother hearing", "father stairs"]],
    ["My friend is vegetarian, but I'm not.", ["friend diet"]],
    ["My wife and kids are vegan.", ["wife diet", "children diet"]],
    ["My son, who is coming with us, is allergic to fish.", ["son fish"]],
    ["My daughter Emma (6) is coeliac.", ["daughter gluten"]],
    ["My wife is vegetarian but eats fish.", ["wife diet"]],
    ["My mother uses a wheelchair, so we need a ramp.", ["mother wheelchair", "self step-free access"]],
    ["My wife isn't allergic to nuts, I am.", []],
    ["The baby is allergic to milk.", ["baby milk"]],
    ["My colleague Priya is vegan and joins us tomorrow.", ["Priya diet"]],
    ["Actually my husband Tom can't do stairs any more, so we go for the boxes.", ["husband stairs"]],
  ])("%s", async (text, expected) => {
    expect(await needsIn(text)).toEqual(expected);
  });

  test("names go along, so that the companion is known by them", async () => {
    const proposals = await new RuleExtractor().extract(extractionInput("My wife Anna and our son Max are coeliac."));
    expect(proposals.map((proposal) => (proposal.op === "add" ? proposal.statement.entities : []))).toEqual([["Anna"], ["Max"]]);
  });
});

describe("whom a pronoun means", () => {
  test.each([
    ["Next Friday my brother-in-law joins us, he can't eat gluten.", ["brother-in-law gluten"]],
    ["My wife Sara is coming with me. She's deaf and she loves dance.", ["wife hearing"]],
    ["My parents are visiting. They're vegan.", ["parents diet"]],
    ["My wife and my father come along. He's diabetic.", ["father sugar"]],
  ])("%s", async (text, expected) => {
    expect(await needsIn(text)).toEqual(expected);
  });

  test("the one who was named in the round before", async () => {
    expect(await needsIn("She's also allergic to soy.", "My wife Sara is coming with me.")).toEqual(["wife soy"]);
  });

  test.each([
    ["She's allergic to soy.", MOTHER_AND_SISTER],
    ["He's allergic to soy.", MOTHER_AND_SISTER],
    ["She's allergic to soy.", "My boss is coming along."],
    ["She's allergic to soy.", "Two tickets, please."],
    ["She's allergic to soy.", undefined],
  ])("%s after %s is nobody's: more than one, none, or a stranger", async (text, before) => {
    expect(await needsIn(text, before)).toEqual([]);
  });
});
