import { conceptsIn } from "../../platform/language/lexicon.js";
import { FOREIGN } from "../../platform/language/own-words.js";
import { handsOverWords } from "./borrowed.js";
import type { LocatedQuote } from "./quote.js";

/** Why a sentence is not the user's settled word about themselves or those who come along. */
export type Mood = "question" | "hypothetical" | "unsure" | "joke" | "reported" | "third_party" | "memory_command" | null;

const JOKE_WORDS =
  /(?<!\p{L})(?:just kidding|only kidding|kidding|joking|jk|j\/k|lol|lmao|rofl|ha(?:ha)+h?|he(?:he)+|hihi|just a joke|it'?s a joke|as a joke|not serious(?:ly)?|nah+|scherz|spaß|spass|nur ein witz|je plaisante|je rigole|mdr|ptdr|c'est une blague|pour rire|es broma|era broma|bromeo|jaja(?:ja)*|scherzo|scherzavo|sto scherzando|per scherzo)(?!\p{L})|(?:^|\s)\/s\b|[😂🤣🙄😜😝🤪😹🃏]/iu;

const QUESTION_END = /[?？؟]["'”’)\]]*\s*$/u;
const DECLARES =
  /^(?:(?:and|but|so|well|yes|no|hi|hello|by the way|also|since|as|because|und|da|weil|et|comme|y|como|e|siccome)[\s,]+)*(?:i(?:'m|'ve|'d|'ll)?|we(?:'re|'ve|'d|'ll)?|my|our|ich|wir|mein\p{L}*|unser\p{L}*|je|j'|nous|mon|ma|mes|notre|soy|somos|tengo|mi|mis|sono|siamo|ho|mio|mia|il mio|la mia)(?:\s|(?<='))(?!wonder|want to know|was wondering|would like to know|frage|me demande|me pregunto|mi chiedo)/iu;

/** Courtesy that only looks like a condition. */
const POLITE_IF =
  /(?<!\p{L})(?:if (?:it'?s |that'?s |it is |that is |at all |they'?re |there'?s |there is |there are )?(?:(?:at all )?possible|available|any|one|some|you (?:can|could|have|don'?t mind|like|please)|not too much trouble|need be|needed|i (?:may|can|could)|we (?:may|can|could)|an option|space|room|free)|wenn (?:möglich|es geht|das geht|vorhanden)|falls (?:möglich|vorhanden)|si (?:possible|c'est possible|vous pouvez|tu peux|disponible|es posible|se puede|puedes)|se (?:possibile|è possibile|si può|puoi|disponibile))(?!\p{L})/giu;
const HYPOTHETICAL =
  /(?<!\p{L})(?:if (?:only|i|we|my|money|it|there|he|she|they|you|someone)(?:'d| were| was| had| could| won| became| become| ever| didn't| wasn't| weren't| lived| liked| needed| owned| earned| would)|were i (?:to )?|had i |(?:i|we|it|that) (?:would|could|might) (?:have|be)\b.*\bif\b|would .{0,80} if .{0,60}(?:n't| were| was| did)|suppose|supposing|imagine|let'?s (?:say|pretend|assume|imagine)|pretend|say i (?:were|was|had)|what if|hypothetically|in theory|in another life|in a perfect world|i wish|wish i|if only|one day|some ?day|were to|i'd have|assume(?: that)? (?:i|we)|assuming (?:i|we) (?:were|was|had|liked)|wenn (?:ich|wir) .{0,80}(?:wäre|hätte|könnte|würde|säße|mochte|gewänne)\p{L}*|wäre (?:ich|das)|hätte ich|angenommen|stell dir vor|stellen sie sich vor|was wäre|ich wünschte|eines tages|irgendwann|si j'(?:étais|avais|aimais|aimerais)|si (?:je|nous|on) (?:gagnais|pouvais|devenais|vivais|étais|étions|avions|était)|imagine[rz]?|supposons|admettons|un jour|si (?:yo )?(?:fuera|tuviera|pudiera|ganara|fuese|fuéramos|tuviese|viviera|gustara|me gustara)|imagina|supongamos|ojalá|algún día|se (?:io )?(?:fossi|avessi|potessi|vincessi|fossimo|avessimo|vivessi|mi piacesse)|immagina|supponiamo|magari|un giorno)(?!\p{L})/iu;
const UNSURE =
  /(?<!\p{L})(?:maybe|perhaps|possibly|might|not sure|unsure|no idea|i (?:don't|do not) know|dunno|i guess|i suppose|i wonder|i'm (?:thinking|considering|tempted)|thinking (?:of|about)|considering|could (?:try|become|imagine|be)|can't decide|haven't decided|who knows|we'll see|vielleicht|eventuell|möglicherweise|weiß (?:ich )?nicht|ich weiß nicht|keine ahnung|bin (?:mir )?(?:nicht|un)\s?sicher|überlege|peut-être|je ne sais pas|je sais pas|pas sûre?|il se peut|quizás?|tal vez|a lo mejor|no sé|no estoy segur[oa]|forse|può darsi|non so|non sono sicur[oa]|chissà)(?!\p{L})/iu;

const REPORTING_VERB =
  "(?:said|says|say|wrote|writes|told|tells|thinks|think|believes?|claims?|claimed|recommends?|recommended|suggests?|suggested|insists?|swears?|mentioned|reckons?|texted|posted|emailed|asked|meint|meinte|sagt|sagte|schreibt|schrieb|findet|glaubt|behauptet|empfiehlt|dit|disait|écrit|pense|croit|recommande|prétend|dice|dijo|escribió|cree|piensa|recomienda|afirma|scrive|pensa|crede|sostiene|consiglia|ha detto|diceva)";
const REPORTED = new RegExp(
  `(?<!\\p{L})(?:(?:(?:my|our|the|a|an|this|that|some|his|her|their|mein\\p{L}*|unser\\p{L}*|der|die|das|ein\\p{L}*|mon|ma|mes|le|la|les|un|une|mi|mis|el|los|las|una|il|lo|mio|mia|gli|i)\\s+(?:[\\p{L}'-]+\\s+){0,3}|he |she |they |it |er |sie |il |elle |él |ella |lui |lei |everyone |everybody |people |someone |somebody |(?!I')\\p{Lu}[\\p{L}'-]+ (?:and \\p{Lu}[\\p{L}'-]+ )?)(?:just |always |once |also |has |have |had |hat |a |ha )?(?<!(?:be|been|being|get|getting) )${REPORTING_VERB}(?!\\p{L})|according to|apparently|allegedly|supposedly|reportedly|rumou?r has it|it (?:says|is said)|i (?:heard|read|was told|hear|overheard|got (?:a|an|this) (?:mail|email|message|letter))|as (?:he|she|they) (?:put|said)|laut|angeblich|ich habe gehört|selon|d'après|il paraît|según|dicen que|he leído|he oído|secondo|pare che|ho (?:sentito|letto)|si dice)(?!\\p{L})`,
  "u",
);
/** "My doctor says I must avoid salt" is about the user; so is "my wife says that I…". It stays reported: better asked again than wrong. */
const OWN_REPORT = /^(?:as |like )?(?:i|we)(?:'ve| have)? (?:already |once )?(?:said|mentioned|told you|wrote)(?!\p{L})/iu;

/** What a doctor ordered is the guest's own need. */
const MEDICAL_ADVICE =
  /^(?:and |but |also )?(?:my|our) (?:doctor|gp|physician|dentist|cardiologist|nutritionist|dietician|dietitian|physio\p{L}*|allergist|midwife|surgeon) (?:has )?(?:told (?:me|us)|says? (?:that )?(?:i|we)|said (?:that )?(?:i|we)|advised (?:me|us)|wants (?:me|us)|won't let (?:me|us)|recommends that (?:i|we)|ordered (?:me|us))(?!\p{L})/iu;

const FIRST_PERSON =
  /(?<!\p{L})(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|we|we're|we've|we'd|we'll|us|our|ours|ich|mich|mir|mein\p{L}*|wir|uns|unser\p{L}*|je|j'|j'ai|moi|m'|me|mon|ma|mes|nous|notre|nos|yo|mi|mis|mí|nosotr[oa]s|nuestr[oa]s?|soy|tengo|somos|vivo|prefiero|quiero|necesito|io|mio|mia|miei|mie|noi|nostr[oaie]|sono|ho|abito|preferisco|odio|adoro|amo|voglio)(?!\p{L})/iu;
/** People whose tastes are not the guest's, and who are not guests themselves unless the guest says that they come along. */
const STRANGERS =
  "(?:boss|bosses|colleagues?|co-?workers?|manager|neighbou?rs?|landlord|landlady|teacher|professor|doctor|dentist|therapist|lawyer|client|customer|ex|ex-\\p{L}+|assistant|secretary|hairdresser|taxi driver|driver|waiter|flatmate|roommate|housemate|acquaintance|competitor|enemy|chef(?!'s)|nachbar\\p{L}*|kolleg\\p{L}*|vermieter\\p{L}*|lehrer\\p{L}*|arzt|voisine?s?|collègues?|patron(?:ne)?|médecin|prof|vecin[oa]s?|jef[ea]s?|compañer[oa]s?|médico|vicin[oaie]|capo|colleg[ah]\\p{L}*|medico)";
const THIRD_PARTY = new RegExp(
  `(?:^|[,;]\\s*|(?<!\\p{L})(?:and|but|because|und|aber|et|mais|y|pero|e|ma|who|for) )(?:(?:my|our|a|an|the|one of (?:my|our)|some|mein\\p{L}*|unser\\p{L}*|ein\\p{L}*|der|die|mon|ma|mes|notre|un|une|mi|mis|nuestr\\p{L}*|una|il mio|la mia|i miei|le mie) (?:[\\p{L}-]+ ){0,2}${STRANGERS}|most people|many people|some people|people|(?:everyone|everybody)(?! (?:in (?:my|our)|of us|at home))|others|tourists|visitors|die meisten|man|les gens|la gente|la plupart|tutti|todos)(?!\\p{L})`,
  "iu",
);

const MEMORY_COMMAND =
  /^(?:please |bitte |por favor |per favore )*(?:(?:can|could|would) you (?:please )?)?(?:forget|delete|erase|remove|don'?t (?:remember|save|store|keep|record)|do not (?:remember|save|store|keep|record)|off the record|vergiss|vergessen sie|lösch\p{L}*|oublie[rz]?|efface[rz]?|ne (?:retiens|retenez|mémorise[rz]?) pas|olvid\p{L}*|borra\p{L}*|no (?:recuerdes|guardes)|dimentic\p{L}*|cancell\p{L}*|non (?:ricordare|memorizzare))(?!\p{L})/iu;

export function moodOf(quote: LocatedQuote, message: string): Mood {
  const sentence = quote.sentences.map((part) => part.text).join(" ");
  const neighbourhood = `${sentence} ${quote.after.length <= 40 ? quote.after : ""}`;
  const plain = sentence.replace(/[’‘]/gu, "'");
  if (
    JOKE_WORDS.test(neighbourhood) ||
    /(?<!\p{L})(?:just kidding|only joking|nur ein scherz|es broma|sto scherzando|je plaisante)(?!\p{L})/iu.test(message)
  )
    return "joke";
  // What introduces somebody else's words is no word of the user's own.
  if (plain.includes(FOREIGN) || quote.sentences.some((part) => handsOverWords(part.text))) return "reported";
  if (asksOnly(quote, plain)) return "question";
  if (MEMORY_COMMAND.test(plain) && !/^(?:don'?t|do not|never) forget/iu.test(plain)) return "memory_command";
  const unconditional = plain.replace(POLITE_IF, " ");
  if (HYPOTHETICAL.test(unconditional)) return "hypothetical";
  if (UNSURE.test(unconditional)) return "unsure";
  if (MEDICAL_ADVICE.test(plain)) return null;
  if (drawnFromReport(quote)?.text === quote.text) return null;
  if ((REPORTED.test(plain) || REPORTED.test(plain.charAt(0).toLowerCase() + plain.slice(1))) && !OWN_REPORT.test(plain)) return "reported";
  return null;
}

const DRAWN = /,?\s+(?:so|which is why|that['’]s why|therefore)\s+(?!that(?!\p{L}))/iu;

/**
 * "My wife says I snore, so a room at the end, please": what the guest draws from a report is their own, the report is not. The
 * quote without the report; null where it holds nothing that is drawn from one.
 */
export function drawnFromReport(quote: LocatedQuote): LocatedQuote | null {
  const sentence = quote.sentences.map((part) => part.text).join(" ");
  const drawn = DRAWN.exec(sentence);
  if (drawn === null) return null;
  const report = sentence.slice(0, drawn.index);
  const own = sentence.slice(drawn.index + drawn[0].length);
  if (!REPORTED.test(report.charAt(0).toLowerCase() + report.slice(1)) || REPORTED.test(own)) return null;
  if (!/(?<!\p{L})(?:i|i['’]m|me|my|we|us|our)(?!\p{L})/iu.test(report)) return null;
  const within = DRAWN.exec(quote.text);
  const text = within === null ? quote.text : quote.text.slice(within.index + within[0].length);
  return text !== "" && own.includes(text) ? { ...quote, text } : null;
}

/** Whether someone else's taste is told. Companions are guests; strangers are not. */
export function speaksOfStrangers(quote: LocatedQuote, subject: string): boolean {
  const sentence = quote.sentences
    .map((part) => part.text)
    .join(" ")
    .replace(/[’‘]/gu, "'");
  if (MEDICAL_ADVICE.test(sentence)) return false;
  if (THIRD_PARTY.test(sentence)) return true;
  if (subject !== "self" || FIRST_PERSON.test(sentence.replace(/(?<!\p{L})(?:my|our)(?= )/giu, " "))) return false;
  // "My wife is vegan" said of the user: a relation is the subject, and no first person follows.
  return /^(?:(?:and|but|also|by the way)[\s,]+)*(?:my|our|mein\p{L}*|unser\p{L}*|mon|ma|mes|mi|mis|mio|mia|i miei|il mio|la mia) /iu.test(
    sentence,
  )
    ? conceptsIn(sentence.split(/\s+/u).slice(0, 3).join(" ")).some(
        (concept) => concept.topic === "relation" && concept.name !== "family",
      ) && !/(?<!\p{L})(?:comes?|joins?|along|with us|with me|birthday)(?!\p{L})/iu.test(sentence)
    : /^(?:he|she|they|his|her|their|er|sie|elle|il|él|ella|lui|lei) /iu.test(sentence);
}

/** What is to be done now. A wish that always holds is none: "always book me the aisle". */
const REQUEST =
  /^(?:(?:ok(?:ay)?|yes|so|and|then|now|great|thanks|thank you|hi|hello)[\s,.!]+)*(?:please )?(?:(?:can|could|would|will) you (?:please )?)?(?:book|reserve|order|buy|get|find|show|search|look|list|give|tell|check|compare|cancel|change|open|read|summari[sz]e|explain|describe|translate|continue|go (?:ahead|on|with)|proceed|confirm|take|let'?s|help|add|remove|send|repeat|try|pick|choose|buche|reserviere|suche|zeig\p{L}*|finde|bestell\p{L}*|réserve[rz]?|réservez-\p{L}+|cherche[rz]?|montre[rz]?|trouve[rz]?|resérva\p{L}*|reserva\p{L}*|resérvame|busca\p{L}*|muéstra\p{L}*|prenota\p{L}*|cerca\p{L}*|mostra\p{L}*|trova\p{L}*)(?!\p{L})/iu;
const LASTING =
  /(?<!\p{L})(?:always|never|usually|every time|each time|from now on|whenever|generally|in future|in the future|next time|rather than|immer|nie|niemals|ab jetzt|toujours|jamais|désormais|siempre|nunca|a partir de ahora|sempre|mai|d'ora in poi)(?!\p{L})/iu;

/** A request of the moment, with no word of the guest's own about themselves. */
export function isRequest(quote: LocatedQuote): boolean {
  const sentence = quote.sentences
    .map((part) => part.text)
    .join(" ")
    .replace(/[’‘]/gu, "'");
  if (!REQUEST.test(sentence) || LASTING.test(sentence)) return false;
  const clauses = sentence.split(/[,;–—:.]\s+|\s+(?:because|as|since|and|but)\s+/iu);
  return !clauses.some((clause) => DECLARES.test(clause) && clause.includes(quote.text.replace(/[’‘]/gu, "'").replace(/[\s,;.!]+$/u, "")));
}

/** "Could you please remember that I'm vegan?" asks for nothing but to be remembered; "can you remember whether …?" and "do you …?" ask. */
const POLITE_REMEMBER =
  /^(?:(?:please|hi|hello|hey|and|also|ok(?:ay)?|so|bitte|por favor|per favore|¿)[\s,]*)*(?:(?:can|could|would|will) you (?:please |kindly |also |just )*(?:remember|note(?: down)?|make a note|keep in mind|bear in mind|write down|take down)(?: please)?(?: that|,|:)?|(?:kannst|könntest|würdest) du (?:dir )?(?:bitte )?(?:merken|notieren)(?:, dass|:)|(?:können|könnten|würden) sie (?:sich )?(?:bitte )?(?:merken|notieren)(?:, dass|:)|(?:peux|pourrais)-tu (?:retenir|noter)(?: que| qu'|:)|(?:pouvez|pourriez)-vous (?:retenir|noter)(?: que| qu'|:)|(?:puedes|podrías|puede|podría) (?:recordar|anotar|apuntar)(?: que|:)|(?:puoi|potresti|può|potrebbe) (?:ricordare|ricordarti|annotare)(?: che|:))\s+(?<statement>.+)$/iu;

/**
 * A question, unless the quote lies in a clause before it that states something ("I'm vegan, what can I have?") or is what is to be
 * remembered.
 */
function asksOnly(quote: LocatedQuote, sentence: string): boolean {
  if (!QUESTION_END.test(sentence) && !/[¿]/u.test(sentence)) return false;
  const statement = POLITE_REMEMBER.exec(sentence)?.groups?.statement?.split(/\s+(?:and|so|but|und|et|y|e)\s+/iu)[0] ?? "";
  const quoted = quote.text.replace(/[’‘]/gu, "'").replace(/[\s,;.?]+$/u, "");
  if (statement.includes(quoted) && DECLARES.test(statement)) return false;
  const clauses = sentence.split(/[,;–—:]\s+|\s+(?:so|and|but)\s+(?=(?:what|where|which|can|could|is|are|do|does|any)\b)/iu);
  const asking = clauses.length > 1 ? clauses.slice(0, -1) : [];
  const normalised = quote.text.replace(/[’‘]/gu, "'").replace(/[\s,;.]+$/u, "");
  return !asking.some((clause) => clause.includes(normalised) && DECLARES.test(clause));
}
