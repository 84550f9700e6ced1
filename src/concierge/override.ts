import { clausesOf } from "./clauses.js";

/**
 * Whether a guest tells in so many words to make the booking that was stopped, in spite of what stands against it. Read clause
 * by clause, and only what is certain counts: an order and an "in spite of it" make up a whole clause, or every clause of the
 * message is known. English, German, French, Spanish, Italian, Portuguese; patterns see clauses of {@link clausesOf}.
 */
export function saysOverride(text: string): boolean {
  if (text.includes("?")) return false;
  const clauses = clausesOf(text);
  const kinds = clauses.map(kindOf);
  if (clauses.some((clause, index) => kinds[index] === "unknown" && BLOCKS.test(clause))) return false;
  if (kinds.includes("override")) return true;
  const has = (kind: Kind) => kinds.includes(kind);
  if (has("unknown")) return false;
  // "Anyway, yes" only goes on; "yes, anyway" is meant.
  const afterwards = kinds.some((kind, index) => kind === "anyway" && ["order", "assent"].includes(kinds[index - 1] ?? ""));
  if (has("order") && (has("spite") || has("dismisses") || afterwards)) return true;
  if (has("assent") && (has("spite") || afterwards)) return true;
  return has("manages") && (has("order") || has("assent") || has("fine"));
}

type Kind = keyof typeof SHAPES | "unknown";

const LEAD =
  "(?:(?:yes|yeah|yep|ok|okay|please|pls|just|then|well|so|and|but|sure|alright|fine|bitte|ja|dann|und|aber|also|oui|et|mais|alors|si|y|pero|por favor|per favore|e|ma|allora|sim|mas|entao)\\s+)*";
const TAIL =
  "(?:\\s+(?:please|pls|thanks|thank you|then|now|for (?:me|us)|bitte|danke|s'il (?:te|vous) plait|merci|por favor|gracias|per favore|grazie|obrigad[oa]))*";
const BETWEEN = "(?:\\s+(?:please|bitte|s'il (?:te|vous) plait|por favor|per favore))*";
const THIS =
  "(?:it|them|that|those|this|these|that one|this one|(?:the |those |these )?(?:two |three |four |five |six |both )?(?:tickets?|seats?|places|table))";
const ES_DAS = "(?:es|sie|das|die|ihn|den|beide|die (?:platze|karten|tickets))";

/** Tells to book what was quoted, and nothing else. */
const ORDER = `(?:${[
  `(?:book|reserve)(?: (?:us|me))?(?: ${THIS})?`,
  `(?:take|get|buy|confirm) (?:(?:us|me) )?${THIS}`,
  "go ahead(?: with (?:it|that|this|the booking))?",
  "go for it|do it|do so|proceed|make the booking",
  `(?:i|we)(?:'ll| will|'d like to| would like to| want to) (?:book|take|have|reserve) ${THIS}`,
  `(?:i|we)(?: do| really)? want (?:you to book )?${THIS}`,
  `(?:i|we)(?:'d| would) (?:like|love) ${THIS}`,
  `(?:buch|reservier)(?:e|en)?(?: sie)?(?: uns| mir)?(?: ${ES_DAS})?`,
  `(?:nimm|nehmen wir) ${ES_DAS}`,
  `(?:ich|wir) (?:nehmen?|buchen?|will|wollen|mochten?|hatten?)(?: gerne?)? ${ES_DAS}`,
  "mach(?:en)?(?: sie)? (?:es|das)",
  "(?:reserve[zr]?|prends|prenez|confirme[zr]?)(?:-(?:le|la|les))?(?: (?:ca|les (?:places|billets)))?",
  "(?:je|on|nous) (?:(?:le|la|les) |l')(?:prends|prend|prenons|veux|veut|voulons|voudrais|reserve|reservons)",
  "vas-y|allez-y|fais-le|faites-le",
  "(?:reserv|compr|confirm)[ae]n?(?:me|nos)?(?:l[oae]s?)?(?: (?:las entradas|los asientos))?",
  "hazlo|hagalo|adelante|l[oa]s? (?:quiero|queremos|reservo|cojo|tomo)|quiero reservarl[oa]s?",
  "(?:prenot|conferm)(?:a|i|ate)(?:l[oaie])?(?: i (?:posti|biglietti))?",
  "procedi|proceda|fallo|l[oaie] (?:voglio|vogliamo|prendo|prendiamo|prenoto)",
  "(?:reserv|confirm|avanc)[ae](?:-?l?[oa]s?)?(?: os (?:lugares|bilhetes))?|pode reservar|quero(?: reservar)?(?:-?l?[oa]s?)?",
].join("|")})`;
const ASSENT = "(?:yes|yeah|yep|yes please|ja|ja bitte|oui|si|sim)";

/** In spite of what stands against it, before an order or after it. */
const SPITE = `(?:${[
  "regardless(?: of (?:it|that|this|the [\\p{L}-]+))?|nevertheless|nonetheless|all the same|just the same|even so|notwithstanding",
  "(?:in spite of|despite) (?:it|that|this|all that|everything|(?:the|my|her|his|our|their) [\\p{L}' -]+)",
  "(?:even though|even if|although) .+",
  "trotzdem|dennoch|trotz(?: (?:allem|der|des|dem) .*)?|auch wenn .+|obwohl .+",
  "quand meme|tout de meme|malgre (?:tout|cela|ca|l.+)|bien qu.+|meme s(?:i |'il ).+",
  "aun asi|a pesar de (?:todo|eso|ello|l.+)|aunque .+",
  "lo stesso|ugualmente|nonostante .+|anche se .+",
  "mesmo assim|apesar (?:de tudo|disso|d.+)|embora .+|mesmo que .+",
].join("|")})`;
/** The same, after an order alone: before it, these only go on with the conversation. */
const ANYWAY =
  "(?:anyway|anyways|anyhow|any way|comunque|in ogni caso|igualmente|de todos modos|de todas (?:formas|maneras)|de qualquer (?:forma|maneira|modo))";
const WHAT_STANDS_AGAINST = "(?:it|that|this|(?:the|my|her|his|our|their) [\\p{L}-]+(?: [\\p{L}-]+)?)";

const whole = (...patterns: readonly string[]) => new RegExp(`^${LEAD}(?:${patterns.join("|")})${TAIL}$`, "u");

/** What a whole clause can be; the first that fits counts. */
const SHAPES = {
  override: whole(
    `(?:${ORDER}|${ASSENT})${BETWEEN} (?:${SPITE}|${ANYWAY})${BETWEEN}(?: (?:buchen|reservieren|haben|nehmen))?`,
    `${SPITE}${BETWEEN} (?:${ORDER}|${ASSENT})`,
    `still (?:book|reserve|take|get) ${THIS}`,
    `(?:i|we)(?:'d| would)? still (?:want|like|love) (?:to (?:book|take|have) )?${THIS}`,
  ),
  order: whole(ORDER),
  assent: new RegExp(`^${ASSENT}$`, "u"),
  fine: /^(?:(?:that|it)(?:'s| is) (?:fine|ok|okay|all right|alright)|fine by (?:me|us))$/u,
  spite: new RegExp(`^(?:and |but |bitte )?${SPITE}$`, "u"),
  anyway: new RegExp(`^${ANYWAY}$`, "u"),
  manages: whole(
    "(?:i|we)(?:'ll| will) (?:manage|cope)(?: (?:it|that|somehow|(?:with )?the (?:stairs|steps)))?",
    "(?:i|we)(?:'ll)? (?:accept|take) the risk",
  ),
  dismisses: whole(
    `(?:never ?mind|ignore|disregard|override) ${WHAT_STANDS_AGAINST}`,
    `(?:i|we) (?:accept|don't mind|do not mind) ${WHAT_STANDS_AGAINST}`,
  ),
  concedes:
    /^(?:(?:yes|ok|okay|ja|oui|si|sim) )?(?:(?:i|we) (?:know|understand|see|realise|realize)|ich weiß|wir wissen|ich verstehe|je sais|je comprends|nous savons|(?:ya )?lo se|lo sabemos|entiendo|lo so|capisco|lo sappiamo|eu sei|sabemos)(?: .*)?$/u,
  reassures:
    /^(?:(?:it|that) (?:doesn't|does not) matter|no problem|not a problem|no worries|(?:das )?macht nichts|kein problem|egal|peu importe|pas de probleme|(?:ce n'est|c'est) pas grave|no importa|no pasa nada|no hay problema|non importa|non fa niente|nessun problema|nao faz mal|nao importa|sem problema)$/u,
  polite:
    /^(?:ok|okay|fine|sure|well|please|thanks|thank you|bitte|danke|merci|s'il (?:te|vous) plait|vale|por favor|gracias|va bene|per favore|grazie|obrigad[oa])$/u,
} as const;

/** In a clause of any other kind: a refusal, a doubt, a change, or a wish for something else. */
const BLOCKS =
  /\b(?:no|nope|nah|not|never|none|nobody|\p{L}+n't|cannot|cant|dont|wont|without|cancel|stop|wait|hold on|leave|forget|skip|scratch|kidding|joking|changed my mind|on second thought|but|instead|rather|maybe|perhaps|if|unless|except|only|change|make it|different|else|elsewhere|other|another|something|anything|alternatives?|cheaper|later|earlier|before|first|whether|should|nein|nicht|kein\w*|nie|ohne|warte|aber|vielleicht|wenn|falls|sondern|lieber|statt\w*|ander\w*|etwas|woanders|ne|pas|non|jamais|sans|attends|attendez|laisse\w*|mais|peut-etre|si|plutot|autres?|ailleurs|nada|nunca|sin|espera|deja\w*|pero|quizas?|otr[oa]s?|algo|mejor|niente|mai|senza|aspetta|lascia\w*|ma|forse|se|invece|altr[oaie]|qualcosa|nao|sem|deixa\w*|mas|talvez|outr[oa]s?)(?!\p{L})/u;

function kindOf(clause: string): Kind {
  const shapes = Object.entries(SHAPES) as [keyof typeof SHAPES, RegExp][];
  return shapes.find(([, shape]) => shape.test(clause))?.[0] ?? "unknown";
}
