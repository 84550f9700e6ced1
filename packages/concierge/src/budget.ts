import type { Memory, NeedCheck } from "maitred";
import { type MemoryOccasions, numberIn, RecallWords } from "maitred/domain";
import { anyPhrase, isStopWord, latinLanguageOf, phrasesIn, wordsIn } from "maitred/stand-in";
import type { CatalogueEvent, Seats } from "./catalogue.js";
import { CONCIERGE_CATEGORIES } from "./categories.js";
import lists from "./data/script.json" with { type: "json" };
import { weekdayOf } from "./local-time.js";
import { euros } from "./money.js";
import { says } from "./phrases.js";
import { CONCIERGE_RECALL } from "./recall-table.js";
import { citiesIn, genresIn, kindsIn } from "./script/words.js";
import { type City, type Kind, kindOf } from "./vocabulary.js";

/** The category of what a guest wants to spend: its statements are limits, also those that need not hold. */
export const BUDGET = "budget";

const CATEGORY = CONCIERGE_CATEGORIES.find(({ name }) => name === BUDGET);
const EXCEPT = anyPhrase(phrasesIn(lists.excepts));
/** "Not for football", as a condition: in a sentence it may be "not more than 50, not for any match". */
const EXCEPT_WHEN = anyPhrase(phrasesIn([...lists.excepts, ...lists.not_when]));
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
  if (!isFor(budget.for, event) || budget.butFor.some((scope) => isFor(scope, event))) return { state: "moot" };
  const cost = ofAll ? section.priceCents * quantity : section.priceCents;
  return cost > Math.round(limit * 100) ? { state: "broken", because: `This is ${euros(cost)}.` } : { state: "met" };
}

/** What the guest's words say that a budget is for. */
interface Scope {
  readonly its: MemoryOccasions;
  readonly kinds: readonly Kind[];
  readonly cities: readonly City[];
}

interface Budget {
  readonly limit: number | null;
  readonly ofAll: boolean;
  readonly for: Scope;
  /** "Except for football". Empty: it is for all of that. */
  readonly butFor: readonly Scope[];
}

/** A memory is held against many seats: it is read once. */
const read = new WeakMap<Memory, Budget>();
/** Made where it is first needed: the table of all languages takes some time. */
let table: RecallWords | undefined;
const wordsOfOccasions = () => {
  table ??= new RecallWords(CONCIERGE_RECALL);
  return table;
};

function readBudget(memory: Memory): Budget {
  const [text, but] = withoutException(memory.text, EXCEPT);
  const [condition, butThen] = withoutException(memory.condition, EXCEPT_WHEN);
  // "Except for football", and again as "for football".
  const repeats = but !== null && tellingIn(condition).every((word) => tellingIn(but).includes(word));
  const budget = {
    limit: numberIn(memory.text),
    ofAll: says(memory.text, "total"),
    for: scopeOf({ ...memory, text, condition: repeats ? "" : condition }),
    butFor: [but, butThen].flatMap((words) => (words === null ? [] : exceptionOf(memory, words))),
  };
  read.set(memory, budget);
  return budget;
}

/** "Budget is 50, except for football", "except for football the budget is 50": what it is for, and what it is not. */
function withoutException(text: string, except: RegExp): readonly [said: string, but: string | null] {
  const found = except.exec(text);
  if (found === null) return [text, null];
  const [before, behind] = [text.slice(0, found.index), text.slice(found.index + found[0].length)];
  const end = before.trim() === "" ? behind.indexOf(",") : -1;
  // "Besides my budget is 50 for concerts".
  if (before.trim() === "" && end === -1 && /\d/u.test(behind)) return [text, null];
  return end === -1 ? [before, behind] : [behind.slice(end + 1), behind.slice(0, end)];
}

/** Its words that are more than grammar. */
function tellingIn(text: string): readonly string[] {
  const words = wordsIn(text);
  const language = latinLanguageOf(words);
  return words.filter((word) => !isStopWord(word, language));
}

/** Nothing where the words name nothing that a seat is told by: "except when it is special". */
function exceptionOf(memory: Memory, words: string): readonly Scope[] {
  const scope = scopeOf({ ...memory, text: words, aspect: "", condition: "" });
  const { its, cities } = scope;
  if (!isNarrow(scope)) return [];
  // "Except Vienna": a city needs no word of a place before it.
  return [{ ...scope, its: { ...its, places: its.places.length > 0 ? its.places : cities.flatMap(wordsIn) } }];
}

function scopeOf(memory: Memory): Scope {
  const said = `${memory.text} ${memory.condition}`;
  const kinds = [...kindsIn(said), ...genresIn(said).map(kindOf)];
  return { its: wordsOfOccasions().ofMemory(memory, CATEGORY), kinds, cities: citiesIn(said) };
}

function isNarrow({ its: { named, places, weekdays, months }, kinds, cities }: Scope): boolean {
  return named.size + places.length + weekdays.size + months.size + kinds.length + cities.length > 0;
}

function isFor(
  { its, kinds, cities }: Scope,
  { kind, city, venue, day }: Pick<CatalogueEvent, "kind" | "city" | "venue" | "day">,
): boolean {
  const differences = wordsOfOccasions().differencesOf(its, {
    things: kind === "dining" ? DINING : OTHERS,
    words: new Set([...wordsIn(`${city} ${venue}`), ...(cities.includes(city) ? its.places : [])]),
    weekdays: new Set([(weekdayOf(day) + DAYS_OF_WEEK - 1) % DAYS_OF_WEEK]),
    months: new Set([Number(day.slice(5, 7)) - 1]),
  });
  return differences.size === 0 && (kinds.length === 0 || kinds.includes(kind));
}
