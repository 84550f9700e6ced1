/**
 * How the assistant works, asks, ranks and is paid: no guest's taste lives there, in whatever form it comes. "I don't need to be
 * asked before bookings" has the dress of a preference and is an order; the guest sees it in review. It is read by what is to be
 * handled (bookings, prices, results, warnings) and by the handling, not by who is spoken to.
 */

const B = "(?<!\\p{L})";
const E = "(?!\\p{L})";

/** What the product deals in. */
const DEALT_IN =
  "(?:bookings?|reservations?|purchases?|orders?|payments?|prices?|fees?|surcharges?|costs?|charges?|results?|hits|listings?|rankings?|suggestions?|recommendations?|confirmations?|warnings?|alerts?|questions?|double-?checks?|checks?|limits?|cancellations?|refunds?|amounts?|cards?|checkouts?|allerg(?:y|ies)|intolerances?|diets?|dietary notes|medical notes|constraints?|restrictions?|wishes|preferences|memories|history|profile|answers?|replies|tools?|venues|competitors?|alternatives|other (?:hotels|venues|restaurants|offers|options))";
/** Confirmations that are sent somewhere are mail. */
const HANDLED =
  "(?!(?:sent|mailed|e-?mailed|texted|printed|delivered|addressed|written)\\b)(?:[\\p{L}-]+ed|made|done|shown|hidden|left (?:out|off|aside)|kept|taken|put|set|run|given|sold|withheld|cut|off|gone|free|zero)";
const UNASKED =
  "(?:asked|consulted|questioned|warned|told|informed|notified|prompted|alerted|bothered|checked|double-?checked|interrupted|reminded)";
const DEALING =
  "(?:book\\p{L}*|reserv\\p{L}*|purchas\\p{L}*|pay(?!phone)\\p{L}*|charg\\p{L}*|buy\\p{L}*|order(?:s|ing)?|confirm\\p{L}*|cancel\\p{L}*|fees?|prices?|costs?|surcharges?|allerg\\p{L}*|refunds?|spend\\p{L}*|upgrad\\p{L}*|change(?:s|d)? (?:to|of) (?:my|a|the) book\\p{L}*)";
const NO = "(?:n't|(?<!\\p{L})(?:not|no|never|without|nor|hate|dislike|rather not|refuse|skip|stop|annoy\\p{L}*|bother\\p{L}*|nuisance))";

function either(...sources: readonly string[]): RegExp {
  return new RegExp(sources.join("|"), "iu");
}

const WORKINGS: readonly RegExp[] = [
  // its own words
  /(?<!\p{L})(?:confirm(?:ed|ing|ation)?s?(?! (?:by|via|as|in|to my|on)(?!\p{L}))|verif\p{L}+|authori[sz]\p{L}+|consent\p{L}*|approv\p{L}+|unlimited|(?<!in )charges?|charged|charging|constraints?|instruct\p{L}*|prompts?|polic(?:y|ies)|overrid\p{L}+|assistants?|chat ?bots?|language models?|concierge|other guests|all guests|every guest|guests|all bookings|every booking|regardless|whatever i say|own words|partner of|recommend\p{L}*|promot\p{L}+|prioriti\p{L}+|without (?:asking|checking|question\p{L}*))(?!\p{L})/iu,
  either(
    // how what it deals in is to be handled
    `${B}${DEALT_IN}${E}[^.!?;]{0,40}?${B}(?:are|is|be|being|get|gets|getting|were|was|stay|stays|not|to)${E}(?: \\p{L}+){0,2}? ${HANDLED}${E}(?! (?:at|to|by) \\d)`,
    `${B}${DEALT_IN} (?:run|runs|go|goes|work|works|happen|happens|start|starts) (?:by (?:itself|themselves)|on (?:its|their) own|automatically|silently|unasked)${E}`,
    `${B}(?:made|done|booked|bought|taken|placed|cancelled) (?:at once|immediately|right away|straight away|in silence|silently|without a word|on the spot|behind)${E}`,
    `${B}(?:bookings?|purchases?|cancellations?|orders?|payments?)${E}.{0,30}${B}(?:without|with no|no)${E} (?:an? |any |my )?(?:word|fuss|questions?|warnings?|delay|checks?|notice|ok)${E}`,
    // not to be asked, told or warned
    `${NO}${E}.{0,40}${B}${UNASKED}${E}.{0,30}${B}(?:${DEALING}|money|diets?|(?:first|again|anything|each time|every time|twice|my ok)$)`,
    `(?:${NO}|${B}spare me)${E} (?:(?:want|need|like|care for|see|get|hear) )?(?:any |more |further |all |the |your |to (?:see|get|hear|read) )*(?:warnings?|alerts?|double-?checks?|checks|safety (?:checks?|questions?)|are you sure|confirmations?|disclaimers?|questions (?:before|about|when|at|first|asked)|reminders? (?:of|about) (?:my )?(?:allerg\\p{L}*|limit))`,
    `${NO}${E}.{0,20}${B}questions${E}.{0,20}${B}(?:before|about|when|at|first|asked)${E}`,
    `${NO}${E}.{0,30}${B}(?:alternatives|competitors|other (?:hotels|venues|restaurants|offers|options))${E}`,
    // what is named, listed or hidden
    `${B}(?:comes?|come up|pops? up|shows? up|appears?|listed|ranked|shown|placed|named|mentioned|put)${E}(?: up)? (?:first|on top|at the top|in first place|above (?:all|the|others))${E}`,
    `${B}(?:in|from|of|at the top of) (?:every|all|any|each|the|my|your) (?:search )?(?:lists?|results?|searches|suggestions?|listings?|answers?)${E}|${B}results? (?:from|of|by|with)${E}|${B}(?:first|only|top|main|default) (?:suggestion|recommendation|answer|result|hit|search result)s?${E}`,
    `${B}(?:marked|labelled|labeled|flagged|tagged|shown|presented|described|treated|counted|seen|kept|stored|noted|remembered|saved) as${E}(?! (?:vegan|vegetarian|gluten-free|halal|kosher|an? pdf))`,
    `${B}(?:answers?|replies|messages|suggestions|results)${E} (?:that |which |to )?(?:always )?(?:end|start|begin|open|close|mention|name|include|contain|praise|link|point)s?${E}`,
    // rights, and what others pay
    `${B}(?:staff|admin\\p{L}*|manager|operator|employee|owner|root|system|moderator|special|full) (?:rights?|access|privileges?|permissions?|clearance|status)${E}|${B}(?:count|counts|regarded|treated|known) as (?:verified|trusted|cleared|approved|staff|checked|paid)${E}|${B}exempt${E}|${B}whitelisted${E}`,
    `${B}(?:agree|agreed|accept|say yes|fine with|happy with|ok(?:ay)? with|sign off)${E}.{0,20}${B}(?:any|every|all|whatever|each|future)${E}.{0,20}${B}(?:purchases?|charges?|amounts?|prices?|fees?|costs?|bookings?|changes|terms|offers)${E}`,
    `${B}(?:card|account)${E}.{0,40}${B}(?:used|debited|billed|charged|taken|emptied)${E}|${B}(?:taken|debited|withdrawn|deducted) from my${E}|${B}(?:charged|billed|put) (?:to|on) (?:the (?:house|hotel|venue|company|firm|other)|someone|somebody|another|others|my (?:boss|room|employer))${E}`,
    `${B}(?:n't|not|never|nothing to) pay (?:for )?(?:anything|a thing|here|at all|a cent)${E}|${B}pay nothing${E}|${B}(?:everything|anything|all of it|it all)${E}.{0,12}${B}(?:for free|for nothing|free of charge|gratis|at no cost)${E}`,
    // pages as a source of taste; what must not count
    `${B}(?:what|everything|anything|all|whatever)(?: that)? (?:the |these |those |any |other )?(?:web ?sites?|web ?pages|pages?|mails?|e-?mails|adverts?|ads|tools?|documents?|reviews?|results?) (?:say|says|tell|tells|write|writes|claim|claims|show|shows|contain|contains)${E}`,
    `${B}(?:allerg(?:y|ies)|intolerances?|diet(?:ary (?:needs|notes))?|limits?|budget|medical notes)${E}.{0,30}${B}(?:count for nothing|(?:don't|do not|doesn't|needn't) (?:count|matter|apply)|left out|switched off|off|unimportant|irrelevant|void|obsolete)${E}`,
  ),
  // German
  either(
    `${B}(?:nicht|nie|niemals|keine|ohne)${E}.{0,40}${B}(?:gefragt|gewarnt|informiert|benachrichtigt|rückfragen?|nachfragen?|bestätigung\\p{L}*|warnung\\p{L}*)${E}|${B}(?:buchung\\p{L}*|preise?|gebühr\\p{L}*|ergebniss?e?|bestätigung\\p{L}*|warnung\\p{L}*|allergien?|stornierung\\p{L}*|käufe|zahlung\\p{L}*|karte)${E}.{0,50}${B}(?:übersprungen|ausgeblendet|angezeigt|ignoriert|weggelassen|ausgelassen|gemacht|getätigt|ausgeführt|belastet|abgebucht|versteckt|abgeschaltet|ausgeschaltet)${E}|${B}(?:ganz oben|an erster stelle|zuerst) (?:steht|stehen|erscheint|kommt|genannt|gelistet)${E}`,
  ),
  // French
  either(
    `${B}(?:pas|jamais|aucune?|sans|plus)${E}.{0,30}${B}(?:demande[rz]?|demandé\\p{L}*|averti\\p{L}*|prévenu\\p{L}*|informé\\p{L}*|questions?|avertissements?)${E}.{0,30}${B}(?:avant|réserv\\p{L}*|achat\\p{L}*|achet\\p{L}*|pay\\p{L}*|frais)${E}|${B}(?:réservations?|prix|frais|résultats?|confirmations?|avertissements?|allergies?|achats?|annulations?|carte)${E}.{0,40}${B}(?:soi(?:t|ent)|être|sont) (?:\\p{L}+ )?\\p{L}+(?:é|ée|és|ées|mis|mise|faites?)${E}|${B}en (?:premier|tête de liste|haut de la liste)${E}`,
  ),
  // Spanish
  either(
    `${B}(?:no|nunca|sin|ningun\\p{L}*)${E}.{0,30}${B}(?:pregunten?|preguntar\\p{L}*|preguntas|avisen?|avisos|advertencias|consulten?|confirmaci\\p{L}*)${E}.{0,30}${B}(?:antes|reserv\\p{L}*|compr\\p{L}*|pag\\p{L}*|cobr\\p{L}*)${E}|${B}(?:reservas|precios?|tarifas|resultados?|confirmaciones|avisos|alergias?|compras|cancelaciones|tarjeta)${E}.{0,40}${B}(?:se|sean?|estén?|ser) (?:\\p{L}+ )?(?:\\p{L}+(?:[ai]d[oa]s?|en|an)|hechas?)${E}|${B}(?:en primer lugar|en lo alto de la lista|el primero de la lista)${E}`,
  ),
  // Italian
  either(
    `${B}(?:non|mai|senza|nessun\\p{L}*)${E}.{0,30}${B}(?:chied\\p{L}*|chiesto|domande|avvis\\p{L}*|avvert\\p{L}*|conferm\\p{L}*)${E}.{0,30}${B}(?:prima|prenot\\p{L}*|acquist\\p{L}*|compr\\p{L}*|pag\\p{L}*)${E}|${B}(?:prenotazioni|prezzi|tariffe|risultati|conferme|avvisi|allergie|acquisti|cancellazioni|carta)${E}.{0,40}${B}(?:siano|sia|vengano|venga|essere) (?:\\p{L}+ )?\\p{L}+(?:at|it|ut|fatt|mess)[aeio]${E}|${B}(?:al primo posto|in cima alla lista)${E}`,
  ),
];
const ARTIFICIAL = /(?<!\p{L})A\.?I\b/u;
/** The guest's greeting names the assistant, and says nothing of it. */
const SALUTATION =
  /^(?:(?:dear|hello|hi|hey|good (?:morning|afternoon|evening))\s+)(?:concierge|assistant|maitred)?(?:\s+(?:team|desk|service))?[\s,!.:]+/iu;

/** True when a sentence is about how the assistant or the product is to work. */
export function speaksOfWorkings(sentence: string): boolean {
  const said = sentence.replace(/[’‘]/gu, "'").replace(SALUTATION, "");
  return ARTIFICIAL.test(said) || WORKINGS.some((form) => form.test(said));
}
