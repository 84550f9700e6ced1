import { conceptOf, foldText } from "../../platform/language/lexicon.js";
import { type Draft, itemsOf, need, type Shape, shape } from "./draft.js";
import { capital, inThirdPerson } from "./third-person.js";

/** What must hold: diets, allergies, access. English. */

const DIET =
  "vegetarian|vegan|veggie|pescatarian|pescetarian|flexitarian|lacto-vegetarian|fruitarian|plant-based|raw vegan|keto|paleo|low-?carb|low-?salt|low-?fodmap|sugar-?free|gluten-?free|dairy-?free|lactose-?free|nut-?free";
const RELIGIOUS = "kosher|halal|jain|hindu vegetarian";
const SENSES =
  "deaf|blind|hard of hearing|hearing impaired|partially sighted|visually impaired|short-?sighted|colou?r-?blind|partially deaf|autistic|epileptic|claustrophobic|disabled|paraplegic|tetraplegic|an amputee|deaf in one ear|blind in one eye|pregnant|an? wheelchair user|a wheelchair-user";
const AIDS =
  "wheelchair|mobility scooter|rollator|walker|walking frame|zimmer frame|frame|walking stick|stick|walking cane|cane|white cane|crutches|hearing aids?|cochlear implant|guide dog|assistance dog|service dog|hearing dog|oxygen tank|prosthesis";
const ACCESS_NEEDS =
  "step-?free(?: access| seats?| entrance| route)?|wheelchair(?:-accessible)?(?: access| spaces?| seats?| ramp| place)?|ramps?|ramp access|lifts?|an? elevator|elevators?|accessible (?:seats?|seating|toilets?|parking|entrances?|rooms?|tables?|bathrooms?)|level access|disabled (?:parking|toilet|access)|hearing loops?|induction loops?|subtitles|surtitles|captions?|audio description|sign language(?: interpret(?:er|ation))?|bsl interpretation|braille(?: menus?)?|large[- ]print|companion seats?|carer seats?|carer's ticket|priority seating|handrails?|quiet room|relaxed performances?|no stairs|no steps|no strobe(?: lights?)?|ground-floor (?:rooms?|seats?|tables?)|a fridge for (?:my )?(?:insulin|medication)";
const INGESTED = "eat|have|tolerate|digest|stomach|take|touch|consume|handle";

/** Never a substance: what points, comments, or speaks of people and time. */
const NO_SUBSTANCE =
  /\b(?:i|you|he|she|we|they|it|me|us|my|your|is|are|was|not|to|as|by|if|when|anything|everything|nothing|something|any|life|fun|people|thanks|please|actually|service|manners|money|work(?:ing)?|mornings?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|early|bad|good|talk|music|opera|musicals?|jazz|techno|karaoke|crowds?|noise|queues?|exercise|sports?|football|golf|kids|children|in-laws|stupid|boring|though|too|also|well|life)\b|\p{L}{3}ly$|^\p{L}+ing\b|'/iu;

/**
 * What stands first is what the guest is allergic to; behind a comma only a known substance is, or what a closing "and" makes a
 * list: "peanuts, unfortunately" is one, "bees, wasps and latex" are three.
 */
function allergies(list: string): Draft[] {
  const said = list.replace(/\s*\b(?:actually|so|which|that|please|and that|and my|but|and I|because|since|in case)\b.*$/iu, "");
  const listed = /,[^,]*\s(?:and|or)\s/iu.test(said) || !said.includes(",");
  return itemsOf(said)
    .filter((item, at) => conceptOf(item, "substance") !== null || ((at === 0 || listed) && isSubstance(item)))
    .map((item) => need("dietary", substanceOf(item), `Is allergic to ${item}`));
}

function isSubstance(item: string): boolean {
  return item.split(/\s+/u).length <= 3 && !NO_SUBSTANCE.test(item);
}

function substanceOf(item: string): string {
  return conceptOf(item, "substance")?.name ?? foldText(item);
}

/** The diet that a word names, plural and all; null for none. */
export function dietIn(word: string): string | null {
  const plain = word.toLowerCase();
  for (const candidate of [plain, plain.replace(/s$/u, "")])
    if (new RegExp(`^(?:${DIET}|${RELIGIOUS})$`, "iu").test(candidate)) return candidate;
  return null;
}

export const diet = (name: string): Draft => {
  const plain = name
    .toLowerCase()
    .replace(/^veggie$/, "vegetarian")
    .replace(/^pescetarian$/, "pescatarian");
  if (/^(?:kosher|halal|jain)$/.test(plain)) return need("dietary", "religious diet", `Eats ${plain}`);
  const free = /^(.+?)-?free$/.exec(plain);
  return free === null
    ? need("dietary", "diet", /^(?:low|high|keto|paleo|plant|raw|fodmap)/.test(plain) ? `Is on a ${plain} diet` : `Is ${plain}`)
    : need("dietary", substanceOf(free[1] ?? plain), `Needs ${plain} food`);
};

const avoided = (list: string): Draft[] =>
  itemsOf(list).flatMap((item) => {
    const known = conceptOf(item, "substance");
    const words = item.split(/\s+/u).length;
    if (known === null && (words > 2 || !/^(?:raw |red |white |fried |cooked |spicy )?[\p{Ll}-]+$/u.test(item))) return [];
    if (
      /^(?:much|that|it|this|anything|out|late|early|there|here|lunch|dinner|breakfast|well|time|stand|wait|see|hear|go|come|make)$/iu.test(
        item,
      )
    )
      return [];
    if (item === "meat") return [need("dietary", "diet", "Does not eat meat")];
    return [need("dietary", known?.name ?? foldText(item), `Does not eat ${item}`)];
  });

const BODY = "legs?|knees?|hips?|back|heart|eyes?|ears?|feet|foot|ankles?|mobility|balance|hearing|eyesight|sight|vision";

export const NEEDS: readonly Shape[] = [
  shape(/^I (?:am|have been|was born) (?:very |mildly |slightly )?allergic (?:to|against) (?<what>.+)$/iu, ({ what = "" }) =>
    allergies(what),
  ),
  shape(
    /^I (?:have|suffer from|have got|have had) (?:an? |some |several )?(?:severe |bad |serious |mild |strong |life-threatening )*(?<what>(?!no\b|any\b)[\p{L} -]+?) allerg(?:y|ies)$/iu,
    ({ what = "" }) => allergies(what),
  ),
  shape(
    /^I (?:have|suffer from|have got) (?:an? |some )?(?:severe |bad |serious |mild |strong )*allerg(?:y|ies) to (?<what>.+)$/iu,
    ({ what = "" }) => allergies(what),
  ),
  shape(
    /^(?<what>[\p{L} -]{3,40}?) (?:makes?|make) me (?:ill|sick|unwell|swell up|vomit|throw up|itch)$|^(?<what2>[\p{L} -]{3,40}?) gives? me (?:hives|a rash|an allergic reaction|anaphylaxis)$/iu,
    ({ what = "", what2 = "" }) => {
      const item = (what || what2).replace(/^(?:eating|drinking) /iu, "");
      return conceptOf(item, "substance") === null ? null : need("dietary", substanceOf(item), `Gets ill from ${item.toLowerCase()}`);
    },
  ),
  shape(
    /^I am (?:very |highly |mildly )?(?<what>[\p{L}-]+)[ -]intolerant$|^I (?:have|suffer from|have had|have got) (?:an? )?(?:severe |mild |bad )?(?<what2>[\p{L}-]+) intolerance$|^I am intolerant (?:to|of) (?<what3>[\p{L} -]+)$/iu,
    ({ what = "", what2 = "", what3 = "" }) => {
      const item = what || what2 || what3;
      return need("dietary", substanceOf(item), `Is ${item.toLowerCase()} intolerant`);
    },
  ),
  shape(
    /^I (?:have|suffer from|was diagnosed with|have been diagnosed with) (?:coeliac|celiac)(?: disease)?$|^I am (?:an? )?(?:coeliac|celiac)s?$/iu,
    () => need("dietary", "gluten", "Has coeliac disease: no gluten"),
  ),
  shape(/^I (?:am|have been) (?:a )?(?:type (?:1|2|one|two) )?diabetic\b|^I have (?:type (?:1|2|one|two) )?diabetes$/iu, () =>
    need("dietary", "sugar", "Is diabetic"),
  ),
  shape(
    new RegExp(
      `^I (?:am|have been|became|turned|went|have become|have gone|have turned|eat) (?:a |an |on an? )?(?:strict |lifelong |mostly )?(?<what>${DIET})s?(?: diet)?(?: (?:since|for|now|all my life)\\b.*)?$`,
      "iu",
    ),
    ({ what = "" }) => diet(what),
  ),
  shape(
    new RegExp(
      `^I (?:eat|follow|keep to|am on|stick to|live on|need|require|have to eat|only eat|eat only|only have) (?:only )?(?:an? )?(?:strict |strictly )?(?<what>${DIET})(?: diet| food| meals?| dishes| options?| menus?| bread)?$`,
      "iu",
    ),
    ({ what = "" }) => diet(what),
  ),
  shape(
    new RegExp(
      `^I (?:keep|eat|only eat|eat only|need|am|require|follow|observe) (?:an? |only )?(?:strictly )?(?<what>${RELIGIOUS})(?: diet| food| meals?| meat)?$`,
      "iu",
    ),
    ({ what = "" }) => need("dietary", "religious diet", `Eats ${what.toLowerCase()}`),
  ),
  shape(
    /^I (?:do not|never) (?:drink|touch|have)(?: any)?(?: alcohol)?$|^I am (?:a )?(?:teetotal(?:ler)?|sober)$|^no alcohol for me$/iu,
    ({ 0: _ }, { text }) =>
      /never (?:touch|have)$|not (?:touch|have)$/iu.test(text) ? null : need("dietary", "alcohol", "Does not drink alcohol"),
  ),
  shape(new RegExp(`^I can not (?:${INGESTED})(?: any)? (?<what>.+)$`, "iu"), ({ what = "" }) =>
    itemsOf(what).flatMap((item) =>
      conceptOf(item, "substance") === null ? [] : [need("dietary", substanceOf(item), `Cannot have ${item.toLowerCase()}`)],
    ),
  ),
  shape(/^I (?:do not|never) eat(?: any)? (?<what>.+)$/iu, ({ what = "" }) => avoided(what)),
  shape(/^I (?:must|have to|need to) (?:avoid|stay away from) (?<what>[\p{L} ,-]+)$/iu, ({ what = "" }) =>
    itemsOf(what).flatMap((item) =>
      conceptOf(item, "substance") === null ? [] : [need("dietary", substanceOf(item), `Must avoid ${item.toLowerCase()}`)],
    ),
  ),
  // bare, where a trip or a companion gives the frame: "vegetarian this time, for my mother"
  shape(new RegExp(`^(?<what>${DIET}|${RELIGIOUS})(?: food| meals?| menu| option| dishes)?$`, "iu"), ({ what = "" }, { passing }) =>
    passing
      ? [new RegExp(RELIGIOUS, "iu").test(what) ? need("dietary", "religious diet", `Eats ${what.toLowerCase()}`) : diet(what)]
      : null,
  ),

  shape(
    new RegExp(
      `^I (?:use|need(?! an? frame)|have|depend on|rely on|walk with|am in|am on|am using|sit in|get around (?:in|with|on)|wear|have to use|travel (?:in|with)|come with) (?:an? |my |two )?(?:electric |manual |power |powered )*(?<aid>${AIDS})s?\\b(?! (?:access|spaces?|seats?|ramp|place|accessible|-accessible))`,
      "iu",
    ),
    ({ aid = "" }) => aidNeed(aid),
  ),
  shape(
    /^I (?:bring|take|am accompanied by|am with|travel with|come with) (?:my |an? )?(?<aid>guide dog|assistance dog|service dog|hearing dog)\b/iu,
    ({ aid = "" }) => aidNeed(aid),
  ),
  shape(
    new RegExp(
      `^(?:I (?:need|require|must have|have to have|can not do without|will need|am looking for seats with|depend on|rely on|use)|there (?:must|has to) be) (?:an? |some |the |to have )?(?<what>${ACCESS_NEEDS})\\b(?<rest>.*)$`,
      "iu",
    ),
    ({ what = "", rest = "" }) => {
      if (/^(?:to|from|home|into)\b/iu.test(rest)) return null;
      const plain = what.toLowerCase().replace(/^(?:an?|the) /, "");
      return need(
        "accessibility",
        accessAspect(plain),
        `Needs ${plain === "step-free" || plain === "wheelchair" ? `${plain} access` : what.replace(/^(?:the) /iu, "")}`,
      );
    },
  ),
  shape(
    /^I (?:can not|am not able to|am unable to|struggle to|find it (?:hard|difficult) to|have trouble|have difficulty|have problems|must not|should not) (?:climb(?:ing)?|manage|do|use|take|go up|walk up|handle|using|with|managing) (?:the |any |many |too many |lots of |a lot of |so many |more than \w+ )?(?<what>stairs|steps|staircases|escalators|lifts|slopes)$/iu,
    ({ what = "" }) =>
      need("accessibility", /stairs|steps|stair/iu.test(what) ? "stairs" : foldText(what), `Cannot climb ${what.toLowerCase()}`),
  ),
  shape(
    /^(?<what>stairs|steps|escalators|long walks|standing for long) (?:are|is) (?:an? |a bit of a |very |too |really )*(?:problem|problems|difficult|hard|impossible|tricky|no option|not possible|painful|much)(?: for me)?$/iu,
    ({ what = "" }) =>
      need("accessibility", /stairs|steps/iu.test(what) ? "stairs" : foldText(what), `Has trouble with ${what.toLowerCase()}`),
  ),
  shape(
    /^I can not (?<what>stand (?:for )?(?:very |too )?long|walk (?:very |too )?far|walk long distances|sit (?:for )?(?:very |too )?long|see (?:very )?(?:well|much)(?: in the dark| at night)?|hear (?:very )?(?:well|much)|walk)$/iu,
    ({ what = "" }) => need("accessibility", foldText(what).split(" ")[0] ?? "", `Cannot ${what.toLowerCase()}`),
  ),
  shape(
    new RegExp(`^I am (?:very |slightly |almost |nearly |registered |legally |also )?(?<what>${SENSES})$`, "iu"),
    ({ what = "" }, { text }) => need("accessibility", senseAspect(what), inThirdPerson(text)),
  ),
  shape(
    /^I (?:have|suffer from|live with) (?:an? )?(?<what>limited mobility|reduced mobility|mobility (?:issues|problems|impairment)|a walking disability|epilepsy|claustrophobia|vertigo|tinnitus|arthritis|multiple sclerosis|parkinson'?s?|a disability|a (?:bad|weak) (?:heart|back|hip|knee|leg)|bad (?:knees|hips|eyes|hearing|eyesight)|poor (?:eyesight|hearing|vision|mobility)|ptsd|a heart condition|photosensitive epilepsy|a pacemaker|sensory issues)$/iu,
    ({ what = "" }) => need("accessibility", foldText(what).replace(/^an? /, ""), `Has ${what}`),
  ),
  shape(
    new RegExp(`^my (?<part>${BODY}) (?:is|are) (?:very |too |quite )?(?<how>bad|weak|poor|not good|no good|failing|gone)$`, "iu"),
    ({ part = "", how = "" }) =>
      need("accessibility", foldText(part), `Has ${how === "poor" || how === "weak" ? how : "bad"} ${part.toLowerCase()}`),
  ),
  shape(
    /^(?<what>(?:strobe|flashing|flickering)(?: lights?| lighting| effects?)?) (?<how>(?:is|are) dangerous for me|makes? me ill)$/iu,
    ({ what = "", how = "" }) =>
      need("accessibility", "strobe lights", `${capital(what)} ${how.replace(/ for me$/iu, "").replace(/ me /iu, " them ")}`),
  ),
  shape(new RegExp(`^(?<what>${ACCESS_NEEDS})$`, "iu"), ({ what = "" }, { reasoned }) =>
    reasoned ? need("accessibility", accessAspect(what.toLowerCase()), `Needs ${what}`) : null,
  ),
  shape(
    /^(?<what>loud (?:music|venues|noise|noises|places)|crowds|dark rooms|small rooms|closed rooms) (?:is|are) (?:far |much )?too much(?: for me)?$/iu,
    ({ what = "" }) => need("accessibility", foldText(what), `Cannot bear ${what.toLowerCase()}`),
  ),
  shape(
    /^(?<what>loud (?:music|venues|noise|noises|places)|crowds|dark rooms) (?:is|are) too much for my (?:autistic |deaf |little |young )*I$/iu,
    ({ what = "" }) => need("accessibility", foldText(what), `Cannot bear ${what.toLowerCase()}`),
  ),
  shape(
    /^I (?:am (?:afraid|scared|terrified) of|have a fear of|am not good with|can not cope with) (?<what>heights|the dark|lifts|elevators|closed spaces|enclosed spaces|tight spaces|crowds)\b/iu,
    ({ what = "" }) => need("accessibility", foldText(what), `Is afraid of ${what.toLowerCase()}`),
  ),
];

function aidNeed(aid: string): Draft {
  const plain = aid.toLowerCase();
  if (plain.endsWith("dog")) return need("accessibility", plain, `Brings a ${plain}`);
  if (plain === "crutches") return need("accessibility", "crutches", "Walks on crutches");
  return need("accessibility", plain.replace(/s$/, ""), plain.endsWith("aids") ? `Wears ${plain}` : `Uses a ${plain}`);
}

function accessAspect(what: string): string {
  if (/step|level|ramp|no stairs/.test(what)) return "step-free access";
  if (/wheelchair/.test(what)) return "wheelchair";
  if (/lift|elevator/.test(what)) return "lift";
  if (/loop/.test(what)) return "hearing loop";
  return foldText(what).slice(0, 64);
}

function senseAspect(what: string): string {
  if (/hear|deaf/iu.test(what)) return "hearing";
  if (/sight|blind|visual/iu.test(what)) return "sight";
  if (/wheelchair/iu.test(what)) return "wheelchair";
  return foldText(what);
}
