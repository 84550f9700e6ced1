import { type Draft, type Shape, shape } from "./draft.js";
import { dislikes, drafted, draftsOf } from "./tastes.js";
import { aspectOf, thingOf } from "./things.js";
import { capital, inThirdPerson } from "./third-person.js";

/** Likes and dislikes as people chat of them: "bores me to tears", "a must for us", "anything by Mozart and I'm happy". English. */

const likes = (what: string): Draft[] => draftsOf(what, (thing) => `Likes ${thing}`);
/** In the guest's own words, said of each thing of the list: "Ballet bores them to tears". */
const inOwnWords = (what: string, text: string): Draft[] => draftsOf(what, (thing) => inThirdPerson(text.replace(what, () => thing)));

export const STANCES: readonly Shape[] = [
  // against
  ...[
    /^(?<what>.{3,50}?) (?:bores?|bored?|annoys?|irritates?|puts?|sends?) me(?: (?:to (?:tears|death|sleep)|stiff|rigid|silly|senseless|off|no end))?$/iu,
    /^(?<what>.{3,50}?) (?:leaves? me cold|gets? on my nerves|drives? me (?:mad|crazy|nuts|up the wall)|makes? me (?:yawn|cringe))$/iu,
    /^I (?:do not|can not|never)(?: really| quite)? (?:get|see|understand|got) (?:the (?:appeal|point|attraction|fuss|hype)(?: of| about| with| in)?|what people see in) (?<what>.+)$/iu,
    /^I (?:have (?:gone|went)|went|am going) (?:right |completely |totally |rather |a bit )?off (?<what>.+)$/iu,
    /^I find (?<what>.+?) (?:(?:a bit |really |very |rather |far |so )*(?:boring|dull|tedious|exhausting|tiring|unbearable|annoying|overrated|painful|irritating|too long|too loud))$/iu,
    /^I (?:have had it with|have had enough of|am (?:tired|sick(?: and tired)?|bored|fed up) (?:of|with|by)) (?<what>.+)$/iu,
    /^I am (?:so |totally |well )?over (?<what>(?!\d|the moon)\p{L}.+)$/iu,
    /^(?<what>.{3,50}?) (?:is|are) (?:an? |absolutely |definitely |just )*(?:deal-?breaker|nightmare|turn-off|pet hate|out of the question)(?: for me)?$/iu,
  ].map((pattern) => shape(pattern, ({ what = "" }, { text }) => inOwnWords(what, text))),
  shape(
    /^(?<what>.{3,50}?) (?:(?:does|do) (?:absolutely |really |precisely |simply )?nothing for me|(?:is|are) (?:an? |absolutely |definitely |just )*(?:no-go|no go|no-no)(?: for me)?)$/iu,
    ({ what = "" }) => draftsOf(what, dislikes),
  ),
  shape(
    /^I am not (?:a )?(?:big|huge|mad|massive|hot|sold|wild|much|great|one)(?: (?:of an? |a ))?(?: on| about| for)? (?<what>.+)$/iu,
    ({ what = "" }) => draftsOf(what.replace(/ (?:fan|lover|person)$/iu, ""), dislikes),
  ),

  // for
  shape(
    /^anything (?:by|with|from|featuring|starring|conducted by|directed by) (?<what>.+?) and I (?:am|will be) (?:happy|there|in|sold|delighted|a happy (?:man|woman|person))$/iu,
    ({ what = "" }) => likes(what),
  ),
  shape(
    /^I (?:grew up (?:on|with)|was (?:raised|brought up) on) (?<what>.+?) and (?:still |always )?(?:love|adore|like|enjoy|listen to)\b.*$/iu,
    ({ what = "" }) => draftsOf(what, (thing) => `Loves ${thing}`),
  ),
  shape(
    /^(?:(?:there is )?nothing (?:beats|like)|you can not (?:beat|go wrong with)|I can not go wrong with|I never say no to|I will never say no to|I am (?:always )?(?:up for|a sucker for|game for|down for|a slave to|hooked on|addicted to|happiest (?:with|at|in))|I have a (?:soft spot|weakness|passion|thing) for|I have (?:come|been) (?:round|around|converted|won over)(?: to| by)?|I am always happy (?:with|to see|to hear)|I (?:have )?(?:been )?getting into|I have been getting into) (?:an? )?(?:good |bit of |nice |proper |decent )*(?<what>.+?)(?: for me)?$/iu,
    ({ what = "" }, { passing }) => (passing ? null : likes(what)),
  ),
  shape(
    /^I (?:could|can) (?:listen to|watch|eat|hear|see|live on|drink) (?<what>.+?) (?:all day(?: long)?|every (?:day|night)|for (?:hours|ever)|forever|day in,? day out|any day|any time|until .*)$/iu,
    ({ what = "" }) => draftsOf(what, (thing) => `Could listen to ${thing}`.replace("Could listen to", "Loves")),
  ),
  shape(
    /^I am (?:more |very much |rather |definitely )*(?:of )?(?:an? )?(?<what>[\p{L} -]{3,30}?) (?:person|man|woman|girl|guy|family|couple|type|sort)$/iu,
    ({ what = "" }, { passing }) =>
      passing ? null : draftsOf(what, (thing) => `Is a ${thing} person`).filter(({ category }) => category !== "other"),
  ),
  shape(
    /^my (?:big |secret |great |only |latest )?(?:guilty pleasure|weakness|passion|obsession|comfort food|first love|thing) (?:is|are) (?<what>.+)$|^(?<what2>.{3,40}?) (?:is|are) my (?:big |absolute |all-time |secret )*(?:guilty pleasure|weakness|passion|obsession|comfort food|first love|thing|favou?rites?|idea of heaven|jam)$/iu,
    ({ what = "", what2 = "" }) => draftsOf(what || what2, (thing) => `Loves ${thing}`),
  ),
  shape(
    /^I (?:never miss|go to (?:every|all)|follow|see every|try never to miss) (?:an? |the |every |any |all )?(?<what>\p{Lu}[\p{L}\p{N} .'’&-]+?) (?:home )?(?:shows?|concerts?|gigs?|games?|match(?:es)?|tours?|premi[eè]res?|recitals?)(?: (?:when|if|whenever|in|near|around) .{3,40})?$/iu,
    ({ what = "" }) =>
      /^\p{Lu}/u.test(what) && !/^(?:The|A|An|Last|First)$/u.test(what)
        ? [{ category: "artist", aspect: aspectOf(what), text: `Never misses ${what}`, entities: [what] }]
        : null,
  ),

  shape(
    /^I find (?<what>.+?) (?:really |very |so |absolutely )*(?:relaxing|exciting|fascinating|wonderful|soothing|magical|thrilling|beautiful)$/iu,
    ({ what = "" }, { text }) => inOwnWords(what, text),
  ),

  // how much it matters
  shape(
    /^(?:an? |the |having (?:an? )?)?(?<what>.{3,60}?) (?<is>is|are) (?<how>(?:very |really |absolutely |quite |pretty |an? |absolute )*(?:must(?:-have)?|important|essential|vital|crucial|key|non-negotiable|indispensable|a priority))(?<me> (?:to|for) me)?$/iu,
    ({ what = "", is = "", how = "", me = "" }, { usual, reasoned }) =>
      me !== "" || usual || reasoned || /must|non-neg/iu.test(how) ? drafted(thingOf(what), `${capital(what)} ${is} ${how}`, what) : null,
  ),
  shape(
    /^(?:an? |the )?(?<what>[\p{L}\d -]{3,50}?) (?:for me )?(?:whenever .{3,40}|every time|each time|any day|or nothing|if there is one|wherever .{3,40})(?: for me)?$/iu,
    ({ what = "" }, { passing }) => (passing ? null : drafted(thingOf(what), capital(what), what)),
  ),
  shape(
    /^the (?:further|farther|closer|nearer|higher|lower|quieter) (?<where>.{0,30}?) ?the better(?: for me)?$/iu,
    ({ where = "" }, { text }) => ({
      category: "seating",
      aspect: /back|front|stage/iu.test(where) ? "row" : "position",
      text: capital(text.replace(/ for me$/iu, "")),
    }),
  ),
  shape(
    /^I am (?:always |much |far )?happi(?:er|est) (?<what>outdoors|outside|indoors|inside|upstairs|downstairs|at the back|near the front|in the .{3,30})(?: than .{3,20})?$/iu,
    (_, { text }) => ({
      category: "seating",
      aspect: "area",
      text: inThirdPerson(text),
    }),
  ),
  // "I'm a light sleeper, so no rooms facing the street": a reason makes it last.
  shape(/^(?:no|nothing|not|never) (?<what>(?!more\b)[\p{L}\d -]{3,60}?)(?: for me)?$/iu, ({ what = "" }, { reasoned, text }) => {
    if (!reasoned && !/ for me$/iu.test(text)) return null;
    const thing = thingOf(what);
    return thing === null || thing.category === "genre" ? null : drafted(thing, capital(text.replace(/ for me$/iu, "")), what);
  }),
];
