import { foldText } from "../../platform/language/lexicon.js";
import { type Draft, type Shape, shape } from "./draft.js";
import { inThirdPerson } from "./third-person.js";

/** Clubs, cards and programmes. English. */

export const MEMBERSHIPS: readonly Shape[] = [
  shape(
    /^I (?:am|have been) (?:an? )?(?<level>(?:gold|silver|platinum|bronze|premium|lifetime|life|vip|season|honorary|founding|regular|long-standing|diamond|elite) )?(?<kind>members?|subscribers?|season[- ]ticket holders?|patrons?|friends?|card ?holders?|frequent flyers?)(?: (?:of|at|with|to|for|in) (?<what>(?:the )?[\p{L}\p{N} '&.-]{2,60}))?$/iu,
    ({ level = "", kind = "", what = "" }) =>
      /^(?:the )?(?:\p{Ll}+ )?(?:party|group|team|family|staff|crew|same|jury|board|band|choir|orchestra|audience|public)\b/u.test(what) ||
      (what === "" && level === "" && !/season|frequent/iu.test(kind))
        ? null
        : loyalty(
            what,
            `Is a ${level.trim() === "" ? "" : `${level.trim()} `}${kind.toLowerCase().replace(/s$/u, "")}${what === "" ? "" : ` of ${what}`}`,
          ),
  ),
  shape(
    /^I (?:have|hold|own|have got|got) (?:an? |my )?(?:\p{L}+ )?(?<kind>subscription|season ticket|membership|loyalty card|annual pass|museum pass|membership card|annual subscription)(?: (?:to|at|for|of|with|in) (?<what>(?:the )?[\p{L}\p{N} '&.-]{2,60}))?$/iu,
    ({ kind = "", what = "" }) => loyalty(what, `Has a ${kind.toLowerCase()}${what === "" ? "" : ` to ${what}`}`),
  ),
  shape(
    /^I (?:have|hold|own|have got|got got|got) (?:an? |my )?(?<what>\p{Lu}[\p{L}]*(?:[- ][\p{Lu}\p{N}][\p{L}\p{N}]*)*(?:[Cc]ard|[Pp]ass)(?: ?\d+| [\p{Lu}][\p{L}]*)?|(?:senior|student|disability|press|artist|family|city|theatre|museum|library|union) (?:card|pass|id|discount|railcard))$/u,
    ({ what = "" }) => loyalty(what, `Has a ${what}`),
  ),

  // the name in front: "a Marriott Bonvoy Gold member", "a National Theatre membership"
  shape(
    /^I am (?:an? |the )?(?<what>\p{Lu}[\p{L}\p{N}.'’&-]*(?: (?:of|the|and|&|[\p{Lu}\p{N}][\p{L}\p{N}.'’&-]*))*) (?:cardholder|card holder|(?:\p{Ll}+ )?members?|subscriber|status member|season ticket holder)$/u,
    ({ what = "" }, { text }) => loyalty(programme(what), inThirdPerson(text)),
  ),
  shape(
    /^I (?:have|hold|own|have got|am on|earn|collect) (?:an? |my |the )?(?<what>[\p{Lu}\p{N}][\p{L}\p{N}.'’&-]*(?: (?:of|the|and|&|[\p{Lu}\p{N}][\p{L}\p{N}.'’&-]*))*) (?:\p{Ll}+ )?(?:membership|status|accounts?|cards?|pass|points|miles|subscription|season ticket|number)$/u,
    ({ what = "" }, { text }) => loyalty(programme(what), inThirdPerson(text)),
  ),
  shape(/^I am with (?<what>(?:World of |Club )?[\p{Lu}][\p{L}]+(?: (?:of |[\p{Lu}][\p{L}]+ ?)+)?)$/u, ({ what = "" }, { text }) =>
    /\b(?:Hyatt|Hilton|Marriott|Bonvoy|Accor|IHG|Radisson|Wyndham|Honou?rs|Rewards|Club|World|Miles|Avios|Airways|Lufthansa|Insurance)\b/u.test(
      what,
    )
      ? loyalty(programme(what), inThirdPerson(text))
      : null,
  ),
  shape(
    /^I have been (?:an? )?(?:members?|subscribers?|patrons?|friends?) (?:of|with|at) (?<what>(?:the )?\p{Lu}[\p{L} '&.-]{2,50})$/u,
    ({ what = "" }, { text }) => loyalty(programme(what), inThirdPerson(text)),
  ),
];

/** The programme without the level that one has in it. */
function programme(name: string): string {
  return name.replace(/ (?:gold|silver|platinum|diamond|titanium|bronze|elite|premium|vip)(?: .*)?$/iu, "");
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
