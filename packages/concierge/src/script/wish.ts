import { contentWords, NUMBER_WORDS, namesBeside } from "@maitred/offline";
import type { ScriptView } from "maitred";
import { RELATIONS, standsIn } from "maitred/domain";
import { phrasesIn, plain } from "maitred/stand-in";
import { SECTION_NAMES } from "../catalogue.js";
import lists from "../data/script.json" with { type: "json" };
import { says, wordSet } from "../phrases.js";
import { PROGRAMME } from "../programme.js";
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
  /** Of the programme, where the message names one: none of its words means anything else. */
  readonly title: string | undefined;
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
  const title = titleIn(said);
  const message = withDaysSpelt(title === undefined ? said : title.besides);
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
    title: title?.name,
    text:
      title !== undefined
        ? plain(title.name)
        : nameIn(withoutCompany(message.replace(dated?.words ?? "", " ").replace(timed?.words ?? "", " "))),
    empty,
  };
}

const TITLES = [...new Set(PROGRAMME.map(({ title }) => title))].toSorted((a, b) => b.length - a.length);

/** The longest title that stands in a message, in capitals or not where it has several words, and the message without it. */
function titleIn(message: string): { readonly name: string; readonly besides: string } | undefined {
  const text = message.toLowerCase();
  const isWritten = (title: string) => (title.includes(" ") ? text.includes(title.toLowerCase()) : message.includes(title));
  const name = TITLES.find((title) => isWritten(title) && standsIn(title, message));
  if (name === undefined) return undefined;
  const at = text.indexOf(name.toLowerCase());
  return { name, besides: `${message.slice(0, at)} ${message.slice(at + name.length)}` };
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
