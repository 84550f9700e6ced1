import { contentWords, NUMBER_WORDS, namesBeside } from "@maitred/offline";
import type { ScriptView } from "maitred";
import { RELATIONS } from "maitred/domain";
import { phrasesIn } from "maitred/stand-in";
import { SECTION_NAMES } from "../catalogue.js";
import lists from "../data/script.json" with { type: "json" };
import { says, wordSet } from "../phrases.js";
import type { City, Diet, Genre, Kind, PartOfDay } from "../vocabulary.js";
import { type Days, daysIn, partOfDayIn, withDaysSpelt } from "./dates.js";
import { citiesIn, dietsIn, genresIn, genresLeftOutIn, kindsIn, partyIn, priceIn } from "./words.js";

/** What the message itself asks for. */
export interface Wish {
  readonly genres: readonly Genre[];
  /** That are to be left out. */
  readonly notGenres: readonly Genre[];
  readonly kind: Kind | undefined;
  readonly city: City | undefined;
  readonly days: Days | undefined;
  readonly partOfDay: PartOfDay | undefined;
  readonly maxPrice: number | undefined;
  readonly party: number | undefined;
  readonly stepFree: boolean;
  readonly diet: Diet | undefined;
  /** Words that mean nothing else: a name, a title. The empty string where there are none. */
  readonly text: string;
  /** Whether it names nothing of a catalogue but, perhaps, a name. */
  readonly empty: boolean;
}

/** Words around a request that name nothing in a catalogue. */
const AROUND: ReadonlySet<string> = new Set([
  ...SECTION_NAMES.flatMap((name) => name.split(" ")),
  ...wordSet("around"),
  ...phrasesIn([...lists.greeting, ...lists.thanking]).filter((phrase) => !phrase.includes(" ")),
  ...Object.keys(NUMBER_WORDS),
  ...RELATIONS.flat(),
]);

export function wishIn(said: string, { now, timeZone }: Pick<ScriptView, "now" | "timeZone">): Wish {
  const message = withDaysSpelt(said);
  const dated = daysIn(message, now, timeZone);
  const timed = partOfDayIn(message, dated?.words);
  const notGenres = genresLeftOutIn(message);
  const named = {
    genres: genresIn(message).filter((genre) => !notGenres.includes(genre)),
    notGenres,
    kind: kindsIn(message)[0],
    city: citiesIn(message)[0],
    days: dated?.days,
    maxPrice: priceIn(message),
    stepFree: says(message, "step_free"),
    diet: dietsIn(message)[0],
  };
  const empty = Object.values(named).every(
    (value) => value === undefined || value === false || (Array.isArray(value) && value.length === 0),
  );
  return {
    ...named,
    partOfDay: timed?.part,
    party: partyIn(message),
    text: nameIn(withoutCompany(message.replace(dated?.words ?? "", " ").replace(timed?.words ?? "", " "))),
    empty,
  };
}

/** Who comes along is no title. */
function withoutCompany(text: string): string {
  return namesBeside(text).reduce((left, name) => left.replaceAll(name, " "), text);
}

/** What a search takes of a name, in characters and words. */
const MAX_NAME = 200;
const MAX_NAME_WORDS = 4;

/** What is left of a message when every word with another meaning is taken out. */
function nameIn(text: string): string {
  const left = contentWords(text).filter(
    (word) => !AROUND.has(word) && !/^\d/.test(word) && [genresIn, kindsIn, citiesIn, dietsIn].every((find) => find(word).length === 0),
  );
  return left.length <= MAX_NAME_WORDS ? left.join(" ").slice(0, MAX_NAME) : "";
}
