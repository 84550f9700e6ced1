import { expect, test } from "vitest";
import { Catalogue, type CatalogueEvent } from "../../packages/concierge/src/catalogue.js";
import { fitOf } from "../../packages/concierge/src/fit.js";
import type { RecalledMemory } from "../../src/domain/session.js";

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

function known(text: string, category: string, more: Partial<RecalledMemory> = {}): RecalledMemory {
  const id = text.toLowerCase().replaceAll(" ", "-");
  return { id, text, category, strength: "soft", subject: "self", score: 1, source: null, created_at: "2026-03-01T00:00:00Z", ...more };
}
const labels = (where: CatalogueEvent, ...memories: RecalledMemory[]) => fitOf(where, memories).map(({ label, met }) => [label, met]);
const access = known("Needs step-free access", "accessibility", { strength: "hard", need: "step_free" });

test("each need that the catalogue answers has a mark, met or broken, tied to its memory", () => {
  expect(fitOf(STEP_FREE, [access])).toEqual([{ memory_id: "needs-step-free-access", label: "step-free", met: true }]);
  expect(labels(CELLAR, access)).toEqual([["not step-free", false]]);
  expect(labels(CELLAR, { ...access, subject: "companion:mother" })).toEqual([["not step-free for mother", false]]);
});

test("what is served is marked where something is served, and what the catalogue doesn't say is never met", () => {
  const vegan = known("Is vegan", "dietary", { strength: "hard", need: "vegan" });
  const soy = known("Is allergic to soy", "dietary", { strength: "hard", need: "no_soy" });
  expect(labels(STEP_FREE, vegan, soy)).toEqual([]);
  const marks = labels(DINNER, vegan, soy);
  expect(marks[0]?.[0]).toMatch(/^(no )?vegan menu$/);
  const said = DINNER.states.meets.includes("no_soy") ? true : DINNER.states.breaks.includes("no_soy") ? false : null;
  expect(marks[1]?.[1]).toBe(said);
});

test("a genre that the guest likes is marked; one that they avoid, one of somebody else, and a need of no name are not", () => {
  expect(labels(STEP_FREE, known("Prefers jazz concerts", "genre"))).toEqual([["jazz", true]]);
  expect(labels(STEP_FREE, known("Dislikes jazz", "genre"), known("Loves opera", "genre"))).toEqual([]);
  expect(labels(STEP_FREE, known("Likes jazz", "genre", { subject: "companion:Ben" }), known("x", "other", { need: "other" }))).toEqual([]);
});
