import { expect, test } from "vitest";
import { candidateOf } from "../../src/gate/stated.js";
import type { Need, Stated } from "../../src/index.js";
import { constraint } from "../support/constraints.js";

const stating = (states: Stated, more: Partial<Need> = {}): Need => ({ name: "no_nuts", description: "", states: () => states, ...more });
const check = (need: Need, about: string) =>
  candidateOf({}, "Lunch", null, { needs: [need], needMeant: (said) => said }).check(
    constraint("Is allergic", "needs", "self", { need: need.name, about }),
  );

test("of several things that a memory names, a need that must not be there tells one, by its name alone too", () => {
  expect(check(stating(true), "tree nuts")).toEqual({ state: "met" });
  expect(check(stating(true), "nuts and milk")).toMatchObject({ state: "unknown" });
  expect(check(stating(true, { name: "vegan" }), "vegan and likes it")).toEqual({ state: "met" });
});

test("what a need can't be about is nothing to tell, and a domain says why something doesn't meet it", () => {
  expect(check(stating("moot"), "nuts and milk")).toEqual({ state: "moot" });
  expect(check(stating(false), "nuts")).toEqual({ state: "broken", because: '"Lunch" does not meet this: No nuts.' });
  const because = () => "The kitchen can't be cleared of nuts.";
  expect(check(stating(false, { because }), "nuts")).toEqual({ state: "broken", because: because() });
});
