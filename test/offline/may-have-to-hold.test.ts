import { expect, test } from "vitest";
import { WordsJudge } from "../../packages/offline/src/learnt/sentence-judge.js";
import { ownerOf } from "../../src/domain/owner.js";
import { readAlone } from "../support/read-alone.js";
import { standInReader } from "../support/stand-in.js";

const read = async (text: string) => {
  const message = { owner: ownerOf("default", "ann"), session_id: "s", turn: 2, message_id: "m", text, context: [], known: [] };
  const said = { ...message, stated_at: new Date("2026-03-11T10:00:00Z"), time_zone: "UTC" };
  return (await standInReader(null).read(said, { signal: new AbortController().signal })).operations;
};

test.each([
  ["i dont eat meet", "self", "Does not eat meet"],
  ["A bee gets near me and I've four minutes, the consultant says.", "self", "A bee gets near me"],
  ["seven months gone, so something fizzy for me", "self", "Seven months gone"],
  ["grandad's 91 and comes with us every year, he needs a seat by the loo", "companion:grandfather", "Grandfather needs a seat by the loo"],
  ["The doctor says no dairy", "self", "The doctor says no dairy"],
  ["The consultant says no flying", "self", "The consultant says no flying"],
  ["My cardiologist says no salt", "self", "Cardiologist says no salt"],
  ["My wife's doctor says no salt", "companion:wife", "doctor says no salt"],
  ["The doctor told my wife no salt", "companion:wife", "no salt"],
  ["It's serious, the doctor says no salt", "self", "no salt"],
  ["Mum's doctor says no salt", "companion:mother", "no salt"],
  ["My wife is coming along. The doctor says no salt for her", "companion:wife", "no salt"],
])("what may have to hold and is none of the domain's needs is asked about: %s", async (text, subject, begins) => {
  const drafts = await read(text);
  expect(drafts).toContainEqual(
    expect.objectContaining({ subject, strength: "hard", need: "other", stance: "unsure", text: expect.stringContaining(begins) }),
  );
});

test.each([
  "I don't eat out",
  "My son no longer needs a booster",
  "My boss needs a table by the door",
  "We spent two weeks along the coast",
  "My boss's doctor says no salt",
  "The doctor told her no salt",
  "The hospital says visits end at nine",
])("what is over, nobody's of theirs, or no food is none: %s", async (text) => {
  expect((await read(text)).filter(({ strength }) => strength === "hard")).toEqual([]);
});

test("a limit by the night is one, and a sentence of many is read by parts", async () => {
  expect(await read("never more than 80 a night")).toMatchObject([{ text: "Never more than 80 a night", category: "budget", need: null }]);
  const filling = "so we came by train as it was cheaper than the car and the dog was happy, ".repeat(4);
  expect(await read(`${filling}I'm allergic to nuts, and I use a wheelchair`)).toMatchObject([{ need: "no_nuts" }, { need: "step_free" }]);
});

test.each([
  "No more than 2 treatments a day",
  "No more than 2 a day",
  "No more than 2 bags per person",
  "Never more than 3 stops, each person counts",
])("what is counted is no limit of money: %s", async (text) => {
  expect((await read(text)).filter(({ category }) => category === "budget")).toEqual([]);
});

test.each(["Never more than 30 per head", "No more than thirty a head", "never more than 80 quid", "Never more than 1,500 a night"])(
  "a number by the night or the head is: %s",
  async (text) => {
    expect(await read(text)).toMatchObject([{ category: "budget" }]);
  },
);

test.each([
  "Ich gebe nie mehr als 30 Euro aus",
  "je ne dépense jamais plus de 30 euros",
  "no puedo gastar más de 30 euros",
  "non spendo mai più di 30 euro",
])("a limit in another language is: %s", async (text) => {
  expect(await read(text)).toMatchObject([{ category: "budget" }]);
});

test.each([
  ["I can't have nuts. Really none, not even traces", ["no_nuts"]],
  ["I can't have nuts. And no sesame either", ["no_nuts", "no_sesame"]],
  ["I can't have nuts. Really, nothing with milk either", ["no_nuts", "no_lactose"]],
  ["I can't have nuts. My son can't have them either", ["no_nuts", "other"]],
])("what goes on about a need is no question of its own, and what tells of another is: %s", async (text, needs) => {
  const hard = (await readAlone(text, new WordsJudge())).filter(({ strength }) => strength === "hard");
  expect(hard.map(({ need }) => need)).toEqual(needs);
});

test.each([
  "My wife can't do stairs. Stairs tire me out.",
  "No nuts please. Callum gets hives.",
  "I'm vegan. Theo cannot be left in the dark.",
  "I'm vegan. Low ceilings make me ill.",
  "I'm allergic to nuts. EpiPen in my bag.",
  "I'm coeliac. Low sugar only.",
])("what is told beside a need is asked about: %s", async (text) => {
  const asked = (await readAlone(text, new WordsJudge())).filter(({ strength, stance }) => strength === "hard" && stance === "unsure");
  expect(asked).toHaveLength(1);
});

test.each(["I can't stand much of this music", "I cannot stand long plays", "Nobody's vegan"])("no need: %s", async (text) => {
  expect((await readAlone(text, new WordsJudge())).filter(({ strength }) => strength === "hard")).toEqual([]);
});

test.each([
  "I have a feeding tube",
  "Crowds make me panic",
  "My hip is fine again but my knees are not",
  "My mum can't chew much",
  "I can't walk far",
  "My knee is fine again but I need a walk-in shower",
])("what the body can't do, and what must be, is asked about: %s", async (text) => {
  expect(await readAlone(text, new WordsJudge())).toMatchObject([{ strength: "hard", need: "other", stance: "unsure" }]);
});

test("what is needed is asked about, whatever else the sentence finds fine", async () => {
  const text = "I'm type 1 on a pump so I need a fridge in the room, and anything north of Leeds is fine";
  expect(await readAlone(text, new WordsJudge())).toMatchObject([{ strength: "hard", need: "other", stance: "unsure" }]);
});
