import type { Memory, NeedCheck } from "maitred";
import { numberIn, RecallWords } from "maitred/domain";
import { plain } from "maitred/stand-in";
import type { CatalogueEvent, Seats } from "./catalogue.js";
import { CONCIERGE_CATEGORIES } from "./categories.js";
import { weekdayOf } from "./local-time.js";
import { euros } from "./money.js";
import { says } from "./phrases.js";
import { CONCIERGE_RECALL } from "./recall-table.js";
import { citiesIn, genresIn, kindsIn } from "./script/words.js";
import { kindOf } from "./vocabulary.js";

/** The category of what a guest wants to spend: its statements are limits, also those that need not hold. */
export const BUDGET = "budget";

const CATEGORY = CONCIERGE_CATEGORIES.find(({ name }) => name === BUDGET);
const DAYS_OF_WEEK = 7;
/** Occasions of what the catalogue has. A seat at a table is one to attend too. */
const DINING = ["eat", "drink", "attend"];
const OTHERS = ["attend"];

/**
 * What a guest said that a seat, or all of it, may cost, held against `quantity` seats. One for something else, as a hotel or another
 * kind of event, for another city or another day has nothing to say of them. Null where no one number is named.
 */
export function budgetCheck(memory: Memory, { event, section }: Seats, quantity: number): NeedCheck | null {
  const budget = read.get(memory) ?? readBudget(memory);
  const { limit, ofAll } = budget;
  if (limit === null) return null;
  if (!isFor(budget, event)) return { state: "moot" };
  const cost = ofAll ? section.priceCents * quantity : section.priceCents;
  return cost > Math.round(limit * 100) ? { state: "broken", because: `This is ${euros(cost)}.` } : { state: "met" };
}

type Budget = ReturnType<typeof readBudget>;

/** A memory is held against many seats: it is read once. */
const read = new WeakMap<Memory, Budget>();
/** Made where it is first needed: the table of all languages takes some time. */
let words: RecallWords | undefined;

function readBudget(memory: Memory) {
  words ??= new RecallWords(CONCIERGE_RECALL);
  const { named, places, weekdays, months } = words.ofMemory(memory, CATEGORY);
  const said = `${memory.text} ${memory.condition}`;
  const budget = {
    limit: numberIn(memory.text),
    ofAll: says(memory.text, "total"),
    things: words.thingsOf(named),
    kinds: [...kindsIn(said), ...genresIn(said).map(kindOf)],
    places,
    cities: citiesIn(said),
    weekdays,
    months,
  };
  read.set(memory, budget);
  return budget;
}

function isFor(
  { things, kinds, places, cities, weekdays, months }: Budget,
  { kind, city, venue, day }: Pick<CatalogueEvent, "kind" | "city" | "venue" | "day">,
): boolean {
  const ofEvent = kind === "dining" ? DINING : OTHERS;
  if (things.length > 0 && !things.some((thing) => ofEvent.includes(thing))) return false;
  if (kinds.length > 0 && !kinds.includes(kind)) return false;
  if (places.length > 0 && !cities.includes(city) && !isAmong(places, `${city} ${venue}`)) return false;
  if (weekdays.size > 0 && !weekdays.has((weekdayOf(day) + DAYS_OF_WEEK - 1) % DAYS_OF_WEEK)) return false;
  return months.size === 0 || months.has(Number(day.slice(5, 7)) - 1);
}

function isAmong(places: readonly string[], where: string): boolean {
  return places.some((place) => plain(where).includes(place));
}
