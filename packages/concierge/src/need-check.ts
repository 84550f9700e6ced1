import type { Candidate, Memory, NeedCheck } from "maitred";
import { isOfSeveral } from "maitred/domain";
import type { CatalogueEvent, Section } from "./catalogue.js";
import { CONCIERGE_NEEDS, FOOD_NEEDS, type NeedName, needMeant, SUBSTANCES } from "./needs.js";

/** A section of an event, as the gate judges it. */
export function candidateOf(event: CatalogueEvent, section: Section): Candidate {
  return { startsAt: event.startsAt, check: (memory) => checkMemory(memory, event, section) };
}

/** Of several things that must not be in the food one need tells only one: that it is met says nothing of the others. */
function checkMemory(memory: Memory, event: CatalogueEvent, section: Section): NeedCheck {
  const check = checkNeed(memory.need, event, section);
  const several = SUBSTANCES.has(needMeant(memory.need) ?? "") && isOfSeveral(memory);
  return check.state === "met" && several ? checkNeed("other", event, section) : check;
}

/**
 * Compares a need, by its name, with what the catalogue states of an event and a section. Null, `other` and a name that the concierge
 * doesn't have are unknown.
 */
export function checkNeed(need: string | null, event: CatalogueEvent, section: Section): NeedCheck {
  const name = needMeant(need);
  if (name === null) return { state: "unknown", because: `The catalogue doesn't say whether "${event.title}" suits this.` };
  if (FOOD_NEEDS.has(name) && event.kitchen === null) return { state: "moot" };
  const stated = [section.states, event.states];
  if (stated.some(({ breaks }) => breaks.includes(name))) return { state: "broken", because: whyBroken(name, event, section) };
  if (stated.some(({ meets }) => meets.includes(name))) return { state: "met" };
  return { state: "unknown", because: `The catalogue doesn't say whether "${event.title}" can meet this: ${descriptionOf(name)}.` };
}

function whyBroken(name: NeedName, event: CatalogueEvent, section: Section): string {
  if (name === "step_free") return `${section.name} at ${event.venue} is not step-free. ${event.access}`;
  if (name === "hearing_loop") return `${event.venue} has no hearing loop.`;
  if (name === "assistance_dog") return `${event.venue} does not admit assistance dogs.`;
  if (name.startsWith("no_")) return `"${event.title}" can't be served without ${name.slice("no_".length)}.`;
  return `"${event.title}" offers no ${name} menu.`;
}

function descriptionOf(name: NeedName): string {
  return CONCIERGE_NEEDS.find((each) => each.name === name)?.description ?? name;
}
