import type { NeedName } from "./needs.js";
import type { Kitchen } from "./programme.js";
import type { Diet } from "./vocabulary.js";

/** What the catalogue says of needs: what is in neither list, it doesn't say. */
export interface StatedNeeds {
  readonly meets: readonly NeedName[];
  readonly breaks: readonly NeedName[];
}

/** What a diet's guest can also be served with. */
const SERVED_BY: Readonly<Record<Diet, readonly Diet[]>> = {
  vegetarian: ["vegetarian", "vegan"],
  vegan: ["vegan"],
  halal: ["halal"],
  kosher: ["kosher"],
  pescatarian: ["pescatarian", "vegetarian", "vegan"],
};

interface House {
  readonly hearingLoop: boolean;
  readonly assistanceDogs: boolean;
}

/** A kitchen lists all its menus; of an allergen it may say nothing. */
export function needsOfEvent(house: House, kitchen: Kitchen | null): StatedNeeds {
  const stated: [NeedName, boolean][] = [
    ["hearing_loop", house.hearingLoop],
    ["assistance_dog", house.assistanceDogs],
  ];
  if (kitchen !== null) {
    for (const [diet, menus] of Object.entries(SERVED_BY) as [Diet, readonly Diet[]][])
      stated.push([diet, menus.some((menu) => kitchen.diets.includes(menu))]);
    for (const allergen of kitchen.without) stated.push([`no_${allergen}`, true]);
    for (const allergen of kitchen.contains) stated.push([`no_${allergen}`, false]);
  }
  return sorted(stated);
}

export function needsOfSection(stepFree: boolean): StatedNeeds {
  return sorted([["step_free", stepFree]]);
}

function sorted(stated: readonly (readonly [NeedName, boolean])[]): StatedNeeds {
  const those = (met: boolean) => stated.flatMap(([name, isMet]) => (isMet === met ? [name] : []));
  return { meets: those(true), breaks: those(false) };
}
