import { RELATIONS } from "maitred/domain";
import { latinLanguageOf } from "maitred/stand-in";
import { beginsWith, folded, phrase, says } from "../phrases.js";
import { citiesIn, dietsIn, genresIn, kindsIn, partyIn } from "./words.js";

/** Whether a message tells how things are and asks for nothing, in English and, by a few small words, in other languages. */

const LEAD = new RegExp(`^(?:(?:${phrase("lead").source}),?\\s*)*`, "iu");
/** "Hi Ana,", "hello, this is Tom.": a name and a mark behind a greeting. */
const GREETED = /^(?:(?:this is|it's) )?\p{L}[\p{L}'-]{0,30}(?: here)?[,.!;:]/u;
const MARKS = /^[\s,.!;:–—-]+/u;

/**
 * Says how things are, and asks for nothing: neither in a sentence of its own nor by an order behind a comma. `thanked`: thanks before it
 * are no more than a greeting is. Default false. `understood`: something of it was, which is kept. `ofNeed`: it names a
 * need. Default false.
 */
export function onlyTells(said: string, { thanked = false, understood = false, ofNeed = false } = {}): boolean {
  const words = besidesGreeting(folded(said).trim(), thanked);
  const tells = (part: string) => {
    const rest = part.replace(LEAD, "");
    return (beginsWith(rest, "states") || isOfTheirs(rest, { understood, ofNeed })) && !says(part, "wants");
  };
  const others = words.split(/[.!;]\s+/).filter((part) => !tells(part) && part.includes(" "));
  const orders = words.split(/,\s*(?:so |and |please |then )*/).slice(1);
  return (
    tells(words) &&
    !others.some((part) => says(part, "searching", "book") || isWish(part)) &&
    !orders.some((part) => beginsWith(part, "request") || isWish(part))
  );
}

const RELATION = `^(?:the )?(?:${RELATIONS.flat().join("|")})`;
const THEIRS = new RegExp(`${RELATION}(?!\\p{L})`, "iu");
/** "Mum's deaf". */
const THEIRS_IS = new RegExp(`${RELATION}['’]s `, "iu");

/**
 * "Dad is in a wheelchair", "the kids are coming too", "she is vegan": of who comes along, and nothing that could be looked for. "Family
 * dinner" and "she fancies jazz" are wishes.
 */
function isOfTheirs(part: string, { understood, ofNeed }: { readonly understood: boolean; readonly ofNeed: boolean }): boolean {
  const isOfWhat = genresIn(part).length > 0 || kindsIn(part).length > 0;
  const names = understood ? THEIRS.test(part) : ofNeed && THEIRS_IS.test(part);
  const isTold = (names && !isOfWhat) || (THEIRS.test(part) && says(part, "tells_of"));
  if (!(isTold || beginsWith(part, "of_theirs")) || (isOfWhat && !understood)) return false;
  return !says(part, "searching", "request", "book", "places", "soon", "wishes") && citiesIn(part).length === 0;
}

/** "Table for two in Vienna": of nobody, what, and for how many, where or when. */
function isWish(part: string): boolean {
  const isOfWhat = says(part, "places") || kindsIn(part).length > 0 || genresIn(part).length > 0;
  if (!isOfWhat || says(part, "states", "of_us")) return false;
  return partyIn(part) !== undefined || citiesIn(part).length > 0 || says(part, "soon");
}

/** "Hello there! …": a greeting asks for nothing. */
function besidesGreeting(words: string, thanked: boolean): string {
  const list = beginsWith(words, "greeting") ? "greeting" : thanked && beginsWith(words, "thanking") ? "thanking" : null;
  if (list === null) return words;
  const rest = words.replace(phrase(list), "").replace(MARKS, "");
  const name = GREETED.exec(rest)?.[0] ?? "";
  const isWord = beginsWith(name, "states") || [genresIn, kindsIn, citiesIn, dietsIn].some((find) => find(name).length > 0);
  return rest.slice(isWord ? 0 : name.length).replace(MARKS, "");
}

/** Whether a message is in another language than English: by its script, or by the small words that it uses most. */
export function isAbroad(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return latin < letters / 2 || latinLanguageOf(folded(text).match(/[\p{L}\p{N}]+/gu) ?? []) !== "english" || says(text, "abroad");
}

/** Tells something of the guest in another language, as far as a few small words show. */
export function tellsAbroad(text: string): boolean {
  return isAbroad(text) && says(text, "i_abroad") && !says(text, "wants_abroad");
}
