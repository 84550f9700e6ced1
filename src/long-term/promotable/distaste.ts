/**
 * Whether a text says no to something, by negation or in the many words for being tired, cold or gone: what "dislikes", "avoids"
 * and "no longer" in a statement need in their quote. One line a language for what is no plain negation.
 */

const NEGATION =
  /(?<!\p{L})(?:no|not|never|none|without|neither|nor|cannot|can't|don't|doesn't|didn't|isn't|aren't|won't|avoid\p{L}*|free|intolerant|allergic|allerg\p{L}*|less|nobody|nothing|longer|anymore|nicht|kein\p{L}*|nie|niemals|ohne|ne|pas|jamais|sans|plus|nunca|sin|ningun\p{L}*|non|mai|senza|ya|ill|sick|problem\p{L}*|afraid|fear\p{L}*|bad|unable|trouble|refuse\p{L}*|limit|over|under|seizures?|migraines?|headaches?|dangerous|too|instead|rather|except|thing|only|isn|doesn|don|mag\p{L}* \p{L}+ nicht|não|niet|geen|nie|нет|не|不|没|ない|안|못)(?!\p{L})|n't|n’t|不|没|ない|ません/iu;

const DISTASTE: readonly RegExp[] = [
  /(?<!\p{L})(?:hat(?:e[ds]?|ing)|dislik\p{L}*|detest\p{L}*|loath\p{L}*|despis\p{L}*|abhor\p{L}*|shun\p{L}*|dread\p{L}*|avers\p{L}*|distaste|disgust\p{L}*|(?:can't|cannot|can not|couldn't|could not) (?:stand|bear|abide|stomach|tolerate|face)|(?:gone|go|going|goes|went|been) off(?! to)|(?:had|have|has|having|heard|seen|eaten)(?: more than| quite| just about)? enough|enough (?:of|with)|had (?:it|my fill) (?:with|of)|tired of|sick of|weary of|fed up|bored (?:of|with|by)|bor(?:es?|ing)|dull|tedious|leaves? (?:me|us|him|her|them) cold|(?:does|do|did) nothing for|cup of tea|(?:gets?|getting) on (?:my|our|his|her|their) nerves|(?:do|live) without|spare (?:me|us)|(?:steer|stay|keep)(?:s|ing)? (?:well )?(?:clear|away)|keep (?:me|us|him|her|them) (?:well )?(?:away|clear)|keep (?:\p{L}+ ){1,4}away from|put(?:s|ting)? (?:me|us|him|her|them) (?:off|to sleep)|turn(?:s|ed)? (?:me|us|him|her|them) off|turn-?off|drives? (?:me|us|him|her|them) (?:mad|crazy|nuts|up the wall)|annoy\p{L}*|irritat\p{L}*|grat(?:es|ing)|hurts? (?:my|our|his|her|their)|quit|stopp\p{L}*|(?:gave|give|given|giving) up|giv\p{L}+ (?:\p{L}+ ){1,3}a miss|used to|moved on|lost (?:my|our|all|any|the|his|her) (?:\p{L}+ )?(?:taste|interest|appetite|love)|lost interest|outgr[eo]w\p{L}*|(?:done|finished|through) with|skip\p{L}*|overrated|awful|terrible|horrible|dreadful|unbearable|insufferable|rarely|seldom|hardly|scarcely|anything but|hard pass|count (?:me|us) out|rubbish|yuck|ugh|worst|last thing)(?!\p{L})/iu,
  /(?<!\p{L})(?:hass\p{L}*|verabscheu\p{L}*|meide\p{L}*|vermeid\p{L}*|langweil\p{L}*|nerv(?:t|en)|auf die nerven|genug (?:von|davon)|die nase voll|satt|leid|überdrüssig|kalt|zuwider|furchtbar|schrecklich|grässlich|abneigung|ekel\p{L}*|verschon\p{L}*|jagen|gar nichts|nichts (?:abgewinnen|anfangen)|kaum|selten)(?!\p{L})/iu,
  /(?<!\p{L})(?:détest\p{L}*|hai[rs]?|haï\p{L}*|(?:m['’]|me |nous )?ennui\p{L}*|assez d\p{L}*|marre|ras[- ]le[- ]bol|laisse(?:nt)? (?:\p{L}+ )?froide?s?|horreur|lassée?s?|évit\p{L}*|fui[srt]?|insupport\p{L}*|saoul\p{L}*|dégoût\p{L}*|fatigu\p{L}*|rarement|guère)(?!\p{L})/iu,
  /(?<!\p{L})(?:odi[oa]\p{L}*|detest\p{L}*|aburr\p{L}*|hart[oa]s?|cans[éoa]\p{L}*|fr[íi][oa]s?|evit\p{L}*|paso de|paso del|aborre\p{L}*|asco|insoportable\p{L}*|fastidi\p{L}*|apenas|rara vez|tampoco)(?!\p{L})/iu,
  /(?<!\p{L})(?:odi(?:o|a|amo)|detest\p{L}*|annoi\p{L}*|stuf[oaie]|abbastanza d\p{L}*|fredd[oaie]|stancat[oaie]|stanc[oaie]|evit\p{L}*|disgust\p{L}*|insopportabil\p{L}*|raramente)(?!\p{L})/iu,
];

/** A no that is a yes: "I can't get enough of it", "nothing beats jazz". */
const LIKING =
  /(?<!\p{L})(?:(?:can't|cannot|can not|could not|couldn't|never|don't) (?:ever )?(?:get|have) enough|(?:can't|cannot|can not|couldn't|could not) (?:live|do|be|go|imagine \p{L}+) without|(?:can't|cannot|can not) wait|never (?:tire|get tired|get bored|been bored)(?: of)?|not tired of|never boring|nothing (?:beats|like|better|tops)|(?:is|are|'s|'re) (?:so |very |just |exactly |absolutely )?my (?:cup of tea|thing)|kann (?:nicht|nie) genug|nicht genug (?:bekommen|kriegen)|nicht ohne)(?!\p{L})/giu;
const TASTE =
  /(?<!\p{L})(?:lik(?:e|es|ed|ing)|lov(?:e|es|ed|ing)|enjoy\p{L}*|prefer\p{L}*|favou?rite|adore\p{L}*|fan|fond|mag|liebe|gern\p{L}*|aime|adore|préfèr\p{L}*|gusta\p{L}*|encanta\p{L}*|prefier\p{L}*|piac\p{L}*|preferisc\p{L}*|amo)(?!\p{L})/iu;

/** Plain dislike or absence in a statement that its quote would have to carry. */
const NEGATED_STATEMENT =
  /(?<!\p{L})(?:not|never|no longer|dislikes?|hates?|avoids?|cannot|can't|doesn't|does not|without|nicht|kein\p{L}*|nie|pas|jamais|nunca|non|mai)(?!\p{L})/iu;
const TASTE_STATEMENT = /^(?:\p{L}+ )?(?:likes|loves|enjoys|adores|is (?:a |an )?(?:\p{L}+ )?(?:fan|fond) of)(?!\p{L})/iu;

function isDistaste(text: string): boolean {
  return DISTASTE.some((words) => words.test(text));
}

/** Whether a statement says the opposite of its quote: a no without one in the quote, or a taste where it tells of distaste alone. */
export function turnsRound(statement: string, quote: string): boolean {
  const plain = quote.replace(/[’‘]/gu, "'").replace(LIKING, " ");
  if (NEGATED_STATEMENT.test(statement)) return !NEGATION.test(plain) && !isDistaste(plain);
  return TASTE_STATEMENT.test(statement) && isDistaste(plain) && !TASTE.test(plain) && plain.length === quote.length;
}
