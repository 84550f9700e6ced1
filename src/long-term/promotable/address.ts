import { speaksOfWorkings } from "./workings.js";

/**
 * Lists of forbidden words never end; the form of a sentence helps further. A guest's word about themselves says "I", "my" or
 * "me" (or names a companion), and doesn't tell the listener what to do. What speaks to the assistant, about its workings, or about
 * nobody in the first person is not promoted: the user sees it in review.
 */

/** Ways of saying "you" that ask for nothing but to be heard. */
const HARMLESS_YOU =
  /(?<!\p{L})(?:(?:(?:can|could|would|will) you (?:please )?)?(?:please )?(?:remember|note|keep in mind)(?= that| i| my| we| our|:)|you (?:can|could|may|should|might|must) (?:best |always |also |just )?(?:call|reach|contact|text|e-?mail|phone|ring|write(?: to)?|address|find) (?:me|us)|you can reach|you (?:should|must|ought to|need to|have to|might want to|may) (?:know|be aware)|as you (?:know|see|can see|may know)|you know|thank you|so you know|for your information|if you (?:can|could|have|please|like|don'?t mind|ask me)|(?:i'?d|i would|i'?ll) (?:like|ask|need|want) you to (?:remember|know|note)|i (?:have |'ve )?(?:already )?(?:told|mentioned to) you|(?:tell|let) you(?: know)?|your (?:answers?|replies|messages?|explanations?|texts|emails?|e-mails?|mail|letter|question|call|colleagues?|team|staff|records?|files?|information|reference|kind \p{L}+|help|brochure|website|page|app|menu)|(?:can|could|would|will) you (?:please )?(?:make a note|bear in mind|write down|take down)|(?:kannst|könntest|würdest) du dir (?:bitte )?(?:merken|notieren)|(?:peux|pourrais)-tu (?:retenir|noter)|(?:pouvez|pourriez)-vous (?:retenir|noter)|s'il (?:te|vous) pla[iî]t|du weißt|wie du weißt|wissen sie|tu sais|vous savez|como sabes|come sai)(?!\p{L})/giu;
const HARMLESS_YOU_ONCE = new RegExp(HARMLESS_YOU.source, "iu");
const YOU =
  /(?<!\p{L})(?:you|your|yours|yourself|u r|du|dich|dir|dein\p{L}*|euch|euer\p{L}*|toi|tu|te|vous|votre|vos|tú|usted|ustedes|vosotros|contigo|tuo|tua|tuoi|voi)(?!\p{L})/iu;
/** "Du" is an article in French: "j'ai horreur du bruit". */
const FRENCH = /(?<!\p{L})(?:j'|(?:je|nous|le|la|les|est|suis|ai|mon|ma|mes|pas)(?!\p{L}))/iu;
const GERMAN = /(?<!\p{L})(?:ich|bist|hast|musst|sollst|kannst|wirst|darfst|magst|dich|der|die|das|ist|und|nicht)(?!\p{L})/iu;

const FIRST_PERSON =
  /(?<!\p{L})(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|we|we're|we've|we'd|we'll|us|our|ours|ich|mich|mir|mein\p{L}*|wir|uns|unser\p{L}*|je|j|moi|me|m|mon|ma|mes|nous|notre|nos|yo|mi|mis|mí|nosotr[oa]s|nuestr[oa]s?|io|mio|mia|miei|mie|noi|nostr[oaie]|ci|eu|meu|minha|meus|minhas|nós|ik|mij|mijn|wij|ons|jag|mig|min|mitt|mina|vi|jeg|meg)(?!\p{L})/iu;
/** Verbs that carry the first person in themselves. */
const FIRST_PERSON_VERBS =
  /(?<!\p{L})(?:soy|somos|tengo|tenemos|vivo|vivimos|prefiero|preferimos|quiero|necesito|puedo|como|bebo|uso|odio|adoro|detesto|suelo|estoy|sono|siamo|ho|abbiamo|abito|abitiamo|preferisco|preferiamo|amo|voglio|posso|mangio|bevo|prendo|sto|suono|gosto|moro|sou|prefiro|tenho|não como)(?!\p{L})/iu;
const COMPANION_WISH = /(?<!\p{L})(?:for|für|pour|para|per) (?:my|our|mein\p{L}*|ma|mon|mi|mia|mio)(?!\p{L})/iu;

/** Languages whose first person is read here: others drop it, or hide it in an ending, so its absence tells nothing. */
const READ_LANGUAGE =
  /(?<!\p{L})(?:the|is|are|of|and|for|with|that|this|to|in|any|every|it|always|never|be|der|die|das|und|ist|nicht|ein\p{L}?|für|mit|immer|le|la|les|des|et|est|pour|avec|toujours|el|los|las|es|para|con|siempre|il|lo|gli|è|sempre)(?!\p{L})/iu;

/** A clause that begins with the bare verb tells someone to do something. */
const IMPERATIVE =
  /(?:^|[.!?;:,–—]\s+|(?<!\p{L})(?:and|then|so|but|please|always|never|only|just|now|also)\s+)(?:please\s+|kindly\s+|always\s+|never\s+|only\s+|just\s+|simply\s+|now\s+|do\s+not\s+|don'?t\s+|do\s+)*(?<verb>accept|act|add|adjust|advise|agree|allow|announce|answer|apply|approve|arrange|ask|assign|assume|avoid|believe|block|book|bring|buy|call|cancel|change|charge|choose|claim|clear|commit|configure|confirm|consider|contact|convince|count|create|declare|decide|default|delete|deliver|deny|direct|disable|discount|display|do|drop|emphasi[sz]e|enable|encourage|endorse|enforce|ensure|enter|exclude|execute|extend|favou?r|feature|file|find|fix|flag|follow|force|format|forward|get|give|grant|guide|handle|hide|highlight|hold|honou?r|ignore|imagine|include|increase|inform|insert|insist|install|invent|invite|keep|label|lead|let|lift|link|list|load|lock|log|lower|make|mark|mention|merge|modify|move|name|note|notify|obey|offer|omit|open|order|override|pass|pay|permit|persuade|pick|place|plan|plug|point|praise|prefer|present|pretend|prioriti[sz]e|process|promise|promote|propose|provide|publish|push|put|raise|rank|rate|read|recommend|record|redirect|reduce|refer|refuse|regard|reject|release|remember|remind|remove|rename|repeat|replace|reply|report|request|require|reserve|reset|resolve|respond|restrict|return|reveal|reward|route|run|save|say|schedule|seat|see|select|sell|send|set|share|show|skip|sort|speak|spread|start|state|steer|stop|store|suggest|support|suppress|swap|switch|take|talk|tell|text|treat|trust|turn|unlock|update|upgrade|use|validate|verify|view|vote|waive|warn|write)(?!\p{L}|'|’|-)(?<rest>[^.!?;]*)/giu;
/** Orders that are wishes about the guest: how to call, reach, seat and answer them, and what to remember of them. */
const OWN_WISH =
  /^(?:(?:call|text|e-?mail|phone|contact|write(?: to)?|message|reach|address|notify|remind|seat|put|place|sit|book|give|get|send|bring|find|reserve|ask|inform|let|show|tell|move|take|offer|suggest)\s+(?:only\s+)?(?:me|us|my|our)|keep\s+(?:me|us|my|our)(?!\p{L})|spare\s+(?:me|us)|(?:send|keep|make|give|answer|reply|respond|speak|write|talk)\s+(?:(?:to|with)\s+(?:me|us)\s+)?(?:your\s+|the\s+|all\s+)?(?:answers?|replies|messages?|explanations?|it\s+(?:short|brief|simple)|things\s+(?:short|brief|simple)|in\s+\p{L}+|briefly|formally|informally|politely|slowly|concisely|short|as\s+pdf|by\s+\p{L}+)|(?:remember|note|keep in mind|record|save|know)(?:\s+(?:that|this|please|for next time|down)|:|,)*\s+(?:i|i'm|i've|i'd|we|we're|my|our)(?!\p{L})|keep in mind|avoid\s+(?:\p{L}+\s+){1,4}(?:for|with)\s+(?:me|us|my))/iu;

/** True when a text says "you" for more than courtesy. */
export function saysYou(text: string): boolean {
  const plain = text.replace(/[’‘]/gu, "'").replace(HARMLESS_YOU, " ");
  return YOU.test(FRENCH.test(plain) && !GERMAN.test(plain) ? plain.replace(/(?<!\p{L})du(?!\p{L})/giu, " ") : plain);
}

/** True when a sentence speaks to the assistant or of nobody, rather than of the guest. */
export function addressesAssistant(sentence: string): boolean {
  const plain = sentence.replace(/[’‘]/gu, "'");
  if (saysYou(plain)) return true;
  let ownWish = HARMLESS_YOU_ONCE.test(plain);
  for (const match of plain.matchAll(IMPERATIVE)) {
    const { verb = "", rest = "" } = match.groups ?? {};
    const order = `${verb}${rest}`;
    // "I always book two": the adverb before the verb follows a subject.
    if (followsSubject(plain.slice(0, match.index + match[0].indexOf(verb)))) continue;
    // "Please don't suggest steakhouses" spares the guest something; a name in it would be somebody's competitor.
    if (/(?:don't|do not)\s+$/iu.test(match[0].slice(0, match[0].indexOf(verb))) && !/\p{Lu}/u.test(rest.split(/[,;]/u)[0] ?? "")) continue;
    ownWish ||= OWN_WISH.test(order);
    if (!OWN_WISH.test(order) && !/^(?:dance|open-air|rock|show|stop|rate|view|plan)s?\b(?= (?:music|concerts?|night))/iu.test(order))
      return true;
  }
  if (speaksOfWorkings(plain)) return true;
  if (ownWish) return false;
  return (
    READ_LANGUAGE.test(plain) &&
    !FIRST_PERSON.test(plain) &&
    !FIRST_PERSON_VERBS.test(plain) &&
    !COMPANION_WISH.test(plain) &&
    !isElliptic(plain)
  );
}

/** Whether a subject stands before the verb in the same clause, with adverbs at most in between. */
function followsSubject(before: string): boolean {
  return (
    /(?<!\p{L})(?:i|we|they|kids|children|family|and i|who|to|would|will|can|could|do|not|should|must|have|may|might|don't|never|\p{L}+s)\s+(?:(?:always|never|only|just|usually|often|also|really|now|rather|simply|and|but|then|so|please)\s+)*$/iu.test(
      before.replace(/\s+(?:please\s+)?$/u, " "),
    ) && !/(?:^|[.!?;:,–—]\s+)(?:(?:please|always|never|only|just|now|so|and|then|also|do not|don't|do)\s+)*$/iu.test(before)
  );
}

/** "Nothing after 10 pm.", "No opera, ever.", "Row 5 or 6.": a wish without a verb. */
function isElliptic(sentence: string): boolean {
  return (
    sentence.split(/\s+/u).length <= 8 &&
    !/(?<!\p{L})(?:is|are|was|must|should|shall|will|has|have|be|ist|sind|muss|est|sont|doit|es|son|debe|è|deve)(?!\p{L})/iu.test(
      sentence,
    ) &&
    !/\p{Lu}/u.test(sentence.trim().slice(1))
  );
}
