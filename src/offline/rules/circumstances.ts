import { conceptOf, foldText } from "../../platform/language/lexicon.js";
import { type Draft, type Shape, shape } from "./draft.js";

/** Where from, with whom, member of what, how to be spoken to and seated, and facts of lasting use. English. */

const RELATIONS = "[\\p{L}]+(?:-in-law)?";

export const CIRCUMSTANCES: readonly Shape[] = [
  // location
  shape(
    /^I (?:live|am based|reside|am living|am at home) (?:in|near|close to|outside|just outside|not far from)(?: of)? (?<place>(?:the )?\p{Lu}[\p{L}'’.-]+(?:(?: (?:of|the|am|an der|de|la|upon|sur))* \p{Lu}[\p{L}'’.-]+)*)(?:,? (?:now|since .+|for .+))?$/iu,
    ({ place = "" }, { text }) =>
      /\p{Lu}/u.test(place)
        ? {
            category: "location",
            aspect: "home",
            text: `Lives ${/ near | close to | outside | not far /iu.test(text) ? "near" : "in"} ${place}`,
            type: "fact",
            entities: [place],
          }
        : null,
  ),
  shape(
    /^I (?:have )?(?:just )?(?:moved|relocated)(?: house| home)? (?:from [\p{L} ]+ )?to (?<place>\p{Lu}[\p{L}'’.-]+(?: \p{Lu}[\p{L}'’.-]+)*)(?: .*)?$/u,
    ({ place = "" }) => ({
      category: "location",
      aspect: "home",
      text: `Moved to ${place}`,
      type: "fact",
      entities: [place],
    }),
  ),
  shape(/^(?:I (?:come from|am from)|my home(?: town)? is) (?<place>\p{Lu}[\p{L}'’.-]+(?: \p{Lu}[\p{L}'’.-]+)*)$/u, ({ place = "" }) => ({
    category: "location",
    aspect: "home",
    text: `Is from ${place}`,
    type: "fact",
    entities: [place],
  })),
  shape(/^I (?:am|will be|am staying) in (?<place>\p{Lu}[\p{L}'’.-]+(?: \p{Lu}[\p{L}'’.-]+)*)$/u, ({ place = "" }, { passing }) =>
    passing ? { category: "location", aspect: "stay", text: `Is in ${place}`, type: "fact", entities: [place] } : null,
  ),
  shape(
    /^I (?:would like to|want to|prefer to|like to|have to|need to|will only|only) (?:stay|be|travel|go|keep it)? ?(?:with)?in (?<far>(?:\d+|twenty|thirty|fifteen|ten|half an?) (?:minutes?|hours?|km|kilometres?|kilometers?|miles?)(?:'? ?(?:walk|drive|ride))?) (?:of|from) (?:my )?(?:home|house|place|the (?:station|cent(?:re|er)|hotel))$/iu,
    ({ far = "" }) => ({
      category: "location",
      aspect: "distance",
      text: `Stays within ${far} of home`,
      type: "preference",
    }),
  ),
  shape(
    /^I (?:do not|never|will not) (?:want to |like to )?(?:travel|drive|go) (?:more|further|longer|farther) than (?<far>(?:\d+|an?|one|two|half an) (?:minutes?|hours?|km|kilometres?|miles?))(?: .*)?$/iu,
    ({ far = "" }) => ({
      category: "location",
      aspect: "distance",
      text: `Does not travel more than ${far}`,
      type: "preference",
    }),
  ),
  shape(
    /^(?:it (?:has to|must|needs to|should)|everything (?:has to|must)) be (?:reachable|accessible|easy to reach) (?:by|with) (?<how>train|public transport|bus|tram|metro|car|bike|foot|underground)$/iu,
    ({ how = "" }) => ({
      category: "location",
      aspect: "transport",
      text: `Must be reachable by ${how.toLowerCase()}`,
      type: "preference",
    }),
  ),
  shape(
    /^I (?:come|travel|arrive|get (?:there|around)|go) (?:to (?:concerts|shows|events) )?(?:by|with) (?<how>train|public transport|bus|tram|metro|car|bike|bicycle|taxi|underground)$/iu,
    ({ how = "" }, { usual }) =>
      usual ? { category: "location", aspect: "transport", text: `Usually travels by ${how.toLowerCase()}`, type: "preference" } : null,
  ),
  shape(
    /^I stay (?:at|in) (?<where>(?:the )?(?:Hotel )?\p{Lu}[\p{L}'’-]+(?: \p{Lu}?[\p{L}'’-]+)*)(?: .*)?$/u,
    ({ where = "" }, { usual }) =>
      usual
        ? {
            category: "venue",
            aspect: foldText(where.replace(/^the /iu, "")),
            text: `Usually stays at ${where}`,
            entities: [where.replace(/^the /iu, "")],
          }
        : null,
  ),

  // companions
  shape(
    new RegExp(
      `^I (?:go|come|travel|attend|dine|eat|book)(?: out)?(?: to (?:concerts|shows|the theatre|the opera))? (?:together )?with (?<who>my (?<rel>${RELATIONS})(?: (?<name>\\p{Lu}[\\p{L}'-]+))?)$`,
      "iu",
    ),
    ({ rel = "", name = "" }, { usual, passing }) => companion(rel, name, usual || passing),
  ),
  shape(
    new RegExp(
      `^my (?:best |good |old )*(?<rel>${RELATIONS})(?:,? (?<name>\\p{Lu}[\\p{L}'-]+),?)? (?:comes?|joins?|accompan(?:y|ies)|goes?)(?: me| along| with me| too)*$`,
      "iu",
    ),
    ({ rel = "", name = "" }, { usual }) => companion(rel, name, usual),
  ),
  shape(
    /^I have (?<n>two|three|four|five|\d|a|one|an?) (?<adj>small |little |young |teenage |grown-up )?(?<who>kids|children|sons?|daughters?|boys|girls|baby|toddlers?|twins|grandchildren|child|kid|dogs?)\b(?<rest>.*)$/iu,
    ({ n = "", adj = "", who = "", rest = "" }) => ({
      category: "companions",
      aspect: conceptOf(who, "relation")?.name ?? foldText(who),
      text: `Has ${n.toLowerCase()} ${adj}${who.toLowerCase()}${/^,? (?:aged?|who are|of) [\d ,and-]+$/iu.test(rest) ? rest.replace(/^,/, "") : ""}`,
      type: "fact",
    }),
  ),
  shape(
    /^I (?:am|will be|am coming|am going|am travelling) (?:here )?with my (?<who>(?:two|three|four|\d)? ?[\p{L}-]+)$/iu,
    ({ who = "" }, { passing }) =>
      passing && conceptOf(who.replace(/^(?:two|three|four|\d) /iu, ""), "relation") !== null
        ? {
            category: "companions",
            aspect: conceptOf(who.replace(/^(?:two|three|four|\d) /iu, ""), "relation")?.name ?? "",
            text: `Comes with ${who}`,
            type: "fact",
          }
        : null,
  ),
  shape(
    /^I (?:travel|come|go|live) with (?<who>(?:an?|my|two) (?:small |little |big |large |old )?(?:dog|cat|puppy|baby|toddler|dogs|pram|pushchair|stroller))$/iu,
    ({ who = "" }) => ({
      category: "companions",
      aspect: foldText(who).split(" ").at(-1) ?? "",
      text: `Travels with ${who.replace(/^my /iu, "a ")}`,
      type: "fact",
    }),
  ),

  // loyalty
  shape(
    /^I (?:am|have been) (?:an? )?(?<level>(?:gold|silver|platinum|bronze|premium|lifetime|life|vip|season|honorary|founding|regular|long-standing|diamond|elite) )?(?<kind>members?|subscribers?|season[- ]ticket holders?|patrons?|friends?|card ?holders?|frequent flyers?)(?: (?:of|at|with|to|for|in) (?<what>(?:the )?[\p{L}\p{N} '&.-]{2,60}))?$/iu,
    ({ level = "", kind = "", what = "" }) =>
      what === "" && level === "" && !/season|frequent/iu.test(kind)
        ? null
        : loyalty(what, `Is a ${level.trim() === "" ? "" : `${level.trim()} `}${kind.toLowerCase()}${what === "" ? "" : ` of ${what}`}`),
  ),
  shape(
    /^I (?:have|hold|own|have got|got) (?:an? |my )?(?:\p{L}+ )?(?<kind>subscription|season ticket|membership|loyalty card|annual pass|museum pass|membership card|annual subscription)(?: (?:to|at|for|of|with|in) (?<what>(?:the )?[\p{L}\p{N} '&.-]{2,60}))?$/iu,
    ({ kind = "", what = "" }) => loyalty(what, `Has a ${kind.toLowerCase()}${what === "" ? "" : ` to ${what}`}`),
  ),
  shape(
    /^I (?:have|hold|own|have got|got got|got) (?:an? |my )?(?<what>\p{Lu}[\p{L}]*(?:[- ][\p{Lu}\p{N}][\p{L}\p{N}]*)*(?:[Cc]ard|[Pp]ass)(?: ?\d+| [\p{Lu}][\p{L}]*)?|(?:senior|student|disability|press|artist|family|city|theatre|museum|library|union) (?:card|pass|id|discount|railcard))$/u,
    ({ what = "" }) => loyalty(what, `Has a ${what}`),
  ),

  // communication
  shape(
    /^(?:(?:you can |please )?(?:call|address) me(?: as)?|my name is|I go by|I am called|I prefer to be called|I like to be called) (?<name>(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*){0,2})$/iu,
    ({ name = "" }) =>
      /^\p{Lu}/u.test(name) && !/^(?:back|later|when|if|a|an|the|at|on|tomorrow)$/iu.test(name)
        ? { category: "communication", aspect: "name", text: `Is called ${name}`, entities: [name] }
        : null,
  ),
  shape(
    /^(?:text|message|e-?mail|write to|write|call|phone|ring|whatsapp|contact) me (?:rather than|instead of) (?<not>\p{L}+ing(?: me)?|by \p{L}+)$/iu,
    ({ not = "" }, { text }) => {
      const verb = /^\p{L}+(?:-\p{L}+)?/u.exec(text)?.[0].toLowerCase() ?? "";
      return { category: "communication", aspect: "channel", text: `Prefers ${verb} messages rather than ${not.replace(/ me$/iu, "")}` };
    },
  ),
  shape(
    /^(?:send|give|mail|e-?mail) me (?:the |my |all |all my )?(?<what>tickets?|confirmations?|receipts?|invoices?|details|updates|reminders?|everything)(?: (?:as|by|via|in|to|on) (?:an? |my )?(?<how>[\p{L} -]{2,30}))?$/iu,
    ({ what = "", how = "" }, { usual, text }) =>
      usual && how !== ""
        ? { category: "communication", aspect: "channel", text: `Wants ${what.toLowerCase()} ${/ as /u.test(text) ? "as" : "by"} ${how}` }
        : null,
  ),
  shape(
    /^(?:contact|reach|notify|inform|call|text|e-?mail) me (?:only )?(?:by|via|on|over|through) (?<how>e-?mail|phone|text|sms|whatsapp|letter|post|signal|telegram)(?: only)?$/iu,
    ({ how = "" }) => ({ category: "communication", aspect: "channel", text: `Contact by ${how}` }),
  ),
  shape(
    /^keep (?:your |the |all )?(?<what>answers?|replies|messages?|texts?|explanations?|it|things|descriptions?) (?<how>short|brief|concise|simple|to the point|formal|informal|detailed)(?: and (?<how2>\p{L}+))?$/iu,
    ({ what = "", how = "" }, { usual }) =>
      /^(?:it|things)$/iu.test(what) && !usual
        ? null
        : {
            category: "communication",
            aspect: "style",
            text: `Wants ${/^(?:it|things)$/iu.test(what) ? "answers" : what.toLowerCase()} ${how.toLowerCase()}`,
          },
  ),
  shape(
    /^(?:answer|reply|respond|write|speak|talk)(?: to me| with me)? (?:in (?<lang>\p{Lu}\p{L}+)|(?<how>briefly|formally|informally|concisely|slowly|in short sentences|in plain language|in simple words))$/iu,
    ({ lang = "", how = "" }, { usual }) => {
      if (lang !== "") return usual ? { category: "communication", aspect: "language", text: `Wants answers in ${lang}` } : null;
      return usual ? { category: "communication", aspect: "style", text: `Wants answers ${how.toLowerCase()}` } : null;
    },
  ),
  shape(
    /^I (?:speak|only speak|speak only|only understand) (?:only )?(?<lang>(?:\p{Lu}\p{L}+)(?:(?:,| and) \p{Lu}\p{L}+)*)(?: best)?$/u,
    ({ lang = "" }) => ({ category: "communication", aspect: "language", text: `Speaks ${lang}` }),
  ),
  shape(/^my (?:native|first|preferred|mother) (?:language|tongue) is (?<lang>\p{Lu}\p{L}+)$/u, ({ lang = "" }) => ({
    category: "communication",
    aspect: "language",
    text: `Speaks ${lang}`,
  })),
  shape(
    /^I need (?:at least |about |around )?(?<time>(?:an?|one|two|three|four|\d+) (?:days?|weeks?|months?|hours?)'?(?: of)?) ?(?:notice|advance notice|warning|lead time)(?: .*)?$/iu,
    ({ time = "" }) => ({ category: "communication", aspect: "notice", text: `Needs ${time.replace(/'?(?: of)?$/iu, "")} notice` }),
  ),

  // seats as needs
  shape(
    /^I (?:need|require|must have) (?:an? |some |the |more )?(?<what>aisle seats?|seats? (?:by|on|at|near) (?:the )?(?:aisle|exit|door|toilets?|front)|extra legroom|more legroom|legroom|a seat near the exit|front[- ]row seats?|high chair)(?<why> (?:because|due to|for|as|on account) .+)?$/iu,
    ({ what = "", why = "" }, { text }) => ({
      category: "seating",
      aspect: /aisle/iu.test(what) ? "position" : /row/iu.test(what) ? "row" : foldText(what),
      text: `Needs ${/^I (?:need|require|must have) an? /iu.test(text) ? "an " : ""}${what}`.replace(
        /an (?=[bcdfghjklmnpqrstvwxz])/u,
        "a ",
      ),
      ...(why === "" ? {} : { strength: "hard" as const }),
    }),
  ),
  shape(
    /^(?:never|do not|please never)(?: ever)? (?:book|put|seat|place|sit) me (?<where>(?:behind|near|next to|beside|by|under|in|on|at|close to) .{3,60})$/iu,
    ({ where = "" }) => ({
      category: "seating",
      aspect: foldText(where).split(" ").at(-1) ?? "",
      text: `Never seat ${where}`,
    }),
  ),
  shape(/^(?:book|put|seat|place|sit) me (?<where>(?:near|next to|beside|by|in|on|at|close to) .{3,60})$/iu, ({ where = "" }, { usual }) =>
    usual
      ? {
          category: "seating",
          aspect: /row/iu.test(where) ? "row" : /aisle|middle|end/iu.test(where) ? "position" : "area",
          text: `Always seat ${where}`,
        }
      : null,
  ),

  // other facts
  shape(
    /^my (?:(?<whose>wedding )?(?<what>birthday|anniversary|name day)) (?:is|falls) (?:on )?(?:the )?(?<when>.*(?:\d{1,2}|january|february|march|april|may|june|july|august|september|october|november|december).*)$/iu,
    ({ whose = "", what = "", when = "" }) => ({
      category: "other",
      aspect: foldText(what),
      text: `${capital(whose + what)} is ${/^\d|^\p{L}+ \d/u.test(when) ? "on " : ""}${when}`,
      type: "fact",
    }),
  ),
  shape(
    /^I play (?:the )?(?<what>cello|violin|viola|piano|guitar|flute|clarinet|trumpet|drums|saxophone|organ|bass|harp|oboe|trombone|accordion|tennis|golf|football|chess|rugby|cricket|basketball|volleyball|squash|padel)(?: .{0,30})?$/iu,
    ({ what = "" }) => ({
      category: "other",
      aspect: foldText(what),
      text: `Plays ${/^(?:tennis|golf|football|chess|rugby|cricket|basketball|volleyball|squash|padel)$/iu.test(what) ? "" : "the "}${what.toLowerCase()}`,
      type: "fact",
    }),
  ),
  shape(/^I (?<verb>collect|paint|sing in|dance|write|knit|garden|sculpt) (?<what>[\p{L} -]{3,40})$/iu, ({ verb = "", what = "" }) => ({
    category: "other",
    aspect: foldText(what),
    text: `${capital(verb.replace(/^(\p{L}+)/u, "$1s"))} ${what}`,
    type: "fact",
  })),
  shape(
    /^I (?:am|work as) (?:an? )(?<job>(?:retired |freelance |professional |primary school |music |opera |jazz )*(?:teacher|nurse|doctor|engineer|lawyer|musician|singer|actor|actress|architect|student|pensioner|journalist|writer|cook|chef|baker|carpenter|pilot|farmer|painter|photographer|programmer|scientist|accountant|electrician|firefighter|police officer|social worker|librarian|dentist|vet|pharmacist|designer|translator|midwife|gardener|consultant|salesman|saleswoman|driver|conductor|composer|dancer|director))$/iu,
    ({ job = "" }) => ({
      category: "other",
      aspect: "job",
      text: `Is a ${job.toLowerCase()}`.replace(/\ba (?=[aeiou])/u, "an "),
      type: "fact",
    }),
  ),
];

function companion(relation: string, name: string, usual: boolean): Draft | null {
  const concept = conceptOf(relation, "relation");
  if (!usual || concept === null || (concept.name === "friend" && name === "")) return null;
  return {
    category: "companions",
    aspect: concept.name === "friend" ? foldText(name) : concept.name,
    text: `Usually comes with ${concept.name}${name === "" ? "" : ` ${name}`}`,
    type: "fact",
    ...(name === "" ? {} : { entities: [name] }),
  };
}

function loyalty(what: string, text: string): Draft {
  const programme = what.replace(/^the /iu, "");
  return {
    category: "loyalty",
    aspect: foldText(programme === "" ? text : programme).slice(0, 64),
    text,
    type: "fact",
    ...(programme === "" ? {} : { entities: [programme] }),
  };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
