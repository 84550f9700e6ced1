import { conceptOf } from "../../platform/language/lexicon.js";

/** Who a clause is about: the guest, or someone who comes along. */
export interface AboutWhom {
  /** `self` or `companion:<relation or name>`. */
  readonly subject: string;
  /** The clause as if the person spoke: "my wife is vegan" → "I am vegan". */
  readonly clause: string;
  /** The person's name where it was said. */
  readonly name: string | null;
}

const THIRD_TO_FIRST: Readonly<Record<string, string>> = {
  is: "am",
  are: "am",
  "'s": "am",
  has: "have",
  does: "do",
  goes: "go",
  was: "was",
};

const POSSESSED =
  /^(?:[Mm]y|[Oo]ur)\s+(?<adjectives>(?:\d+[- ]year[- ]old |little |young(?:er|est)? |old(?:er|est)? |elderly |dear |lovely |autistic |deaf |blind |disabled |diabetic |best |good |close )*)(?<relation>[\p{L}]+(?:-in-law)?)(?:,)?(?:\s+(?<name>\p{Lu}[\p{L}'-]+),?)?(?<rest>(?:\s|'s\s).+)$/u;
const VERB =
  /^(?<is>'s|is|are)?\s*(?<adverbs>(?:(?:also|always|usually|often|normally|really|absolutely|still|severely|generally|never|sometimes|currently|now|and i both|is|are)\s+)*)(?<verb>[\p{L}']+)(?<tail>.*)$/iu;

/** The companion whom the clause has as its subject, and the clause in the first person; the guest where it has none. */
export function aboutWhom(clause: string): AboutWhom {
  const self: AboutWhom = { subject: "self", clause, name: null };
  const match = POSSESSED.exec(clause.replace(/[’‘]/gu, "'"));
  const { relation = "", name, rest = "" } = match?.groups ?? {};
  const concept = conceptOf(relation, "relation");
  if (concept === null) return self;
  // A friend is one of many: without a name nobody knows which.
  const person = concept.name === "friend" ? name : concept.name;
  if (person === undefined) return self;
  return { subject: `companion:${person}`, clause: `I ${firstPerson(rest.trim())}`, name: name ?? null };
}

function firstPerson(rest: string): string {
  const said = rest
    .replace(/\bdoesn't\b/iu, "do not")
    .replace(/\bisn't\b/iu, "am not")
    .replace(/\bcan't\b|\bcannot\b/iu, "can not")
    .replace(/\bhasn't\b/iu, "have not");
  const { is = "", adverbs = "", verb = "", tail = "" } = VERB.exec(said)?.groups ?? {};
  if (is !== "") return `am ${adverbs}${verb}${tail}`;
  const lower = verb.toLowerCase();
  const plain =
    THIRD_TO_FIRST[lower] ??
    (/(?:ss|[^s]us)$/u.test(lower)
      ? verb
      : verb
          .replace(/ies$/u, "y")
          .replace(/(ch|sh|x|ss)es$/u, "$1")
          .replace(/s$/u, ""));
  return `${adverbs}${plain}${tail}`.replace(/\b(?:his|her|their)\b/giu, "my");
}

const PERSON = /(?<!\p{L})(?:my|our)\s+(?:\p{L}+\s+)?(?<relation>\p{L}+(?:-in-law)?)(?!\p{L})/giu;
const SUBJECTLESS =
  /^(?:(?:he|she)(?<is>'s)?\s+|(?=(?:also\s+)?(?:loves|hates|likes|prefers|enjoys|needs|uses|is|has|can't|cannot|doesn't)\s))/iu;

/** Whom the next clause is about where it doesn't say: the guest ("I"), the one companion that is named ("my daughter"), or nobody known. */
export function personIn(clause: string): string | null {
  if (/^(?:i|we)(?:'m|'ve|'d)?\s(?!.*\b(?:my|our)\b)/iu.test(clause.replace(/[’‘]/gu, "'"))) return "I";
  const relations = new Set<string>();
  for (const match of clause.matchAll(PERSON)) {
    const words = match[0].split(/\s+/u).slice(1);
    const concept = words.map((word) => conceptOf(word, "relation")).find((found) => found !== null);
    if (concept != null && concept.name !== "friend") relations.add(concept.name);
  }
  const [only] = relations;
  return relations.size === 1 && only !== undefined ? `my ${only}` : null;
}

/** Verbs of liking, and of habit where one is said to be ("usually book two"); "always book me …" asks for something. */
const BARE =
  /^(?:(?:also\s+)?(?:love|hate|like|prefer|enjoy|need|use|dislike|avoid|detest|adore)|(?:(?:also|usually|always|normally|generally|mostly|often|typically|never)\s+)+(?:book|buy|take|get|order|reserve|sit|eat|drink|spend|pay|go|come|travel|choose|pick|love|like|prefer|enjoy|need|avoid)(?!\s+(?:me|us|my|our)\b))\s/iu;

/** "she loves ballet", "and loves opera": the clause with the person that was named before as its subject; null where it has its own. */
export function withSubject(clause: string, person: string | null): string | null {
  if (person === "I") return BARE.test(clause) ? `I ${clause}` : null;
  const match = SUBJECTLESS.exec(clause.replace(/[’‘]/gu, "'"));
  if (person === null || match === null) return null;
  return `${person} ${match.groups?.is === undefined ? "" : "is "}${clause.slice(match[0].length)}`;
}

const FOR_WHOM =
  /[\s,]*(?<![\p{L}])(?:for|because of|für|wegen|pour|per|para|por)\s+(?:my|our|mein(?:e|en|er)?|unser(?:e|en)?|ma|mon|mes|mi|mis|mio|mia|il mio|la mia)\s+(?:(?:little|young|old|elderly|autistic|deaf|blind|disabled|diabetic|\d+[- ]year[- ]old)\s+)*(?<relation>[\p{L}]+(?:-in-law)?)(?:\s+(?<name>\p{Lu}[\p{L}'-]+))?(?!\p{L})[\s,]*/iu;

/** "…, for my mother": whom a wish is for, taken out of the clause. Only relations; "for my birthday" is none. */
export function forWhom(clause: string): AboutWhom | null {
  const match = FOR_WHOM.exec(clause);
  const concept = conceptOf(match?.groups?.relation ?? "", "relation");
  if (match === null || concept === null) return null;
  const { name } = match.groups ?? {};
  const named = name !== undefined && /^\p{Lu}/u.test(name) ? name : undefined;
  const person = concept.name === "friend" ? named : concept.name;
  if (person === undefined) return null;
  const taken = named === undefined && name !== undefined ? match[0].slice(0, match[0].lastIndexOf(name)) : match[0];
  return { subject: `companion:${person}`, clause: clause.replace(taken, " ").trim(), name: named ?? null };
}
