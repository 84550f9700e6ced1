import { describe, expect, test } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { CONCIERGE_NEEDS } from "../../packages/concierge/src/needs.js";
import { check } from "../../src/memories/checks/check.js";
import { checkWithWitness } from "../../src/memories/likeness.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { Embedder } from "../../src/ports/embedding.js";
import { messageOf, type Proposal, proposed } from "./message.js";

/** What a guest says, and what it amounts to; each pair of two rows is a proposal that nobody's words bear out. */
const SAID: readonly { readonly quote: string; readonly about: string; readonly text: string; readonly need: string | null }[] = [
  { quote: "I'd rather sit by the window", about: "window", text: "Prefers window seats", need: null },
  { quote: "my brother collects old trams", about: "trams", text: "Brother collects trams", need: null },
  { quote: "we usually have supper at nine", about: "supper", text: "Usually dines at nine", need: null },
  { quote: "Debussy bores me to tears", about: "Debussy", text: "Is bored by Debussy", need: null },
  { quote: "I take my coffee black", about: "coffee", text: "Drinks black coffee", need: null },
  { quote: "I need a wheelchair space", about: "wheelchair", text: "Needs a wheelchair space", need: "step_free" },
  { quote: "I'm vegan, by the way", about: "vegan", text: "Is vegan", need: "vegan" },
  { quote: "I've been vegetarian since school", about: "vegetarian", text: "Is vegetarian", need: "vegetarian" },
  { quote: "walnuts land me in hospital", about: "walnuts", text: "Is allergic to walnuts", need: "no_nuts" },
  { quote: "I can't have any gluten", about: "gluten", text: "Cannot eat gluten", need: "no_gluten" },
  { quote: "no prawns for me, they make me ill", about: "prawns", text: "Cannot eat prawns", need: "no_shellfish" },
  { quote: "my guide dog comes along", about: "guide dog", text: "Comes with a guide dog", need: "assistance_dog" },
  { quote: "I wear two hearing aids", about: "hearing aids", text: "Wears hearing aids", need: "hearing_loop" },
  { quote: "we keep kosher", about: "kosher", text: "Keeps kosher", need: "kosher" },
  { quote: "latex gives me hives", about: "latex", text: "Is allergic to latex", need: "other" },
  { quote: "strobe lights are dangerous for me", about: "strobe lights", text: "Must avoid strobe lights", need: "other" },
  { quote: "I'm diabetic", about: "diabetic", text: "Is diabetic", need: "other" },
];
const HARD = SAID.filter(({ need }) => need !== null);
const options = { reader: "scripted", categories: CONCIERGE_CATEGORIES, needs: CONCIERGE_NEEDS };
const hard = (proposal: Proposal) => proposed({ strength: "hard", category: "dietary", ...proposal });

function outcomeOf(quote: string, proposal: Proposal): string {
  const { operations } = check(messageOf(quote), { operations: [hard(proposal)], off_record: null, unreadable: 0 }, options);
  return operations[0] === undefined ? "dropped" : (operations[0].waits ?? operations[0].statement?.strength ?? "");
}

describe("[second-witness] what must hold is borne out by what was said", () => {
  test.each(HARD)("$text", ({ quote, about, text, need }) => {
    expect(outcomeOf(quote, { quote, about, text, need })).toBe("hard");
    // What it is about is taken from the need's words, or from those that text and quote share.
    expect(outcomeOf(quote, { quote, text, need })).toBe("hard");
  });

  test.each([
    ["mustard is what put me in hospital", "Severe reaction to mustard", "hard"],
    ["mustard is what put me in hospital", "Must avoid strobe lights, which bring on severe seizures", "not_named"],
    ["I wear a coat in the hall", "Faints in crowds, cannot queue without somebody who holds the coat", "not_named"],
    // A need of the domain's is told by its own words alone.
    ["I like my coffee in a tall glass", "Coffee with milk makes me ill", "not_named"],
  ])("without what it is about: %s: %s", (quote, text, outcome) => {
    expect(outcomeOf(quote, { quote, text, need: "other" })).toBe(outcome);
  });

  test("of all that anybody else's words are quoted for nothing holds, whatever it names as what it is about", () => {
    const others = HARD.flatMap((claim) => SAID.filter(({ quote }) => quote !== claim.quote).map((said) => [claim, said] as const));
    expect(others.length).toBeGreaterThan(180);
    const held = others.flatMap(([{ text, need, about }, { quote, about: other }]) =>
      [about, other, ""].flatMap((named) => (outcomeOf(quote, { quote, about: named, text, need }) === "hard" ? [[text, quote]] : [])),
    );
    expect(held).toEqual([]);
  });

  test.each([
    ["Ich vertrage keine Erdnüsse", "Is allergic to peanuts", "no_nuts"],
    ["je suis en fauteuil roulant", "Uses a wheelchair", "step_free"],
    ["えびアレルギーがあります", "Is allergic to shrimp", "no_shellfish"],
    ["mam alergię na orzechy", "Is allergic to nuts", "no_nuts"],
  ])("in another language that the domain's words are of: %s", (quote, text, need) => {
    const about = quote.includes("えび") ? "えび" : (quote.split(" ").at(-1) ?? "");
    expect(outcomeOf(quote, { quote, about, text, need })).toBe("hard");
  });

  test("without a text the need's words alone tell", () => {
    expect(
      outcomeOf("walnuts land me in hospital", { quote: "walnuts land me in hospital", about: "walnuts", text: "", need: "no_nuts" }),
    ).toBe("hard");
    expect(
      outcomeOf("I'd rather sit by the window", { quote: "I'd rather sit by the window", about: "window", text: "", need: "step_free" }),
    ).toBe("not_named");
  });
});

describe("[second-witness] where the words don't tell", () => {
  const quote = "one flash and I'm on the floor twitching";
  const proposal = hard({ quote, about: "flash", text: "Strobe lights trigger seizures", need: "other" });
  /** Knows two meanings: of the first words that it was told, and of all others. */
  const knowing = (same: readonly string[], more: Partial<Embedder> = {}): Embedder => ({
    id: "two-meanings",
    dimension: 2,
    lexical: false,
    relevantFrom: () => 0.3,
    embed: async (texts) => texts.map((text) => new Float32Array(same.includes(text) ? [1, 0] : [0, 1])),
    ...more,
  });
  const outcome = async (embedder: Embedder, what = proposal) => {
    const reading = { operations: [what], off_record: null, unreadable: 0 } as const;
    const { operations } = await checkWithWitness(messageOf(what.quote), reading, { ...options, embedder, logger: silentLogger });
    return operations[0]?.waits;
  };

  test("its likeness does, by an embedder that knows meanings and says what is alike", async () => {
    expect(await outcome(knowing([quote, proposal.text]))).toBeNull();
    expect(await outcome(knowing([quote]))).toBe("not_named");
    expect(await outcome(knowing([quote, proposal.text], { lexical: true }))).toBe("not_named");
    const { relevantFrom: _none, ...silent } = knowing([quote, proposal.text]);
    expect(await outcome(silent)).toBe("not_named");
  });

  test("one that fails bears no witness, and costs no reading", async () => {
    const failing = knowing([], { embed: async () => Promise.reject(new Error("away")) });
    expect(await outcome(failing)).toBe("not_named");
  });

  test("nor is another need of the same kind borne out by it", async () => {
    const said = "I've been vegetarian since school";
    const other = hard({ quote: said, about: "vegetarian", text: "Is vegan", need: "vegan" });
    expect(await outcome(knowing([said, "Is vegan"]), other)).toBe("not_named");
  });
});
