import { conceptOf, foldText } from "../../platform/language/lexicon.js";
import { stayAspect } from "./lodging.js";

/** What kind of thing a guest likes or not, told by its words: a seat, an hour, a venue, an artist, a genre. */
export interface Thing {
  readonly category: string;
  readonly aspect: string;
}

const ROW =
  /^(?:very |right )?(?:back|front|rear)$|\b(?:at|in|near|towards|to|right at|up at) the (?:very )?(?:back|front|rear)\b|\b(?:right )?up front\b|\bfurther back\b|\b(?:(?:front|first|second|third|fourth|fifth|last|back|rear|front few|first few) rows?|rows? (?:\d+|[a-z])\b)/iu;
const POSITION = /\b(?:aisle|end of (?:the|a) row|middle|centre|center|window seats?|window|edge)\b/iu;
const AREA =
  /\b(?:stalls|balcon(?:y|ies)|(?:upper|dress|grand|lower)? ?circle|galler(?:y|ies)(?= seats?|$)|royal box|box(?:es)?|mezzanine|orchestra seats?|parterre|parquet|pit|standing (?:area|room)|terrace|patio|outside|outdoors|garden|indoors|inside|upstairs|downstairs|non-smoking|quiet (?:area|corner))\b/iu;
const TABLE = /\b(?:table|booth|corner)\b/iu;
const SEAT =
  /\b(?:seats?|seating|(?:near|by|beside|close to|next to|behind) (?:the )?(?:exits?|doors?|entrance|stage|bar|kitchen|toilets?|pillars?|speakers?|window)|legroom|pillar|column|sofa|high chair)\b/iu;

const DAY = /\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays?|weekends?|weeknights?|school nights)\b/iu;
const HOUR =
  /\b(?:matin[eé]es?|mornings?|afternoons?|evenings?|nights?|lunch ?times?|late (?:shows?|starts?|performances?|evenings?|dinners?)|early (?:shows?|starts?|performances?|evenings?|dinners?)|daytime)\b/iu;
/** What says nothing of the kind: "evening shows" are about the evening. */
const ANY_SHOW = /\b(?:shows?|performances?|concerts?|gigs?|events?|screenings?)\b/giu;
const START =
  /\b(?:start(?:s|ing)?|begin(?:s|ning)?|finish(?:es|ing)?|end(?:s|ing)?) (?:before|after|by|at|around|early|late|no later than)\b/iu;

const CHANNEL =
  /\b(?:e-?mails?|text(?: messages?)?|texts|sms|whats ?app|phone(?: calls?)?|calls?|post|letters?|pdf|paper tickets?|mobile tickets?|e-?tickets?)\b/iu;
const LANGUAGES =
  /\b(?:english|german|french|spanish|italian|portuguese|dutch|polish|russian|ukrainian|turkish|arabic|hebrew|hindi|chinese|mandarin|cantonese|japanese|korean|greek|swedish|danish|norwegian|finnish|czech|hungarian|romanian|catalan)\b/iu;
const STYLE =
  /\b(?:short|brief|concise|detailed|long|formal|informal|simple|plain) (?:answers?|explanations?|replies|descriptions?|messages?|summaries|texts)\b/iu;

const CLASS =
  /\b(?:cheap(?:est)?|budget|premium|best|most expensive|expensive|mid-?range|discounted|last[- ]minute|vip|first[- ]class|second[- ]class|top[- ]price) (?:tickets?|seats?|ones?|options?|category|categories|rooms?|deals?)\b|\bcheapest\b/iu;

const PLACE =
  /\b(?:(?:places?|venues?|restaurants?|hotels?|somewhere|anything|halls?|cinemas?) (?:that (?:are|is) )?(?:near(?:by)?|close|next to|within|around|in the (?:city )?cent(?:re|er)|downtown|in walking distance|outside (?:the )?(?:city|town))|within (?:walking distance|\d+ (?:minutes?|km|kilometres?|miles?)))/iu;
const VENUES =
  /\b(?:venues?|halls?|clubs?|arenas?|stadiums?|stadia|restaurants?|bars?|hotels?|cinemas?|theatres?|theaters?|cafés?|cafes?|festivals?|auditoriums?|pubs?|churches)\b/iu;
const NAMED_VENUE =
  /\b(?:hall|theatre|theater|opera house|opera|hotel|arena|stadium|palace|club|playhouse|auditorium|lounge|inn|restaurant|bistro|trattoria|garden|gardens|house|room|lantern|centre|center|pavilion|cathedral|philharmonie)\b/iu;

const KIND_WORDS =
  /(?<!\p{L})(?:jazz|blues|rock|[kj]-pop|britpop|pop|folk|classical|classics?|opera|operas|operettas?|ballets?|musicals?|theatre|theater|plays?|comed(?:y|ies)|stand-?up|techno|house music|electronic|electro|metal|punk|indie|soul|funk|r&b|hip-?hop|rap|reggae|country music|latin|salsa|tango|flamenco|fado|bossa nova|baroque|renaissance|chamber|symphon\p{L}*|orchestral?|choral|choirs?|gospel|swing|world music|dance|dancing|contemporary|experimental|avant-garde|circus|magic shows?|cabaret|burlesque|drama|dramas|traged\p{L}*|improv\p{L}*|poetry|readings?|lectures?|film|films|cinema|movies?|documentar\p{L}*|football|soccer|rugby|tennis|basketball|handball|ice hockey|hockey|cricket|golf|boxing|athletics|cycling|formula (?:1|one)|motorsports?|darts|snooker|skating|swimming|sports?|museums?|exhibitions?|art|galleries|organ|piano|violin|cello|strings?|acoustic|unplugged|open-?air|karaoke|quiz(?:zes)?|puppet\p{L}*|pantomimes?|karaoke bars|concerts?|gigs?|recitals?|matches|games|shows?|festivals?|music|songs?|string quartets?|quartets?|brass bands?|big bands?|fireworks|wine tastings?|tastings?|sushi|pizzas?|pasta|tapas|ramen|curr(?:y|ies)|steaks?|burgers?|barbecue|bbq|dim sum|noodles|kebabs?|oysters|cheese|chocolate|desserts?|wine|red wine|white wine|rosé|beer|beers|cocktails?|champagne|coffee|tea|spic\p{L}+|street food|fast food|fine dining|brunch|buffets?|tasting menus?|\p{L}+ (?:food|cuisine|cooking|dishes|restaurants))(?!\p{L})/iu;
/** One word that is a kind, though a sentence begins with it and gives it a capital. */
export const WHOLE_KIND = new RegExp(`^${KIND_WORDS.source}$`, "iu");
export const CUISINES =
  /^(?:italian|thai|indian|chinese|japanese|french|mexican|spanish|greek|turkish|korean|vietnamese|lebanese|ethiopian|moroccan|peruvian|georgian|persian|german|austrian|portuguese|american|british|caribbean|mediterranean|asian|african|nordic|scandinavian|middle eastern|sichuan|cantonese|tex-mex|polish|russian|ukrainian|indonesian|malaysian|filipino|cuban|brazilian|argentinian)$/iu;
const FOODS =
  /^(?:mushrooms?|olives?|coriander|cilantro|onions?|garlic|tomato(?:es)?|aubergines?|eggplants?|liver|anchov(?:y|ies)|capers|raw fish|tofu|beetroot|brussels sprouts|broccoli|spinach|cabbage|pineapple|coconut|liquorice|blue cheese|lamb|offal|avocados?|cucumbers?|ginger|chil(?:l)?i(?:es)?|peppers?|salads?|soups?|rice|bread|potato(?:es)?|beans|lentils|eggs?|fish|seafood|pork|beef|chicken|duck|game|veal|truffles?|nuts|peanuts|raisins|bananas?|marzipan|cinnamon|mint|parsley|celery|mustard|mayonnaise|ketchup|vinegar)$/iu;

/** Where one sits to watch or eat: what is on the ground floor there is no hotel room. */
const AT_A_SHOW = /\b(?:seats?|rows?|box(?:es)?|stalls|circle|tables?|booths?|stage)\b/iu;

/** Words that point at something said before: no lasting taste. */
const POINTING =
  /^(?:it|this|that|these|those|them|him|her|you|me|everything|nothing|something|anything|one|ones|both|all|the (?:first|second|third|last|other|idea|sound|look|one|same|price|time|place|option|plan|suggestion|choice)\b.*|(?:this|that|these|those|your|his|her|their|the way|how|what|when|where|to know|being|seeing|hearing from)\b.*|.*\b(?:that one|this one|the sound of|option|suggestion|idea)\b.*)$/iu;

export function thingOf(phrase: string): Thing | null {
  const thing = phrase.trim();
  const words = thing.split(/\s+/u).length;
  if (words <= 9 && ROW.test(thing)) return { category: "seating", aspect: "row" };
  if (thing === "" || words > 9 || POINTING.test(thing)) return null;
  const stay = AT_A_SHOW.test(thing) ? null : stayAspect(thing);
  if (stay !== null) return { category: "other", aspect: stay };
  if (words === 1 && (conceptOf(thing, "kind") !== null || WHOLE_KIND.test(thing))) return { category: "genre", aspect: aspectOf(thing) };
  if (STYLE.test(thing)) return { category: "communication", aspect: "style" };
  if (START.test(thing)) return { category: "schedule", aspect: /\b(?:end|finish)/iu.test(thing) ? "end" : "start" };
  if (CLASS.test(thing)) return { category: "budget", aspect: "ticket class" };
  if (PLACE.test(thing)) return { category: "location", aspect: "area" };
  if (/\btables?\b/iu.test(thing) && !/\baisle\b/iu.test(thing)) return { category: "seating", aspect: "table" };
  if (POSITION.test(thing)) return { category: "seating", aspect: "position" };
  if (AREA.test(thing)) return { category: "seating", aspect: "area" };
  if (TABLE.test(thing)) return { category: "seating", aspect: "table" };
  if (SEAT.test(thing)) return { category: "seating", aspect: foldText(thing).replace(/^(?:an?|the|extra|more) /u, "") };
  if (/^(?:to )?speak(?:ing)? /iu.test(thing) || LANGUAGES.test(thing)) {
    if (/\b(?:speak|language|in)\b/iu.test(thing)) return { category: "communication", aspect: "language" };
  }
  if (words <= 6 && CHANNEL.test(thing) && !KIND_WORDS.test(thing)) return { category: "communication", aspect: "channel" };
  if (DAY.test(thing)) return { category: "schedule", aspect: "days" };
  if (HOUR.test(thing) && !KIND_WORDS.test(thing.replace(HOUR, "").replace(ANY_SHOW, "")))
    return { category: "schedule", aspect: "time of day" };
  if (isName(thing) && !CUISINES.test(thing)) return { category: NAMED_VENUE.test(thing) ? "venue" : "artist", aspect: aspectOf(thing) };
  if (CUISINES.test(thing) || FOODS.test(thing) || conceptOf(thing, "kind") !== null || conceptOf(thing, "substance") !== null)
    return { category: "genre", aspect: aspectOf(thing) };
  if (words <= 4 && VENUES.test(thing) && !/(?:food|cuisine)/iu.test(thing)) {
    const kind = thing.replace(VENUES, "").trim();
    if (kind === "" ? /^(?:theatre|theater|cinema|festivals?)$/iu.test(thing) : KIND_WORDS.test(kind) || CUISINES.test(kind))
      return { category: "genre", aspect: aspectOf(thing) };
    return { category: "venue", aspect: aspectOf(thing) };
  }
  if (KIND_WORDS.test(thing) && words <= 6) return { category: "genre", aspect: aspectOf(thing) };
  if (/\bcrowd(?:s|ed)?\b|\b(?:noise|noisy|loud|queues?|smoke|heat|cold|rain)\b/iu.test(thing))
    return { category: "other", aspect: foldText(thing).split(" ").at(-1) ?? "" };
  return null;
}

/** The thing itself, as other clauses would name it: without articles and the general noun behind it. */
export function aspectOf(phrase: string): string {
  const bare = phrase.replace(/^(?:the|an?|some|any|good|great|live|my)\s+/iu, "").trim();
  const whole = conceptOf(bare, "kind") ?? conceptOf(bare, "substance");
  if (whole !== null) return whole.name;
  const short = bare.replace(
    /\s+(?:concerts?|music|gigs?|shows?|performances?|events?|nights?|films?|movies|food|cuisine|restaurants?|dishes|bars?|matches|games)$/iu,
    "",
  );
  return (conceptOf(short, "kind")?.name ?? foldText(short)).slice(0, 64);
}

/** Capitals throughout, small joining words aside. */
function isName(phrase: string): boolean {
  return /^(?:the |die |der |das |la |le |les |il |el |los )?\p{Lu}[\p{L}\p{N}.'’-]*(?:\s+(?:(?:of|and|the|de|del|della|di|da|van|von|der|la|le|du|des|&|y|e|und|et)\s+)*\p{Lu}?[\p{Lu}\p{N}][\p{L}\p{N}.'’-]*)*$/u.test(
    phrase.trim(),
  );
}
