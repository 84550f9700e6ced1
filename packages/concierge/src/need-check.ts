import type { Candidate, Memory, Need, Stated } from "maitred";
import { candidateOf as stated } from "maitred/domain";
import { BUDGET, budgetCheck } from "./budget.js";
import type { CatalogueEvent, Seats, Section } from "./catalogue.js";
import { wordsOf } from "./need-words.js";
import { CONCIERGE_NEEDS, isAccess, type NeedName, needMeant } from "./needs.js";

/** The concierge's needs, with what the catalogue states of each. */
export const STATED_NEEDS: readonly Need[] = CONCIERGE_NEEDS.map((need) => ({
  ...need,
  states: (item) => statedOf(need.name, item as Seats),
  because: (item) => wordsOf(need.name).because(item as Seats),
}));

/** Seats in a section of an event, as the gate judges them. `quantity`: default 1. */
export function candidateOf(event: CatalogueEvent, section: Section, quantity = 1): Candidate {
  const { startsAt, check } = stated({ event, section }, event.title, event.startsAt, { needs: STATED_NEEDS, needMeant });
  const budgetOf = (memory: Memory) => (memory.category === BUDGET ? budgetCheck(memory, { event, section }, quantity) : null);
  return { startsAt, check: (memory) => budgetOf(memory) ?? check(memory) };
}

function statedOf(name: NeedName, { event, section }: Seats): Stated {
  // What is eaten is moot where nothing is served.
  if (!isAccess(name) && event.kitchen === null) return "moot";
  const all = [section.states, event.states];
  if (all.some(({ breaks }) => breaks.includes(name))) return false;
  return all.some(({ meets }) => meets.includes(name)) || "unknown";
}
