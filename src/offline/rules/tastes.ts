import { foldText } from "../../platform/language/lexicon.js";
import { type Draft, itemsOf, type PlainClause, type Shape, shape } from "./draft.js";
import { aspectOf, CUISINES, type Thing, thingOf, WHOLE_KIND } from "./things.js";

/** Likes and dislikes, old and new. English. */

/** "A over B", "A rather than B", "A to B", "A than B": what is preferred, and what it is preferred to. */
const OVER = /^(?<a>.+?) (?:over|rather than|instead of|more than|to|than|and not|not) (?<b>.+)$/iu;
const HOW =
  /\s+(?:for me|as much as .*|because .*|when .*|if .*|since .*|so .*|with my .*|at the moment|by far|anyway|now|whenever .*|every time|to be honest)$/iu;

export function draftsOf(list: string, said: (thing: string) => string, replaces: readonly string[] = []): Draft[] {
  const everything = /^(?:anything|everything) (?:by|with|from|starring|featuring) (?<what>.+?)(?: in (?:it|them))?$/iu.exec(list)?.groups
    ?.what;
  if (everything !== undefined) return draftsOf(everything, said, replaces);
  const items = itemsOf(withoutComment(list.replace(HOW, "")));
  const things = items.map((item) => thingOf(item));
  // "opera and ballet" are two; "a quiet table by the window" and "row 5 or 6" are one.
  if (items.length > 1 && things.every((thing) => thing !== null) && items.length <= 6 && !/\brows?\b/iu.test(list)) {
    const together = new Set(things.map((thing) => `${thing?.category}|${thing?.aspect}`));
    if (together.size === items.length) return items.flatMap((item, i) => drafted(things[i] ?? null, said(item), item, replaces));
  }
  const whole = withoutComment(list.replace(HOW, "").trim());
  return drafted(
    thingOf(
      whole.replace(
        /^(?:to (?:sit|be|eat|have|get|go to|see|hear|watch|attend)|sitting|being|eating|having|going to|seeing|hearing|watching|listening to|to listen to|attending|visiting) (?:in |at |on |by |out |near )?(?:the |an? )?/iu,
        "",
      ),
    ) ?? null,
    said(whole),
    whole,
    replaces,
  );
}

/** What follows a comma and is no list of things is said beside it: "jazz, of course". */
function withoutComment(list: string): string {
  const [first = "", ...rest] = list.split(/\s*,\s*/u);
  return rest.length === 0 ||
    rest.every((part) => part.split(/\s+(?:and|or)\s+/iu).every((item) => thingOf(item.replace(/^(?:and|or) /iu, "")) !== null))
    ? list
    : first;
}

/** The draft of a thing, where it is one. */
export function drafted(thing: Thing | null, text: string, phrase: string, replaces: readonly string[] = []): Draft[] {
  if (thing === null) return [];
  const entities =
    thing.category === "artist" || thing.category === "venue"
      ? [phrase.replace(/^the /iu, "")].filter((name) => /^\p{Lu}/u.test(name))
      : [];
  return [{ ...thing, text, ...(entities.length > 0 ? { entities } : {}), ...(replaces.length > 0 ? { replaces } : {}) }];
}

const prefers = (thing: string): string => `Prefers ${thing}`;
const likes = (thing: string): string => `Likes ${thing}`;
const loves = (thing: string): string => `Loves ${thing}`;
export const dislikes = (thing: string): string => `Dislikes ${inside(thing)}`;

/** A kind that began its sentence, without the capital of that. */
function inside(thing: string): string {
  return WHOLE_KIND.test(thing) ||
    (/^\p{Lu}\p{Ll}+ \p{Ll}/u.test(thing) && thingOf(thing)?.category === "genre" && !CUISINES.test(thing.split(" ")[0] ?? ""))
    ? thing.replace(/^./u, (letter) => letter.toLowerCase())
    : thing;
}

function preferred(what: string): Draft[] {
  const { a, b } = OVER.exec(what.replace(/^to (?=sit|be|eat|go|have|see|speak|stay|pay|drink|travel|book)/iu, "to "))?.groups ?? {};
  if (a === undefined || b === undefined || /^to$/iu.test(a) || /^speak/iu.test(b)) return draftsOf(what, prefers);
  return draftsOf(a, (thing) => `Prefers ${thing} over ${b.replace(HOW, "")}`, itemsOf(b).map(aspectOf));
}

const negated = (what: string, { changed }: PlainClause): Draft[] =>
  draftsOf(what, changed ? (thing) => `No longer likes ${thing}` : dislikes);

export const TASTES: readonly Shape[] = [
  shape(/^I (?:would )?(?:much )?prefer (?<what>.+)$/iu, ({ what = "" }, { text, passing }) =>
    /^I would /iu.test(text) && !passing ? null : preferred(what),
  ),
  shape(
    /^(?:this time )?I would rather (?:have |be |go (?:to|for) |sit (?:in|on|at|by) |eat |see |hear |take |get |stay (?:in|at) |drink )(?:the |an? )?(?<what>.+)$|^I would rather (?<what2>sit|eat) (?<where>outside|inside|outdoors|indoors|upstairs|downstairs)$/iu,
    ({ what = "", where = "" }) => preferred(where || what),
  ),
  shape(
    /^(?:my )?(?:all-time |absolute )?favou?rite (?<kind>[\p{L} ]{3,30}?) (?:is|are|has been) (?<what>.+)$/iu,
    ({ kind = "", what = "" }) => favourite(kind, what),
  ),
  shape(/^(?<what>.+?) (?:is|are) my (?:all-time |absolute )?favou?rite (?<kind>[\p{L} ]{3,30})$/iu, ({ kind = "", what = "" }) =>
    favourite(kind, what),
  ),
  shape(
    /^I (?:like|enjoy|appreciate|am keen on|am fond of|am partial to|am into|have got into|got into|have discovered|have a soft spot for|am interested in|like going to|enjoy going to|am happy with) (?<what>.+)$/iu,
    ({ what = "" }, { text, passing, usual }) =>
      /^I am happy with/iu.test(text) && (passing || !usual)
        ? null
        : draftsOf(what.replace(/^(?:my|our) (?:food|meals|dishes) (?:very |quite |not too )?(?=\p{L}+$)/iu, ""), foodStyle(what) ?? likes),
  ),
  shape(
    /^I (?:love|adore|am crazy about|am mad about|am obsessed with|worship|can not get enough of|live for|am passionate about|am devoted to|am addicted to) (?<what>(?!to (?:see|book|have|try|go|visit|know|get|come|hear)\b).+)$/iu,
    ({ what = "" }) => draftsOf(what, loves),
  ),
  shape(
    /^(?:I am )?(?:an? )?(?:big |huge |great |massive |lifelong |long-time |keen |real |die-hard )*(?:fans?|admirers?|lovers?|enthusiasts?|devotees?|supporters?|followers?) of (?<what>.+?)(?: here| since .+)?$/iu,
    ({ what = "" }, { text }) => (/^I am not/iu.test(text) ? null : draftsOf(what, (thing) => `Is a fan of ${thing}`)),
  ),
  shape(
    /^I am (?:an? )?(?:big |huge |great |real |keen |die-hard )*(?<what>[\p{L} &-]{3,30}) (?:fan|lover|enthusiast|buff|addict|supporter|aficionado)$/iu,
    ({ what = "" }) => draftsOf(what, (thing) => `Is a fan of ${thing}`),
  ),
  shape(
    /^I (?:never miss|follow|go to (?:every|all)|support|have tickets for every|go and see every) (?:an? |the |every |any )?(?:concerts?|gigs?|shows?|games?|matches|performances?)? ?(?:of |by |from )?(?<what>(?:the )?\p{Lu}.+?)(?: everywhere| wherever .*| on tour| around the world)?$/iu,
    ({ what = "" }) =>
      /^(?:the )?\p{Lu}/u.test(what)
        ? draftsOf(what, (thing) => `Follows ${thing}`)
            .filter((made) => made.category === "artist" || made.category === "venue")
            .map((made) => ({ ...made, category: "artist" }))
        : null,
  ),
  shape(/^(?<what>.+?) (?:suits?|suit) (?:me|us) (?:better|more) than (?<b>.+)$/iu, ({ what = "", b = "" }) =>
    draftsOf(what, (thing) => `Prefers ${thing} over ${b}`, [aspectOf(b)]),
  ),

  // against
  shape(
    /^I (?:do not|did not|no longer|can not say I)(?: really| much| particularly| much)? (?:like|enjoy|love|care for|want|fancy|appreciate|get on with|listen to|go to|care about) (?<what>.+)$/iu,
    ({ what = "" }, clause) =>
      /\bwant\b/iu.test(clause.text) && !clause.usual && !clause.changed ? null : negated(what.replace(/^(?:to )/iu, ""), clause),
  ),
  shape(
    /^I (?:hate|dislike|detest|loathe|despise|can not (?:stand|bear|abide)|abhor|am not (?:an? )?(?:big |great |huge )?(?:fan|lover) of|am not (?:into|keen on|fond of|interested in|crazy about|partial to|one for)|never (?:go to|watch|listen to)) (?<what>.+)$/iu,
    ({ what = "" }, clause) => negated(what, clause),
  ),
  shape(/^I (?:avoid|stay away from|steer clear of|keep away from|do not do) (?<what>.+)$/iu, ({ what = "" }) =>
    draftsOf(what, (thing) => `Avoids ${thing}`),
  ),
  shape(
    /^(?<what>.+?) (?:is|are) not (?:my thing|for me|my cup of tea|my style|to my taste|my kind of thing|my favou?rite)$|^(?<what2>.+?) (?:does|do) not (?:appeal to|interest|do it for) me$|^(?<what3>.+?) (?:bores?|annoys?) me$/iu,
    ({ what = "", what2 = "", what3 = "" }, clause) => negated(what || what2 || what3, clause),
  ),
  shape(
    /^(?:no|never|please no|no more) (?<what>[\p{L} -]{3,40}?)(?:, ever|,? for me|,? ever again|,? again)?$/iu,
    ({ what = "" }, clause) => (clause.usual || (/no more/iu.test(clause.text) && !clause.passing) ? negated(what, clause) : null),
  ),
  shape(/^not (?<what>[\p{L} -]{3,30}?)(?: any ?more| any longer)?$/iu, ({ what = "" }, clause) =>
    clause.changed ? negated(what, clause) : null,
  ),

  shape(
    /^I (?:(?:do not|would not|never) (?:really )?(?:want|like|wish) to|would rather not|prefer not to|refuse to|hate to|can not stand to) (?:sit|be seated|be put|be placed|be sat) (?<where>(?:too )?(?:near|close to|next to|by|behind|under|in|on|at|beside|far from|right (?:next to|by|behind|in front of)|in front of) .{3,60})$/iu,
    ({ where = "" }) => ({ category: "seating", aspect: placeIn(where), text: `Does not want to sit ${where}` }),
  ),
  shape(
    /^I (?:hate|dislike|do not (?:like|enjoy)|can not stand|avoid) (?:sitting|being seated|seats) (?<where>(?:too )?(?:near|close to|next to|by|behind|under|in|on|at|beside|far from|in front of) .{3,60})$/iu,
    ({ where = "" }) => ({ category: "seating", aspect: placeIn(where), text: `Does not want to sit ${where}` }),
  ),

  // seats, hours and the like, without a verb of liking
  shape(
    /^(?:I (?:sit|take|go for|choose|pick|book|want|like to sit|like to be|prefer to sit|have to sit|ask for|look for|reserve|eat|dine)(?: out)? (?:in |at |on |by |near )?)(?<what>(?:the |an? )?.+)$/iu,
    ({ what = "" }, { usual, changed, reasoned, text, passing }) => {
      const lasting =
        usual || /^I (?:like|prefer) to/iu.test(text) || ((changed || reasoned) && /^I (?:sit|take|go for|choose|pick)\b/iu.test(text));
      if (!lasting && !passing) return null;
      const thing = thingOf(what.replace(/^(?:the|an?) /iu, ""));
      // "I want to see a comedy on Friday" is a wish for that evening; how to sit then is worth keeping until it is over.
      if (thing === null || (!lasting && thing.category !== "seating")) return null;
      return seatLike(thing)
        ? { ...thing, text: seatText(text, what, usual) }
        : drafted(thing, usual ? `Usually chooses ${what}` : likes(what), what);
    },
  ),
  shape(
    /^(?:an? |the )?(?<what>[\p{L}\d -]{3,50}?) (?:for me|is (?:ideal|best|perfect|good|great|my choice)(?: for me)?|are (?:ideal|best|perfect|good|great|what I (?:take|choose|book|prefer|like)|my choice)(?: for me)?|is what I (?:take|choose|book|prefer|like)|suits? me(?: best)?|works? (?:best )?for me)$/iu,
    ({ what = "" }, { text, usual, reasoned }) => {
      const thing = thingOf(what);
      if (thing === null || (/ for me$/iu.test(text) && !/(?:is|are|works?) /iu.test(text) && !usual && !reasoned)) return null;
      return drafted(thing, prefers(what), what);
    },
  ),
  shape(/^I need (?:an? |some |extra |the )?(?<what>.*legroom)$/iu, ({ what = "" }) => ({
    category: "seating",
    aspect: "legroom",
    text: `Needs ${/extra/iu.test(what) ? what : `extra ${what}`}`,
  })),
  shape(/^(?:when I (?:eat|go) out )?I want (?:an? |the )?(?<what>.+)$/iu, ({ what = "" }, { usual }) =>
    usual ? draftsOf(what, (thing) => `Wants ${thing}`) : null,
  ),
  shape(/^I (?:go|come) to (?<what>.+)$/iu, ({ what = "" }, { usual }) =>
    usual ? draftsOf(what, (thing) => `Usually goes to ${thing}`) : null,
  ),
  shape(/^I only (?:eat|drink|listen to|watch|go to|see|book|like) (?<what>.+)$/iu, ({ what = "" }, { text }) =>
    draftsOf(
      what,
      (thing) =>
        `Only ${/^I only (\p{L}+(?: to)?)/iu.exec(text)?.[1]?.replace(/^(\p{L}+)/u, (verb) => (/go|watch/u.test(verb) ? `${verb}es` : `${verb}s`)) ?? ""} ${thing}`,
    ),
  ),
  shape(
    /^(?:I would rather (?:have |go )?|rather )(?:something |somewhere |an? |the )(?<what>quiet|lively|romantic|outdoors|light|simple|special|calm|cosy)(?: .*)?$/iu,
    ({ what = "" }, { passing }) => (passing ? { category: "other", aspect: "mood", text: `Wants something ${what.toLowerCase()}` } : null),
  ),
];

/** What the place is: "near the stage" is about the stage, so that a changed mind replaces it. */
function placeIn(where: string): string {
  const thing = thingOf(where);
  return thing?.category === "seating" && thing.aspect === "row" ? "row" : (foldText(where).split(" ").at(-1) ?? "");
}

function favourite(kind: string, what: string): Draft[] {
  if (/^(?:it|this|that|the (?:one|first|second))\b/iu.test(what)) return [];
  const plain = what.replace(/^(?:the|an?) /iu, "");
  const text = `Favourite ${kind.toLowerCase()} is ${what}`;
  const category = /venue|hall|theatre|theater|club|restaurant|bar|hotel|stadium|place|cinema|café|cafe/iu.test(kind)
    ? "venue"
    : /composer|singer|band|artist|actor|actress|author|writer|conductor|team|club|orchestra|group|director|musician|player|chef|comedian|playwright|dj/iu.test(
          kind,
        )
      ? "artist"
      : /seat|row|spot|table/iu.test(kind)
        ? "seating"
        : /day|time/iu.test(kind)
          ? "schedule"
          : /cuisine|food|dish|music|genre|style|sport|kind|type|opera|play|musical|drink|wine|meal|instrument/iu.test(kind)
            ? "genre"
            : null;
  if (category === null) return [];
  const named = /^\p{Lu}/u.test(plain) && category !== "genre";
  return [
    {
      category,
      aspect: category === "seating" || category === "schedule" ? (thingOf(plain)?.aspect ?? "days") : aspectOf(plain),
      text,
      ...(named ? { entities: [plain] } : {}),
    },
  ];
}

function foodStyle(what: string): ((thing: string) => string) | null {
  return /^(?:my|our) (?:food|meals|dishes) /iu.test(what) ? (thing) => `Likes food ${thing}` : null;
}

function seatLike(thing: Thing): boolean {
  return (
    thing.category === "seating" &&
    (thing.aspect === "row" || thing.aspect === "position" || thing.aspect === "area" || thing.aspect === "table")
  );
}

/** "Usually sits in the front row", with the preposition that was said; "Wants an aisle seat" where there is none. */
function seatText(text: string, what: string, usual: boolean): string {
  const preposition = /^I (?:(?:like|have|prefer) to )?(?:sit|be|eat|dine)(?: out)? (?<p>in|at|on|by|near) /iu.exec(text)?.groups?.p;
  if (preposition === undefined && /^I (?:sit|eat|dine) /iu.test(text) && usual) return `Usually sits ${what}`;
  if (preposition === undefined) return `${usual ? "Usually takes" : "Wants"} ${what}`;
  return `${usual ? "Usually sits" : "Likes to sit"} ${preposition} ${what}`;
}
