import { expect, test } from "vitest";
import { budgetCheck } from "../../packages/concierge/src/budget.js";
import { Catalogue } from "../../packages/concierge/src/catalogue.js";
import { constraint } from "../support/constraints.js";

/** What a budget is held against: the words of the guest say what it is for. */

const catalogue = new Catalogue();
const NOW = new Date("2026-03-11T10:00:00Z");
const [concert, dinner, match] = ["night-shift-trio-2026-03-13", "plum-tasting-2026-03-14", "ostpark-derby-2026-03-14"].map((id) =>
  catalogue.byId(id),
);
const outcomes = { met: "within", broken: "over", unknown: "unknown", moot: "not for it" };
const told = (text: string, condition = "") => constraint(text, "budget", "self", { strength: "soft", condition });

/** What a budget has to say of one seat of an event. */
function held(text: string, event: typeof concert, { priceCents, condition }: { priceCents?: number; condition?: string } = {}): string {
  const [section] = event?.sections ?? [];
  if (!event || section === undefined) throw new TypeError("not in the programme");
  const check = budgetCheck(told(text, condition), { event, section: priceCents === undefined ? section : { ...section, priceCents } }, 1);
  return check === null ? "nothing" : outcomes[check.state];
}

test.each([
  ["Budget is 5 euros", "over", "over"],
  ["Budget is 5 euros a ticket", "over", "over"],
  ["Budget is 500 euros", "within", "within"],
  ["For dinner never more than 5 euros", "not for it", "over"],
  ["Gibt zum Essen höchstens 5 Euro aus", "not for it", "over"],
  ["Budget is 5 euros for a concert ticket", "over", "not for it"],
  ["Budget is 5 euros for concerts and for dinner", "over", "over"],
  ["Budget for hotels is 5 euros a night", "not for it", "not for it"],
  ["Budget is 5 euros a ticket in Lisbon", "over", "not for it"],
  ["Höchstens 5 Euro in Lissabon", "over", "not for it"],
  ["Spends 5 euros on Fridays", "over", "not for it"],
  ["Spends 5 euros in August", "not for it", "not for it"],
  ["Budget is 5 euros, but not for dinner", "over", "not for it"],
  ["Höchstens 5 Euro, außer zum Essen", "over", "not for it"],
  ["Budget is 5 euros, except in Lisbon", "not for it", "over"],
  ["Budget is 5 euros, except on Fridays", "not for it", "over"],
  ["Budget is 5 euros, except Lisbon", "not for it", "over"],
  ["Höchstens 5 Euro, außer Wien", "over", "not for it"],
  ["Except for dinner, the budget is 5 euros", "over", "not for it"],
  ["Budget is 5 euros, except when it is special", "over", "over"],
  ["Is on a budget", "nothing", "nothing"],
])("%s × a concert in Lisbon on a Friday: %s; × a dinner in Vienna on a Saturday: %s", (text, ofConcert, ofDinner) => {
  expect([held(text, concert), held(text, dinner)]).toEqual([ofConcert, ofDinner]);
});

test.each([
  ["Never more than 5 euros for football", "not for it", "over"],
  ["Never more than 5 euros for a match", "not for it", "over"],
  ["Never more than 5 euros for jazz", "over", "not for it"],
  ["Never more than 5 euros for a concert or football", "over", "over"],
  ["Never more than 5 euros for a ticket", "over", "over"],
  ["Budget is 5 euros, except for football", "over", "not for it"],
])("%s × a concert: %s; × football: %s", (text, ofConcert, ofMatch) => {
  expect([held(text, concert), held(text, match)]).toEqual([ofConcert, ofMatch]);
});

test.each([
  ["Budget is 5 euros", "for football", "not for it", "over"],
  ["Budget is 5 euros", "except for football", "over", "not for it"],
  ["Höchstens 5 Euro", "außer für Sport", "over", "not for it"],
  ["Budget is 5 euros", "not for football", "over", "not for it"],
  ["Höchstens 5 Euro", "nicht für Sport", "over", "not for it"],
  ["Budget is 5 euros", "apart from Vienna", "over", "not for it"],
  ["Budget is 5 euros", "in Lisbon, except for football", "over", "not for it"],
  ["Budget is 5 euros, except for football", "except for football", "over", "not for it"],
  ["Budget is 5 euros, apart from football", "for football", "over", "not for it"],
  ["Budget is 5 euros, except for football", "except in Lisbon", "not for it", "not for it"],
  ["Budget is 5 euros, except for football", "for concerts", "over", "not for it"],
])("%s, only %s × a concert in Lisbon: %s; × football in Vienna: %s", (text, condition, ofConcert, ofMatch) => {
  expect([held(text, concert, { condition }), held(text, match, { condition })]).toEqual([ofConcert, ofMatch]);
});

test("a price of just so many euros and cents is within", () => {
  expect([1_999, 2_000].map((priceCents) => held("Budget is 19.99 euros", concert, { priceCents }))).toEqual(["within", "over"]);
});

test("a budget for all of it is held against all the seats", () => {
  const event = catalogue.onSale(NOW).find(({ id }) => id === concert?.id);
  const section = event?.sections.find(({ priceCents }) => priceCents === 1_700);
  if (event === undefined || section === undefined) throw new TypeError("not in the programme");
  const memory = told("Budget is 30 euros in all");
  expect(budgetCheck(memory, { event, section }, 1)).toEqual({ state: "met" });
  expect(budgetCheck(memory, { event, section }, 2)).toEqual({ state: "broken", because: "This is €34." });
});
