import { describe, expect, test } from "vitest";
import { guarded } from "../../src/long-term/promotable.js";
import type { Memory } from "../../src/long-term.js";
import { RuleExtractor } from "../../src/offline/rule-extractor.js";
import { describeExtractorContract, extractionInput } from "../contract/extractor.contract.js";
import { scoreOf } from "../corpus/score.js";
import { UTTERANCES } from "../corpus/utterances.js";
import { sampleMemory } from "../support/samples.js";

describeExtractorContract("rules", () => guarded(new RuleExtractor()));

const signal = new AbortController().signal;

async function statementsIn(text: string, related: readonly Memory[] = []) {
  const proposals = await guarded(new RuleExtractor()).extract(extractionInput(text, { related }), { signal });
  return proposals.flatMap((proposal) =>
    "statement" in proposal && proposal.statement !== null ? [{ op: proposal.op, ...proposal.statement }] : [],
  );
}

const KEPT = sampleMemory({ id: "", text: "", category: "", aspect: "", type: "constraint", strength: "hard", source: null });

describe("on the labelled set", () => {
  test("precision is at least 0.97 and recall at least 0.80", async () => {
    const score = await scoreOf(guarded(new RuleExtractor()), UTTERANCES);
    console.log(`labelled set: precision ${score.precision.toFixed(3)}, recall ${score.recall.toFixed(3)}`);
    expect(score.precision).toBeGreaterThanOrEqual(0.97);
    expect(score.recall).toBeGreaterThanOrEqual(0.8);
  });

  test("the part that was held out is reported apart", async () => {
    const score = await scoreOf(
      guarded(new RuleExtractor()),
      UTTERANCES.filter((utterance) => utterance.held),
    );
    console.log(`held out: precision ${score.precision.toFixed(3)}, recall ${score.recall.toFixed(3)}`);
    expect(score.precision).toBeGreaterThanOrEqual(0.9);
    expect(score.recall).toBeGreaterThanOrEqual(0.8);
  });
});

describe("RuleExtractor", () => {
  test("statements read in the third person", async () => {
    const statements = await statementsIn("I prefer jazz concerts, and I usually book 2 tickets. I need step-free access.");
    expect(statements.map((statement) => statement.text)).toEqual([
      "Prefers jazz concerts",
      "Usually books 2 tickets",
      "Needs step-free access",
    ]);
  });

  test("liked genres stand side by side: each is an aspect of its own", async () => {
    const statements = [...(await statementsIn("I prefer jazz.")), ...(await statementsIn("I also like opera."))];
    expect(statements.map((statement) => statement.aspect)).toEqual(["jazz", "opera"]);
  });

  test("a liking that is over is about the same aspect, so that it replaces what was said", async () => {
    const [statement] = await statementsIn("I don't like jazz any more.");
    expect(statement).toMatchObject({ category: "genre", aspect: "jazz", text: "No longer likes jazz" });
  });

  test("row, party size, budget and diet have one aspect each", async () => {
    for (const [one, other] of [
      ["I always sit in the front row.", "Row 7 is ideal for me."],
      ["We usually come as a party of four.", "There are normally three of us."],
      ["My budget is 60 euros.", "I don't want to spend more than 80 euros a ticket."],
      ["I'm vegetarian.", "I'm vegan now."],
    ] as const) {
      const [a] = await statementsIn(one);
      const [b] = await statementsIn(other);
      expect(a?.aspect).toBeTruthy();
      expect([b?.category, b?.aspect]).toEqual([a?.category, a?.aspect]);
    }
  });

  test("what is preferred over something stored supersedes it", async () => {
    const jazz = {
      id: "0190a0a0-0000-7000-8000-0000000000aa",
      category: "genre",
      aspect: "jazz",
      subject: "self",
      strength: "soft",
      status: "active",
      text: "Prefers jazz",
    };
    const [statement] = await statementsIn("I now prefer opera over jazz.", [jazz as unknown as Memory]);
    expect(statement).toMatchObject({ op: "supersede", aspect: "opera" });
  });

  test("a companion's need for this time is theirs, hard, and passes", async () => {
    const [statement] = await statementsIn("Vegetarian this time, for my mother.");
    expect(statement).toMatchObject({
      subject: "companion:mother",
      scope: "trip",
      category: "dietary",
      strength: "hard",
      valid_until: null,
    });
  });

  test("a day in the sentence is when it ends", async () => {
    const [statement] = await statementsIn("There will be six of us on Saturday.");
    expect(statement).toMatchObject({ scope: "trip", valid_until: "2026-03-14T22:59:59.000Z" });
  });

  test("a need that is said twice in a message is one memory", async () => {
    expect(await statementsIn("I use a wheelchair, so I need a wheelchair space.")).toHaveLength(1);
  });

  test("a clause without a subject is about whom the one before it was", async () => {
    expect((await statementsIn("My husband is vegetarian and loves opera.")).map(({ subject, text }) => [subject, text])).toEqual([
      ["companion:husband", "Husband is vegetarian"],
      ["companion:husband", "Husband loves opera"],
    ]);
    expect((await statementsIn("I love jazz and hate musicals.")).map(({ aspect }) => aspect)).toEqual(["jazz", "musicals"]);
    expect(await statementsIn("My boss is vegan and loves opera.")).toEqual([]);
  });

  test.each([
    "I want the second one.",
    "I need a lift to the airport.",
    "I can't wait!",
    "I like you.",
    "I have two tickets already.",
    "I always forget my password.",
    "Ich mag das nicht.",
    "Mi piace molto.",
    "J'aime beaucoup.",
  ])("%s says nothing to be remembered", async (text) => {
    expect(await statementsIn(text)).toEqual([]);
  });

  describe("what is over", () => {
    const stored = (text: string, category: string, aspect: string, subject = "self"): Memory => ({
      ...KEPT,
      id: `${category}/${aspect}`,
      text,
      category,
      aspect,
      subject,
    });
    const SHELLFISH = stored("Is allergic to shellfish", "dietary", "shellfish");
    const VEGETARIAN = stored("Is vegetarian", "dietary", "diet");
    const WIFE = stored("Wife is vegan", "dietary", "diet", "companion:wife");
    const STEP_FREE = stored("Needs step-free access", "accessibility", "step-free access");
    const ALL = [SHELLFISH, VEGETARIAN, WIFE, STEP_FREE];
    const ended = async (text: string) =>
      (await guarded(new RuleExtractor()).extract(extractionInput(text, { related: ALL }), { signal })).map((proposal) =>
        proposal.op === "supersede" && proposal.statement === null ? proposal.target_id : proposal.op,
      );

    test.each([
      ["I'm no longer allergic to shellfish.", SHELLFISH],
      ["I am not allergic to shellfish any more.", SHELLFISH],
      ["I can eat shellfish again.", SHELLFISH],
      ["I've outgrown my allergy to shellfish.", SHELLFISH],
      ["I used to be vegetarian but I eat everything now.", VEGETARIAN],
      ["Ich bin nicht mehr vegetarisch.", VEGETARIAN],
      ["Je ne suis plus végétarien.", VEGETARIAN],
      ["Ya no soy vegetariano.", VEGETARIAN],
      ["Non sono più vegetariano.", VEGETARIAN],
      ["My wife isn't vegan any more.", WIFE],
      ["I don't need step-free access any more.", STEP_FREE],
    ])("%s ends the memory of it, and of nobody and nothing else", async (text, memory) => {
      expect(await ended(text)).toEqual([memory.id]);
    });

    test.each(["I'm no longer vegan.", "I'm not vegetarian, I'm vegan.", "My brother is no longer vegetarian."])(
      "%s ends nothing that was said of something else",
      async (text) => {
        expect(await ended(text)).not.toContain(VEGETARIAN.id);
      },
    );

    test("what can't be done any more begins", async () => {
      expect((await statementsIn("I can't eat gluten any more.")).map(({ text }) => text)).toEqual(["Cannot have gluten"]);
    });
  });

  test("a wish for one evening is no preference, how to sit on it is, until it is over", async () => {
    expect(await statementsIn("Sam and I want to see a comedy on Friday.")).toEqual([]);
    expect(await statementsIn("I want tickets for the ballet tomorrow.")).toEqual([]);
    expect(await statementsIn("I want an aisle seat on Friday.")).toMatchObject([{ text: "Wants an aisle seat", scope: "trip" }]);
  });

  test.each([
    ["I love jazz, usually book 2 tickets", ["Loves jazz", "Usually books 2 tickets"]],
    ["I love jazz and usually book 2 tickets", ["Loves jazz", "Usually books 2 tickets"]],
    ["I prefer evening shows.", ["Prefers evening shows"]],
    ["I don't want to sit near the stage.", ["Does not want to sit near the stage"]],
    ["I usually sit in the circle.", ["Usually sits in the circle"]],
  ])("%s", async (text, expected) => {
    const statements = await statementsIn(text);
    expect(statements.map((statement) => statement.text)).toEqual(expected);
    expect(statements.every((statement) => statement.scope === "standing" && statement.valid_until === null)).toBe(true);
  });

  test("so many people for one weekend", async () => {
    expect(await statementsIn("We are 6 people this weekend only.")).toMatchObject([
      { category: "party_size", text: "Comes as a party of 6", scope: "trip" },
    ]);
  });
});
