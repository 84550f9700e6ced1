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

const SHAPES: readonly Shape[] = [
  // ---- keep this out ------------------------------------------------------------------------------------------------
  [
    "do_not_remember",
    /^(?:(?:do not|don't|dont|never) (?:remember|save|store|keep|record|memori[sz]e|note|log)(?: down)? (?:this|that|any of this|any of that|it|what i(?:'m| am)? (?:just )?(?:say|said|saying|tell|told|telling)\b.*|the following|this (?:message|conversation|one|part|bit))|(?:this|that|the following|what follows) (?:is|stays|should stay)(?: strictly)? off the record|(?:strictly )?off the record|keep (?:this|that|it) off the record|(?:this|that) (?:must|should) not be (?:remembered|stored|saved|recorded))\b/iu,
  ],
  [
    "do_not_remember",
    /^(?:merk(?:e)? dir (?:das|dies|es) (?:bitte )?nicht|(?:das|dies) (?:bitte )?nicht (?:merken|speichern|aufschreiben)|speicher(?:e|n sie)? (?:das|dies) (?:bitte )?nicht|merken sie sich das (?:bitte )?nicht|(?:das|dies) bleibt unter uns|unter uns gesagt)\b/iu,
  ],
  [
    "do_not_remember",
    /^(?:ne (?:retiens|retenez|mémorise|mémorisez|note|notez|garde|gardez|enregistre|enregistrez) pas (?:ça|ceci|cela)|ne le (?:retiens|retenez|mémorise|mémorisez|note|notez) pas|(?:ceci|cela|ça) (?:reste|doit rester) entre nous|entre nous)(?!\p{L})/iu,
  ],
  [
    "do_not_remember",
    /^(?:no (?:recuerdes|guardes|memorices|anotes|registres) (?:esto|eso)|esto (?:queda|que quede) entre nosotros|no lo (?:recuerdes|guardes|anotes))\b/iu,
  ],
  [
    "do_not_remember",
    /^(?:non (?:ricordare|ricordarti|memorizzare|salvare|annotare) (?:questo|ciò|quello)|non (?:ricordarlo|memorizzarlo|salvarlo|annotarlo)|(?:questo )?resti tra noi|che resti tra noi)(?!\p{L})/iu,
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
    /^(?:forget|delete|remove|erase|drop|clear) (?:the |my |that |this |your )?(?:memory|memories|note|notes|fact|facts|preference|preferences|entry|record)(?: (?:about|of|that|for|on|saying|regarding))+ (?<what>.{2,300})$/iu,
  ],
  [
    "forget",
    /^(?:delete|remove|erase|take) (?:my|our) (?<what>.{2,120}) (?:from|out of|off) (?:your|my|the) (?:memory|memories|notes|records|file)$/iu,
  ],
  [
    "forget",
    /^(?:vergiss|vergessen sie|lösch(?:e|en sie)?)(?: bitte)?,? (?:dass (?=(?:ich|wir|mein|meine|unser|unsere)\b)|was ich (?:über|zu) |(?:die notiz|die erinnerung|den eintrag) (?:über|zu|an|dass) |(?=mein(?:e|en|er|es)? ))(?<what>.{2,300}?)(?: (?:gesagt|erzählt) habe)?$/iu,
  ],
  [
    "forget",
    /^(?:oublie|oubliez|efface|effacez)(?: le fait)? (?:qu[e'] ?(?=(?:je|j'|nous|mon|ma|mes)\b)|ce que j'ai dit (?:sur|de|à propos de) |(?=(?:mon|ma|mes|notre) ))(?<what>.{2,300})$/iu,
  ],
  [
    "forget",
    /^(?:olvida|olvide|olvídate de|borra|borre)(?: de)? (?:que (?=\p{L})|lo que (?:dije|he dicho) (?:sobre|de|acerca de) |(?=(?:mi|mis|nuestra|nuestro) ))(?<what>.{2,300})$/iu,
  ],
  [
    "forget",
    /^(?:dimentica|dimentichi|cancella|scorda(?:ti)?)(?: il fatto)? (?:che (?=\p{L})|quello che ho detto (?:su|di|sul|sulla|sui|sulle) |(?=(?:il mio|la mia|i miei|le mie) ))(?<what>.{2,300})$/iu,
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
const POINTING = /^(?:it|that|this|them|about it|me|das|es|ça|cela|eso|esto|lo|questo|ciò)$/iu;
/** A change of plan, not of memory: "forget that we wanted two, make it three". */
const CHANGE_OF_PLAN = /\b(?:wanted|asked|ordered|booked|searched|were going|was going|make it|instead|let's)\b/iu;
const QUESTION_ABOUT = /^(?:do|did|does|can't|why|when|how|weißt|erinnerst|tu te|te acuerdas|ti ricordi)\b/iu;

/** The first command in the message, or null. Quoted and pasted text is not searched. */
export function commandOf(message: string): MemoryCommand | null {
  const masked = maskForeignWords(message.replace(/[\u2018\u2019\u02BC]/g, "'"));
  for (const { text } of sentencesOf(masked)) {
    if (text.includes(FOREIGN) || text.length > 600) continue;
    const command = commandIn(text);
    if (command !== null) return command;
  }
  return null;
}

function commandIn(sentence: string): MemoryCommand | null {
  const asks = /\?\s*$/.test(sentence);
  let core = sentence.replace(/[\s.!?…¿¡]+$/u, "").replace(/^[\s¿¡,–—-]+/u, "");
  for (let before = ""; before !== core; ) {
    before = core;
    core = core.replace(POLITE_END, "");
    if (matchOf(core) === null) core = core.replace(POLITE, "");
  }
  const match = matchOf(core);
  if (match === null) return null;
  const { kind, what } = match;
  if (kind === "list") return { kind };
  // "Could you forget that I like techno?" is polite; "did you forget that I like techno?" asks.
  if (asks && QUESTION_ABOUT.test(sentence)) return null;
  if (kind === "forget_all" || kind === "do_not_remember") return { kind };
  if (kind === "no_longer") return asks ? null : { kind, what };
  if (what === "" || POINTING.test(what) || (kind === "forget" && CHANGE_OF_PLAN.test(what))) return null;
  return kind === "remember" ? { kind, text: what } : { kind, what };
}

function matchOf(core: string): { kind: Kind; what: string } | null {
  for (const [kind, pattern] of SHAPES) {
    const match = pattern.exec(core);
    if (match !== null) return { kind, what: match.groups?.what?.trim() ?? "" };
  }
  return null;
}
