import type { Need } from "maitred";
import { plain } from "maitred/stand-in";
import spellingsOfNeeds from "./need-spellings.json" with { type: "json" };
import { CONCIERGE_WORDS } from "./words.js";

/** What may have to hold when the concierge books something; the catalogue states by these names what an event meets. */

const need = <const Name extends keyof typeof spellingsOfNeeds>(name: Name, description: string) => ({
  name,
  description,
  spellings: spellingsOfNeeds[name] as readonly string[],
  words: CONCIERGE_WORDS.needs.flatMap((each) => (each.need === name ? each.words : [])),
});

/** How one gets in, hears and sees. */
const ACCESS = [
  need("step_free", "no stairs or steps on the way to the seat: wheelchair, walking aid, pram, or stairs are hard"),
  need("hearing_loop", "a hearing loop for hearing aids"),
  need("assistance_dog", "comes with a guide dog or another assistance dog"),
] as const;

/** What one eats; asked for where something is served. */
const DIETS = [
  { ...need("vegetarian", "no meat and no fish"), slot: "diet", holds: ["no_fish", "no_shellfish", "other"] },
  {
    ...need("vegan", "nothing from animals"),
    slot: "diet",
    holds: ["vegetarian", "pescatarian", "no_fish", "no_shellfish", "no_lactose", "no_egg", "other"],
  },
  { ...need("pescatarian", "no meat, but fish"), slot: "diet", holds: ["other"] },
  { ...need("halal", "halal food"), holds: ["other"] },
  { ...need("kosher", "kosher food"), holds: ["other", "no_shellfish"] },
] as const;

/** What must not be in the food. */
const WITHOUT = [
  need("no_nuts", "allergic to or without nuts: tree nuts, peanuts, almonds and the like"),
  need("no_gluten", "without gluten: coeliac disease, wheat allergy"),
  need("no_lactose", "without milk or lactose"),
  need("no_shellfish", "without shellfish: crustaceans and molluscs"),
  need("no_fish", "without fish, for an allergy or intolerance"),
  need("no_egg", "without egg"),
  need("no_soy", "without soy"),
  need("no_sesame", "without sesame"),
] as const;

export type AccessName = (typeof ACCESS)[number]["name"];
export type DietName = (typeof DIETS)[number]["name"];
export type WithoutName = (typeof WITHOUT)[number]["name"];
export type NeedName = AccessName | DietName | WithoutName;

export function isAccess(name: NeedName): name is AccessName {
  return ACCESS.some((each) => each.name === name);
}

export function isDiet(name: NeedName): name is DietName {
  return DIETS.some((each) => each.name === name);
}

export const CONCIERGE_NEEDS: readonly (Need & { readonly name: NeedName })[] = [...ACCESS, ...DIETS, ...WITHOUT];

/** The need that a memory's is, by its name or by another spelling; null where it is none of the concierge's. */
export function needMeant(said: string | null): NeedName | null {
  const name = spelt(said ?? "");
  return CONCIERGE_NEEDS.find((each) => spelt(each.name) === name || each.spellings?.includes(name))?.name ?? null;
}

function spelt(name: string): string {
  return plain(name)
    .replace(/[\s_-]+/gu, " ")
    .trim();
}
