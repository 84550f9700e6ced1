import { describe, expect, test } from "vitest";
import { guarded } from "../../src/long-term/promotable.js";
import type { Memory } from "../../src/long-term.js";
import { RuleExtractor } from "../../src/offline/rule-extractor.js";
import { extractionInput } from "../contract/extractor.contract.js";
import { sampleMemory } from "../support/samples.js";

/** What a guest takes back: the memory that was wrong, or is over, no longer holds, and nothing else ends. */

const signal = new AbortController().signal;

const stored = (text: string, category: string, aspect: string, more: Partial<Memory> = {}): Memory =>
  sampleMemory({ id: `${category}/${aspect}/${text}`, text, category, aspect, source: null, ...more });

const hard = { strength: "hard", type: "constraint" } as const;
const PEANUTS = stored("Is allergic to peanuts", "dietary", "peanuts", hard);
const MIA = stored("Daughter is allergic to eggs", "dietary", "eggs", { ...hard, subject: "companion:daughter", entities: ["Mia"] });
const LEEDS = stored("Lives in Leeds", "location", "home", { type: "fact" });
const FLOOR = stored("Likes a room on a high floor", "other", "");
const MUSICALS = stored("Dislikes musicals", "genre", "musicals");
const ROCK = stored("Likes rock", "genre", "rock");
const BUDGET = stored("Budget is 50 euros", "budget", "budget");
const ALL = [PEANUTS, MIA, LEEDS, FLOOR, MUSICALS, ROCK, BUDGET];

const read = async (text: string, by = guarded(new RuleExtractor())) => by.extract(extractionInput(text, { related: ALL }), { signal });
const endedIn = async (text: string, by?: RuleExtractor) =>
  (await read(text, by)).flatMap((proposal) => (proposal.op === "supersede" && proposal.statement === null ? [proposal.target_id] : []));

describe("what was wrong or is over", () => {
  test.each([
    ["That's wrong, I am not allergic to peanuts.", PEANUTS],
    ["Turns out I'm not allergic to peanuts after all.", PEANUTS],
    ["I was never allergic to peanuts.", PEANUTS],
    ["No, I'm not allergic to peanuts.", PEANUTS],
    ["Mia isn't allergic to eggs.", MIA],
    ["We don't live in Leeds any more.", LEEDS],
    ["I no longer need a high floor.", FLOOR],
    ["I don't need a high floor any more.", FLOOR],
    ["I moved away from Leeds.", LEEDS],
  ])("%s", async (text, memory) => {
    expect(await endedIn(text)).toEqual([memory.id]);
  });

  // The rules read these; whether they end anything is for the guards to say.
  test.each([["You've got that wrong, Mia isn't allergic to eggs.", MIA]])("%s is read as an end", async (text, memory) => {
    expect(await endedIn(text, new RuleExtractor())).toEqual([memory.id]);
  });

  test.each([
    "I'm not allergic to shellfish.",
    "Max isn't allergic to eggs.",
    "I moved away from York.",
    "I no longer need a low floor.",
    "Am I not allergic to peanuts?",
    "My boss isn't allergic to peanuts.",
  ])("%s ends nothing", async (text) => {
    expect(await endedIn(text)).toEqual([]);
  });
});

describe("what takes the place of something", () => {
  test.each([
    ["Since Hamilton I actually love musicals.", MUSICALS, "Loves musicals"],
    ["Actually I can go up to 70 euros now.", BUDGET, "Can go up to 70 euros"],
    ["I've moved from Leeds to Glasgow.", LEEDS, "Moved to Glasgow"],
  ])("%s stands on the same thing as what it replaces", async (text, memory, said) => {
    expect(await read(text)).toMatchObject([{ op: "add", statement: { category: memory.category, aspect: memory.aspect, text: said } }]);
  });
});

describe("what is said again", () => {
  test.each(["I like rock music a lot.", "I like rock."])("%s confirms what is stored", async (text) => {
    expect(await read(text)).toMatchObject([{ op: "confirm", target_id: ROCK.id }]);
  });

  test.each(["I love rock.", "I like rock over pop.", "I don't like rock."])("%s says more, or the contrary", async (text) => {
    expect((await read(text)).map(({ op }) => op)).not.toContain("confirm");
  });
});
