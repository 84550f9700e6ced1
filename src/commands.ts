import { FOREIGN, maskForeignWords, sentencesOf } from "./platform/language/own-words.js";

/**
 * Explicit commands about memory in the user's own words, found without a model: English, German, French, Spanish, Italian.
 * Conservative: what could be small talk or a request ("don't forget to book", "forget it, take the other one") is no command.
 */
export type MemoryCommand =
  /** `text`: what is to be remembered, as it was said. */
  | { readonly kind: "remember"; readonly text: string }
  /** `what`: what the memory is about, as it was said. */
  | { readonly kind: "forget"; readonly what: string }
  | { readonly kind: "forget_all" }
  | { readonly kind: "list" }
  /** This round is answered and kept out of long-term memory and history. */
  | { readonly kind: "do_not_remember" }
  /** `what`: the empty string where the user only points: "that's not true any more". */
  | { readonly kind: "no_longer"; readonly what: string };

type Kind = MemoryCommand["kind"];

/** `(?<what>…)` captures the rest where the command has one. Patterns see one sentence without polite words around it. */
type Shape = readonly [kind: Kind, pattern: RegExp];

/** Said before a command without changing it; taken off again and again. */
const POLITE =
  /^(?:please|pls|hey|hi|hello|ok(?:ay)?|so|and|but|also|oh|well|actually|now|then|(?:can|could|would|will) you(?: please)?|i(?:'d| would) like you to|i want you to|you (?:can|should|may)|bitte|hallo|also|und|aber|(?:kannst|könntest|würdest) du(?: bitte)?|(?:können|könnten|würden) sie(?: bitte)?|s'il (?:te|vous) pla[iî]t|et|mais|(?:peux|pourrais)-tu|(?:pouvez|pourriez)-vous|por favor|y|pero|oye|(?:puedes|podrías|puede|podría)|per favore|per piacere|e|ma|(?:puoi|potresti|può|potrebbe))[\s,:!.-]+/iu;
const POLITE_END = /[\s,]+(?:please|thanks|thank you|bitte|danke|s'il (?:te|vous) pla[iî]t|merci|por favor|gracias|per favore|grazie)$/iu;

const MAX_SENTENCE_CHARS = 600;
/** What may be removed and dropped is more often a booking than a memory. */
const OF_BOOKINGS =
  "\\b(?:book\\w*|reserv\\w*|tickets?|seats?|tables?|orders?|basket|cart|search|list|results?|options?|accounts?|sessions?|conversations?|chats?|messages?|history|last|first|second|third|other|one|tonight|tomorrow|today)\\b";
const WORDS = "(?:[\\p{L}\\p{N}'-]+ ){0,3}[\\p{L}\\p{N}'-]+";

const SHAPES: readonly Shape[] = [
  // ---- keep this out ------------------------------------------------------------------------------------------------
  [
    "do_not_remember",
    /^(?:(?:do not|don't|dont|never) (?:remember|save|store|keep|record|memori[sz]e|note|log)(?: down)? (?:this|that|any of this|any of that|it|what i(?:'m| am)? (?:just )?(?:say|said|saying|tell|told|telling)\b.*|the following|this (?:message|conversation|one|part|bit))|(?:this|that|the following|what follows) (?:is|stays|should stay)(?: strictly)? off the record|(?:strictly )?off the record|keep (?:this|that|it) off the record|(?:this|that) (?:must|should) not be (?:remembered|stored|saved|recorded))\b/iu,
  ],
  [
    "do_not_remember",
    /^(?:(?:do not|don't|dont) (?:make a note of|write down|take down|hold on to) (?:this|that|it)|(?:do not|don't|dont) (?:write|jot|note) (?:this|that|it) down|(?:there(?:'s| is) )?no need (?:for you )?to (?:remember|save|store|keep|record|memori[sz]e|note|log|write down)(?: (?:this|that|it|any of (?:this|that)))?|(?:you|you'd) (?:don't|do not|needn't|need not|better not|must not|mustn't|should not|shouldn't)(?: (?:need|have) to)? (?:remember|save|store|keep|record|memori[sz]e|note) (?:this|that|it)|i(?:'d| would)? (?:rather|prefer(?: it)?(?: if)?) you (?:didn't|did not|don't|do not|not) (?:remember|save|store|keep|record|note) (?:this|that|it)|i (?:don't|do not) want (?:you to (?:remember|save|store|keep|record|note) (?:this|that|it)|(?:this|that|it) (?:to be )?(?:remembered|saved|stored|kept|recorded)))\b/iu,
  ],
  [
    "do_not_remember",
    /^(?:(?:(?:just|strictly|only|purely) )?between (?:us|ourselves|you and (?:me|i))(?=$|\s*[,:.!;–—-])(?!,? we(?!\p{L}))|(?:this|that|it) (?:is|stays|should stay|has to stay)(?: just| only| strictly)? between (?:us|you and me)(?!\p{L})|keep (?:this|that|it) (?:just )?(?:between (?:us|you and me)|to yourself|out of (?:your|my|the) (?:memory|memories|notes|records|profile))(?!\p{L})|not for (?:your|the) (?:notes|records|memory)(?!\p{L}))/iu,
  ],
  [
    "do_not_remember",
    /^(?:merk(?:e)? dir (?:das|dies|es) (?:bitte )?nicht|(?:das|dies) (?:bitte )?nicht (?:merken|speichern|aufschreiben)|speicher(?:e|n sie)? (?:das|dies) (?:bitte )?nicht|merken sie sich das (?:bitte )?nicht|(?:das|dies) (?:brauchst|musst) du dir nicht (?:zu )?merken|(?:das|dies) bleibt unter uns|(?:nur |ganz )?unter uns(?: gesagt)?(?=$|\s*[,:.!;–—-]))(?!\p{L})/iu,
  ],
  [
    "do_not_remember",
    /^(?:ne (?:retiens|retenez|mémorise|mémorisez|note|notez|garde|gardez|enregistre|enregistrez) pas (?:ça|ceci|cela)|ne l[ea'] ?(?:retiens|retenez|mémorise|mémorisez|note|notez|garde|gardez|enregistre|enregistrez) pas|(?:pas besoin|inutile) de (?:(?:le |l')?(?:retenir|noter|mémoriser|garder|enregistrer))(?: ça| cela| ceci)?|(?:ceci|cela|ça) (?:reste|doit rester) entre nous|(?:soit dit |juste |strictement )?entre nous(?=$|\s*[,:.!;–—-]))(?!\p{L})/iu,
  ],
  [
    "do_not_remember",
    /^(?:no (?:recuerdes|guardes|memorices|anotes|registres) (?:esto|eso)|(?:esto )?(?:queda|que quede) entre nosotros|entre (?:nosotros|tú y yo)(?=$|\s*[,:.!;–—-])|no hace falta (?:que lo (?:recuerdes|guardes|anotes)|recordarlo|guardarlo|anotarlo)|no lo (?:recuerdes|guardes|anotes))(?!\p{L})/iu,
  ],
  [
    "do_not_remember",
    /^(?:non (?:ricordare|ricordarti|memorizzare|salvare|annotare) (?:questo|ciò|quello)|non (?:ricordarlo|memorizzarlo|salvarlo|annotarlo)|(?:non serve|non c'è bisogno di) (?:ricordarlo|memorizzarlo|salvarlo|annotarlo)|(?:questo )?resti tra noi|(?:che resti|detto) tra noi|tra noi(?=$|\s*[,:.!;–—-]))(?!\p{L})/iu,
  ],

  // ---- forget everything --------------------------------------------------------------------------------------------
  [
    "forget_all",
    /^(?:(?:forget|delete|erase|remove|wipe|clear) (?:absolutely )?(?:everything|all)(?: (?:that )?you (?:know|remember|have|saved|stored|learned|learnt)(?: (?:stored|saved))?)?(?: (?:about|of|on) me)?|(?:forget|delete|erase|remove|wipe|clear) (?:all|all of)(?: of)? (?:my|the|your) (?:memories|memory|preferences|data)(?: (?:about|of|on) me)?|(?:wipe|clear|erase|reset) (?:my|your) memor(?:y|ies)(?: (?:about|of) me)?)$/iu,
  ],
  [
    "forget_all",
    /^(?:vergiss|vergessen sie|lösch(?:e|en sie)?) (?:bitte )?(?:alles(?:,? was (?:du|sie) (?:über|von) mi(?:ch|r) (?:weißt|wissen|weisst|gespeichert hast|gespeichert haben))?(?: über mich)?|alle (?:meine )?(?:erinnerungen|daten|vorlieben)(?: über mich)?)$/iu,
  ],
  [
    "forget_all",
    /^(?:oublie|oubliez|efface|effacez|supprime|supprimez) (?:tout(?: ce que (?:tu sais|vous savez)(?: (?:de|sur) moi)?)?(?: (?:de|sur) moi)?|toutes (?:mes|tes|vos) (?:données|préférences))$/iu,
  ],
  [
    "forget_all",
    /^(?:olvida|olvide|olvídate de|borra|borre|elimina|elimine) (?:todo(?: lo que (?:sabes|sabe|recuerdas)(?: (?:de|sobre) mí)?)?(?: (?:de|sobre) mí)?|todos mis (?:recuerdos|datos))$/iu,
  ],
  [
    "forget_all",
    /^(?:dimentica|dimentichi|cancella|cancelli|elimina) (?:tutto(?: (?:quello|ciò) che (?:sai|sa|ricordi)(?: (?:di|su) (?:me|di me))?)?(?: (?:di|su(?: di)?) me)?|tutti i miei (?:ricordi|dati))$/iu,
  ],

  // ---- show what you know -------------------------------------------------------------------------------------------
  [
    "list",
    /^(?:(?:tell me |show me |list )?(?:what|everything|all)(?: (?:that|else|exactly|all))?(?: do| have| did)? you (?:already )?(?:know|remember|remembered|stored|saved|noted|learned|learnt|have (?:stored|saved|noted|remembered)|have on file)(?: (?:about|of|on|regarding) me(?: so far)?)|do you (?:know|remember) anything about me|what(?:'s| is) in (?:your|my) memory(?: about me)?|(?:show|list|give)(?: me)? (?:all )?(?:my|your) (?:memories|saved preferences|stored preferences|preferences)(?: (?:about|of) me)?|what are my (?:saved |stored )?(?:preferences|memories))$/iu,
  ],
  [
    "list",
    /^(?:sag mir,? )?(?:was (?:alles )?(?:weißt|weisst) du (?:alles )?(?:schon )?(?:über|von) mi(?:ch|r)|was wissen sie (?:alles )?über mich|was (?:hast du|haben sie) (?:dir|sich)? ?(?:alles )?(?:über|von) mi(?:ch|r) (?:gemerkt|gespeichert)|zeig(?:e|en sie)? mir (?:alle )?(?:meine|deine|ihre) (?:erinnerungen|vorlieben)(?: (?:an|über) mich)?)$/iu,
  ],
  [
    "list",
    /^(?:que (?:sais-tu|savez-vous)|qu'est-ce que (?:tu sais|vous savez)|dis-moi ce que tu sais|de quoi (?:te souviens-tu|vous souvenez-vous)) (?:de|sur|à propos de|à mon sujet)(?: moi)?$|^que (?:sais-tu|savez-vous) à mon sujet$/iu,
  ],
  [
    "list",
    /^(?:(?:dime )?(?:qué|que) (?:sabes|sabe|recuerdas|recuerda|has guardado) (?:de|sobre|acerca de) mí|muéstrame (?:mis|tus) (?:recuerdos|preferencias))$/iu,
  ],
  [
    "list",
    /^(?:(?:dimmi )?(?:che )?cosa (?:sai|sa|ricordi|ricorda) (?:di|su(?: di)?) me|(?:che )?cosa hai (?:memorizzato|salvato) (?:di|su(?: di)?) me|mostrami (?:i miei|i tuoi) ricordi)$/iu,
  ],

  // ---- no longer true -----------------------------------------------------------------------------------------------
  [
    "no_longer",
    /^(?:(?:that|this|it)(?:'s| is| has)? (?:not (?:true|right|correct|the case|valid|so|been true)(?: (?:any ?more|any longer|now))|no longer (?:true|right|correct|the case|valid|so)))(?:[,:]? (?:about|with|regarding) (?<what>.{2,200}))?$/iu,
  ],
  ["no_longer", /^(?:that|this|it) (?:no longer (?:applies|holds)|(?:doesn't|does not) (?:apply|hold) (?:any ?more|any longer))$/iu],
  [
    "no_longer",
    /^(?:(?:it's|it is|that's) (?:no longer true|not true any ?more) that |(?:what i said about|the (?:thing|note|memory) about) )(?<what>.{2,200}?)(?: (?:is (?:no longer true|not true any ?more|outdated|out of date)|no longer (?:applies|holds)|doesn't (?:apply|hold) any ?more))?$/iu,
  ],
  [
    "no_longer",
    /^(?:das (?:stimmt|gilt) (?:so )?nicht mehr|das ist nicht mehr (?:wahr|richtig|so|der fall|aktuell))(?:[,:]? (?:mit|das mit) (?<what>.{2,200}))?$/iu,
  ],
  ["no_longer", /^(?:ce n'est plus (?:vrai|le cas|valable|d'actualité)|c'est plus vrai|ça n'est plus vrai)$/iu],
  ["no_longer", /^(?:(?:eso |esto )?ya no es (?:cierto|verdad|así|el caso)|eso ya no (?:vale|se aplica))$/iu],
  ["no_longer", /^(?:(?:questo )?non è più (?:vero|così|il caso|valido)|non vale più)$/iu],

  // ---- forget one thing ---------------------------------------------------------------------------------------------
  [
    "forget",
    /^(?:forget|unlearn|stop remembering|you (?:can|should|may) forget)(?: about)? (?:that (?=(?:i|i'm|i've|we|we're|my|our|his|her|she|he|they)\b)|what i (?:said|told you|mentioned) about |what you know about (?!me\b)|everything (?:i said |you know )?about (?!me\b|it\b|this\b|that\b)|(?=(?:my|our) ))(?<what>.{2,300})$/iu,
  ],
  [
    "forget",
    /^(?:forget|unlearn|stop remembering|you (?:can|should|may) forget)(?: about)? (?:(?:that )?i (?:ever |once )?(?:told you|said|mentioned)(?: anything| something)?(?: to you)? (?:about|that (?=(?:i|we|my|our)\b)) ?|(?=(?:where|when|what|who|how|which) (?:i|we|my|our)\b)|(?=(?:i|i'm|i've|we|we're|we've) )(?!(?:i|we) (?:ever |just )?(?:asked|said|mentioned|told)\b))(?<what>.{2,300})$/iu,
  ],
  [
    "forget",
    new RegExp(
      `^(?:forget|delete|remove|erase)(?: about)? (?:the|that|this) (?!.*${OF_BOOKINGS})(?<what>${WORDS}) (?:thing|stuff|business)$`,
      "iu",
    ),
  ],
  [
    "forget",
    new RegExp(
      `^(?:forget|delete|remove|erase)(?: about)? (?:the|that|this) (?!.*${OF_BOOKINGS})(?<what>${WORDS} (?:preference|allergy|intolerance|diet|dislike|hobby)s?)$`,
      "iu",
    ),
  ],
  [
    "forget",
    new RegExp(
      `^you (?:can|should|may) (?:now |also |just |safely )?forget(?: about)? (?:the|those|these|that|this) (?!.*${OF_BOOKINGS})(?<what>${WORDS})$`,
      "iu",
    ),
  ],
  [
    "forget",
    new RegExp(`^(?:delete|remove|erase|wipe) (?=(?:my|our) )(?!.*(?:${OF_BOOKINGS}|\\b(?:from|out of|off)\\b))(?<what>.{2,80})$`, "iu"),
  ],
  [
    "forget",
    /^(?:i (?:don't|do not) want you to (?:remember|know|keep|store|save|hold on to)|(?:don't|do not|never) (?:remember|store|save)|you (?:shouldn't|should not|mustn't|must not) (?:remember|know|store|keep)) (?:that (?=(?:i|we|my|our)\b)|(?=(?:my|our|where|when|who|how) ))(?<what>.{2,300})$/iu,
  ],
  [
    "forget",
    /^(?:forget|delete|remove|erase|drop|clear) (?:the |my |that |this |your )?(?:memory|memories|note|notes|fact|facts|preference|preferences|entry|record)(?: (?:about|of|that|for|on|saying|regarding))+ (?<what>.{2,300})$/iu,
  ],
  [
    "forget",
    /^(?:delete|remove|erase|take|strike|clear|drop) (?:my |our |the )?(?<what>.{2,120}) (?:from|out of|off) (?:your|my|the) (?:memory|memories|notes|records|file|profile|preferences|saved preferences)$/iu,
  ],
  [
    "forget",
    /^(?:vergiss|vergessen sie|lösch(?:e|en sie)?)(?: bitte)?,? (?:dass (?=(?:ich|wir|mein|meine|unser|unsere)\b)|was ich (?:über|zu) |(?=(?:wo|wann|wie|wer) (?:ich|wir)\b)|(?:die notiz|die erinnerung|den eintrag) (?:über|zu|an|dass) |(?=mein(?:e|en|er|es)? ))(?<what>.{2,300}?)(?: (?:gesagt|erzählt) habe)?$/iu,
  ],
  [
    "forget",
    /^(?:oublie|oubliez|efface|effacez)(?: le fait)? (?:qu[e'] ?(?=(?:je|j'|nous|mon|ma|mes)\b)|ce que j'ai dit (?:sur|de|à propos de) |(?=(?:où|quand|comment|qui) (?:je|j'|nous))|(?=(?:mon|ma|mes|notre) ))(?<what>.{2,300})$/iu,
  ],
  [
    "forget",
    /^(?:olvida|olvide|olvídate de|borra|borre)(?: de)? (?:que (?=\p{L})|lo que (?:dije|he dicho) (?:sobre|de|acerca de) |(?=(?:dónde|cuándo|cómo|quién) )|(?=(?:mi|mis|nuestra|nuestro) ))(?<what>.{2,300})$/iu,
  ],
  [
    "forget",
    /^(?:dimentica|dimentichi|cancella|scorda(?:ti)?)(?: il fatto)? (?:che (?=\p{L})|quello che ho detto (?:su|di|sul|sulla|sui|sulle) |(?=(?:dove|quando|come|chi) )|(?=(?:il mio|la mia|i miei|le mie) ))(?<what>.{2,300})$/iu,
  ],

  // ---- remember -----------------------------------------------------------------------------------------------------
  [
    "remember",
    /^(?:(?:always |just )?(?:remember|memori[sz]e|note|note down|bear in mind|keep in mind|make a note|take note|save|don't forget|do not forget|never forget|for the record|for future reference|for next time)[:,]? (?:that |for (?:next time|later|the future)[:,]? (?:that )?)?|(?:remember|save|store) (?:this|the following)(?: about me)?[:,]? )(?<what>(?:i|i'm|i've|i'd|i'll|we|we're|we've|my|our|mine)\b.{2,500})$/iu,
  ],
  ["remember", /^(?:remember|note|make a note|save|store)(?: this| that| the following)?(?: about me)?: (?<what>.{3,500})$/iu],
  [
    "remember",
    /^(?:merk(?:e)? dir(?: bitte)?|merken sie sich(?: bitte)?|notier(?:e|en sie)?(?: bitte)?|denk daran|vergiss nicht|behalte im kopf)[,:]?(?: bitte)?,? (?:dass )?(?<what>(?:ich|wir|mein|meine|unser|unsere|mir|uns)\b.{2,500})$/iu,
  ],
  [
    "remember",
    /^(?:retiens|retenez|souviens-toi|souvenez-vous|rappelle-toi|note|notez|n'oublie pas|n'oubliez pas)(?: bien)? ?:? ?(?:qu[e'] ?)?(?<what>(?:je|j'|nous|mon|ma|mes|notre|nos)(?!\p{L}).{2,500})$/iu,
  ],
  ["remember", /^(?:recuerda|recuerde|anota|anote|apunta|apunte|ten en cuenta|no olvides)[:,]? (?:que )(?<what>.{3,500})$/iu],
  [
    "remember",
    /^(?:ricorda(?:ti)?|ricordi|si ricordi|annota|segna(?:ti)?|tieni presente|non dimenticare)[:,]? (?:che )(?<what>.{3,500})$/iu,
  ],
];

/** "Forget that" and "remember it" point at nothing that can be named. */
const POINTING =
  /^(?:it|that|this|them|about it|me|what (?:i|we) (?:just )?(?:said|told you|asked|wrote|wanted)(?: before| earlier)?|(?:i|we) (?:ever )?(?:said|told you|mentioned|asked)(?: (?:that|this|it|anything|something))?|anything|something|das|es|ça|cela|eso|esto|lo|questo|ciò)$/iu;
/** A change of plan, not of memory: "forget that we wanted two, make it three". */
const CHANGE_OF_PLAN = /\b(?:wanted|asked|ordered|booked|searched|were going|was going|make it|instead|let's)\b/iu;
const QUESTION_ABOUT = /^(?:do|did|does|can't|why|when|how|weißt|erinnerst|tu te|te acuerdas|ti ricordi)\b/iu;

/** Where another clause may begin that is a command of its own. */
const CUT = /\s*[,;:–—]\s*|\s+-\s+|\s+(?=(?:but|and|so|though|aber|und|mais|et|pero|y|ma|e)\s)/giu;
/** Where what is to be forgotten ends and the guest goes on to something else: "…, but I still like jazz". */
const GOES_ON =
  /\s*[;–—]\s*|,?\s+(?:but|aber|mais|pero|ma)\s+|,\s+(?:and |so |then )*(?=(?:i|i'm|i've|we|we're|my|our|please|book|find|show|search|tell|what|ich|wir|je|j'|nous)(?!\p{L}))/iu;
/** "Forget that I love techno and that I live in Ghent", "forget my address and my phone number": two things. */
const AND_CLAUSE =
  /,?\s+(?:and(?: also)? that|und dass|et qu[e'] ?|y que|e che)\s+(?=\p{L})|,?\s+and(?: also)?\s+(?=(?:i|i'm|i've|we|we're|where i|what i|how i|who i|when i)\s)/iu;
const AND_THING =
  /,?\s+(?:and(?: also)?|und|et|y|e)\s+(?=(?:my|our|mein\p{L}*|unser\p{L}*|mon|ma|mes|mi|mis|(?:il |la |i |le )?(?:mio|mia|miei|mie))\s)/iu;

/** A command and where it stands in the message. */
export interface FoundCommand {
  readonly command: MemoryCommand;
  /** Of the clause that is the command, courtesy included. Offsets in UTF-16 units, end exclusive. */
  readonly start: number;
  readonly end: number;
  /** Of what it is about; empty where it names nothing. */
  readonly what: { readonly start: number; readonly end: number };
}

/** The first command in the message, or null. Quoted and pasted text is not searched. */
export function commandOf(message: string): MemoryCommand | null {
  return commandsOf(message)[0]?.command ?? null;
}

/** All commands in the message, in order; where anything in it asks that nothing be kept, that comes first. */
export function commandsOf(message: string): readonly FoundCommand[] {
  const masked = maskForeignWords(message.replace(/[\u2018\u2019\u02BC]/g, "'"));
  const found: FoundCommand[] = [];
  for (const { text, start } of sentencesOf(masked)) {
    if (text.includes(FOREIGN) || text.length > MAX_SENTENCE_CHARS) continue;
    found.push(...commandsIn(text, start));
  }
  const keptOut = found.filter(({ command }) => command.kind === "do_not_remember");
  return keptOut.length === 0 ? found : [...keptOut, ...found.filter((each) => !keptOut.includes(each))];
}

/** What a message leaves behind once it is answered. */
export interface Keeping {
  /** Something of it may become a memory. */
  readonly remember: boolean;
  /** It may be found again in history: not what asks to forget, as it names what was forgotten. */
  readonly searchable: boolean;
}

export function keepingOf(message: string): Keeping {
  const kinds = new Set(commandsOf(message).map(({ command }) => command.kind));
  if (kinds.has("do_not_remember")) return { remember: false, searchable: false };
  if (!kinds.has("forget") && !kinds.has("forget_all")) return { remember: true, searchable: true };
  return { remember: /\p{L}/u.test(rememberable(message)), searchable: false };
}

/**
 * What of a message may become a memory; offsets stay those of the message. "Could you remember that I'm vegan?" is reduced to the
 * statement in it, what asks to forget is blanked, and all of it where it is not to be remembered.
 */
export function rememberable(message: string): string {
  const found = commandsOf(message);
  if (found[0]?.command.kind === "do_not_remember") return "";
  let text = message;
  const blank = (from: number, to: number) => {
    text = text.slice(0, from) + text.slice(from, to).replace(/[^\n]/g, " ") + text.slice(to);
  };
  for (const { command, start, end, what } of found) {
    // With what joins the next clause to it.
    const joint = /^[\s,;:–—-]*/u.exec(text.slice(end))?.[0].length ?? 0;
    if (command.kind === "forget" || command.kind === "forget_all") blank(start, end + joint);
    if (command.kind !== "remember") continue;
    blank(start, what.start);
    blank(what.end, end);
    // The statement ends where the request did, and is no question.
    if (end > what.end) text = `${text.slice(0, end - 1)}.${text.slice(end)}`;
  }
  return text;
}

/** The message without the words that ask to keep it out of memory: "Don't remember this: …". */
export function besidesKeepOut(message: string): string {
  let text = message;
  for (const { command, start, end } of commandsOf(message).toReversed())
    if (command.kind === "do_not_remember") text = `${text.slice(0, start)} ${text.slice(end)}`;
  return text.replace(/^[\s,;:.!?–—-]+/u, "").trim();
}

/** The commands in one sentence, which stands at `at` in the message. */
function commandsIn(sentence: string, at: number): FoundCommand[] {
  const whole = commandIn(sentence, at);
  const kind = whole[0]?.command.kind;
  if (kind === "do_not_remember") return whole;
  for (const cut of sentence.matchAll(CUT)) {
    const from = cut.index + cut[0].length;
    const rest = sentence.slice(from);
    const second = commandIn(rest, at + from)[0]?.command.kind;
    if (second === "do_not_remember") return [...commandsIn(sentence.slice(0, cut.index), at), ...commandIn(rest, at + from)];
    // "Forget that …, but remember that …": behind a command another may stand.
    if ((kind === "remember" || kind === "forget") && (second === "remember" || second === "forget"))
      return [...commandIn(sentence.slice(0, cut.index), at), ...commandsIn(rest, at + from)];
  }
  return whole;
}

/** One command, or where it names several things to forget, one for each. Empty where it is none. */
function commandIn(clause: string, at: number): FoundCommand[] {
  const asks = /\?\s*$/.test(clause);
  let core = clause.replace(/[\s.!?…¿¡]+$/u, "");
  let offset = 0;
  const takeOff = (opening: RegExp) => {
    const rest = core.replace(opening, "");
    offset += core.length - rest.length;
    core = rest;
  };
  takeOff(/^[\s¿¡,–—-]+/u);
  for (let before = ""; before !== core; ) {
    before = core;
    core = core.replace(POLITE_END, "");
    if (matchOf(core) === null) takeOff(POLITE);
  }
  const match = matchOf(core);
  if (match === null) return [];
  const { kind } = match;
  const what = kind === "forget" ? (match.what.split(GOES_ON)[0]?.trim() ?? "") : match.what;
  const whatAt = at + offset + core.lastIndexOf(match.what);
  const named = { start: whatAt, end: whatAt + what.length };
  const spanOf = (end: number) => ({ start: at, end, what: named });
  if (kind === "list") return [{ command: { kind }, ...spanOf(at + clause.length) }];
  // "Could you forget that I like techno?" is polite; "did you forget that I like techno?" asks.
  if (asks && QUESTION_ABOUT.test(clause)) return [];
  if (kind === "do_not_remember") return [{ command: { kind }, ...spanOf(at + offset + match.length) }];
  if (kind === "forget_all") return [{ command: { kind }, ...spanOf(at + clause.length) }];
  if (kind === "no_longer") return asks ? [] : [{ command: { kind, what }, ...spanOf(at + clause.length) }];
  if (what === "" || POINTING.test(what) || (kind === "forget" && CHANGE_OF_PLAN.test(match.what))) return [];
  if (kind === "remember") return [{ command: { kind, text: what }, ...spanOf(at + clause.length) }];
  const span = spanOf(what === match.what ? at + clause.length : named.end);
  return thingsIn(what).map((thing) => ({ command: { kind, what: thing }, ...span }));
}

function thingsIn(what: string): readonly string[] {
  const isThing = /^(?:my|our|mein\p{L}*|unser\p{L}*|mon|ma|mes|mi|mis|il|la|i|le)\s/iu.test(what);
  const clauses = what.split(AND_CLAUSE);
  const things = clauses.length === 1 && isThing && !SAYS.test(what) ? what.split(AND_THING) : clauses;
  return things.map((thing) => thing.trim()).filter((thing) => thing.length > 1);
}

/** "My wife and my kids like jazz" is one thing. */
const SAYS =
  /(?<!\p{L})(?:is|are|like|likes|love|loves|hate|hates|prefer|prefers|need|needs|eat|eats|have|has|can't|cannot|don't|doesn't|live|lives)(?!\p{L})/iu;

function matchOf(core: string): { kind: Kind; what: string; length: number } | null {
  for (const [kind, pattern] of SHAPES) {
    const match = pattern.exec(core);
    if (match !== null) return { kind, what: match.groups?.what?.trim() ?? "", length: match[0].length };
  }
  return null;
}
