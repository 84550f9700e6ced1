import { conceptOf, foldText } from "../../platform/language/lexicon.js";
import { type Draft, itemsOf, need, type Shape, shape } from "./draft.js";
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
    allergic: `^(?:ich (?:bin|habe)|wir sind) (?:sehr |stark |hoch|schwer )?(?:allergisch (?:gegen|auf)|eine allergie gegen) ${REST}$`,
    diet: "^(?:ich (?:bin|esse|lebe|ernähre mich)|wir (?:sind|essen|leben)) (?:strikt |streng |rein |nur |seit \\p{L}+ )?(?<diet>\\p{L}+)$",
    wheelchair: "^ich (?:sitze|bin) im (?<aid>rollstuhl)|^ich (?:benutze|brauche|habe) einen (?<aid2>rollstuhl(?:platz)?)$",
    lives: "^(?:ich|wir) (?:wohne|wohnen|lebe|leben) (?:jetzt |seit \\p{L}+ )?in (?<place>\\p{Lu}[\\p{L}-]+(?: \\p{Lu}[\\p{L}-]+)*)$",
    likes: `^(?:ich|wir) (?:mag|mögen|liebe|lieben|bevorzuge|bevorzugen|höre gern|sehe gern|gehe gern (?:in|zu)(?: die| den| das)?) (?:am liebsten |sehr |besonders )?${REST}(?: sehr)?$`,
    dislikes: `^(?:ich|wir) (?:hasse|hassen|verabscheue|mag kein(?:e|en)?|mögen kein(?:e|en)?) ${REST}$|^(?<what2>[\\p{L} -]+?) (?:mag|mögen) (?:ich|wir) (?:gar |überhaupt )?nicht(?<changed> mehr)?$|^(?:ich|wir) (?:mag|mögen) (?<what3>[\\p{L} -]+?) nicht(?<changed2> mehr)?$`,
    prefersSeat:
      "^(?:ich|wir) (?:sitze|sitzen|nehme|nehmen|möchte|buche) (?:lieber|am liebsten|immer|gern|gerne|meistens) (?:immer |gern )?(?<where>(?:am|an der|in der|im|auf dem|auf der|einen platz am|den) [\\p{L} ]+)$",
    party: `^(?:wir sind|wir kommen) (?:meistens|normalerweise|gewöhnlich|immer|in der regel|meist) (?:zu ${N}|${N.replace("<n>", "<n2>")}(?: personen)?)$`,
    budget: `^mehr als ${SUM}(?: (?<per>pro (?:karte|person|ticket)))? (?:möchte|will|kann) (?:ich|wir) nicht (?:ausgeben|zahlen|bezahlen)$|^mein budget (?:ist|liegt bei|beträgt) (?:etwa |ca\\. |maximal |höchstens )?${SUM.replace("<sum>", "<sum2>").replace("<unit>", "<unit2>")}(?: (?<per2>pro (?:karte|person|ticket)))?$`,
    avoids: `^(?:ich|wir) (?:esse|essen|trinke|trinken|vertrage|vertragen) (?:gar |überhaupt )?kein(?:e|en)? ${REST}$`,
  },
  fr: {
    allergic: `^(?:je suis|nous sommes|j'ai une allergie|je fais une allergie) (?:très |gravement )?(?:allergiques? )?(?:aux|au|à la|à l'|à|contre les) ?${REST}$`,
    diet: "^(?:je suis|nous sommes|je mange) (?:strictement )?(?<diet>\\p{L}+)$",
    wheelchair: "^(?:je suis|je me déplace) en (?<aid>fauteuil roulant)|^j'utilise un (?<aid2>fauteuil roulant)$",
    lives:
      "^(?:j'habite|je vis|nous habitons|nous vivons) (?:maintenant )?(?:à|en|au) (?<place>\\p{Lu}[\\p{L}-]+(?:[ -]\\p{Lu}[\\p{L}-]+)*)$",
    likes: `^(?:je préfère|nous préférons|j'aime|nous aimons|j'adore|nous adorons) (?:bien |beaucoup |surtout )?(?:le |la |l'|les |du |de la |aller au |aller à l'|aller à la )?(?!(?:ça|cela|bien|ce|cette|celui|celle|beaucoup)(?!\\p{L}))${REST}$`,
    dislikes: `^(?:je déteste|nous détestons|je n'aime (?:pas|plus)|nous n'aimons (?:pas|plus)|je ne supporte pas) (?:le |la |l'|les )?${REST}$`,
    prefersSeat:
      "^(?:je|nous) (?:prends|prenons|choisis|m'assieds|préfère|réserve) (?:toujours|d'habitude|de préférence|plutôt) (?<where>(?:le |la |l'|au |à |à l'|côté |un siège |une place )[\\p{L} ']+)$",
    party: `^(?:nous sommes|on est|nous venons) (?:généralement|d'habitude|normalement|toujours|en général)(?: à)? ${N}$`,
    budget: `^je ne (?:veux|souhaite|peux) pas (?:dépenser|payer|mettre) plus de ${SUM}(?: (?<per>par (?:billet|personne|place)))?$|^mon budget est de ${SUM.replace("<sum>", "<sum2>").replace("<unit>", "<unit2>")}(?: (?<per2>par (?:billet|personne|place)))?$`,
    avoids: `^(?:je ne mange pas|nous ne mangeons pas|je ne bois pas|je ne supporte pas) (?:de |d'|du |de la )${REST}$`,
  },
  es: {
    allergic: `^(?:soy|somos|tengo alergia) (?:muy )?(?:alérgic[oa]s? )?(?:al|a los|a las|a la|a) ${REST}$`,
    diet: "^(?:soy|somos) (?:estrictamente )?(?<diet>\\p{L}+)$",
    wheelchair: "^(?:uso|necesito|voy en|estoy en) (?:una )?(?<aid>silla de ruedas)$",
    lives: "^(?:yo )?(?:vivo|vivimos|resido) (?:ahora )?en (?<place>\\p{Lu}[\\p{L}-]+(?: \\p{Lu}[\\p{L}-]+)*)$",
    likes: `^(?:me (?:gusta|gustan|encanta|encantan)|nos (?:gusta|gustan|encanta|encantan)|prefiero|preferimos|adoro) (?:mucho |más )?(?:el |la |los |las |ir al |ir a la )?(?!(?:eso|esto|ese|esa)(?!\\p{L}))${REST}$`,
    dislikes: `^(?:no me (?:gusta|gustan)|odio|odiamos|detesto|no soporto|ya no me (?:gusta|gustan)) (?:nada )?(?:el |la |los |las )?${REST}$`,
    prefersSeat:
      "^(?:siempre|normalmente) (?:me siento|reservo|cojo|elijo) (?<where>(?:en|junto|al|la|el) [\\p{L} ]+)$|^prefiero (?:sentarme|sentarnos) (?<where2>[\\p{L} ]+)$",
    party: `^(?:normalmente|siempre|generalmente|casi siempre) (?:somos|venimos) ${N}$|^somos (?:normalmente|siempre|casi siempre) ${N.replace("<n>", "<n2>")}$`,
    budget: `^no quiero (?:gastar|pagar) más de ${SUM}(?: (?<per>por (?:entrada|persona)))?$|^mi presupuesto es (?:de )?${SUM.replace("<sum>", "<sum2>").replace("<unit>", "<unit2>")}(?: (?<per2>por (?:entrada|persona)))?$`,
    avoids: `^no (?:como|comemos|bebo|bebemos|puedo comer|puedo tomar) ${REST}$`,
  },
  it: {
    allergic: `^(?:sono|siamo) (?:molto )?allergic(?:[oaie]|he|hi) (?:alle|agli|ai|al|allo|alla|all'|a) ?${REST}$`,
    diet: "^(?:sono|siamo) (?:strettamente )?(?<diet>\\p{L}+)$",
    wheelchair: "^(?:sono|mi muovo) (?:in|su una) (?<aid>sedia a rotelle|carrozzina)$|^uso (?:la|una) (?<aid2>sedia a rotelle|carrozzina)$",
    lives: "^(?:abito|abitiamo|vivo|viviamo) (?:adesso |ora )?(?:a|in|ad) (?<place>\\p{Lu}[\\p{L}-]+(?: \\p{Lu}[\\p{L}-]+)*)$",
    likes: `^(?:preferisco|preferiamo|mi (?:piace|piacciono)|ci (?:piace|piacciono)|amo|adoro|adoriamo) (?:molto |di più )?(?:il |lo |la |l'|i |gli |le |andare a |andare all')?(?!(?:questo|quello|questa)(?!\\p{L}))${REST}$`,
    dislikes: `^(?:odio|odiamo|detesto|non mi (?:piace|piacciono)(?: più)?|non sopporto) (?:il |lo |la |l'|i |gli |le )?${REST}$`,
    prefersSeat:
      "^(?:mi siedo|prendo|prenoto|scelgo) (?:sempre|di solito|preferibilmente) (?<where>(?:in|al|la|il|un posto|vicino) [\\p{L} ]+)$",
    party: `^(?:di solito|normalmente|sempre) (?:siamo|veniamo) (?:in )?${N}$|^siamo (?:di solito|normalmente|sempre) (?:in )?${N.replace("<n>", "<n2>")}$`,
    budget: `^non voglio (?:spendere|pagare) più di ${SUM}(?: (?<per>a (?:biglietto|persona|testa)))?$|^il mio budget è (?:di )?${SUM.replace("<sum>", "<sum2>").replace("<unit>", "<unit2>")}(?: (?<per2>a (?:biglietto|persona|testa)))?$`,
    avoids: `^non (?:mangio|mangiamo|bevo|beviamo|posso mangiare) ${REST}$`,
  },
};

/** Possessive and relation before a companion's clause; what the companion is, does or has. */
const COMPANION: Readonly<Record<Exclude<Language, "en">, RegExp>> = {
  de: /^(?:mein|meine|unser|unsere) (?<relation>[\p{L}ß]+)(?: \p{Lu}\p{L}+)? (?<verb>ist|isst|hat|sitzt|mag|liebt|hasst|verträgt|braucht) (?<rest>.+)$/iu,
  fr: /^(?:mon|ma|mes|notre) (?<relation>[\p{L}-]+)(?: \p{Lu}\p{L}+)? (?<verb>est|mange|ne mange pas|utilise|adore|aime|déteste) (?<rest>.+)$/iu,
  es: /^(?:mi|mis|nuestr[oa]) (?<relation>\p{L}+)(?: \p{Lu}\p{L}+)? (?<verb>es|no come|usa|va en|odia|adora) (?<rest>.+)$/iu,
  it: /^(?:mio|mia|i miei|il mio|la mia|nostr[oa]) (?<relation>\p{L}+)(?: \p{Lu}\p{L}+)? (?<verb>è|non mangia|usa|odia|adora|ama) (?<rest>.+)$/iu,
};

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

/** Words that point, or only say how much. */
const POINTING =
  /^(?:das|es|dich|euch|sie|ihn|dies|diese[rsn]?|alles|nichts|sehr|ça|cela|ceci|tout|rien|beaucoup|bien|lui|elle|eso|esto|todo|nada|mucho|bastante|questo|quello|tutto|niente|molto|tanto|lui|lei)(?!\p{L})/iu;

function taste(what: string, frame: string): Draft | null {
  if (POINTING.test(what.trim())) return null;
  const thing = english(what, "kind");
  const seat = conceptOf(what, "seat");
  if (seat !== null) return { category: "seating", aspect: seatAspect(seat.name), text: `${frame} ${seat.name}` };
  if (/^\p{Lu}[\p{Ll}]+(?: \p{Lu}\p{Ll}+)+$/u.test(what))
    return { category: "artist", aspect: foldText(what), text: `${frame} ${what}`, entities: [what] };
  if (what.split(/\s+/u).length > 3) return null;
  return { category: "genre", aspect: foldText(thing).slice(0, 64), text: `${frame} ${thing}` };
}

function seatAspect(name: string): string {
  if (/row/u.test(name)) return "row";
  return /aisle|window|middle/u.test(name) ? "position" : /table|quiet/u.test(name) ? "table" : "area";
}

function shapesOf(language: Exclude<Language, "en">): readonly Shape[] {
  const words = WORDS[language];
  const of = (source: string) => new RegExp(source, "iu");
  return [
    shape(of(words.allergic), ({ what = "" }, { text }) => (/allerg|alérg|alerg/iu.test(text) ? allergy(what) : null)),
    shape(of(words.diet), ({ diet = "" }) => dietOf(diet)),
    shape(
      of("^(?:bitte |por favor |per favore )?(?<diet>\\p{L}+)(?:,? (?:bitte|s'il vous plaît|por favor|per favore))?$"),
      ({ diet = "" }, { passing }) => (passing ? dietOf(diet) : null),
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
      const place = (where || where2).replace(/^(?:einen platz|un siège|une place|un posto) /iu, "");
      const seat = conceptOf(
        place.replace(
          /^(?:am|an der|in der|im|auf dem|auf der|den|le|la|l'|au|à l'|à|côté|en|junto al|al|el|in|il|vicino al|vicino alla) ?(?:la |el |il )?/iu,
          "",
        ),
        "seat",
      );
      return seat === null ? null : { category: "seating", aspect: seatAspect(seat.name), text: `Prefers ${seat.name}` };
    }),
    shape(of(words.party), ({ n = "", n2 = "" }) => {
      const number = conceptOf(n || n2, "number")?.name ?? (/^\d+$/u.test(n || n2) ? n || n2 : null);
      return number === null ? null : { category: "party_size", aspect: "party size", text: `Usually comes as a party of ${number}` };
    }),
    shape(of(words.budget), ({ sum = "", unit = "", per = "", sum2 = "", unit2 = "", per2 = "" }) => ({
      category: "budget",
      aspect: "budget",
      text: `Budget is up to ${sum || sum2} ${unit || unit2}${/kart|bill|entrad|bigl|plac|ticket/iu.test(per || per2) ? " per ticket" : per || per2 ? " per person" : ""}`,
    })),
    shape(of(words.dislikes), ({ what = "", what2 = "", what3 = "" }, { text }) =>
      taste(
        what || what2 || what3,
        /(?:nicht mehr|n'aime(?:ons)? plus|ya no me|(?:piace|piacciono) più)/iu.test(text) ? "No longer likes" : "Dislikes",
      ),
    ),
    shape(of(words.likes), ({ what = "" }) => {
      const drafts = itemsOf(what).map((item) => taste(item, "Prefers"));
      return drafts.every((draft) => draft !== null) ? (drafts as Draft[]) : null;
    }),
    shape(COMPANION[language], ({ relation = "", rest = "" }, { text, passing }) =>
      companionDraft(language, relation, rest, text, passing),
    ),
  ];
}

function companionDraft(
  language: Exclude<Language, "en">,
  relation: string,
  rest: string,
  text: string,
  passing: boolean,
): readonly Draft[] | null {
  const concept = conceptOf(relation, "relation");
  if (concept === null || concept.name === "friend") return null;
  const [verb = ""] = /(?<=\p{L} )(?:ist|isst|hat|est|es|è)(?= )/iu.exec(text) ?? [];
  const own: Readonly<Record<Exclude<Language, "en">, string>> = { de: "ich bin", fr: "je suis", es: "soy", it: "sono" };
  if (verb === "") return null;
  const plain = { text: `${own[language]} ${rest}`, usual: false, changed: false, passing };
  for (const tried of OTHER_LANGUAGES[language].slice(0, -1)) {
    const drafts = tried(plain);
    if (drafts.length > 0) return drafts.map((draft) => ({ ...draft, subject: `companion:${concept.name}` }));
  }
  return null;
}

export const OTHER_LANGUAGES: Readonly<Record<Exclude<Language, "en">, readonly Shape[]>> = {
  de: shapesOf("de"),
  fr: shapesOf("fr"),
  es: shapesOf("es"),
  it: shapesOf("it"),
};
