import { saysNothingToMind } from "./nothing-to-mind.js";
import { NUMBER_WORDS } from "./number-words.js";
import { saysOverride } from "./override.js";

/**
 * What a guest's own words say to a question about a booking. Conservative: whoever hesitates, changes something or asks
 * has not agreed. English, German, French, Spanish, Italian, Portuguese.
 */
export interface Reply {
  /** Agrees, and to nothing else than what was asked. */
  readonly yes: boolean;
  /** A yes that says itself what to do: "book it". It needs no question just before it. */
  readonly order: boolean;
  readonly no: boolean;
  /** Tells in so many words to book in spite of what stands against it: more than a yes. */
  readonly override: boolean;
  /** Says that there is nothing to look out for. */
  readonly nothingToMind: boolean;
}

const MAX_WORDS = 25;

const YES =
  /\b(?:yes|yep|yeah|yup|sure|certainly|absolutely|definitely|of course|ok|okay|go ahead|go for it|do it|please do|do so|book (?:it|them|that|those|this)|(?:i|we)(?:'ll| will) take (?:it|them|that|those|this)|take (?:it|them)|confirm(?:ed)?|sounds? (?:good|great|perfect|lovely|fine)|perfect|great|that works|works for (?:me|us)|fine by (?:me|us)|agreed|deal|correct|reserve (?:it|them|that|those)|ja|jawohl|gerne?|passt|buch(?:e|en)? (?:es|sie|das|die)|mach das|einverstanden|oui|d'accord|volontiers|vas-y|allez-y|réserve[zr]?(?:-(?:les?|la))?|parfait|sí|claro|vale|adelante|resérv[ae](?:l[oa]s?)|perfecto|sì|certo|va bene|prenota(?:l[oiae])?|perfetto|sim|claro que sim|pode ser|reserva)(?!\p{L})/iu;
const ORDER =
  /\b(?:book|reserve|take|get|confirm)(?: me| us)? (?:it|them|that|those|this|these|the|both|one|two)\b|\b(?:buch(?:e|en)? (?:es|sie|das|die)|réserve[zr]?(?:-(?:les?|la))|resérv[ae]l[oa]s?|prenotal[oiae]|reserva(?:-?[oa])\b)(?!\p{L})/iu;
const NO =
  /\b(?:no|nope|nah|don't|do not|not|never|cancel|stop|wait|hold on|leave it|forget it|nein|nicht|kein|keine|warte|lieber nicht|non|pas|attends|attendez|nada|espera|nunca|não|aspetta)(?!\p{L})/iu;
/** A yes with a change, a condition or a doubt. */
const HESITATES =
  /\b(?:but|instead|rather|maybe|perhaps|if|unless|except|only|change|different|other|another|cheaper|later|earlier|first|before|aber|vielleicht|wenn|falls|sondern|mais|peut-être|si|plutôt|pero|quizás|quizá|más barato|ma|forse|se|però|mas|talvez)(?!\p{L})/iu;
/** Wants something else, or says that something is not so: no plain yes either. */
const ELSEWHERE =
  /\b(?:else|elsewhere|something|anything|alternatives?|think about|\p{L}+n't|cannot|woanders|etwas anderes|ailleurs|autre|otr[oa]|altr[oa]|outr[oa])(?!\p{L})/iu;

/** Tells something that may have to be minded: it is in memory by the next turn, so the yes is asked for again then. */
const TELLS =
  /\b(?:i|we)(?:'m|'re| am| are| use| need| have| can't| cannot| don't (?:eat|drink)| must)\b(?! (?:sure|certain|happy|fine|ok|okay|good|in|ready|glad|delighted|looking|time))|\b(?:my|our) \p{L}+(?:'s| is| are| has| have| needs?| uses?| can't| cannot)\b|\b(?:s?he|they)(?:'s|'re| is| are| has| have| needs?| uses?| can't| cannot)\b/iu;

export function readReply(text: string): Reply {
  const words = text.normalize("NFKC").replace(/[\u2018\u2019]/g, "'");
  const short = (words.match(/[\p{L}\p{N}']+/gu)?.length ?? 0) <= MAX_WORDS;
  const override = short && saysOverride(words);
  const nothingToMind = short && saysNothingToMind(words);
  // "Yes" at the end of a question still asks: "is it yes or no?"; "yes, can you book it?" agrees.
  const asks = /\?/.test(words) && !/\b(?:can|could|would|will) you\b/iu.test(words);
  const agrees = short && YES.test(words) && !asks;
  const negates = NO.test(words.replace(/\b(?:no problem|why not|no doubt|not at all|kein problem|pas de problème)\b/giu, " "));
  const yes = agrees && ![HESITATES, ELSEWHERE, TELLS].some((more) => more.test(words)) && !negates;
  return { yes, order: yes && ORDER.test(words), no: negates && !override && !nothingToMind, override, nothingToMind };
}

const CANCELS =
  /\b(?:cancel|cancels|cancelled|canceled|cancelling|cancellation|call (?:it |them )?off|give (?:back|up)|get rid of|drop|undo|refund|unbook|stornier\w*|absag\w*|annul\w*|cancela\w*|anula\w*|disd[iìe]\w*|cancell\w*|desmarc\w*)(?!\p{L})/iu;
const NOT_CANCEL = /\b(?:don't|do not|never|not|nicht|pas|no)\s+(?:\p{L}+\s+){0,2}(?:cancel|stornier|annul|cancel[ae])/iu;

/** Asks about cancelling, or considers it. */
const CONSIDERS =
  /\b(?:polic(?:y|ies)|terms|fees?|conditions|(?:can|could|may|should|do|if|when|how|why|whether|would) (?:\p{L}+ )?(?:i|we|to)|what (?:if|happens)|possible|kann ich|puis-je|puedo|posso)\b/iu;

/** Whether the words speak of a cancellation at all. */
export function speaksOfCancelling(text: string): boolean {
  return CANCELS.test(text) && !NOT_CANCEL.test(text);
}

/** Whether the guest's own words ask for a cancellation: not what it would cost, nor whether they may. */
export function asksToCancel(text: string): boolean {
  return speaksOfCancelling(text) && !CONSIDERS.test(text);
}

/** A number of seats that the words name: "yes, three please" does not agree to two. Null where they name none. */
export function seatsNamed(text: string): number | null {
  const match =
    /\b(?:(?<![:.,€]\s?)(?<digits>\d{1,2})(?!\s*(?:[:.,]\d|o'clock|[ap]\.?m\b|euros?|€|%|st\b|nd\b|rd\b|th\b))|(?<word>two|three|four|five|six|seven|eight|nine|ten)|(?<single>one)(?=\s+(?:ticket|seat|place)))\b/iu.exec(
      text,
    );
  if (match?.groups?.digits !== undefined) return Number(match.groups.digits);
  const word = (match?.groups?.word ?? match?.groups?.single)?.toLowerCase();
  return word === undefined ? null : (NUMBER_WORDS[word] ?? null);
}
