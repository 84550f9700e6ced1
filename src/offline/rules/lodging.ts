import { foldText } from "../../platform/language/lexicon.js";
import { type Shape, shape } from "./draft.js";
import { capital, inThirdPerson } from "./third-person.js";

/** Hotels: what a room, its bed and a stay are like. English. */

/** What says that it is about a stay, and what of it; the first that fits. */
const OF_A_STAY: readonly (readonly [aspect: string, RegExp])[] = [
  ["check-in", /\b(?:late|early)?[ -]?check(?:s|ing)?[ -]?(?:in|out)\b/iu],
  ["breakfast", /\bbreakfasts?\b/iu],
  ["pillows", /\b(?:pillows?|duvets?|bedding|bed linen|feather(?:s|-free)?|blankets?)\b/iu],
  [
    "bed",
    /\b(?:mattress(?:es)?|bunk ?beds?|(?:king|queen|twin|double|single|separate|firm|soft|extra|big|proper|comfy|comfortable|hard)[- ]?(?:size[d]? )?beds?|beds?)\b/u,
  ],
  [
    "floor",
    /\b(?:(?:high(?:er)?|low(?:er)?|upper|top|ground|first|second|third|lowest|highest|\d+(?:st|nd|rd|th))[- ]floors?|higher up|lower down)\b/iu,
  ],
  [
    "quiet",
    /\b(?:light sleeper|(?:next to|near|beside|by|above|away from|far from|close to|opposite|facing|face|faces|overlook(?:ing|s)?) the (?:lifts?|elevators?|street|road|main road|ice machine|stairwell|car park|courtyard|bins|motorway|pool)|quiet(?:er)? (?:rooms?|floors?|side)|street noise|noisy rooms?|earplugs)\b/iu,
  ],
  ["bathroom", /\b(?:bath ?tubs?|baths?|bathrooms?|showers?|walk-in shower|ensuite|en-suite)\b/u],
  [
    "view",
    /\b(?:(?:sea|ocean|lake|garden|mountain|city|river|park|courtyard|harbour|pool|side) views?|rooms? with (?:a|some|any) (?:nice |good |great )?view)\b/iu,
  ],
  [
    "temperature",
    /\b(?:air[- ]?con(?:ditioning)?|aircon|air[- ]conditioned|heating|fan in the room|windows? that opens?|opening windows?)\b/iu,
  ],
  ["curtains", /\b(?:black-?out (?:curtains|blinds|shades)|curtains|shutters)\b/iu],
  ["parking", /\bparking(?: space)?\b/iu],
  ["amenities", /\b(?:pool|gym|spa|sauna|mini-?bar|kettle|wi-?fi|room service|kitchenette|cots?|crib|travel cot|desk|laundry)\b/iu],
  ["room", /\b(?:rooms?|suites?|apartments?|b&bs?|hostels?)\b/iu],
];
/** Rooms in which one doesn't sleep. */
const NO_BEDROOM =
  /\b(?:dark|small|closed|crowded|dining|function|meeting|waiting|concert|escape|tea|quiz|legroom|standing|green|seats?|tables?|tickets?|shows?) rooms?\b|\blegroom\b|\broom for\b|\b(?:the )?(?:\p{Lu}\p{L}+ )+Room\b/u;

/** The aspect of a stay that the phrase is about; null where it is about none. */
export function stayAspect(phrase: string): string | null {
  if (NO_BEDROOM.test(phrase)) return null;
  return OF_A_STAY.find(([, pattern]) => pattern.test(phrase))?.[0] ?? null;
}

const stay = (text: string, aspect: string) => ({ category: "other", aspect, text });

export const LODGING: readonly Shape[] = [
  shape(/^I am an? (?<what>(?:very |really )?(?:light|bad|poor|restless|heavy) sleeper)$/iu, ({ what = "" }) =>
    stay(`Is a ${what.toLowerCase()}`, "quiet"),
  ),
  shape(/^I (?:sleep|wake up|can not sleep|get no sleep|do not sleep) .{3,60}$/iu, (_, { text }) => {
    const aspect = stayAspect(text);
    return aspect === null && !/\b(?:noise|noisy|dark|light|hot|warm|soft|hard|cold)\b/iu.test(text)
      ? null
      : stay(inThirdPerson(text), aspect ?? "quiet");
  }),
  shape(/^I check (?:in|out) (?:very |quite |rather )?(?:late|early|online|before|after|around|at)\b.*$/iu, (_, { text, usual }) =>
    usual ? stay(`Usually checks${text.slice("I check".length)}`, "check-in") : null,
  ),
  shape(
    /^I (?:never bother with|skip|never eat|do not eat|do not need|never take|never have) (?<what>(?:the |a )?(?:hotel )?breakfast)(?: .{0,30})?$/iu,
    (_, { text, usual }) => (usual || /not|never/iu.test(text) ? stay(inThirdPerson(text), "breakfast") : null),
  ),
  shape(/^I (?:do not|never|will not) (?:stay|book|sleep) (?:in |at )?(?<what>.+) without (?<need>.+)$/iu, (_, { text }) =>
    stay(inThirdPerson(text), stayAspect(text) ?? "hotel"),
  ),
  shape(/^I can not (?:do|live|sleep|manage|stay) without (?<what>.+)$/iu, ({ what = "" }, { text }) => {
    const aspect = stayAspect(what);
    return aspect === null ? null : stay(inThirdPerson(text), aspect);
  }),
  shape(/^I (?:have|eat|take|order) (?:my )?breakfast (?:in|at) .{3,40}$/iu, (_, { text, usual }) =>
    usual ? stay(inThirdPerson(text), "breakfast") : null,
  ),
  shape(/^(?:put|book|give|get) me (?:in |into )?(?:an? |the )?(?<what>.+)$/iu, ({ what = "" }, { usual }) => {
    const aspect = stayAspect(what);
    return usual && aspect !== null && !/\b(?:seats?|rows?|tables?|front|back)\b/iu.test(what) ? stay(`Wants ${what}`, aspect) : null;
  }),
  // "I need a firm mattress because of my back" must hold; what is only asked for today is no need.
  shape(
    /^I (?:need|require|must have|have to have) (?:an? |the |some |my )?(?<what>.+?)(?<why> (?:because|due to|on account of|for my|since|as I) .+)?$/iu,
    ({ what = "", why = "" }, { usual, passing }) => {
      const aspect = stayAspect(what);
      if (aspect === null || (!usual && why === "" && !passing)) return null;
      if (passing && !usual && why === "" && aspect !== "amenities") return null;
      return {
        ...stay(`Needs ${what}`, aspect === "amenities" || aspect === "room" ? foldText(what).slice(0, 64) : aspect),
        ...(why === "" ? {} : { strength: "hard" as const }),
      };
    },
  ),
  shape(/^(?:never|do not(?: ever)?) (?:put|book|give|place) me (?<where>.+)$/iu, ({ where = "" }) => {
    const aspect = /^(?:in|on|at) the (?:front|back|first|last)/iu.test(where) ? null : stayAspect(where);
    return aspect === null ? null : stay(`Never ${where}`, aspect);
  }),
  shape(/^(?:an? |the )?(?<what>[\p{L}\d -]{3,40}?) (?:minimum|at least|only)(?: for me)?$/iu, ({ what = "" }, { usual, text }) => {
    const aspect = stayAspect(what);
    return usual && aspect !== null ? stay(capital(text.replace(/ for me$/iu, "")), aspect) : null;
  }),
];
