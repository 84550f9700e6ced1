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
  const said = [...party.map(plain), plain(words)];
  if (said.some((text) => names.some((name) => mentions(text, name)))) return true;
  return !NOT_FAMILY.test(plain(companion)) && said.some((text) => GROUPS.test(text));
}

function namesOf(companion: string): readonly string[] {
  const bare = companion.replace(/^(?:my|the|our|mein|meine|mi|ma|mon|mia|mio)\s+/, "");
  return [bare, ...RELATIONS.filter((names) => names.includes(bare)).flat()];
}

function mentions(text: string, name: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?:'?s)?(?![\\p{L}\\p{N}])`, "u").test(text);
}
