import { conceptOf, foldText } from "../../platform/language/lexicon.js";
import { type Draft, type Shape, shape } from "./draft.js";
import { capital, inThirdPerson } from "./third-person.js";

/** Where from, with whom, member of what, how to be spoken to and seated, and facts of lasting use. English. */

const RELATIONS = "[\\p{L}]+(?:-in-law)?";

export const CIRCUMSTANCES: readonly Shape[] = [
  // location
  shape(
    /^I (?:live|am based|reside|am living|am at home) (?:in|near|close to|outside|just outside|not far from|out of)(?: of)? (?<place>(?:the )?\p{Lu}[\p{L}'’.-]+(?:(?: (?:of|the|am|an der|de|la|upon|sur))* \p{Lu}[\p{L}'’.-]+)*)(?:,? (?:now|since .+|for .+))?$/iu,
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

  shape(
    /^(?:home is|my home is|I have my home in) (?:in )?(?<place>\p{Lu}[\p{L}'’.-]+(?: \p{Lu}[\p{L}'’.-]+)*)(?: (?:now|these days))?$/u,
    ({ place = "" }) => ({ category: "location", aspect: "home", text: `Home is ${place}`, type: "fact", entities: [place] }),
  ),
  shape(
    /^I live (?<how>(?:just |right |about |around |only )*(?:(?:round|around) the corner|(?:a )?(?:stone's throw|short walk)|(?:an?|half an|\d+|two|three|five|ten|fifteen|twenty|thirty) (?:minutes?|hours?|miles?|blocks?|stops?|km)(?: walk| drive)?|across|next door|opposite|behind|next to|by|up the road|down the road)) ?(?:from|to|away from)? ?(?<place>(?:the )?\p{Lu}[\p{L}'’.-]+(?: \p{Lu}[\p{L}'’.-]+)*)$/u,
    ({ place = "" }, { text }) => ({ category: "location", aspect: "home", text: inThirdPerson(text), type: "fact", entities: [place] }),
  ),
  shape(
    /^(?:it|everything|the (?:place|venue|hotel|restaurant)) (?:has to|must|needs to|should|ought to) be (?:near|close to|by|next to|within (?:walking distance|reach|easy reach) of|walkable from|on) (?:an? |the )?(?<what>(?:[\p{L}]+ )?(?:station|stop|bus stop|tube|underground|metro|line|airport|train|tram|car park|parking))$/iu,
    (_, { text }) => ({ category: "location", aspect: "transport", text: capital(text), type: "preference" }),
  ),
  shape(
    /^I (?<how>cycle|walk|drive|take (?:the|a) (?:train|bus|tram|tube|metro|taxi|cab|underground))(?: (?:to|in|into|everywhere).{0,30})?$/iu,
    (_, { text, usual }) =>
      usual
        ? {
            category: "location",
            aspect: "transport",
            text: `Always ${inThirdPerson(text).toLowerCase()}`.replace(/^Always /u, "Usually "),
            type: "preference",
          }
        : null,
  ),

  shape(
    /^my (?<what>office|work|workplace|job|studio|school|university) is (?<where>(?:in|near|by|on|close to|next to|at) (?:the )?\p{Lu}[\p{L}'’.-]+(?: \p{Lu}[\p{L}'’.-]+)*)$/u,
    ({ what = "", where = "" }) => ({ category: "location", aspect: "work", text: `${capital(what)} is ${where}`, type: "fact" }),
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
    /^(?<how>I (?:travel|come|go|live) with|I bring|I take|I (?:never |do not )?(?:travel|go anywhere|go out|leave home) without) (?<who>(?:an?|my|two) (?:small |little |big |large |old |tiny |golden |black )*(?<what>dogs?|cats?|puppy|baby|toddler|pram|pushchair|stroller|labrador|retriever|terrier|poodle|spaniel|dachshund|beagle|collie|pug|corgi))(?: (?<name>\p{Lu}[\p{L}'-]+))?(?: along| with me| everywhere)?$/iu,
    ({ how = "", what = "", who = "", name = "" }, { usual }) =>
      /bring|take/iu.test(how) && !usual
        ? null
        : {
            category: "companions",
            aspect: foldText(what),
            text: `${/without/iu.test(how) ? "Never travels without" : /bring|take/iu.test(how) ? "Always brings" : "Travels with"} ${who.replace(/^my /iu, name === "" ? "a " : "the ")}${name === "" ? "" : ` ${name}`}`,
            type: "fact",
            ...(name === "" ? {} : { entities: [name] }),
          },
  ),
  shape(
    /^it (?:is|will be) (?:just |only |mostly )?(?:me and|me with|myself and|I and) my (?<rel>[\p{L}-]+)(?: (?<name>\p{Lu}[\p{L}'-]+))?$/iu,
    ({ rel = "", name = "" }, { usual, passing }) => companion(rel, name, usual || passing),
  ),
  shape(/^my (?<rel>[\p{L}-]+) is (?:here )?with me$/iu, ({ rel = "" }, { passing }) => {
    const concept = conceptOf(rel, "relation");
    return passing && concept !== null
      ? { category: "companions", aspect: concept.name, text: `Comes with ${rel.toLowerCase()}`, type: "fact" }
      : null;
  }),

  // communication
  shape(/^I (?:never|do not) (?:answer|pick up|use|like) (?:the phone|phone calls|calls|my phone|voicemails?)$/iu, (_, { text }) => ({
    category: "communication",
    aspect: "no calls",
    text: inThirdPerson(text),
  })),
  shape(/^(?:please )?use my (?<what>first name|surname|last name|full name|title)$/iu, ({ what = "" }) => ({
    category: "communication",
    aspect: "form of address",
    text: `Use their ${what.toLowerCase()}`,
  })),
  shape(/^(?:do not|never) (?:ring|call|phone|text|e-?mail) me$/iu, (_, { text }) => ({
    category: "communication",
    aspect: `no ${/ring|call|phone/iu.test(text) ? "calls" : "messages"}`,
    text: capital(text.replace(/ me$/iu, " them")),
  })),
  shape(/^I (?:only|just) (?:do|use|read|answer|check|have) (?<how>whatsapp|e-?mails?|texts?|sms|signal|telegram)$/iu, (_, { text }) => ({
    category: "communication",
    aspect: "channel",
    text: inThirdPerson(text.replace(/^I (?:only|just) /iu, "I "))
      .replace(/^/u, "Only ")
      .replace(/^Only (\p{L})/u, (_all, letter: string) => `Only ${letter.toLowerCase()}`),
  })),
  shape(/^(?:text|message|e-?mail|write to|whatsapp) me$/iu, (_, { usual, text }) =>
    usual ? { category: "communication", aspect: "channel", text: `Prefers ${text.replace(/ me$/iu, "").toLowerCase()} messages` } : null,
  ),
  shape(
    /^no (?<what>(?:long|short|formal|detailed|flowery|waffly) (?:explanations?|answers?|messages?|texts?|descriptions?|emails?))(?: for me)?$/iu,
    ({ what = "" }) => ({
      category: "communication",
      aspect: "style",
      text: `No ${what.toLowerCase()}`,
    }),
  ),
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
    /^(?:answer|reply|respond|write|speak|talk)(?: to me| with me| me)? (?:in (?<lang>\p{Lu}\p{L}+)|(?<how>briefly|formally|informally|concisely|slowly|in short sentences|in plain language|in simple words))$/iu,
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
    /^(?:it is )?my (?:(?<whose>wedding )?(?<what>birthday|anniversary|name day)) (?:is |falls |comes )?(?:on )?(?:the )?(?<when>(?!when\b|today|tomorrow|next|this).*?(?:\d{1,2}|january|february|march|april|may|june|july|august|september|october|november|december).*?)(?: (?:every|each) year)?$/iu,
    ({ whose = "", what = "", when = "" }) => ({
      category: "other",
      aspect: foldText(what),
      text: `${capital(`${whose} ${what}`.trim())} is ${/^\d|^\p{L}+ \d/u.test(when) ? "on " : ""}${when}`,
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
