import { conceptOf } from "../../platform/language/lexicon.js";

/** The people of a message: who is named in it, and whom "she" then means. English. */

export interface Person {
  /** `companion:<relation or name>`; null for those whose wishes are no guest's: a boss, a waiter. */
  readonly subject: string | null;
  /** How the person is called in a clause: "my wife Sara". */
  readonly phrase: string;
  /** As a statement names them: "Wife", "Daughters". */
  readonly label: string;
  readonly name: string | null;
  readonly gender: "he" | "she" | "they" | "any";
}

const ADJECTIVES =
  "(?:(?:\\d+[- ]year[- ]old|little|young(?:er)?|older|old|teenage|grown-up|(?:youngest|eldest|oldest)(?=\\s+(?:son|daughter|child|boy|girl|kid|brother|sister)s?\\b)|elderly|dear|lovely|autistic|deaf|blind|disabled|diabetic|pregnant|best|good|close|two|three|four|other|big|wonderful|late)\\s+)*";
const NAME = "(?:\\s*,?\\s+(?<name>(?!I\\b|I'|And\\b|But\\b|So\\b)\\p{Lu}[\\p{L}'-]*\\p{L})(?![\\p{L}])(?:\\s*,(?=\\s+\\p{Ll}))?)?";
const POSSESSED = `(?:both\\s+|all\\s+)?(?:of\\s+)?(?<owner>my|our|the)\\s+${ADJECTIVES}(?<relation>in-laws|\\p{L}+(?:-in-law)?)(?:\\s+(?<second>one|ones))?${NAME}`;
const AT_START = new RegExp(`^${POSSESSED}`, "iu");
const ANYWHERE = new RegExp(`(?<![\\p{L}'])${POSSESSED}`, "giu");
const FRIEND_OF_MINE =
  /(?<!\p{L})(?:[Aa]|[Oo]ne) (?:good |old |close )?(?:friend|mate|cousin|nephew|niece) of (?:mine|ours),? (?:called |named )?(?<name>\p{Lu}[\p{L}'-]+),?/u;

/** As a name: "Grandma can't do stairs". */
const BARE = /^(?:Mum|Mom|Mummy|Mommy|Dad|Daddy|Grandma|Granny|Gran|Nan|Nana|Grandpa|Grandad|Granddad)(?=[' ])/u;

/** Of one's own house: there "the" says as much as "my". */
const HOUSEHOLD = /^(?:baby|children|toddler|twins|daughter|son|wife|husband|little one|youngest|eldest|oldest|little ones|family)$/u;
/** Relations whose word is not in the lexicon, or is two words. */
const OWN_WORDS: Readonly<Record<string, { name: string; gender: Person["gender"] }>> = {
  youngest: { name: "youngest", gender: "any" },
  eldest: { name: "eldest", gender: "any" },
  oldest: { name: "oldest", gender: "any" },
  boys: { name: "sons", gender: "they" },
  girls: { name: "daughters", gender: "they" },
  teenager: { name: "teenager", gender: "any" },
};
const STRANGER =
  /^(?:boss|manager|colleague|coworker|neighbou?r|landlord|landlady|teacher|doctor|dentist|therapist|client|customer|ex|assistant|secretary|waiter|waitress|chef|flatmate|roommate|guest|driver|lawyer|hairdresser|acquaintance|trainer|lady|man|woman|guy|bloke)s?$/iu;
const SHE =
  /^(?:mother|wife|girlfriend|daughter|sister|grandmother|aunt|niece|mother-in-law|sister-in-law|daughter-in-law|granddaughter|stepdaughter|stepmother|godmother)$/u;
const HE =
  /^(?:father|husband|boyfriend|son|brother|grandfather|uncle|nephew|father-in-law|brother-in-law|son-in-law|grandson|stepson|stepfather|godfather)$/u;
const THEY = /^(?:parents|children|twins|in-laws|grandparents|siblings|family|little ones)$/u;

/** The person that the text begins with, and how long the phrase is; null where it begins with none. */
export function personAt(text: string): { readonly person: Person; readonly length: number } | null {
  const match = AT_START.exec(text);
  if (match === null) {
    const bare = BARE.exec(text)?.[0];
    const relative = bare === undefined ? null : personAt(`my ${bare.toLowerCase()}`);
    if (bare !== undefined && relative !== null) return { person: relative.person, length: bare.length };
    const friend = FRIEND_OF_MINE.exec(text);
    if (friend?.index !== 0) return null;
    const name = friend.groups?.name ?? "";
    return { person: named(name, `my friend ${name}`), length: friend[0].length };
  }
  return personOf(match);
}

/** Everybody who is named, in order. */
export function peopleIn(text: string): Person[] {
  const people = [...text.matchAll(ANYWHERE)].flatMap((match) => personOf(match)?.person ?? []);
  const friend = FRIEND_OF_MINE.exec(text)?.groups?.name;
  const bare = people.length === 0 ? personAt(text) : null;
  if (bare !== null) people.push(bare.person);
  return friend === undefined ? people : [...people, named(friend, `my friend ${friend}`)];
}

/** The one whom the pronoun can mean; null where there is none, or more than one. */
export function meantBy(pronoun: string, people: readonly Person[]): Person | null {
  const wanted = pronoun.toLowerCase() as "he" | "she" | "they";
  const different = new Map(
    people.filter(({ gender }) => gender === wanted || gender === "any").map((person) => [person.subject ?? person.phrase, person]),
  );
  const [only] = different.values();
  return different.size === 1 && only?.subject != null ? only : null;
}

function named(name: string, phrase: string): Person {
  return { subject: `companion:${name}`, phrase, label: name, name, gender: "any" };
}

function personOf(match: RegExpExecArray | RegExpMatchArray): { person: Person; length: number } | null {
  const { owner = "", relation = "", second = "", name: said } = match.groups ?? {};
  const name = said !== undefined && /^\p{Lu}/u.test(said) ? said : null;
  const cut = said !== undefined && name === null ? match[0].lastIndexOf(said) : match[0].length;
  const length = match[0].slice(0, cut).replace(/[\s,]+$/u, "").length + (name !== null && match[0].endsWith(",") ? 1 : 0);
  const word = second === "" ? relation.toLowerCase() : `${/little|young/iu.test(match[0]) ? "little " : ""}${second.toLowerCase()}`;
  if (/^(?:ones?)$/u.test(word)) return null;
  const own = OWN_WORDS[word];
  const concept = own?.name ?? (/^little/u.test(word) ? word : conceptOf(word, "relation")?.name) ?? null;
  const phrase = `${owner.toLowerCase() === "the" ? "the" : "my"} ${word}${name === null ? "" : ` ${name}`}`;
  if (concept === null) {
    // "My colleague Priya": whoever has a name may be one who comes along; the caller sees to that.
    if (!STRANGER.test(word)) return null;
    return { person: { subject: null, phrase, label: name ?? word, name, gender: "any" }, length };
  }
  if (owner.toLowerCase() === "the" && !HOUSEHOLD.test(concept) && own === undefined) return null;
  const plural = THEY.test(concept) || (/s$/u.test(word) && word !== concept && !/^(?:s)$/u.test(word)) || own?.gender === "they";
  const gender = plural ? "they" : SHE.test(concept) ? "she" : HE.test(concept) ? "he" : (own?.gender ?? "any");
  if (concept === "friend" && name !== null) return { person: named(name, phrase), length };
  return {
    person: {
      subject: `companion:${own?.gender === "they" ? (concept === "sons" ? "son" : "daughter") : concept}`,
      phrase,
      label: word,
      name,
      gender,
    },
    length,
  };
}
