/**
 * Words of a concierge's world that mean the same, in English, German, French, Spanish and Italian. Two uses: the rules name
 * things by their first word, and the guards see that "Is allergic to nuts" is what "Ich bin allergisch gegen Nüsse" says.
 * Matching folds case and accents; an entry stands for its plain plural too.
 */

const SUBSTANCES = [
  "nuts|nut|nüsse|nuss|noix|fruits à coque|frutos secos|nueces|noci|frutta secca",
  "peanuts|peanut|erdnüsse|erdnuss|arachides|arachide|cacahuètes|cacahuetes|cacahuete|arachidi",
  "walnuts|walnut|walnüsse|nueces de nogal",
  "almonds|almond|mandeln|amandes|almendras|mandorle",
  "hazelnuts|hazelnut|haselnüsse|noisettes|avellanas|nocciole",
  "shellfish|schalentiere|crustacés|mariscos|marisco|crostacei|frutti di mare|fruits de mer",
  "prawns|prawn|shrimp|garnelen|crevettes|gambas|gamberi",
  "fish|fisch|poisson|pescado|pesce",
  "seafood|meeresfrüchte",
  "meat|fleisch|viande|carne",
  "pork|schweinefleisch|porc|cerdo|maiale",
  "beef|rindfleisch|boeuf|ternera|manzo",
  "dairy|milchprodukte|produits laitiers|lácteos|latticini",
  "milk|milch|lait|leche|latte",
  "lactose|laktose|lactosa|lattosio",
  "gluten|glutine|wheat|weizen|blé|trigo|grano",
  "eggs|egg|eier|œufs|oeufs|huevos|uova",
  "soy|soya|soja",
  "sesame|sesam|sésame|sésamo|sesamo",
  "celery|sellerie|céleri|apio|sedano",
  "mustard|senf|moutarde|mostaza|senape",
  "alcohol|alkohol|alcool|alcol",
  "sugar|zucker|sucre|azúcar|zucchero",
  "mushrooms|mushroom|pilze|champignons|champiñones|setas|funghi",
  "garlic|knoblauch|ail|ajo|aglio",
  "onions|onion|zwiebeln|oignons|cebolla|cipolla",
  "latex|látex|lattice",
  "pollen|polen|polline",
  "strawberries|strawberry|erdbeeren|fraises|fresas|fragole",
];

const DIETS = [
  "vegetarian|veggie|vegetarier|vegetarierin|vegetarisch|végétarien|végétarienne|vegetariano|vegetariana",
  "vegan|veganer|veganerin|végétalien|végane|vegano|vegana",
  "pescatarian|pescetarian|pescetarier|pescétarien|pescetariano|pescatariano",
  "kosher|koscher|casher|kasher",
  "halal|ḥalāl",
  "coeliac|celiac|zöliakie|cœliaque|celíaco|celíaca|celiaco|celiaca|celiachia",
  "diabetic|diabetes|diabetiker|diabetikerin|diabétique|diabético|diabética|diabetico|diabetica",
];

const ACCESS = [
  "wheelchair|rollstuhl|fauteuil roulant|silla de ruedas|sedia a rotelle|carrozzina",
  "stairs|staircase|steps|treppen|treppe|stufen|escaliers|escalier|escaleras|escalera|scale",
  "step-free|stepfree|barrierefrei|barrierefreien|barrierefreie|barrierefreier|barrierefreies|stufenlos|stufenlosen|sans marches|sin escalones|senza barriere|senza gradini",
  "lift|elevator|aufzug|fahrstuhl|ascenseur|ascensor|ascensore",
  "crutches|krücken|béquilles|muletas|stampelle",
  "hearing loop|induktionsschleife|boucle magnétique|bucle magnético|anello magnetico",
  "guide dog|blindenhund|chien guide|perro guía|cane guida",
  "deaf|gehörlos|taub|sourd|sourde|sordo|sorda",
  "blind|aveugle|ciego|ciega|cieco|cieca",
];

const RELATIONS = [
  "mother|mum|mom|mummy|mommy|mama|mutter|mère|maman|madre|mamá|mamma",
  "father|dad|daddy|papa|vater|père|padre|papá|papà",
  "parents|eltern|mes parents|genitori|padres",
  "wife|missus|frau|ehefrau|femme|épouse|esposa|mujer|moglie",
  "husband|hubby|mann|ehemann|mari|époux|esposo|marido|marito",
  "partner|partnerin|compagne|compagnon|conjoint|pareja|compagno|compagna",
  "girlfriend|freundin|copine|petite amie|novia|ragazza|fidanzata",
  "boyfriend|copain|petit ami|novio|ragazzo|fidanzato",
  "son|sohn|fils|hijo|figlio",
  "daughter|tochter|fille|hija|figlia",
  "children|child|kids|kid|kinder|enfants|hijos|niños|figli|bambini",
  "brother|bruder|frère|hermano|fratello",
  "sister|schwester|soeur|sœur|hermana|sorella",
  "grandmother|grandma|granny|gran|nan|nana|oma|großmutter|grand-mère|abuela|nonna",
  "grandfather|grandpa|grandad|granddad|opa|großvater|grand-père|abuelo|nonno",
  "aunt|tante|tía|zia",
  "uncle|onkel|oncle|tío|zio",
  "niece|nichte|nièce|sobrina",
  "nephew|neffe|neveu|sobrino",
  "cousin|cousine|primo|prima|cugino|cugina",
  "mother-in-law|schwiegermutter|belle-mère|suegra|suocera",
  "father-in-law|schwiegervater|beau-père|suegro|suocero",
  "in-laws|parents-in-law|schwiegereltern|beaux-parents|suegros|suoceri",
  "brother-in-law|schwager|beau-frère|cuñado|cognato",
  "sister-in-law|schwägerin|belle-sœur|cuñada|cognata",
  "son-in-law|schwiegersohn|gendre|yerno|genero",
  "daughter-in-law|schwiegertochter|belle-fille|nuera|nuora",
  "stepson|stiefsohn",
  "stepdaughter|stieftochter",
  "stepfather|stepdad|stiefvater",
  "stepmother|stepmum|stepmom|stiefmutter",
  "grandparents|großeltern|grands-parents|abuelos|nonni",
  "siblings|geschwister",
  "twins|zwillinge|jumeaux|jumelles|gemelos|gemelas|gemelli|gemelle",
  "fiancé|fiancée|verlobter|verlobte",
  "baby|säugling|bébé|bebé|neonato",
  "toddler",
  "grandson|enkel|petit-fils|nieto|nipote",
  "granddaughter|enkelin|petite-fille|nieta",
  "friend|freund|ami|amie|amigo|amiga|amico|amica",
  "family|familie|famille|familia|famiglia",
];

const SEATS = [
  "aisle|gang|couloir|allée|pasillo|corridoio",
  "window|fenster|fenêtre|ventana|ventanilla|finestra|finestrino",
  "front row|first row|erste reihe|ersten reihe|vorderste reihe|premier rang|primera fila|prima fila",
  "last row|back row|letzte reihe|letzten reihe|dernier rang|última fila|ultima fila",
  "row|reihe|rang|rangée|fila",
  "balcony|balkon|balcon|balcón|balconata|galleria",
  "stalls|parkett|parterre|orchestra|platea",
  "box|loge|palco",
  "terrace|terrasse|terraza|terrazza",
  "outside|outdoors|draußen|im freien|dehors|en terrasse|fuera|al aire libre|fuori|all'aperto",
  "table|tisch|mesa|tavolo",
  "quiet|ruhig|ruhigen|calme|tranquilo|tranquila|tranquillo",
  "middle|centre|center|mitte|milieu|medio|centro",
  "back|rear|hinten|fond|atrás|detrás|in fondo|dietro",
  "front|vorne|vorn|devant|delante|davanti",
];

const KINDS = [
  "jazz|jazzkonzerte|jazzmusik|concerts de jazz|conciertos de jazz|concerti jazz",
  "opera|oper|opern|opéra|ópera",
  "ballet|ballett|balletto",
  "theatre|theater|théâtre|teatro",
  "classical music|klassische musik|klassik|musique classique|música clásica|musica classica",
  "concerts|concert|konzerte|konzert|conciertos|concierto|concerti|concerto",
  "musicals|musical|comédies musicales|musicales",
  "football|soccer|fußball|fútbol|calcio",
  "rock|rockmusik|música rock",
  "techno|tecno",
  "circus|zirkus|cirque|circo",
  "cinema|kino|cinéma|cine",
  "museums|museum|museen|musées|museos|musei",
  "dance|tanz|danse|danza",
];

const NUMBERS = [
  "1|one|eins|eine|einer|un|une|uno|una|alone|allein|seul|seule|solo|sola|single|myself",
  "2|two|zwei|zweit|deux|dos|due|couple|pair|both",
  "3|three|drei|dritt|trois|tres|tre",
  "4|four|vier|viert|quatre|cuatro|quattro",
  "5|five|fünf|fünft|cinq|cinco|cinque",
  "6|six|sechs|sechst|seis|sei",
  "7|seven|sieben|siebt|sept|siete|sette",
  "8|eight|acht|huit|ocho|otto",
  "9|nine|neun|neunt|neuf|nueve|nove",
  "10|ten|zehn|zehnt|dix|diez|dieci",
  "11|eleven|elf|onze|once|undici",
  "12|twelve|zwölf|douze|doce|dodici|dozen",
];

const OTHERS = [
  "ticket|karte|karten|billet|place|entrada|entradas|biglietto|biglietti|tickets",
  "euros|euro|€|eur",
  "pounds|pound|£|gbp|quid",
  "dollars|dollar|$|usd|bucks",
  "evening|evenings|abends|abend|soir|soirée|noche|tarde|sera",
  "weekend|weekends|wochenende|fin de semana|fine settimana",
  "monday|mondays|montag|montags|lundi|lunes|lunedì",
  "tuesday|tuesdays|dienstag|dienstags|mardi|martes|martedì",
  "wednesday|wednesdays|mittwoch|mittwochs|mercredi|miércoles|mercoledì",
  "thursday|thursdays|donnerstag|donnerstags|jeudi|jueves|giovedì",
  "friday|fridays|freitag|freitags|vendredi|viernes|venerdì",
  "saturday|saturdays|samstag|samstags|samedi|sábado|sábados|sabato",
  "sunday|sundays|sonntag|sonntags|dimanche|domingo|domingos|domenica",
];

/** Lower case, without accents; `ß` is `ss`. */
export const foldText = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/ß/gu, "ss")
    .replace(/œ/gu, "oe")
    .toLowerCase();

export type Topic = "substance" | "diet" | "access" | "relation" | "seat" | "kind" | "number" | "other";

const TABLE: readonly (readonly [Topic, readonly string[]])[] = [
  ["substance", SUBSTANCES],
  ["diet", DIETS],
  ["access", ACCESS],
  ["relation", RELATIONS],
  ["seat", SEATS],
  ["kind", KINDS],
  ["number", NUMBERS],
  ["other", OTHERS],
];

export interface Concept {
  readonly name: string;
  readonly topic: Topic;
}

const CONCEPTS: ReadonlyMap<string, Concept> = (() => {
  const concepts = new Map<string, Concept>();
  for (const [topic, entries] of TABLE)
    for (const entry of entries) {
      const [name = "", ...synonyms] = entry.split("|");
      for (const word of [name, ...synonyms]) if (!concepts.has(foldText(word))) concepts.set(foldText(word), { name, topic });
    }
  return concepts;
})();

/** What a word says beside itself. */
const IMPLIED: Readonly<Record<string, string>> = { coeliac: "gluten", diabetic: "sugar" };

/** The most words that one entry has. */
const LONGEST = 4;

/** The concept that a word or phrase stands for, plain plurals and article-like beginnings included; null for none. */
export function conceptOf(phrase: string, topic?: Topic): Concept | null {
  const folded = foldText(phrase).trim();
  for (const candidate of [folded, folded.replace(/e?s$/u, ""), `${folded}s`]) {
    const concept = CONCEPTS.get(candidate);
    if (concept !== undefined && (topic === undefined || concept.topic === topic)) return concept;
  }
  return null;
}

/** German writes "Nussallergie" for an allergy to nuts; "dad's" is dad and "l'allée" allée. */
function partsOf(word: string): readonly string[] {
  const compound = /^(?<stem>\p{L}{2,}?)-?(?<rest>allergi(?:e|en|ker|kerin)|unvertraglichkeit(?:en)?|intoleranz(?:en)?)$/u.exec(
    word,
  )?.groups;
  return compound === undefined
    ? [word.replace(/^(?:[cdjlmnst]|qu|all|dell|nell|sull|un)'|'s$/gu, "")]
    : [compound.stem ?? word, compound.rest ?? ""];
}

/** Every concept named in a text, longest phrases first; their words, folded, are not looked at again. */
export function conceptsIn(text: string): readonly Concept[] {
  const words = (foldText(text).match(/[\p{L}\p{N}]+(?:[-'][\p{L}\p{N}]+)*|[€£$]/gu) ?? []).flatMap(partsOf);
  const found: Concept[] = [];
  for (let i = 0; i < words.length; ) {
    let length = Math.min(LONGEST, words.length - i);
    for (; length > 0; length--) {
      const concept = conceptOf(words.slice(i, i + length).join(" "));
      if (concept === null) continue;
      found.push(concept);
      const implied = conceptOf(IMPLIED[concept.name] ?? "");
      if (implied !== null) found.push(implied);
      break;
    }
    i += Math.max(1, length);
  }
  return found;
}
