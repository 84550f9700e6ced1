import { expect, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { standInReader } from "../support/stand-in.js";

const read = async (text: string) => {
  const message = { owner: ownerOf("default", "ann"), session_id: "s", turn: 1, message_id: "m", text, context: [], known: [] };
  const said = { ...message, stated_at: new Date("2026-03-11T10:00:00Z"), time_zone: "UTC" };
  const { operations } = await standInReader(null).read(said, { signal: new AbortController().signal });
  return operations.map(({ text: told, need, subject, strength, stance }) => ({ text: told, need, subject, strength, stance }));
};

const us = { subject: "companion:one of us", strength: "hard", stance: "stated" };

test.each([
  ["We're four, one of us uses a wheelchair", { ...us, text: "One of us uses a wheelchair", need: "step_free" }],
  ["There are three of us and one is vegan.", { ...us, text: "One of us is vegan", need: "vegan" }],
  ["Two of us are vegetarian, btw", { ...us, text: "Two of us are vegetarian", need: "vegetarian" }],
  ["Someone in our group is allergic to nuts.", { ...us, need: "no_nuts" }],
  [
    "My kids come along, one of them is celiac.",
    { ...us, subject: "companion:children", text: "One of the children is celiac", need: "no_gluten" },
  ],
  ["Wir sind zu viert, einer von uns ist Veganer.", { ...us, need: "vegan" }],
])("what some of those who come need is no need of the guest's own: %s", async (text, need) => {
  expect(await read(text)).toEqual([expect.objectContaining(need)]);
});

test.each(["All of us are vegan.", "We're both vegan."])("what all need is the guest's, too: %s", async (text) => {
  expect(await read(text)).toEqual([expect.objectContaining({ subject: "self", need: "vegan", strength: "hard" })]);
});
