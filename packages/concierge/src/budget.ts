import type { Memory, NeedCheck } from "maitred";
import { numberIn, RecallWords } from "maitred/domain";
import { plain } from "maitred/stand-in";
import type { CatalogueEvent, Seats } from "./catalogue.js";
import { CONCIERGE_CATEGORIES } from "./categories.js";
import { weekdayOf } from "./local-time.js";
import { euros } from "./money.js";
import { says } from "./phrases.js";
import { CONCIERGE_RECALL } from "./recall-table.js";
import { citiesIn, kindsIn } from "./script/words.js";

/** The category of what a guest wants to spend: its statements are limits, also those that need not hold. */
export const BUDGET = "budget";

const CATEGORY = CONCIERGE_CATEGORIES.find(({ name }) => name === BUDGET);
const DAYS_OF_WEEK = 7;
/** Occasions of what the catalogue has. A seat at a table is one to attend too. */
const DINING = ["eat", "drink", "attend"];
const OTHERS = ["attend"];

let words: RecallWords | undefined;

/**
 * What a guest said that a seat, or all of it, may cost, held against `quantity` seats. One for something else, as a meal or a hotel, for
 * another city or another day has nothing to say of them. Null where no one number is named.
 */
export function budgetCheck(memory: Memory, { event, section }: Seats, quantity: number): NeedCheck | null {
  const limit = numberIn(memory.text);
  if (limit === null) return null;
  if (!isFor(memory, event)) return { state: "moot" };
  const cost = says(memory.text, "total") ? section.priceCents * quantity : section.priceCents;
  return cost > limit * 100 ? { state: "broken", because: `This is ${euros(cost)}.` } : { state: "met" };
}

function isFor(memory: Memory, { kind, city, venue, day }: CatalogueEvent): boolean {
  // Read once: the table of all languages takes some time.
  words ??= new RecallWords(CONCIERGE_RECALL);
  const { named, places, weekdays, months } = words.ofMemory(memory, CATEGORY);
  const said = `${memory.text} ${memory.condition}`;
  const things = words.thingsOf(named);
  const ofEvent = kind === "dining" ? DINING : OTHERS;
  if (things.length > 0 && !things.some((thing) => ofEvent.includes(thing))) return false;
  const kinds = kindsIn(said);
  if (kinds.length > 0 && !kinds.some((each) => (each === "dining") === (kind === "dining"))) return false;
  const where = plain(`${city} ${venue}`);
  if (places.length > 0 && !places.some((place) => where.includes(place)) && !citiesIn(said).includes(city)) return false;
  if (weekdays.size > 0 && !weekdays.has((weekdayOf(day) + DAYS_OF_WEEK - 1) % DAYS_OF_WEEK)) return false;
  return months.size === 0 || months.has(Number(day.slice(5, 7)) - 1);
}
