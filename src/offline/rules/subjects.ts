import { conceptOf } from "../../platform/language/lexicon.js";
import { type Person, personAt } from "./people.js";
import { withoutOpening } from "./plain-clauses.js";

/** Who a clause is about: the guest, or someone who comes along. */
export interface AboutWhom {
  /** `self` or `companion:<relation or name>`. */
  readonly subject: string;
  /** The clause as if the person spoke: "my wife is vegan" → "I am vegan". */
  readonly clause: string;
  /** The person's name where it was said. */
  readonly name: string | null;
  /** As a statement names a companion: "Wife". The empty string for the guest. */
  readonly label: string;
}

/** The guest's own companions by name, from what is stored: "Mia" → `companion:daughter`. */
export type KnownNames = ReadonlyMap<string, string>;

const VERB =
  /^(?<is>'s|'re|is|are)?\s*(?<adverbs>(?:(?:also|always|usually|often|normally|really|absolutely|still|severely|generally|never|sometimes|currently|now|both|all|each|is|are)\s+)*)(?<verb>[\p{L}']+)(?<tail>.*)$/iu;
/** "has" and "is" of the third person in the first. */
const TO_FIRST: Readonly<Record<string, string>> = { is: "am", are: "am", has: "have", does: "do", goes: "go", was: "was" };

const JOINED = /^\s*(?:,\s*)?(?:and|&|nor|or)\s+/iu;
const OWN = /^\s*(?:I|me|myself)(?=['\s])/u;
const US =
  /^(?<none>neither|none|both|all|each|two|three|four|most|half)\s+of\s+us(?:\s+(?:in (?:my|our) (?:family|house(?:hold)?)|here))?\s+(?<rest>.+)$/iu;
const NAMED =
  /^(?<name>\p{Lu}[\p{L}-]+)(?<rest>(?:'s|n't|\s+(?:is|isn't|can|can't|cannot|has|needs|uses|loves|hates|likes|prefers|doesn't|does|eats|also|no))(?=[\s,.!]).*)$/u;

/**
 * Those whom the clause has as its subject, each with the clause in the first person: the guest where it names nobody, several in
 * "my wife and I are vegan". Nobody where it is about somebody who is no guest.
 */
export function aboutWhom(clause: string, known: KnownNames = new Map(), joining = false): readonly AboutWhom[] {
  const said = withoutOpening(clause.replace(/[’‘]/gu, "'").replace(/\b(\p{L}+) in law\b/giu, "$1-in-law"));
  const us = US.exec(said)?.groups;
  if (us !== undefined) {
    const own = `I ${firstPerson(us.rest ?? "")}`;
    return [guest(/^(?:neither|none)$/iu.test(us.none ?? "") ? negated(own) : own)];
  }
  const name = NAMED.exec(said)?.groups;
  const subject = name === undefined ? undefined : known.get((name.name ?? "").toLowerCase());
  if (name !== undefined && subject !== undefined)
    return [companionOf({ subject, label: name.name ?? "", name: name.name ?? null }, `I ${firstPerson((name.rest ?? "").trim())}`)];
  return people(said, joining) ?? [guest(clause)];
}

/** "My wife Anna and I are vegan": everybody before the verb; null where the clause doesn't begin with a person. */
function people(said: string, joining: boolean): readonly AboutWhom[] | null {
  const neither = /^neither\s+/iu.exec(said)?.[0] ?? "";
  let rest = said.slice(neither.length);
  const found: Person[] = [];
  let self = false;
  for (let joined = true; joined; ) {
    const own = OWN.exec(rest)?.[0];
    const next = own === undefined ? (personAt(rest) ?? (found.length > 0 ? bareAt(rest) : null)) : null;
    if (own !== undefined) self = true;
    else if (next !== null) found.push(next.person);
    else return null;
    rest = rest.slice(own?.length ?? next?.length ?? 0);
    const join = JOINED.exec(rest)?.[0];
    joined =
      join !== undefined &&
      (OWN.test(rest.slice(join.length)) || (personAt(rest.slice(join.length)) ?? bareAt(rest.slice(join.length))) !== null);
    if (joined && join !== undefined) rest = rest.slice(join.length);
  }
  if (found.length === 0 || !/^(?:'s|'re|\s*,?\s+\p{L})/u.test(rest)) return null;
  const first = `I ${firstPerson(rest.replace(/^[\s,]+/u, ""))}`;
  const own = neither === "" ? first : negated(first);
  return [...(self ? [guest(own)] : []), ...found.flatMap((person) => guestOf(person, joining, own))];
}

/** "My wife and kids": the second without a "my" of its own. */
function bareAt(text: string): ReturnType<typeof personAt> {
  const own = personAt(`my ${text}`);
  return own === null || own.person.subject === null ? null : { person: own.person, length: own.length - "my ".length };
}

/** Somebody who is no relation is a guest where they have a name and come along. */
function guestOf(person: Person, joining: boolean, clause: string): readonly AboutWhom[] {
  if (person.subject !== null) return [companionOf(person, clause)];
  return joining && person.name !== null ? [companionOf({ ...person, subject: `companion:${person.name}` }, clause)] : [];
}

function guest(clause: string): AboutWhom {
  return { subject: "self", clause, name: null, label: "" };
}

function companionOf(person: Pick<Person, "subject" | "label" | "name">, clause: string): AboutWhom {
  return {
    subject: person.subject ?? "self",
    clause,
    name: person.name,
    label: person.label.replace(/^./u, (letter) => letter.toUpperCase()),
  };
}

function negated(own: string): string {
  return own.replace(/^I (?<be>am|can|have to|must)?\s*/u, (_, be: string | undefined) =>
    be === undefined ? "I do not " : `I ${be} not `,
  );
}

function firstPerson(rest: string): string {
  const said = rest
    .replace(/\b(?:doesn't|don't)\b/iu, "do not")
    .replace(/\b(?:isn't|aren't)\b/iu, "am not")
    .replace(/\bcan't\b|\bcannot\b/iu, "can not")
    .replace(/\bhasn't\b|\bhaven't\b/iu, "have not");
  const { is = "", adverbs = "", verb = "", tail = "" } = VERB.exec(said)?.groups ?? {};
  if (is !== "") return `am ${adverbs}${verb}${tail}`;
  const lower = verb.toLowerCase();
  const plain =
    TO_FIRST[lower] ??
    (/(?:ss|[^s]us)$/u.test(lower)
      ? verb
      : verb
          .replace(/ies$/u, "y")
          .replace(/(ch|sh|x|ss)es$/u, "$1")
          .replace(/s$/u, ""));
  return `${adverbs}${plain}${tail}`.replace(/\b(?:his|her|their)\b/giu, "my");
}

const SUBJECTLESS =
  /^(?=(?:also\s+)?(?:loves?|hates?|likes?|prefers?|enjoys?|needs?|uses?|brings?|is|has|can't|cannot|doesn't|never|always)\s)/iu;
/** Verbs of liking, and of habit where one is said to be ("usually book two"); "always book me …" asks for something. */
const BARE =
  /^(?:(?:also\s+)?(?:love|hate|like|prefer|enjoy|need|use|dislike|avoid|detest|adore|can't|cannot|allergic|sit|don't)|(?:(?:also|usually|always|normally|generally|mostly|often|typically|never)\s+)+(?:book|buy|take|get|order|reserve|sit|eat|drink|spend|pay|go|come|travel|choose|pick|love|like|prefer|enjoy|need|avoid)(?!\s+(?:me|us|my|our)\b))\s/iu;
const PRONOUN = /^(?:(?:and|but|so|also)[\s,]+)*(?<pronoun>he|she|they)(?<short>'s|'re)?\s+/iu;

/** Whom a clause without a subject goes on about: the guest ("I"), or the person before it. */
export function goesOn(clause: string, before: string | null): string | null {
  if (before === "I") return BARE.test(clause) ? `I ${clause}` : null;
  return before !== null && SUBJECTLESS.test(clause.replace(/[’‘]/gu, "'")) ? `${before} ${clause}` : null;
}

export function pronounIn(clause: string): string | null {
  return PRONOUN.exec(clause.replace(/[’‘]/gu, "'"))?.groups?.pronoun ?? null;
}

/** "She's deaf" of "my wife" → "my wife is deaf". */
export function withPerson(clause: string, person: Person): string {
  const match = PRONOUN.exec(clause.replace(/[’‘]/gu, "'"));
  if (match === null) return clause;
  const short = match.groups?.short?.toLowerCase();
  return `${person.phrase} ${short === "'s" ? "is " : short === "'re" ? "are " : ""}${clause.slice(match[0].length)}`;
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
  return companionOf({ subject: `companion:${person}`, label: person, name: named ?? null }, clause.replace(taken, " ").trim());
}
