import type { ScriptView } from "../../ports/offline-script.js";
import { RELATIONS } from "../companions.js";
import { NUMBER_WORDS } from "../number-words.js";
import { wordSet } from "../phrases.js";
import type { City, Diet, Genre, Kind } from "../vocabulary.js";
import { type Days, daysIn } from "./dates.js";
import { contentWords } from "./facts.js";
import { cityIn, dietIn, genresIn, kindIn, partyIn, priceIn, wantsStepFree } from "./words.js";

/** What the message itself asks for. */
export interface Wish {
  readonly genres: readonly Genre[];
  readonly kind: Kind | undefined;
  readonly city: City | undefined;
  readonly days: Days | undefined;
  readonly maxPrice: number | undefined;
  readonly party: number | undefined;
  readonly stepFree: boolean;
  readonly diet: Diet | undefined;
  /** Words that mean nothing else: a name, a title. The empty string where there are none. */
  readonly text: string;
}

/** Words around a request that name nothing in a catalogue. */
const AROUND: ReadonlySet<string> = new Set([...wordSet("around"), ...Object.keys(NUMBER_WORDS), ...RELATIONS.flat()]);

export function wishIn(view: ScriptView): Wish {
  const { message } = view;
  const dated = daysIn(message, view.now, view.timeZone);
  const genres = genresIn(message);
  return {
    genres,
    kind: kindIn(message),
    city: cityIn(message),
    days: dated?.days,
    maxPrice: priceIn(message),
    party: partyIn(message),
    stepFree: wantsStepFree(message),
    diet: dietIn(message),
    text: nameIn(dated === undefined ? message : message.replace(dated.words, " ")),
  };
}

export function isEmpty(wish: Wish): boolean {
  const { genres, kind, city, days, maxPrice, stepFree, diet } = wish;
  return (
    genres.length === 0 &&
    kind === undefined &&
    city === undefined &&
    days === undefined &&
    maxPrice === undefined &&
    !stepFree &&
    diet === undefined
  );
}

/** What a search takes of a name, in characters. */
const MAX_NAME = 200;

/** What is left of a message when every word with another meaning is taken out: at most four words, in order. */
function nameIn(text: string): string {
  const left = contentWords(text).filter((word) => {
    if (AROUND.has(word) || /^\d/.test(word)) return false;
    return genresIn(word).length === 0 && kindIn(word) === undefined && cityIn(word) === undefined && dietIn(word) === undefined;
  });
  return left.length <= 4 ? left.join(" ").slice(0, MAX_NAME) : "";
}
