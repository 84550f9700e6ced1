import { clausesOf } from "./clauses.js";
import { plain } from "./vocabulary.js";

const CHILDREN = ["kids", "children", "kinder", "enfants", "hijos", "figli", "filhos", "kid", "child"];

/** Who a name or a relation stands for: words for the same relation, by which a guest may call the same companion. */
const RELATIONS: readonly (readonly string[])[] = [
  ["mother", "mom", "mum", "mama", "mommy", "mummy", "mutter", "mutti", "mere", "maman", "madre", "mamma", "mae"],
  ["father", "dad", "papa", "daddy", "vater", "pere", "padre", "pai"],
  ["parents", "folks", "eltern", "padres", "genitori", "pais"],
  ["wife", "frau", "ehefrau", "femme", "esposa", "mujer", "moglie", "partner", "spouse", "better half"],
  ["husband", "mann", "ehemann", "mari", "esposo", "marido", "marito", "partner", "spouse", "better half"],
  ["girlfriend", "freundin", "petite amie", "novia", "fidanzata", "namorada", "partner"],
  ["boyfriend", "freund", "petit ami", "novio", "fidanzato", "namorado", "partner"],
  ["daughter", "girl", "tochter", "fille", "hija", "figlia", "filha", ...CHILDREN],
  ["son", "boy", "sohn", "fils", "hijo", "figlio", "filho", ...CHILDREN],
  ["sister", "schwester", "soeur", "hermana", "sorella", "irma", "siblings"],
  ["brother", "bruder", "frere", "hermano", "fratello", "irmao", "siblings"],
  [
    "grandmother",
    "grandma",
    "granny",
    "nan",
    "nana",
    "oma",
    "grossmutter",
    "grand-mere",
    "mamie",
    "abuela",
    "nonna",
    "avo",
    "grandparents",
  ],
  ["grandfather", "grandpa", "granddad", "opa", "grossvater", "grand-pere", "papi", "abuelo", "nonno", "grandparents"],
  ["friend", "friends", "mate", "buddy", "ami", "amie", "amigo", "amiga", "amico", "amica"],
  ["colleague", "colleagues", "coworker", "co-worker", "kollege", "kollegin", "collegue", "colega", "collega"],
  ["family", "familie", "famille", "familia", "famiglia"],
];
/** Groups that may hold any of the family. */
const GROUPS = /\b(?:family|familie|famille|familia|famiglia|everyone|everybody|all of us|the whole lot)\b/;
const NOT_FAMILY = /^(?:friend|friends|mate|buddy|colleague|colleagues|coworker)/;

/** Whether a party, in the booking or in the guest's words, includes the companion of a memory (`companion:<name>`). */
export function comesAlong(companion: string, party: readonly string[], words: string): boolean {
  const names = namesOf(plain(companion).trim());
  const said = [...party.map(plain), ...(staysBehind(companion, words) ? [] : [plain(words)])];
  if (said.some((text) => names.some((name) => mentions(text, name)))) return true;
  return !NOT_FAMILY.test(plain(companion)) && said.some((text) => GROUPS.test(text));
}

/** Words for more than one: whoever is named already is not all of them. */
const SEVERAL: ReadonlySet<string> = new Set([...CHILDREN, "siblings", "grandparents"]);

/** A party with more companions, each once, however they are called. */
export function joined(party: readonly string[], more: readonly string[]): readonly string[] {
  const all = [...party];
  for (const name of more) {
    const [bare = ""] = namesOf(plain(name).trim());
    const rows = SEVERAL.has(bare) ? [] : RELATIONS.filter((names) => names.includes(bare));
    const known = all.map((each) => namesOf(plain(each).trim())[0] ?? "");
    if (!known.some((each) => each === bare || rows.some((names) => names.includes(each) && !SEVERAL.has(each)))) all.push(name);
  }
  return all;
}

const MY =
  "my|our|mein(?:e[mnr]?)?|unser(?:e[mnr]?)?|mon|ma|mes|notre|nos|mis?|nuestr[oa]s?|mi[oae]|miei|nostr[oaie]|minhas?|meus?|noss[oa]s?";
const WHOSE = new RegExp(
  `(?<!\\p{L})(?:${MY})\\s+(?:[\\p{L}-]+\\s+)?(${[...new Set(RELATIONS.flat())].sort((a, b) => b.length - a.length).join("|")})(?!\\p{L})`,
  "gu",
);

/** Relations that the guest speaks of as theirs, as they call them: "my mum", "unsere Tochter". Not those who stay behind. */
export function companionsIn(words: string): readonly string[] {
  const found = [...plain(words).matchAll(WHOSE)].map((match) => match[1] ?? "");
  return [...new Set(found)].filter((name) => name !== "" && !staysBehind(name, words));
}

/** A question, a condition or a doubt takes nobody out of the party. */
const UNSURE =
  /\?|\b(?:if|unless|whether|maybe|perhaps|might|may|wenn|falls|ob|vielleicht|peut-etre|quizas?|se|forse|talvez)\b|(?<!^)\bsi\b/u;
const NEGATION = /\b(?:no|not|never|nor|\p{L}+n't|cannot|cant|wont|nicht|nie|kein\w*|pas|jamais|nunca|non|mai|nao)\b/u;
const WITHOUT = /\b(?:without|ohne|sans|sin|senza|sem)\b(?<whom>.*)$/u;
const ALONE =
  /^(?:(?:no|yes|ok|okay|make it|book it|it's|it is|it will be|actually|then|please|nein|ja|non|oui|si|nao|sim) )*(?:(?:just|only) (?:for )?(?:me|myself)|(?:for )?me alone|(?:by myself|on my own)|(?:i(?:'ll|'m| will| am)?) (?:be )?(?:go|going|come|coming) (?:alone|by myself|on my own)|nur (?:ich|fur mich)|(?:ich komme |ich gehe )?allein|(?:juste|seulement) (?:pour )?moi|(?:j'y vais |je viens )?seule?|solo (?:yo|para mi|io|per me)|(?:vado|vengo) da sol[oa]|so (?:eu|para mim)|(?:vou )?sozinh[oa])(?: (?:please|then|now|after all|this time|bitte|doch))*$/u;
const TOGETHER =
  /\b(?:and|with|plus|us|her|him|them|she|he|they|und|mit|uns|sie|er|ihr|ihm|et|avec|nous|elle|lui|y|con|ella|el|lei|e|com|ela|ele)\b/u;
const NOT_COMING =
  "(?:(?:isn't|is not|'s not|aren't|are not|won't|will not|can't|cannot|can not|doesn't|does not|don't|do not)(?: be)?(?: able to)? (?:coming|come|joining|join|make it|going|go|attending|attend|there)|(?:stays?|is staying|will stay)(?: at)? home|komm(?:t|en)(?: \\p{L}+)? nicht|ne (?:vient|viennent|viendra) pas|ne peut pas venir|no (?:viene|vienen|vendra|puede venir)|non (?:viene|vengono|verra|puo venire)|nao (?:vem|vai|pode vir))(?: (?:along|too|with (?:me|us)|after all|any ?more|this time|mit|con (?:noi|nosotros)|avec nous|connosco))*";

/** Whether the guest's words take a companion out of the party: "without my mother", "Sam isn't coming", "just me". When in doubt: no. */
export function staysBehind(companion: string, words: string): boolean {
  const text = plain(words).trim();
  if (UNSURE.test(text)) return false;
  const names = namesOf(plain(companion).trim());
  const named = names.some((name) => mentions(text, name));
  const clauses = clausesOf(words);
  if (!named) return !TOGETHER.test(text) && clauses.some((clause) => ALONE.test(clause));
  return clauses.some((clause) =>
    names.some((name) => {
      const who = `(?:(?:${MY}|the) )?(?:[\\p{L}-]+ )?${escaped(name)}`;
      const left = WITHOUT.exec(clause);
      if (left !== null && !NEGATION.test(clause.slice(0, left.index)))
        return new RegExp(`^ ${who}(?: (?:this time|then|please|after all))?$`, "u").test(left.groups?.whom ?? "");
      return new RegExp(`^(?:(?:no|and|but|actually|sorry|so) )*${who}(?: [\\p{L}-]+)? ?${NOT_COMING}$`, "u").test(clause);
    }),
  );
}

function namesOf(companion: string): readonly string[] {
  const bare = companion.replace(/^(?:my|the|our|mein|meine|mi|ma|mon|mia|mio)\s+/, "");
  return [bare, ...RELATIONS.filter((names) => names.includes(bare)).flat()];
}

function mentions(text: string, name: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}])${escaped(name)}(?:'?s)?(?![\\p{L}\\p{N}])`, "u").test(text);
}

function escaped(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
