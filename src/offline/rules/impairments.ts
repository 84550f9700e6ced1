import { foldText } from "../../platform/language/lexicon.js";
import { need, type Shape, shape } from "./draft.js";
import { capital, inThirdPerson } from "./third-person.js";

/** What the body can't do or bear, in the guest's own words. English. */

const HARM =
  "(?:migraines?|seizures?|epilepsy|epileptic fits?|fits|panic attacks?|anxiety|asthma|headaches?|vertigo|tinnitus|nosebleeds|flashbacks|dizzy spells|my heart)";
const CONDITION =
  "arthritis|asthma|epilepsy|claustrophobia|vertigo|tinnitus|dementia|alzheimer's|ms|multiple sclerosis|parkinson'?s?|fibromyalgia|copd|ptsd|autism|adhd|sciatica|osteoporosis|anxiety|agoraphobia|motion sickness|a stoma|a pacemaker|a heart condition|a slipped disc|a prosthetic leg|a broken \\p{L}+|a sprained \\p{L}+";
const LIMB = "legs?|knees?|hips?|back|heart|eyes?|ears?|feet|foot|ankles?|shoulder|neck|hearing|eyesight|sight|vision|balance|mobility";

/** "That gives me a headache" names nothing. */
const POINTING = /^(?:that|this|it|which|he|she|they|you|the (?:price|thought|idea|bill|whole thing)|all this|your|his|her|their)\b/iu;

export const IMPAIRMENTS: readonly Shape[] = [
  shape(
    new RegExp(
      `^(?<what>[\\p{L} -]{3,40}?) (?<does>triggers?|sets? off|causes?|brings? on|gives? me|gives? I) (?:my |me |bad |terrible |the |a )*(?<harm>${HARM})$`,
      "iu",
    ),
    ({ what = "", does = "", harm = "" }) =>
      POINTING.test(what)
        ? null
        : need(
            "accessibility",
            /strobe|flash|flicker/iu.test(what) ? "strobe lights" : foldText(what).slice(0, 64),
            `${capital(what)} ${does.replace(/ (?:me|I)$/iu, "")} ${harm}`,
          ),
  ),
  shape(
    new RegExp(
      `^I (?:get|have|suffer from) (?:bad |terrible |awful )?(?:${HARM}|dizzy|anxious|claustrophobic|seasick) (?:in|from|with|on|at|around) (?<what>[\\p{L} -]{3,40})$`,
      "iu",
    ),
    ({ what = "" }, { text }) => need("accessibility", foldText(what).slice(0, 64), inThirdPerson(text)),
  ),
  shape(
    /^I (?:can not|am not able to|am unable to|must not|should not|struggle to) (?<what>sit|stand|walk)(?: around| up| down| still)?(?: for)? (?:(?:more|longer|further) than |very |too |that )?(?:long|far|an? hour|half an hour|(?:an?|one|two|three|a few|\d+) (?:hours?|minutes?|metres?|meters?|miles?|blocks?|steps))(?: at a time| or so| these days)?$/iu,
    ({ what = "" }, { text }) => need("accessibility", what.toLowerCase(), inThirdPerson(text)),
  ),
  shape(
    new RegExp(
      `^I (?:have|have got|suffer from|live with|am living with) (?:really |very )?(?:bad |severe |mild |chronic |some )?(?<what>${CONDITION})(?: in my .{3,30})?$`,
      "iu",
    ),
    ({ what = "" }, { text }) => need("accessibility", foldText(what).replace(/^an? /u, ""), inThirdPerson(text)),
  ),
  shape(
    new RegExp(`^I have (?:got )?(?:trouble|problems|difficulty|difficulties|issues) with my (?<what>${LIMB})$`, "iu"),
    ({ what = "" }, { text }) => need("accessibility", foldText(what), inThirdPerson(text)),
  ),
  shape(
    new RegExp(
      `^I have (?:got )?(?:an? |two )?(?:dodgy|bad|weak|gammy|poor|new|artificial|replaced|broken|stiff|sore|terrible|crook) (?<what>${LIMB})$`,
      "iu",
    ),
    ({ what = "" }, { text }) => need("accessibility", foldText(what), inThirdPerson(text)),
  ),
  shape(
    new RegExp(
      `^my (?<part>${LIMB}) (?:is|are) (?<how>not (?:what (?:it|they) used to be|great|good|the best|very good|so good)|going|shot|playing up|gone|rubbish|terrible|dreadful)$`,
      "iu",
    ),
    ({ part = "", how = "" }, { passing }) => {
      if (/playing up|going/iu.test(how) && !passing) return null;
      return need("accessibility", foldText(part), `${capital(part)} ${/s$/u.test(part) ? "are" : "is"} ${how}`);
    },
  ),
  shape(
    /^I am (?:very |a bit |slightly |almost |nearly |completely |partially |profoundly |totally |half |quite )*(?<what>deaf|blind|hard of hearing|hearing[- ]impaired|visually impaired|partially sighted|short-sighted)(?: (?:in|on) (?:my |the |one )?(?:left |right |other )?(?:ear|eye|side))?$/iu,
    ({ what = "" }, { text }) => need("accessibility", /hear|deaf/iu.test(what) ? "hearing" : "sight", inThirdPerson(text)),
  ),
  shape(
    /^I am (?:slow|unsteady|wobbly|shaky|nervous|bad|not (?:good|great|steady)) (?:on|with|at) (?:the )?(?<what>stairs|steps|escalators|my feet|heights|crowds)$/iu,
    ({ what = "" }, { text }) => need("accessibility", /stairs|steps/iu.test(what) ? "stairs" : foldText(what), inThirdPerson(text)),
  ),
];
