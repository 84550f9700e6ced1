import { expect, test } from "vitest";
import { Catalogue, type CatalogueEvent } from "../../packages/concierge/src/catalogue.js";
import { fitOf, needsHeld, statedOfNeeds } from "../../packages/concierge/src/fit.js";
import type { Memory } from "../../src/domain/memory.js";
import type { RecalledMemory } from "../../src/domain/session.js";
import type { SamePeople } from "../../src/gate/people.js";
import { type Candidate, judge, type Party } from "../../src/gate/verdict.js";
import type { ToolContext } from "../../src/ports/tool-context.js";
import { sampleMemory } from "../support/samples.js";

const catalogue = new Catalogue();
const event = (id: string): CatalogueEvent => {
  const found = catalogue.byId(id);
  if (found === null) throw new Error(`The programme has no ${id}.`);
  return found;
};
/** Jazz with a way in for all; jazz down a stair; a dinner. */
const STEP_FREE = event("marta-vale-quartet-2026-03-14");
const CELLAR = event("night-shift-trio-2026-03-13");
const DINNER = event("plum-tasting-2026-03-14");

const NOW = new Date("2026-03-11T10:00:00Z");

function known(text: string, category: string, more: Partial<Memory> = {}): Memory {
  const at = "2026-03-01T00:00:00.000Z";
  return sampleMemory({
    id: text.toLowerCase().replaceAll(" ", "-"),
    text,
    category,
    source: null,
    stated_at: at,
    valid_from: at,
    ...more,
  });
}
const need = (text: string, name: string, more: Partial<Memory> = {}) => known(text, "dietary", { strength: "hard", need: name, ...more });

/** What is known, the gate reads; what the turn was given, the marks of tastes are of. Default: all of it. */
function held(where: CatalogueEvent, memories: readonly Memory[], says = "Dinner?", given = memories) {
  const judged = Object.assign((candidate: Candidate, party: Party) => judge({ known: memories, complete: true }, candidate, party, NOW), {
    people: {} as SamePeople,
  });
  const recalled = given.map(
    ({ need, valid_until: _, ...memory }): RecalledMemory => ({ ...memory, ...(need !== null && { need }), score: 1 }),
  );
  const context = { sessionId: "s", userMessage: { id: "m", content: says }, recalled } as unknown as ToolContext;
  const needs = needsHeld(where, judged, context);
  return { needs, marks: fitOf(where, needs, recalled) };
}
const labels = (where: CatalogueEvent, ...memories: Memory[]) => held(where, memories).marks.map(({ label, met }) => [label, met]);
const access = known("Needs step-free access", "accessibility", { strength: "hard", need: "step_free" });

test("each need that the catalogue answers has a mark, met or broken, tied to its memory", () => {
  expect(held(STEP_FREE, [access]).marks).toEqual([{ memory_id: "needs-step-free-access", label: "step-free", met: true }]);
  expect(labels(CELLAR, access)).toEqual([["not step-free", false]]);
  expect(labels(CELLAR, { ...access, subject: "companion:mother" })).toEqual([["not step-free for mother", false]]);
});

test("what is served is marked where something is served, and what the catalogue doesn't say is never met", () => {
  const all = [need("Is vegan", "vegan"), need("Is allergic to nuts", "no_nuts"), need("Is allergic to sesame", "no_sesame")];
  expect(labels(STEP_FREE, ...all)).toEqual([]);
  const stated = (name: "vegan" | "no_nuts" | "no_sesame") =>
    DINNER.states.meets.includes(name) ? true : DINNER.states.breaks.includes(name) ? false : null;
  const marks = labels(DINNER, ...all);
  expect(marks.map(([, met]) => met)).toEqual([stated("vegan"), stated("no_nuts"), stated("no_sesame")]);
  expect(marks.filter(([, met]) => met === null)).toEqual([["sesame: not stated", null]]);
});

test("of several things in one memory the one that is stated tells nothing of the others", () => {
  const several = need("Is allergic to sesame, kiwi and gluten", "no_gluten", { about: "sesame, kiwi and gluten" });
  expect(labels(DINNER, need("Is coeliac", "no_gluten"))).toEqual([["without gluten", true]]);
  expect(labels(DINNER, several)).toEqual([["gluten: not stated", null]]);
});

test("what is eaten and has no name in the catalogue is not stated; what else has none is left to the booking", () => {
  const kiwi = need("Is allergic to kiwi", "other");
  const epilepsy = known("Has epilepsy", "accessibility", { strength: "hard", need: "other" });
  expect(labels(DINNER, kiwi, epilepsy)).toEqual([["Is allergic to kiwi: not stated", null]]);
  expect(labels(STEP_FREE, kiwi, epilepsy)).toEqual([]);
});

test("for whoever tells the guest: what is met, what is broken, and what only the house knows, of those who are spoken of", () => {
  const nuts = need("Is allergic to nuts", "no_nuts", { subject: "companion:Jon" });
  const memories = [need("Is allergic to sesame", "no_sesame"), access, nuts];
  expect(statedOfNeeds(held(DINNER, memories, "Dinner with Jon?").needs)).toEqual({
    meets: ["step-free"],
    not_stated: ["sesame"],
    breaks: ["not without nuts for Jon"],
  });
  expect(statedOfNeeds(held(DINNER, [nuts]).needs)).toEqual({});
  // Nor has it a mark where the turn was not given it.
  expect(held(DINNER, [nuts], "Dinner?", []).marks).toEqual([]);
});

test("a genre that the guest likes is marked; one that they avoid, one of somebody else, and a need of no name are not", () => {
  expect(labels(STEP_FREE, known("Prefers jazz concerts", "genre"))).toEqual([["jazz", true]]);
  for (const text of ["Dislikes jazz", "Cannot stand jazz", "Is not into jazz", "Loves opera"])
    expect(labels(STEP_FREE, known(text, "genre"))).toEqual([]);
  expect(labels(STEP_FREE, known("Likes jazz", "genre", { subject: "companion:Ben" }), known("x", "other", { need: "other" }))).toEqual([]);
});
