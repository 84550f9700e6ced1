import { conceptOf, conceptsIn, foldText } from "../../platform/language/lexicon.js";
import { type Draft, itemsOf, need, type PlainClause, type Shape, shape } from "./draft.js";
import type { Language } from "./language.js";

/**
 * The everyday shapes of German, French, Spanish and Italian: one frame, filled with each language's words. Statements come out
 * in English where the lexicon knows the word, else with the guest's own word. Companions are read here: their clauses can't be
 * turned into the first person as in English.
 */
interface Words {
  /** Before the allergen, list and all. */
  readonly allergic: string;
  readonly diet: string;
  readonly wheelchair: string;
  readonly lives: string;
  readonly likes: string;
  readonly dislikes: string;
  readonly prefersSeat: string;
  readonly party: string;
  readonly budget: string;
  readonly avoids: string;
}

const REST = "(?<what>[^.!?]+?)";
const N = "(?<n>\\p{L}+|\\d{1,2})";
const SUM = "(?<sum>\\d{1,5})\\s?(?<unit>€|euros?|pfund|franken|livres?|francs?|libras?|sterline|franchi|dollars?|dólares|dollari)";

const WORDS: Readonly<Record<Exclude<Language, "en">, Words>> = {
  de: {
    allergic: `^(?:ich (?:bin|habe)|wir sind) (?:sehr |stark |hoch|schwer )?(?:allergisch (?:gegen|auf)|eine allergie gegen) ${REST}$|^(?:ich habe|wir haben|ich leide an|ich leide unter) (?:eine[nr]? )?(?:starke[nr]? |schwere[nr]? |leichte[nr]? )?(?<what2>\\p{L}+?)-?(?:allergie|unverträglichkeit|intoleranz)n?$|^allergisch gegen (?<what3>[^.!?]+?)$`,
    diet: "^(?:ich (?:bin|esse|lebe|ernähre mich)|wir (?:sind|essen|leben)) (?:jetzt |auch |beide |strikt |streng |rein |nur |seit \\p{L}+(?: \\p{L}+)? |eine? )*(?<diet>\\p{L}+)$",
    wheelchair: "^ich (?:sitze|bin) im (?<aid>rollstuhl)|^ich (?:benutze|brauche|habe) einen (?<aid2>rollstuhl(?:platz)?)$",
    lives: "^(?:ich|wir) (?:wohne|wohnen|lebe|leben) (?:jetzt |seit \\p{L}+ )?in (?<place>\\p{Lu}[\\p{L}-]+(?: \\p{Lu}[\\p{L}-]+)*)$",
    likes: `^(?:ich|wir) (?:mag|mögen|liebe|lieben|bevorzuge|bevorzugen|(?:höre|sehe|esse|trinke) (?:gern|gerne|am liebsten)|gehe (?:sehr )?gerne? (?:ins|in|zu)(?: die| den| das)?) (?:am liebsten |sehr |besonders )?${REST}(?: sehr)?$`,
    dislikes: `^(?:ich|wir) (?:hasse|hassen|verabscheue|mag kein(?:e|en)?|mögen kein(?:e|en)?) ${REST}(?<changed0> mehr)?$|^(?<what2>[\\p{L} -]+?) (?:mag|mögen) (?:ich|wir) (?:gar |überhaupt )?nicht(?<changed> mehr)?$|^(?:ich|wir) (?:mag|mögen) (?<what3>[\\p{L} -]+?) nicht(?<changed2> mehr)?$`,
    prefersSeat:
      "^(?:ich|wir) (?:sitze|sitzen|nehme|nehmen|möchte|buche) (?:sehr )?(?:lieber|am liebsten|immer|gern|gerne|meistens) (?:immer |gern )?(?<where>[\\p{L} ]+)$|^(?:am liebsten|meistens|immer|normalerweise) (?:sitze|sitzen|nehme|nehmen|buche) (?:ich|wir) (?:immer |gern )?(?<where2>[\\p{L} ]+)$",
    party: `^(?:wir sind|wir kommen) (?:eigentlich |fast )?(?:meistens|normalerweise|gewöhnlich|immer|in der regel|meist) (?:zu ${N}|${N.replace("<n>", "<n2>")}(?: personen)?)$`,
    budget: `^ich (?:möchte|will|kann) nicht mehr als ${SUM.replace("<sum>", "<sum3>").replace("<unit>", "<unit3>")}(?: (?<per3>pro (?:karte|person|ticket)))? (?:ausgeben|zahlen|bezahlen)$|^mehr als ${SUM}(?: (?<per>pro (?:karte|person|ticket)))? (?:möchte|will|kann) (?:ich|wir) nicht (?:ausgeben|zahlen|bezahlen)$|^mein budget (?:ist|liegt bei|beträgt) (?:etwa |ca\\. |maximal |höchstens )?${SUM.replace("<sum>", "<sum2>").replace("<unit>", "<unit2>")}(?: (?<per2>pro (?:karte|person|ticket)))?$`,
    avoids: `^(?:ich|wir) (?:esse|essen|trinke|trinken|vertrage|vertragen) (?:gar |überhaupt )?kein(?:e|en)? ${REST}(?: mehr)?$`,
  },
  fr: {
    allergic: `^(?:je suis|nous sommes|j'ai une allergie|je fais une allergie) (?:très |gravement )?(?:allergiques? )?(?:aux|au|à la|à l'|à|contre les) ?${REST}$`,
    diet: "^(?:je suis|nous sommes|je mange|on est) (?:strictement |tous |toutes |aussi |une? )*(?<diet>\\p{L}+)s?$",
    wheelchair: "^(?:je suis|je me déplace) en (?<aid>fauteuil roulant)|^j'utilise un (?<aid2>fauteuil roulant)$",
    lives:
      "^(?:j'habite|je vis|nous habitons|nous vivons) (?:maintenant )?(?:à|en|au) (?<place>\\p{Lu}[\\p{L}-]+(?:[ -]\\p{Lu}[\\p{L}-]+)*)$",
    likes: `^(?:je préfère|nous préférons|j'aime|nous aimons|j'adore|nous adorons) (?:bien |beaucoup |surtout )?(?:le |la |l'|les |du |de la |aller au |aller à l'|aller à la )?(?!(?:ça|cela|bien|ce|cette|celui|celle|beaucoup)(?!\\p{L}))${REST}$`,
    dislikes: `^(?:je déteste|nous détestons|(?:je |nous |on )?(?:n'|j')?aim(?:e|ons) (?:pas|plus)|je (?:ne )?supporte (?:pas|plus)) (?:trop |vraiment |beaucoup |du tout |tellement )*(?:le |la |l'|les |de |d')?${REST}$`,
    prefersSeat:
      "^(?:je|nous) (?:prends|prenons|choisis|m'assieds|préfère|réserve) (?:toujours|d'habitude|de préférence|plutôt) (?<where>[\\p{L} ']+)$|^(?:j'aime|je préfère|j'adore|on préfère) (?:bien |mieux |toujours )?(?:m'asseoir|être assise?|nous asseoir|me mettre|être) (?<where2>[\\p{L} ']+)$",
    party: `^(?:nous sommes|on est|nous venons) (?:généralement|d'habitude|normalement|toujours|en général)(?: à)? ${N}$`,
    budget: `^je ne (?:veux|souhaite|peux) pas (?:dépenser|payer|mettre) plus de ${SUM}(?: (?<per>par (?:billet|personne|place)))?$|^mon budget est de ${SUM.replace("<sum>", "<sum2>").replace("<unit>", "<unit2>")}(?: (?<per2>par (?:billet|personne|place)))?$`,
    avoids: `^(?:je|nous|on) (?:ne )?(?:mange|mangeons|bois|buvons|supporte|digère) (?:pas|plus|jamais) (?:de |d'|du |de la |le |la |les )?${REST}$`,
  },
  es: {
    allergic: `^(?:soy|somos|tengo alergia) (?:muy )?(?:alérgic[oa]s? )?(?:al|a los|a las|a la|a) ${REST}$`,
    diet: "^(?:soy|somos) (?:estrictamente |tod[oa]s |una? |también )*(?<diet>\\p{L}+?)s?$",
    wheelchair: "^(?:uso|necesito|voy en|estoy en) (?:una )?(?<aid>silla de ruedas)$",
    lives: "^(?:yo )?(?:vivo|vivimos|resido) (?:ahora )?en (?<place>\\p{Lu}[\\p{L}-]+(?: \\p{Lu}[\\p{L}-]+)*)$",
    likes: `^(?:me (?:gusta|gustan|encanta|encantan)|nos (?:gusta|gustan|encanta|encantan)|prefiero|preferimos|adoro) (?:mucho |más )?(?:el |la |los |las |ir al |ir a la )?(?!(?:eso|esto|ese|esa)(?!\\p{L}))${REST}$`,
    dislikes: `^(?:no me (?:gusta|gustan)|odio|odiamos|detesto|no soporto|ya no me (?:gusta|gustan)) (?:nada )?(?:el |la |los |las )?${REST}$`,
    prefersSeat:
      "^(?:siempre|normalmente) (?:me siento|reservo|cojo|elijo) (?<where>(?:en|junto|al|la|el) [\\p{L} ]+)$|^(?:prefiero|me gusta|nos gusta|prefiero siempre) (?:sentarme|sentarnos|estar) (?<where2>[\\p{L} ]+)$",
    party: `^(?:normalmente|siempre|generalmente|casi siempre) (?:somos|venimos|reservo para|reservamos para|vamos) ${N}(?: personas)?$|^somos (?:normalmente|siempre|casi siempre) ${N.replace("<n>", "<n2>")}$`,
    budget: `^no quiero (?:gastar|pagar) más de ${SUM}(?: (?<per>por (?:entrada|persona)))?$|^mi presupuesto es (?:de )?${SUM.replace("<sum>", "<sum2>").replace("<unit>", "<unit2>")}(?: (?<per2>por (?:entrada|persona)))?$`,
    avoids: `^(?:ya )?no (?:como|comemos|bebo|bebemos|puedo comer|puedo tomar) ${REST}$`,
  },
  it: {
    allergic: `^(?:sono|siamo) (?:molto )?allergic(?:[oaie]|he|hi) (?:alle|agli|ai|al|allo|alla|all'|a) ?${REST}$`,
    diet: "^(?:sono|siamo) (?:strettamente |tutti |anche |una? )*(?<diet>\\p{L}+)$",
    wheelchair: "^(?:sono|mi muovo) (?:in|su una) (?<aid>sedia a rotelle|carrozzina)$|^uso (?:la|una) (?<aid2>sedia a rotelle|carrozzina)$",
    lives: "^(?:abito|abitiamo|vivo|viviamo) (?:adesso |ora )?(?:a|in|ad) (?<place>\\p{Lu}[\\p{L}-]+(?: \\p{Lu}[\\p{L}-]+)*)$",
    likes: `^(?:preferisco|preferiamo|mi (?:piace|piacciono)|ci (?:piace|piacciono)|amo|adoro|adoriamo) (?:molto |di più )?(?:il |lo |la |l'|i |gli |le |andare a |andare all')?(?!(?:questo|quello|questa)(?!\\p{L}))${REST}$`,
    dislikes: `^(?:odio|odiamo|detesto|non mi (?:piace|piacciono)(?: più)?|non sopporto) (?:il |lo |la |l'|i |gli |le )?${REST}$`,
    prefersSeat:
      "^(?:mi siedo|prendo|prenoto|scelgo) (?:sempre|di solito|preferibilmente) (?<where>(?:in|al|la|il|un posto|vicino) [\\p{L} ]+)$|^(?:preferisco|mi piace|ci piace) (?:sedermi|sederci|stare seduto|stare seduta) (?<where2>[\\p{L} ']+)$",
    party: `^(?:di solito|normalmente|sempre) (?:siamo|veniamo) (?:in )?${N}$|^siamo (?:di solito|normalmente|sempre) (?:in )?${N.replace("<n>", "<n2>")}$`,
    budget: `^non voglio (?:spendere|pagare) più di ${SUM}(?: (?<per>a (?:biglietto|persona|testa)))?$|^il mio budget è (?:di )?${SUM.replace("<sum>", "<sum2>").replace("<unit>", "<unit2>")}(?: (?<per2>a (?:biglietto|persona|testa)))?$`,
    avoids: `^non (?:mangio|mangiamo|bevo|beviamo|posso mangiare) (?:più )?(?:la |il |lo |le |i |gli )?${REST}$`,
  },
};

/** Possessive and relation before a companion's clause; what the companion is, does or has, and how they themselves would say it. */
const COMPANION: Readonly<Record<Exclude<Language, "en">, { readonly clause: RegExp; readonly own: Readonly<Record<string, string>> }>> = {
  de: {
    clause:
      /^(?:mein|meine|unser|unsere) (?<relation>[\p{L}ß]+)(?: \p{Lu}\p{L}+)? (?<verb>ist|sind|isst|essen|hat|haben|trinkt|sitzt|mag|mögen|liebt|lieben|hasst|hassen|verträgt|braucht|brauchen) (?<rest>.+)$/iu,
    own: {
      ist: "ich bin",
      sind: "ich bin",
      isst: "ich esse",
      essen: "ich esse",
      hat: "ich habe",
      haben: "ich habe",
      trinkt: "ich trinke",
      sitzt: "ich sitze",
      mag: "ich mag",
      mögen: "ich mag",
      lieben: "ich liebe",
      hassen: "ich hasse",
      brauchen: "ich brauche",
      liebt: "ich liebe",
      hasst: "ich hasse",
      verträgt: "ich vertrage",
      braucht: "ich brauche",
    },
  },
  fr: {
    clause:
      /^(?:mon|ma|mes|notre|nos) (?<relation>[\p{L}-]+)(?: \p{Lu}\p{L}+)? (?<verb>est|sont|a|ne mange|ne boit|mange|utilise|adore|aime|n'aime|déteste) (?<rest>.+)$/iu,
    own: {
      est: "je suis",
      sont: "nous sommes",
      a: "j'ai",
      "ne mange": "je ne mange",
      "ne boit": "je ne bois",
      mange: "je mange",
      utilise: "j'utilise",
      adore: "j'adore",
      aime: "j'aime",
      "n'aime": "je n'aime",
      déteste: "je déteste",
    },
  },
  es: {
    clause:
      /^(?:mi|mis|nuestr[oa]s?) (?<relation>\p{L}+)(?: \p{Lu}\p{L}+)? (?<verb>es|son|no come|no comen|no bebe|tiene|usa|va en|odia|adora) (?<rest>.+)$/iu,
    own: {
      es: "soy",
      son: "somos",
      "no come": "no como",
      "no comen": "no como",
      "no bebe": "no bebo",
      tiene: "tengo",
      usa: "uso",
      "va en": "voy en",
      odia: "odio",
      adora: "adoro",
    },
  },
  it: {
    clause:
      /^(?:mio|mia|i miei|il mio|la mia|nostr[oa]) (?<relation>\p{L}+)(?: \p{Lu}\p{L}+)? (?<verb>è|sono|non mangia|non mangiano|non beve|ha|usa|odia|adora|ama) (?<rest>.+)$/iu,
    own: {
      è: "sono",
      sono: "siamo",
      "non mangia": "non mangio",
      "non mangiano": "non mangio",
      "non beve": "non bevo",
      ha: "ho",
      usa: "uso",
      odia: "odio",
      adora: "adoro",
      ama: "amo",
    },
  },
};

/** Said before or behind a statement, and nothing in it. */
const BEFORE =
  /^(?:guten (?:tag|morgen|abend)|hallo|übrigens|leider|eigentlich|also|und|aber|bonjour|bonsoir|salut|au fait|en fait|d'ailleurs|malheureusement|hola|buen(?:os|as) (?:días|tardes|noches)|por cierto|desgraciadamente|buongiorno|buonasera|ciao|salve|a proposito|purtroppo)(?:[,!.:]+\s*|\s+)/iu;
const BEHIND =
  /[\s,]+(?:seit (?:[\p{L}\d]+ ){0,2}(?:(?:jahr|monat|woche|zeit)\p{L}*|langem|kurzem|\d{4}|jeher|immer)|schon (?:lange|immer)|leider|übrigens|bitte|wissen sie|depuis .+|malheureusement|d'ailleurs|au fait|s'il vous plaît|desde .+|por cierto|por favor|por desgracia|da (?:anni|sempre|molto|tanto|.{1,12} anni)|purtroppo|per favore)$/iu;

/** A clause of another language, with plain apostrophes and without greetings and what is said beside it. */
export function plainForeign(clause: string, passing: boolean): PlainClause {
  let text = clause.replace(/[’‘]/gu, "'").trim();
  for (let before = ""; before !== text; ) {
    before = text;
    text = text
      .replace(/[\s.!?,;¡¿]+$/u, "")
      .replace(/^[¡¿\s]+/u, "")
      .replace(BEFORE, "")
      .replace(BEHIND, "");
  }
  return { text, usual: false, changed: false, reasoned: false, passing };
}

function english(word: string, topic?: Parameters<typeof conceptOf>[1]): string {
  return (
    conceptOf(word.replace(/^(?:den|die|das|der|le|la|les|l'|el|los|las|il|lo|i|gli|concerti|concerts de|conciertos de) ?/iu, ""), topic)
      ?.name ??
    conceptOf(word, topic)?.name ??
    word
  );
}

function allergy(list: string): Draft[] {
  return itemsOf(list)
    .filter((item) => item.split(/\s+/u).length <= 3)
    .map((item) => need("dietary", foldText(english(item, "substance")), `Is allergic to ${english(item, "substance")}`));
}

function dietOf(word: string): Draft | null {
  const concept = conceptOf(word, "diet");
  if (concept === null) return null;
  if (concept.name === "coeliac") return need("dietary", "gluten", "Has coeliac disease: no gluten");
  if (concept.name === "diabetic") return need("dietary", "sugar", "Is diabetic");
  if (concept.name === "kosher" || concept.name === "halal") return need("dietary", "religious diet", `Eats ${concept.name}`);
  return need("dietary", "diet", `Is ${concept.name}`);
}

/** A word of negation at the edge of what is liked turns it round: better nothing than the opposite. */
const TURNED =
  /^(?:plus|pas|moins|nicht|kein\p{L}*|nie|non|più|no|nunca|ya|mai|jamais)(?!\p{L})|(?<!\p{L})(?:mehr|nicht|pas|plus|più|nunca|mai|jamais|nie)$/iu;

/** The seat that a phrase names, in whatever words around it: "les places près de l'allée". */
function seatIn(phrase: string): { readonly name: string } | null {
  const seats = conceptsIn(phrase.replace(/(?<!\p{L})(?:l|d|all|dell)'/giu, "$& ").replace(/'/gu, " ")).filter(
    ({ topic }) => topic === "seat",
  );
  return seats.find(({ name }) => !/^(?:row|table|quiet)$/u.test(name)) ?? seats[0] ?? null;
}
/** Says that a phrase is about a seat, whatever else it names. */
const OF_SEATS =
  /(?<!\p{L})(?:plätze?|sitzplätze?|sitze|places?|sièges?|fauteuils?|asientos?|sitios?|butacas?|posti|posto|poltron[ae]|tisch|table|mesa|tavolo)(?!\p{L})/iu;

/** Words that point, or only say how much. */
const POINTING =
  /^(?:das|es|dich|euch|sie|ihn|dies|diese[rsn]?|alles|nichts|sehr|ça|cela|ceci|tout|rien|beaucoup|bien|lui|elle|eso|esto|todo|nada|mucho|bastante|questo|quello|tutto|niente|molto|tanto|lui|lei)(?!\p{L})/iu;

function taste(what: string, frame: string): Draft | null {
  if (POINTING.test(what.trim())) return null;
  const thing = english(what, "kind");
  const seat = conceptOf(what, "seat") ?? (OF_SEATS.test(what) ? seatIn(what) : null);
  if (seat !== null) return { category: "seating", aspect: seatAspect(seat.name), text: `${frame} ${seat.name}` };
  if (/^\p{Lu}[\p{Ll}]+(?: \p{Lu}\p{Ll}+)+$/u.test(what))
    return { category: "artist", aspect: foldText(what), text: `${frame} ${what}`, entities: [what] };
  if (what.split(/\s+/u).length > 3) return null;
  return { category: "genre", aspect: foldText(thing).slice(0, 64), text: `${frame} ${thing}` };
}

/** The access word in a phrase, German endings or not. */
function accessIn(phrase: string): string | null {
  const bare = phrase.replace(/(?<=\p{L}{6})(?:en|em|er|es|e)(?!\p{L})/giu, "");
  return [...conceptsIn(phrase), ...conceptsIn(bare)].find(({ topic }) => topic === "access")?.name ?? null;
}

function seatAspect(name: string): string {
  if (/row/u.test(name)) return "row";
  return /aisle|window|middle/u.test(name) ? "position" : /table|quiet/u.test(name) ? "table" : "area";
}

function shapesOf(language: Exclude<Language, "en">): readonly Shape[] {
  const words = WORDS[language];
  const of = (source: string) => new RegExp(source, "iu");
  return [
    shape(of(words.allergic), ({ what = "", what2 = "", what3 = "" }, { text }) => {
      if (what2 !== "") return conceptOf(what2, "substance") === null ? null : allergy(what2);
      return /allerg|alérg|alerg/iu.test(text) ? allergy(what || what3) : null;
    }),
    shape(of(words.diet), ({ diet = "" }) => dietOf(diet)),
    shape(
      of("^(?:bitte |por favor |per favore )?(?<diet>\\p{L}+)(?:,? (?:bitte|s'il vous plaît|por favor|per favore))?$"),
      ({ diet = "" }, { passing }) => (passing ? dietOf(diet) : null),
    ),
    shape(of(`^(?:ich bin|je suis|soy|sono|estoy) (?:fast |stark |presque |casi |quasi )?(?<sense>\\p{L}+)$`), ({ sense = "" }) => {
      const name = accessIn(sense);
      return name === "deaf" || name === "blind" ? need("accessibility", name === "deaf" ? "hearing" : "sight", `Is ${name}`) : null;
    }),
    shape(
      of(
        "^(?:ich|wir) (?:brauche|brauchen|benötige|benötigen) (?<what>.+)$|^(?:j'ai|nous avons) besoin (?:d'|de |du )(?<what2>.+)$|^(?:necesito|necesitamos) (?<what3>.+)$|^(?:ho|abbiamo) bisogno (?:di |dell'|del )(?<what4>.+)$",
      ),
      ({ what = "", what2 = "", what3 = "", what4 = "" }) => {
        const name = accessIn(what || what2 || what3 || what4);
        if (name === null || name === "stairs" || name === "deaf" || name === "blind") return null;
        return need(
          "accessibility",
          name === "step-free" ? "step-free access" : name,
          `Needs ${name}${name === "step-free" ? " access" : ""}`,
        );
      },
    ),
    shape(
      of(
        "^(?:ich|wir) (?:kann|können) (?:keine|nicht) .*(?:treppen?|stufen)\\b.*$|^je ne peux pas (?:monter|prendre|utiliser) .*escaliers?$|^no puedo (?:subir|usar) .*escaleras?$|^non posso (?:fare|salire|usare) .*scale$",
      ),
      () => need("accessibility", "stairs", "Cannot climb stairs"),
    ),
    shape(of(words.wheelchair), () => need("accessibility", "wheelchair", "Uses a wheelchair")),
    shape(of(words.lives), ({ place = "" }) => ({
      category: "location",
      aspect: "home",
      text: `Lives in ${place}`,
      type: "fact",
      entities: [place],
    })),
    shape(of(words.avoids), ({ what = "" }) =>
      itemsOf(what).flatMap((item) => {
        const substance = conceptOf(item, "substance");
        if (substance === null) return [];
        return [
          substance.name === "meat"
            ? need("dietary", "diet", "Does not eat meat")
            : need("dietary", substance.name, `Does not ${substance.name === "alcohol" ? "drink" : "eat"} ${substance.name}`),
        ];
      }),
    ),
    shape(of(words.prefersSeat), ({ where = "", where2 = "" }) => {
      const seat = seatIn(where || where2);
      return seat === null ? null : { category: "seating", aspect: seatAspect(seat.name), text: `Prefers ${seat.name}` };
    }),
    shape(of(words.party), ({ n = "", n2 = "" }) => {
      const number = conceptOf(n || n2, "number")?.name ?? (/^\d+$/u.test(n || n2) ? n || n2 : null);
      return number === null ? null : { category: "party_size", aspect: "party size", text: `Usually comes as a party of ${number}` };
    }),
    shape(of(words.budget), ({ sum = "", unit = "", per = "", sum2 = "", unit2 = "", per2 = "", sum3 = "", unit3 = "", per3 = "" }) => ({
      category: "budget",
      aspect: "budget",
      text: `Budget is up to ${sum || sum2 || sum3} ${unit || unit2 || unit3}${/kart|bill|entrad|bigl|plac|ticket/iu.test(per || per2 || per3) ? " per ticket" : per || per2 || per3 ? " per person" : ""}`,
    })),
    shape(of(words.dislikes), ({ what = "", what2 = "", what3 = "" }, { text }) =>
      taste(
        what || what2 || what3,
        /(?:nicht mehr| mehr$|aime(?:ons)? plus|supporte plus|ya no me|(?:piace|piacciono) più)/iu.test(text)
          ? "No longer likes"
          : "Dislikes",
      ),
    ),
    shape(of(words.likes), ({ what = "" }) => {
      if (TURNED.test(what)) return null;
      const drafts = itemsOf(what).map((item) => taste(item, "Prefers"));
      return drafts.every((draft) => draft !== null) ? (drafts as Draft[]) : null;
    }),
    // "Meine Tochter und ich sind vegan": both are.
    shape(COUPLE[language], ({ relation = "", relation2 = "", rest = "" }, { passing }) => {
      const concept = conceptOf(relation || relation2, "relation");
      const own = concept === null ? [] : ofOthers(language, rest, passing);
      return own.flatMap((draft) => [draft, { ...draft, subject: `companion:${concept?.name}` }]);
    }),
    shape(COMPANION[language].clause, ({ relation = "", verb = "", rest = "" }, { passing }) =>
      companionDraft(language, relation, `${COMPANION[language].own[verb.toLowerCase()] ?? ""} ${rest}`, passing),
    ),
  ];
}

const COUPLE: Readonly<Record<Exclude<Language, "en">, RegExp>> = {
  de: /^(?:mein|meine|unsere?) (?<relation>\p{L}+) und ich,? (?<rest>(?:sind|haben|essen|trinken|lieben|hassen|mögen) .+)$/iu,
  fr: /^(?:moi et (?:ma|mon) (?<relation>\p{L}+)|(?:ma|mon) (?<relation2>\p{L}+) et moi),? (?:nous )?(?<rest>(?:sommes|ne mangeons|ne buvons|aimons|adorons|détestons) .+)$/iu,
  es: /^mi (?<relation>\p{L}+) y yo (?<rest>(?:somos|no comemos|no bebemos|odiamos) .+)$/iu,
  it: /^(?:io e (?:mia|mio) (?<relation>\p{L}+)|(?:mia|mio) (?<relation2>\p{L}+) ed? io) (?<rest>(?:siamo|non mangiamo|non beviamo|odiamo|amiamo) .+)$/iu,
};
const WE: Readonly<Record<Exclude<Language, "en">, string>> = { de: "wir ", fr: "nous ", es: "", it: "" };

/** What the guest says of themselves together with others: the shapes before those of companions. */
function ofOthers(language: Exclude<Language, "en">, rest: string, passing: boolean): readonly Draft[] {
  return firstOf(
    language,
    `${WE[language]}${rest.replace(/^(?<verb>\S+) (?:beide|beiden|tous les deux|toutes les deux|los dos|las dos|ambos|entrambi) /iu, "$<verb> ")}`,
    passing,
  );
}

function firstOf(language: Exclude<Language, "en">, own: string, passing: boolean): readonly Draft[] {
  for (const tried of OTHER_LANGUAGES[language].slice(0, -2)) {
    const drafts = tried(plainForeign(own, passing));
    if (drafts.length > 0) return drafts;
  }
  return [];
}

function companionDraft(language: Exclude<Language, "en">, relation: string, own: string, passing: boolean): readonly Draft[] {
  const concept = conceptOf(relation, "relation");
  if (concept === null || concept.name === "friend") return [];
  return firstOf(language, own, passing).map((draft) => ({ ...draft, subject: `companion:${concept.name}` }));
}

export const OTHER_LANGUAGES: Readonly<Record<Exclude<Language, "en">, readonly Shape[]>> = {
  de: shapesOf("de"),
  fr: shapesOf("fr"),
  es: shapesOf("es"),
  it: shapesOf("it"),
};
