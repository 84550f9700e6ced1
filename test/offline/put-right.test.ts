import { expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import { ownerOf } from "../../src/domain/owner.js";
import { sampleMemory } from "../support/samples.js";
import { standInReader } from "../support/stand-in.js";

const hard = (text: string, about: string, need: string, subject = "self") =>
  sampleMemory({ text, about, need, subject, strength: "hard", category: "dietary", id: text });
const nuts = hard("Son Jude is allergic to nuts", "nuts", "no_nuts", "companion:son");
const almonds = hard("Is allergic to almonds", "almonds", "no_nuts");

const read = async (text: string, known: readonly Memory[]) => {
  const message = { owner: ownerOf("default", "ann"), session_id: "s", turn: 2, message_id: "m", text, context: [], known };
  const said = { ...message, stated_at: new Date("2026-03-11T10:00:00Z"), time_zone: "UTC" };
  return (await standInReader(null).read(said, { signal: new AbortController().signal })).operations;
};

test.each([
  ["Not nuts, SESAME", nuts, "Son Jude is allergic to sesame", "no_sesame"],
  ["sorry its not nuts its sesame, the hospital retested him", nuts, "Son Jude is allergic to sesame", "no_sesame"],
  ["He says it's kiwi, not nuts", nuts, "Son Jude is allergic to kiwi", "other"],
  ["I meant hazelnuts, not almonds", almonds, "Is allergic to hazelnuts", "no_nuts"],
])("what is put right is asked about as what would hold instead: %s", async (text, target, instead, need) => {
  expect(await read(text, [target])).toEqual([
    expect.objectContaining({ op: "supersede", target_id: target.id, text: instead, need, strength: "hard", stance: "unsure" }),
  ]);
});

test.each([
  ["Not nuts, I said", [nuts]],
  ["No nuts, please", [nuts]],
  ["It's not the almonds, they are fine", [almonds]],
  ["Not nuts, sesame", [nuts, hard("Is allergic to nuts", "nuts", "no_nuts")]],
  ["Is it sesame, not nuts?", [nuts]],
])("what names nothing in its place, or may be of two, replaces nothing: %s", async (text, known) => {
  expect((await read(text, known)).filter(({ op }) => op === "supersede")).toEqual([]);
});

const nutsOfGuest = hard("Is allergic to nuts", "nuts", "no_nuts");
test.each([
  "Vegan, no nuts",
  "Vegan, not nuts",
  "Dinner tomorrow, no nuts please",
  "Dinner tomorrow, not with nuts",
  "Remember: no nuts",
  "Two seats, no nuts",
  "I don't eat nuts, but sesame is fine",
  "I'm not eating nuts, but sesame is fine",
  "Not nuts, but sesame is fine",
])("an order, a diet, or what is fine puts nothing right, and ends nothing: %s", async (text) => {
  expect((await read(text, [nutsOfGuest])).filter(({ op }) => op === "supersede" || op === "end")).toEqual([]);
});

test("German names what is meant behind 'sondern'", async () => {
  expect(await read("Nicht Nüsse, sondern Sesam", [hard("Allergisch gegen Nüsse", "Nüsse", "no_nuts")])).toMatchObject([
    { op: "supersede", text: "Allergisch gegen sesam", stance: "unsure" },
  ]);
});
