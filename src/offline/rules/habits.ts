import { conceptOf, foldText } from "../../platform/language/lexicon.js";
import { type Draft, type Shape, shape } from "./draft.js";
import { capital, inThirdPerson } from "./third-person.js";

/** How the guest usually does things: how many, how much, when. English. */

const NUMBER = "(?<n>\\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple(?: of)?)";
const MONEY =
  "(?<cur>[€£$])?\\s?(?<sum>\\d{1,5}(?:[.,]\\d{1,2})?)\\s?(?<unit>€|£|\\$|euros?|eur|pounds?|gbp|quid|dollars?|usd|bucks|chf|francs?|crowns|kronor|zloty)?";
const PER = "(?:\\s?(?<per>(?:per|a|an|each|for a|for one|for each|/)\\s?(?:ticket|person|head|seat|night|meal|evening|card|show)?))?";

function count(n: string): string {
  return /^a couple/iu.test(n) ? "2" : (conceptOf(n, "number")?.name ?? n);
}

function party(n: string, text = `Usually comes as a party of ${count(n)}`): Draft {
  return { category: "party_size", aspect: "party size", text };
}

function money({ cur = "", sum = "", unit = "", per = "" }: Record<string, string>): string {
  const amount = `${cur}${sum}${unit === "" ? "" : /^[€£$]$/u.test(unit) ? unit : ` ${unit}`}`;
  return `${amount}${per === "" ? "" : ` ${per.replace(/^(?:a|an|for a|for one|for each|\/)\s?/iu, "per ").trim()}`}`;
}

const isMoney = (match: Record<string, string>): boolean =>
  (match.cur ?? "") !== "" || (match.unit ?? "") !== "" || (match.per ?? "") !== "";

function budget(aspect: string, text: string): Draft {
  return { category: "budget", aspect, text };
}

const budgetAspect = (text: string): string =>
  /\b(?:dinner|lunch|meal|eat(?:ing)?|restaurants?|food)\b/iu.test(text)
    ? "meal budget"
    : /\bnight\b|\bhotel|\broom/iu.test(text)
      ? "room budget"
      : "budget";

function schedule(aspect: string, text: string): Draft {
  return { category: "schedule", aspect, text };
}

const WHEN =
  "(?:(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekday|weekend|week|school)? ?(?:mornings?|afternoons?|evenings?|nights?|lunch ?times?)|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays?|weekends?|matin[eé]es?|(?:late|early) (?:shows?|starts?|performances?|dinners?|evenings?|nights?))";
const dayAspect = (when: string): string =>
  /day|weekend|week/iu.test(when)
    ? "days"
    : /late|early|morning|afternoon|evening|night|lunch|matin/iu.test(when)
      ? "time of day"
      : foldText(when);
const CLOCK = "(?:\\d{1,2}(?:[:.]\\d{2})?\\s?(?:am|pm|o'clock)?|midnight|noon|eleven|ten|nine|eight|seven|six|twelve|half past \\w+)";

export const HABITS: readonly Shape[] = [
  // faith and days
  shape(/^I (?:observe|keep|respect|celebrate) (?:the |a )?(?:sabbath|shabbat|shabbos|ramadan|lent)$/iu, (_, { text }) =>
    schedule("sabbath", inThirdPerson(text)),
  ),
  shape(new RegExp(`^(?:no|never|not|nothing)(?: on| at)? (?<when>${WHEN})(?: for me)?$`, "iu"), ({ when = "" }, { reasoned, text }) =>
    reasoned || / for me$/iu.test(text) ? schedule(foldText(when), capital(text.replace(/ for me$/iu, ""))) : null,
  ),
  shape(
    new RegExp(
      `^I (?:do not|never|can not|will not) (?:go out|eat out|come|travel|do anything|book)(?: anything)? (?:on|at|during|in the) (?<when>school nights|${WHEN})$`,
      "iu",
    ),
    ({ when = "" }, { text }) => schedule(foldText(when), inThirdPerson(text)),
  ),
  shape(
    new RegExp(
      `^(?<when>${WHEN}) (?:is|are) my (?<how>only free (?:evening|day|night|time|slot)s?|day off|days off|free (?:evening|day|night)s?|best (?:day|time)s?)$`,
      "iu",
    ),
    ({ when = "", how = "" }) => schedule("days", `${capital(when)} ${/s$/u.test(when) ? "are" : "is"} the ${how}`),
  ),
  shape(
    new RegExp(`^(?<when>${WHEN}) (?:is|are) (?:always |generally )?(?<how>better|best|easier|easiest|ideal|preferable)$`, "iu"),
    ({ when = "", how = "" }, { reasoned }) =>
      reasoned ? schedule(dayAspect(when), `${capital(when)} ${/s$/u.test(when) ? "are" : "is"} ${how}`) : null,
  ),
  shape(
    /^I (?:have to|must|need to|like to) (?:catch|get|take) (?:the|my) last (?<what>train|bus|tube|tram|metro)(?: home)?(?: (?:at|around|by|before) (?<time>[\d.:]+ ?(?:am|pm)?|midnight|eleven|ten))?$/iu,
    (_, { text }) => schedule("end", inThirdPerson(text)),
  ),
  shape(new RegExp(`^I am free (?:on |at )?(?<when>${WHEN}(?: (?:and|or) ${WHEN})?) only$`, "iu"), ({ when = "" }) =>
    schedule("days", `Is free on ${when} only`),
  ),
  shape(
    /^I (?:prefer|like|love) to (?:eat|dine|have (?:dinner|lunch|breakfast)|go out|start|get up) (?:very |quite |rather )?(?<when>early|late)(?:,? (?:around|at|about|by|before|after) .{2,12})?$/iu,
    (_, { text }) => schedule("time of day", inThirdPerson(text)),
  ),
  shape(/^I am an? (?:solo|lone|single) (?:traveller|traveler|diner|guest)$/iu, (_, { text }) => party("1", inThirdPerson(text))),
  shape(new RegExp(`^I am a (?:family|couple|household|group) of ${NUMBER}$`, "iu"), (_, { text, passing }) =>
    passing ? null : party("", inThirdPerson(text)),
  ),
  // "I book for six", "I reserve for four people"
  shape(new RegExp(`^I (?:book|reserve|cook|need a table|order) for ${NUMBER}(?: people| persons)?$`, "iu"), ({ n = "" }, { usual }) =>
    usual ? party(n, `Usually books for ${count(n)}`) : null,
  ),
  shape(/^I (?:come|go|dine|eat|travel) (?:on my own|alone|by myself)$/iu, (_, { usual, text }) =>
    usual ? party("1", inThirdPerson(text)) : null,
  ),

  // party size
  shape(
    new RegExp(
      `^I (?:book|buy|need|get|take|order|reserve|want|require)(?: for)? ${NUMBER} (?<what>tickets?|seats?|places?|covers?|people|persons?|spots?)$`,
      "iu",
    ),
    ({ n = "", what = "" }, { usual }) =>
      usual
        ? party(
            n,
            /tickets?|seats?|places?/iu.test(what) ? `Usually books ${count(n)} ${what.toLowerCase()}` : `Usually books for ${count(n)}`,
          )
        : null,
  ),
  shape(
    new RegExp(
      `^(?:I (?:am|come|go|book|dine|travel|eat)(?: out)? (?:as |in |with )?(?:a |an )?(?:party|group|table|family|foursome)? ?(?:of )?${NUMBER}(?: people| persons| of us)?|there (?:are|is) (?:just |only )?${NUMBER.replace("<n>", "<n2>")} of us|it is (?:just |only )?(?:the )?${NUMBER.replace("<n>", "<n3>")} of us)(?: at (?:the )?table)?$`,
      "iu",
    ),
    ({ n = "", n2 = "", n3 = "" }, { usual, passing, text }) =>
      (usual || passing) && !/^I am \d+$/iu.test(text)
        ? party(n || n2 || n3, passing ? `Comes as a party of ${count(n || n2 || n3)}` : undefined)
        : null,
  ),
  shape(
    new RegExp(
      `^there will be (?:just |only )?${NUMBER} of us$|^I will be (?:a (?:party|group) of )?${NUMBER.replace("<n>", "<n2>")}(?: people)?$`,
      "iu",
    ),
    ({ n = "", n2 = "" }, { passing, usual }) => (passing || usual ? party(n || n2, `Comes as a party of ${count(n || n2)}`) : null),
  ),
  shape(
    /^I (?:go|come|travel|dine|eat|attend)(?: out)?(?: to (?:concerts|shows|the theatre|the opera|events))? (?:alone|by myself|on my own|solo|single)$/iu,
    (_, { usual, passing }) => (usual || passing ? party("1", "Usually comes alone") : null),
  ),

  // budget
  shape(
    new RegExp(
      `^I (?:do not want to|do not like to|would not|will not|can not|do not|never|would rather not) (?:spend|pay|go over|go above)(?: more than| over| above)? ${MONEY}${PER}(?: (?:for|on) (?<on>.+))?$`,
      "iu",
    ),
    (match, { text }) =>
      isMoney(match) ? budget(budgetAspect(text), `Does not spend more than ${money(match)}${match.on ? ` on ${match.on}` : ""}`) : null,
  ),
  shape(
    new RegExp(
      `^my (?:(?<kind>ticket|meal|dinner|hotel|travel|food) )?(?:budget|limit|maximum|max|upper limit|price limit)(?: for (?<on>[\\p{L} ]+?))? is (?:about |around |roughly |up to |at most |max(?:imum)? |something like |approximately )?${MONEY}${PER}$`,
      "iu",
    ),
    (match, { text }) => budget(budgetAspect(text), `Budget is ${money(match)}${match.on ? ` for ${match.on}` : ""}`),
  ),
  shape(
    new RegExp(
      `^(?:nothing|not|no tickets|no seats|no more|never) (?:over|above|more than|more expensive than|beyond|than) ${MONEY}${PER}(?:,.*)?$`,
      "iu",
    ),
    (match) => (isMoney(match) ? budget("budget", `Nothing over ${money(match)}`) : null),
  ),
  shape(
    new RegExp(`^(?:keep it|keep it all|keep everything|stay|please keep it) (?:under|below|within) ${MONEY}${PER}$`, "iu"),
    (match, { passing, usual, text }) =>
      (passing || usual) && isMoney(match) ? budget(budgetAspect(text), `Spends at most ${money(match)}`) : null,
  ),
  shape(
    new RegExp(
      `^(?:for (?<on>dinner|lunch|a meal|tickets|a ticket|a hotel|hotels|a room),? )?I (?:spend|pay|budget|allow)(?: up to| about| around| roughly| at most| no more than| between)? ${MONEY}${PER}(?: (?:for|on) (?<on2>[\\p{L} ]+))?$`,
      "iu",
    ),
    (match, { usual, text }) =>
      usual && isMoney(match)
        ? budget(budgetAspect(text), `Usually spends ${money(match)}${match.on || match.on2 ? ` on ${match.on || match.on2}` : ""}`)
        : null,
  ),
  shape(
    /^I (?:go for|buy|take|choose|book|pick|want|get|look for|prefer) (?:the )?(?<what>(?:cheap(?:est)?|best|most expensive|premium|mid-?range|top|vip|first[- ]class) (?:tickets?|seats?|ones|options?|category|categories|rooms?|price))$/iu,
    ({ what = "" }, { usual, text }) =>
      usual || /prefer/iu.test(text) ? budget("ticket class", `Usually takes the ${what.toLowerCase()}`) : null,
  ),
  shape(
    /^(?:I am on a (?:tight|small|limited|student|shoestring|strict|modest) budget|my budget is (?:tight|small|limited))$/iu,
    (_, { text }) => budget("budget", inThirdPerson(text)),
  ),

  // schedule
  shape(
    new RegExp(
      `^(?<when>${WHEN})(?: and (?<when2>${WHEN}))? (?:suits?|works?|fits?)(?: for)? (?:me|us) (?:best|well|fine|better|most|perfectly|very well)$|^(?<when3>${WHEN}) (?:are|is|works?) (?:best|better|ideal|perfect|good|great|fine) for (?:me|us)$|^(?<when4>${WHEN}) (?:works?|suits?) (?:best )?(?:for )?(?:me|us)$`,
      "iu",
    ),
    ({ when = "", when2 = "", when3 = "", when4 = "" }) => {
      const time = when || when3 || when4;
      return schedule(dayAspect(time), `${capital(time)}${when2 ? ` and ${when2}` : ""} suit best`);
    },
  ),
  shape(
    new RegExp(
      `^I (?:can not (?:do|make|manage|come on|come|go out on|attend)|am (?:not available|unavailable|busy|not free|never free|never available)(?: on| at| in the)?|do not have time on|never have time on|have no time on) (?<when>${WHEN})$`,
      "iu",
    ),
    ({ when = "" }) => schedule(foldText(when), `Cannot do ${when}`),
  ),
  shape(
    new RegExp(
      `^(?<when>${WHEN}) (?:do(?:es)? not work|are not possible|is not possible|are impossible|are no good|are bad|do(?:es)? not suit|are out of the question|are too (?:late|early|busy))(?: for)?(?: me| us)?$`,
      "iu",
    ),
    ({ when = "" }, { text }) => schedule(foldText(when), capital(text.replace(/ for me$/iu, ""))),
  ),
  shape(
    new RegExp(
      `^I am (?:only|just) (?:free|available) (?:at|on|in the|during)? ?(?:the )?(?<when>${WHEN})$|^I (?:only|can only) (?:go out|come|have time|do|make) (?:at|on|in the|during)? ?(?:the )?(?<when2>${WHEN})$|^I am free only (?:at|on|in the|during)? ?(?:the )?(?<when3>${WHEN})$|^I only (?:have time|go out) (?:at|on) (?<when4>${WHEN})$`,
      "iu",
    ),
    ({ when = "", when2 = "", when3 = "", when4 = "" }) => {
      const time = when || when2 || when3 || when4;
      return schedule("days", `Is only free at ${time}`);
    },
  ),
  shape(
    new RegExp(
      `^I (?:have to|must|need to|want to|like to) (?:be (?:back )?(?:home|in bed|back|(?:at|in) (?:the|my) hotel)|leave|go home|catch (?:the|my) (?:last )?(?:train|bus)|get home) (?:by|before|at|no later than) (?<time>${CLOCK})$`,
      "iu",
    ),
    ({ time = "" }) => schedule("end", `Has to be home by ${time}`),
  ),
  shape(
    new RegExp(
      `^(?:nothing|no shows?|not|no dinners?|no performances?) (?:that (?:starts?|begins?|ends?) )?(?:before|after|later than|earlier than) (?<time>${CLOCK})$`,
      "iu",
    ),
    ({ time = "" }, { text }) =>
      schedule(/before|earlier/iu.test(text) ? "start" : "end", `Nothing ${/before|earlier/iu.test(text) ? "before" : "after"} ${time}`),
  ),
];
