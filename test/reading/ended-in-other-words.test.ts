import { expect, test } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { CONCIERGE_NEEDS } from "../../packages/concierge/src/needs.js";
import { check } from "../../src/memories/checks/check.js";
import { sampleMemory } from "../support/samples.js";
import { messageOf, type Proposal, proposed } from "./message.js";

const hard = (id: string, text: string, about: string, need: string) =>
  sampleMemory({ id, text, about, need, strength: "hard", category: need === "step_free" ? "accessibility" : "dietary" });
const known = [hard("steps", "Needs step-free access", "step-free access", "step_free"), hard("vegan", "Is vegan", "vegan", "vegan")];

function outcome(text: string, proposal: Omit<Proposal, "quote">): string {
  const reading = { operations: [proposed({ quote: text, ...proposal })], off_record: null, unreadable: 0 };
  const options = { reader: "scripted", categories: CONCIERGE_CATEGORIES, needs: CONCIERGE_NEEDS };
  const { operations, dropped } = check(messageOf(text, { known }), reading, options);
  return operations.map(({ op, target_id, waits }) => `${op} ${target_id}: ${waits ?? "at once"}`)[0] ?? Object.keys(dropped).join();
}

test.each([
  ["my knee is fine now, stairs are no problem", { op: "end", target_id: "steps" }, "end steps: unclear_change"],
  ["my knee is fine now", { op: "end", target_id: "steps", about: "knee" }, "end steps: unclear_change"],
  ["my knee is fine now", { op: "supersede", target_id: "steps", text: "Knee is fine", about: "knee" }, "supersede steps: unclear_change"],
  ["my knee might be fine by now", { op: "end", target_id: "steps", about: "knee", stance: "unsure" }, "end steps: unclear_change"],
  ["the vegan thing is over", { op: "end", target_id: "vegan", about: "vegan" }, "end vegan: at once"],
  ["I eat everything again", { op: "end", target_id: "vegan" }, "end vegan: unclear_change"],
] as const)("[ended-in-other-words] %s (%j)", (text, proposal, expected) => {
  expect(outcome(text, proposal)).toBe(expected);
});

test("[ended-in-other-words] a doubt about one need asks about no other", () => {
  const text = "I might be allergic to nuts, not sure";
  expect(outcome(text, { op: "end", target_id: "steps", about: "nuts", stance: "unsure" })).toBe("unknown_target");
  expect(outcome("scrap that, I meant sesame", { op: "end", target_id: "vegan", about: "sesame" })).toBe("end vegan: unclear_change");
});
