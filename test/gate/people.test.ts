import { describe, expect, test } from "vitest";
import { Catalogue } from "../../packages/concierge/src/catalogue.js";
import { candidateOf } from "../../packages/concierge/src/need-check.js";
import type { Memory } from "../../src/domain/memory.js";
import { People } from "../../src/gate/people.js";
import { judge, type Party } from "../../src/gate/verdict.js";
import { constraint } from "../support/constraints.js";
import { sampleMemory } from "../support/samples.js";

/** Name and relation are one person's once they were told together, in whatever shape a model notes it; two people stay two. */

const NOW = new Date("2026-03-11T10:00:00Z");
const dinner = new Catalogue().onSale(NOW).find(({ id }) => id.startsWith("plum-tasting-"));
const table = dinner?.sections[0];

let messages = 0;
const source = (quote: string, message_id = `m${++messages}`) => ({ session_id: "earlier", turn: 1, message_id, quote });
const allergy = (subject: string, quote: string, more: Partial<Memory> = {}) =>
  constraint("Is allergic to nuts", "dietary", `companion:${subject}`, { need: "no_nuts", source: source(quote), ...more });
const note = (subject: string, text: string, quote: string, more: Partial<Memory> = {}) =>
  sampleMemory({ text, category: "companions", aspect: "", about: "", subject, entities: [], source: source(quote), ...more });

function outcome(known: readonly Memory[], party: Partial<Party>) {
  if (dinner === undefined || table === undefined) throw new TypeError("no dinner");
  const whole = { companions: [], absent: [], size: 2, said: [], sessionId: "now", ...party };
  const told = known.filter(({ strength }) => strength === "soft");
  const hard = known.filter(({ strength }) => strength === "hard");
  const verdict = judge({ known: hard, told, complete: true }, candidateOf(dinner, table), whole, NOW);
  return verdict.conflicts.length > 0 ? "stop" : verdict.mentions.length > 0 ? "mention" : "pass";
}

const husband = allergy("husband", "my husband is allergic to nuts");
const SHAPES: readonly (readonly [string, Memory])[] = [
  [
    "his name, of the relation",
    note("companion:husband", "Husband's name is Karl", "mein Mann heißt Karl", { aspect: "name", entities: ["Karl"] }),
  ],
  [
    "his name, as what it is about",
    note("companion:husband", "Ehemann heißt Karl", "mein Mann heißt Karl", { about: "Karl", entities: ["Karl"] }),
  ],
  [
    "his name, with the relation as what it is about",
    note("companion:husband", "Husband is called Karl", "my husband is called Karl", { about: "husband", entities: ["Karl"] }),
  ],
  [
    "the relation, of the name",
    note("companion:Karl", "Karl is the user's husband", "Karl is my husband", { aspect: "husband", entities: ["Karl"] }),
  ],
  ["the relation, in another language", note("companion:Karl", "Karl ist der Ehemann", "Karl, mein Mann", { about: "mein Mann" })],
  [
    "the relation among the entities",
    note("companion:Karl", "Likes jazz", "we both like jazz", { category: "genre", entities: ["husband"] }),
  ],
  ["of the guest", note("self", "Is married to Karl", "I'm married to Karl", { aspect: "husband", entities: ["Karl"] })],
  [
    "side by side, beside something else",
    note("self", "Likes jazz", "my husband Karl and I love jazz", { category: "genre", entities: ["Karl"] }),
  ],
  ["side by side in the text", note("companion:Karl", "Husband Karl likes jazz", "he likes jazz", { category: "genre" })],
  ["both in the subject", note("companion:husband Karl", "Likes jazz", "he likes jazz", { category: "genre" })],
  ["both in the subject, the name first", note("companion:Karl (husband)", "Likes jazz", "he likes jazz", { category: "genre" })],
  ["both in the subject, parted", note("companion:husband, Karl", "Likes jazz", "he likes jazz", { category: "genre" })],
  ["another word for the relation", note("companion:Karl", "Likes jazz", "mein lieber Mann Karl mag Jazz", { category: "genre" })],
];

describe("a relation whose name is told later", () => {
  test.each(SHAPES)("%s: his need stops what is booked for the name", (_, told) => {
    expect(outcome([husband, told], { companions: ["Karl"] })).toBe("stop");
    expect(outcome([husband, told], { companions: ["Olaf"] })).toBe("pass");
  });

  test.each(SHAPES)("%s: and a need of the name stops what is booked for the relation", (_, told) => {
    expect(outcome([allergy("Karl", "Karl is allergic to nuts"), told], { companions: ["Ehemann"] })).toBe("stop");
  });

  test.each(SHAPES)("%s: also where the name has needs of its own", (_, told) => {
    const stairs = constraint("Can't climb stairs", "accessibility", "companion:Karl", { need: "step_free", source: source("Karl can't") });
    expect(outcome([husband, stairs, told], { companions: ["Karl"] })).toBe("stop");
  });

  test("said in this conversation alone", () => {
    expect(outcome([husband], { companions: ["Karl"], said: ["A table for my husband Karl and me"] })).toBe("stop");
    expect(outcome([husband], { companions: ["Karl"], said: ["Shorten this:\n> my husband Karl and I can't come"] })).toBe("mention");
  });

  test("said with a need that is over", () => {
    const over = { ...allergy("husband", "my husband Karl can't climb stairs", { need: "step_free" }), strength: "soft" as const };
    expect(outcome([husband, { ...over, status: "superseded", entities: ["Karl"] }], { companions: ["Karl"] })).toBe("stop");
  });

  test("who is said not to come by one name does not come by the other", () => {
    for (const [, told] of SHAPES) expect(outcome([husband, told], { absent: ["Karl"], companions: ["Ada"] })).toBe("pass");
  });
});

describe("two people whom one text names", () => {
  test.each<[string, readonly Memory[], string]>([
    [
      "Karl's mother is not Karl",
      [allergy("Karl's mother", "Karl's mother Ada is allergic to nuts", { entities: ["Karl", "Ada"] })],
      "Karl",
    ],
    [
      "in German",
      [
        allergy("Mutter", "Karls Mutter Ada ist allergisch gegen Nüsse", {
          text: "Karls Mutter Ada ist allergisch",
          entities: ["Karl", "Ada"],
        }),
      ],
      "Karl",
    ],
    ["told of her name", [allergy("Ada", "Karl's mother Ada is allergic to nuts", { entities: ["Karl", "Ada"] })], "Karl"],
    ["a wife's mother", [allergy("mother-in-law", "Ida's mother is allergic to nuts")], "Ida"],
    ["mother of Karl", [allergy("Ada", "Ada, the mother of Karl, is allergic to nuts", { entities: ["Karl", "Ada"] })], "Karl"],
    [
      "each with needs from one message",
      [
        allergy("mother", "my mother and Karl: she has a nut allergy", { entities: ["Karl"], source: source("my mother and Karl", "one") }),
        constraint("Is vegetarian", "dietary", "companion:Karl", { need: "vegetarian", source: source("Karl is vegetarian", "one") }),
      ],
      "Karl",
    ],
    [
      "a name that is another's for sure",
      [
        allergy("mother", "my mother gets on with Karl, she is allergic to nuts", { entities: ["Karl"] }),
        note("companion:husband", "Husband's name is Karl", "mein Mann heißt Karl", { aspect: "name", entities: ["Karl"] }),
      ],
      "Karl",
    ],
  ])("%s", (_, known, name) => {
    expect(outcome(known, { companions: [name] })).not.toBe("stop");
  });

  test.each<[string, Memory]>([
    ["a name", allergy("Mia", "Mia and Tom are allergic to nuts", { text: "Mia and Tom are allergic to nuts", entities: ["Mia", "Tom"] })],
    ["a relation", allergy("mother", "mum and Tom: no nuts", { text: "Mother and Tom can't have nuts", entities: ["Tom"] })],
    ["a word for several", allergy("twins", "Mia and Tom, our twins: no nuts", { entities: ["Mia", "Tom"] })],
    ["a friend", allergy("friend", "my friend Tom can't have nuts", { entities: ["Tom"] })],
  ])("one memory of both counts for each, also where the other has needs of their own: under %s", (_, both) => {
    const stairs = constraint("Can't climb stairs", "accessibility", "companion:Tom", { need: "step_free", source: source("Tom can't") });
    expect(outcome([both, stairs], { companions: ["Tom"] })).toBe("stop");
    expect(outcome([both, stairs], { companions: [both.subject.slice("companion:".length)] })).toBe("stop");
  });

  test("Karl's mother is not the guest's own", () => {
    const ada = note("companion:Ada", "Ada is Karl's mother", "Karl's mother Ada likes jazz", {
      about: "mother",
      entities: ["Karl", "Ada"],
    });
    expect(outcome([allergy("mother", "my mother is allergic to nuts"), ada], { companions: ["Ada"] })).not.toBe("stop");
  });

  test("of two daughters each has her own need", () => {
    const emma = allergy("daughter", "my daughter Emma can't have nuts", { entities: ["Emma"] });
    const lea = constraint("Is vegan", "dietary", "companion:daughter", {
      need: "vegan",
      entities: ["Lea"],
      source: source("my daughter Lea is vegan"),
    });
    expect(outcome([emma, lea], { companions: ["Emma"] })).toBe("stop");
    const verdict = (name: string) => outcome([emma], { companions: [name] });
    expect([verdict("Emma"), verdict("Lea")]).toEqual(["stop", "pass"]);
    expect(
      outcome([emma, { ...emma, id: "lea", entities: ["Lea"], source: source("my daughter Lea can't have nuts") }], {
        companions: ["Lea"],
      }),
    ).toBe("stop");
  });

  test("of two sisters, the need of one is only mentioned for the other, unless it is told whose it is", () => {
    const sisters = [note("self", "Has two sisters", "my sister Lea and my sister Mia", { category: "other", entities: ["Lea", "Mia"] })];
    expect(outcome([allergy("sister", "she is allergic to nuts"), ...sisters], { companions: ["Mia"] })).toBe("mention");
    expect(outcome([allergy("sister", "my sister Lea is allergic", { entities: ["Lea"] }), ...sisters], { companions: ["Mia"] })).toBe(
      "pass",
    );
    expect(outcome([allergy("sister", "my sister Lea is allergic", { entities: ["Lea"] }), ...sisters], { companions: ["Lea"] })).toBe(
      "stop",
    );
  });
});

describe("how many come", () => {
  const karl = note("companion:husband", "Husband's name is Karl", "mein Mann heißt Karl", { aspect: "name", entities: ["Karl"] });

  test("a relation and its name are one of the seats: who was spoken of has the other", () => {
    const mother = allergy("mother", "my mother is allergic to nuts");
    const party = { companions: ["Ehemann", "Karl"], size: 3, said: ["my mother is here too"] };
    expect(outcome([mother, karl], party)).toBe("stop");
    expect(outcome([mother, karl], { ...party, companions: ["Ehemann", "Ida"] })).toBe("mention");
  });

  test("each is listed once, and words for several beside them", () => {
    const people = new People([karl]);
    expect(people.once(["Ehemann", "Karl"])).toEqual(["Ehemann"]);
    expect(people.once(["Karl", "husband", "mother"])).toEqual(["Karl", "mother"]);
    expect(people.once(["family", "kids", "Karl"])).toEqual(["family", "kids", "Karl"]);
  });
});
