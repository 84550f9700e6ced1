import { conceptOf, foldText } from "../../platform/language/lexicon.js";
import { type Draft, itemsOf, need, type Shape, shape } from "./draft.js";
import { diet, dietIn } from "./needs.js";
import { inThirdPerson } from "./third-person.js";

/** What a guest doesn't take, told sideways: given up, a no-go, off the table, an EpiPen for it. English. */

/** What was said of a list, said of one item of it. */
const insteadOf = (text: string, list: string) => (item: string) =>
  inThirdPerson(text.replace(list, () => item).replace(/ (?:for|to) me$/iu, ""));

/** A draft for each thing of a list that is eaten or drunk; none where one of them isn't. */
function each(list: string, text: (item: string) => string): Draft[] | null {
  const items = itemsOf(list.replace(/^(?:all|any|eating|drinking|having) /iu, ""));
  const drafts = items.map((item) => {
    const plain = item.replace(/^no /iu, "");
    // "Raw fish" is fish, "tree nuts" are nuts.
    const substance = conceptOf(plain, "substance") ?? conceptOf(plain.replace(/^\p{L}+ /u, ""), "substance");
    if (substance === null) return null;
    if (substance.name === "meat") return need("dietary", "diet", text("meat"));
    return need("dietary", substance.name, text(item.replace(/^no /iu, "").toLowerCase()));
  });
  return drafts.every((draft) => draft !== null) ? (drafts as Draft[]) : null;
}

const ONLY_FOR_ME = "(?: for me| for us)?";

export const AVOIDANCES: readonly Shape[] = [
  shape(
    new RegExp(
      `^(?<what>.{3,50}?) (?:is|are) (?:an? |my |absolutely |definitely |strictly )*(?:no-go|no go|no-no|off[- ]limits|off the (?:table|menu)|out of the question|deal-?breaker|out|forbidden|poison|lethal|deadly|taboo)${ONLY_FOR_ME}$`,
      "iu",
    ),
    ({ what = "" }, { text }) => each(what, /\bno\b/iu.test(text) ? (item) => `Cannot have ${item}` : insteadOf(text, what)),
  ),
  shape(
    /^I (?:have |had to |have had to |will )?(?:give|gave|given|cut|came|come|went) (?:up|out|off)(?: on)? (?<what>[\p{L} ,-]+?)(?: completely| entirely| altogether| for good| (?:last|in|two|three|a|some|many|ten|five|\d+|this|years|months|since|after|when|for|on)\b.*)?$/iu,
    ({ what = "" }, { text }) => each(what, insteadOf(text, what)),
  ),
  shape(
    /^I (?:have )?(?:stopped|quit) (?:eating|drinking|having) (?<what>[\p{L} ,-]+?)(?: completely| altogether| (?:last|in|two|three|a|some|many|\d+|this|since|after|when)\b.*)?$/iu,
    ({ what = "" }, { text }) => each(what, insteadOf(text, what)),
  ),
  shape(
    /^I (?:do not|never) (?:do|touch|drink|have)(?: any)? (?<what>[\p{L} ,-]+?)(?: in my (?:house|family|home))?$/iu,
    ({ what = "" }, { text }) => each(what, (item) => `${/never/iu.test(text) ? "Never has" : "Does not have"} ${item}`),
  ),
  shape(
    /^I (?:must|have to|need to|try to|should|am trying to|am supposed to|am meant to|am told to) (?:avoid|stay away from|steer clear of|stay off|keep off|keep away from|cut out|go without) (?<what>[\p{L} ,-]+)$/iu,
    ({ what = "" }, { text }) => each(what, insteadOf(text, what)),
  ),
  shape(
    /^(?<what>[\p{L} ,-]{3,40}?) (?:could|would|will|might|can) (?:literally )?(?:kill|finish|hospitali[sz]e) me$/iu,
    ({ what = "" }, { text }) => each(what, insteadOf(text, what)),
  ),
  shape(
    /^I (?:break out in|come out in|get|swell up|come up in) (?:hives|a rash|spots|blotches)? ?(?:from|when I (?:eat|have|touch)|after eating|if I (?:eat|have|touch)) (?<what>[\p{L} ,-]+)$/iu,
    ({ what = "" }, { text }) => each(what, insteadOf(text, what)),
  ),
  shape(
    /^my (?:body|stomach|system|gut|skin) (?:does not|do not|can not|will not) (?:tolerate|handle|like|take|cope with|agree with|digest) (?<what>[\p{L} ,-]+)$|^(?<what2>[\p{L} -]+) (?:does not|do not) agree with me$/iu,
    ({ what = "", what2 = "" }) => each(what || what2, (item) => `Cannot have ${item}`),
  ),
  shape(
    /^I carry (?:an? |my )?(?:epi-?pens?|adrenaline)\b.*?\b(?:because of|for|due to|on account of) my (?:severe |bad |serious )?(?<what>[\p{L}-]+) allergy$/iu,
    ({ what = "" }) => each(what, (item) => `Has ${item} allergy`),
  ),
  // "no pork for me"; a bare "no onions, please" is about one dish.
  shape(/^(?:absolutely |strictly )?no (?<what>[\p{L} ,-]+?)(?<me> for me)?$/iu, ({ what = "", me = "" }, { reasoned }) =>
    me === "" && !reasoned ? null : each(what, (item) => `No ${item}`),
  ),
  shape(/^I eat (?<what>[\p{L} ,-]+) but (?:no|not) (?<not>[\p{L} ,-]+)$/iu, ({ not = "" }) => each(not, (item) => `Does not eat ${item}`)),
  shape(
    /^(?:everything|all (?:the |my )?food|the food|it|my food|my meals?|meals) (?:has|have|needs?|must)(?: to)? be (?<what>[\p{L}-]+)(?: for me)?$/iu,
    ({ what = "" }) => (dietIn(what) === null ? null : diet(what)),
  ),
  shape(
    /^I am (?:one of (?:those|these|the) |a bit of an? |just an? |basically )?(?:an? )?(?:annoying |boring |strict |proud |lifelong |happy |difficult |fussy |committed |die-hard )*(?<what>[\p{L}-]+?)s?$/iu,
    ({ what = "" }) => (dietIn(what) === null ? null : diet(dietIn(what) ?? what)),
  ),
  shape(
    /^I (?:am on|follow|have|keep to|stick to|eat|am keeping to|am following) (?:an? |my )?(?:very |strict |strictly |mostly )*(?<what>(?:low|high)-\p{L}+|\p{L}+-free|plant-based|diabetic|renal|fodmap|ketogenic|bland|soft|liquid)(?: diet| food)$/iu,
    ({ what = "" }, { text }) => need("dietary", /-free$/u.test(what) ? substanceIn(what) : "diet", inThirdPerson(text)),
  ),
];

function substanceIn(free: string): string {
  const plain = free.replace(/-free$/iu, "");
  return conceptOf(plain, "substance")?.name ?? foldText(plain);
}
