import type { Clause } from "./clauses.js";
import type { Vocabulary } from "./domain-words.js";
import { beginsAt, english, type Language, MEANT, type Meant, pronounIn, relationAt, uncompounded } from "./language.js";
import { isName, rawWords } from "./names.js";

/** Somebody of the guest's. `unsure`: they may not be who is meant. Default false. */
export interface Companion {
  readonly kind: "companion";
  readonly relation: string;
  readonly name: string | null;
  readonly unsure?: boolean;
}

/** Whom a statement is about. */
export type Who =
  | { readonly kind: "self" }
  | Companion
  /** The clause names nobody: "allergic to nuts". */
  | { readonly kind: "nobody" }
  /** `acquaintance`: who is no family of the guest's, and may come along all the same. */
  | { readonly kind: "other"; readonly acquaintance?: Companion };

/** "He", "she": whoever was named last. */
export type Named = Who | { readonly kind: "pronoun" };

/** Whoever comes along, the guest among them or not: nobody said which of them. */
export const ONE_OF_US = "one of us";

/** A name that the words before introduce stands among the first so many. */
const REACH = 4;

/** By the small words at a clause's beginning. `goesOn`: the clause before was about the guest. */
export function whoIn(clause: Clause, language: Language, goesOn: boolean): Named {
  const { words } = clause;
  if (partOfGroup(words, language) !== null) return { kind: "companion", relation: ONE_OF_US, name: null };
  for (const at of words.slice(0, REACH).keys()) {
    const named = ownAt(clause, at, language);
    if (named !== null && named.kind !== "nobody") return named;
    if (named === null) continue;
    const own = language.avoid.in(words.slice(at + 1, at + 3)) !== -1 || (language.first.in(words) !== -1 && at > 1);
    return own ? { kind: "self" } : { kind: "other" };
  }
  if (language.pronounAt(words, 0).length > 0) return { kind: "pronoun" };
  if (language.first.in(words) !== -1) return { kind: "self" };
  if (language.others.has(words[0])) return { kind: "other" };
  // "So no stairs for him".
  if (pronounWithin(clause, language).length > 0) return { kind: "pronoun" };
  // "Mum's knee is bad": nobody else's, but not the guest's own.
  if (relationBegun(words) !== undefined) return { kind: "nobody" };
  return clause.index > 0 && goesOn ? { kind: "self" } : { kind: "nobody" };
}

/** Whom of the guest's the words at a place name: "my wife Ana", "my boss"; nobody for a thing of theirs. Null: nothing of theirs. */
function ownAt({ text, words }: Clause, at: number, language: Language): Who | null {
  const bare = words.map((word) => word.replace(/'s$/u, ""));
  // "The wife": nobody else's.
  if (!language.mine.has(words[at]) && !(words[at] === "the" && english.household.has(bare[at + 1]))) return null;
  const friend = bare[at + 1] ?? "";
  const called = nameAt(text, at + 2);
  const isFriend = called !== null && words[at + 2] === bare[at + 2];
  const acquaintance: Companion = { kind: "companion", relation: friend, name: isFriend ? called : null, unsure: true };
  // "My friend Ola uses a guide dog": no family, but may come along; "according to my friend Ola I react to nuts" is the guest's.
  const leads = words.slice(0, at).every((before) => english.fillers.has(before));
  const isTheirs = language.first.in(words.slice(at + 2)) === -1 || leads;
  if (isFriend && isTheirs && english.friends.has(friend)) return acquaintance;
  // "My boss"; "my guide dog" is no guide.
  if (english.bystanders.has(friend) && isTheirs && !isPet(relationAt(bare, at + 2)?.relation)) return { kind: "other", acquaintance };
  for (const from of [at + 1, at + 2]) {
    // "My late husband".
    if (english.bystanders.has(bare[from])) return { kind: "other" };
    const relation = relationAt(bare, from);
    // "My guide dog" is what somebody uses, and "a butler for my cat" tells nothing of it.
    if (relation === undefined || (isPet(relation.relation) && !(leads && from === at + 1))) continue;
    const next = from + relation.length;
    // "My son's classmate", "my wife's brother" is somebody else.
    if (words[from]?.endsWith("'s") === true && english.bystanders.has(words[next])) return { kind: "other" };
    const theirs = words[from]?.endsWith("'s") === true ? relationAt(bare, next)?.relation : undefined;
    if (theirs !== undefined && !isPet(theirs))
      return { kind: "other", acquaintance: { kind: "companion", relation: theirs, name: null, unsure: true } };
    return { kind: "companion", relation: relation.relation, name: nameAt(text, next) };
  }
  return { kind: "nobody" };
}

function nameAt(text: string, at: number): string | null {
  const word = (rawWords(text)[at] ?? "").replace(/['’]s$/u, "");
  return isName(word) ? word : null;
}

/** All of the guest's whom words name, wherever they stand: "a place for my dad's 70th", "for me and daughter Zosia". */
export function peopleIn(clause: Clause, language: Language): readonly Companion[] {
  const { text, words } = clause;
  return words.flatMap((_, at): readonly Companion[] => {
    const own = ownAt(clause, at, language);
    if (own?.kind === "companion") return isPet(own.relation) ? [] : [own];
    const relation = relationAt(words, at);
    const name = relation === undefined ? null : nameAt(text, at + relation.length);
    if (relation === undefined || name === null || isPet(relation.relation) || english.theirs.has(words[at - 1])) return [];
    return [{ kind: "companion", relation: relation.relation, name }];
  });
}

/** An adverb, of whomever: "physically can't climb stairs". Of names of this ending the longer ones are taken for one. */
const ADVERB = /\p{L}{4}ly$/u;

/**
 * "Marco himself can't have kiwi", "dad is vegan": a name or a relation that begins a clause, and what is told of it. Of any other word
 * with a small letter no more than what is told of people, and not by the guest of themselves. It may be nobody's, and the guest is asked.
 */
export function calledIn({ text, words }: Clause, language: Language, vocabulary: Vocabulary): Companion | null {
  const at = beginsAt(words);
  const bare = words.map((word) => word.replace(/'s$/u, ""));
  const [first = "", raw = ""] = [bare[at], rawWords(text)[at]];
  const relation = relationAt(bare, at);
  const behind = at + (relation?.length ?? 1);
  const isNamedToo = relation !== undefined && nameAt(text, behind) !== null;
  const told = behind + (isNamedToo ? 1 : 0);
  const tells = (from: number) => language.tells.has(words[from + (english.oneself.has(words[from]) ? 1 : 0)]);
  if (relation !== undefined) {
    const companion = { kind: "companion", relation: relation.relation, name: nameAt(text, behind), unsure: true } as const;
    return isPet(relation.relation) || !tells(told) ? null : companion;
  }
  const lists = [language.first, language.mine, language.others, language.not, language.tells, english.nouns_after, english.orders];
  if (raw === "" || [...lists, english.nobodys].some((list) => list.has(first)) || language.pronounAt(words, at).length > 0) return null;
  // "Antes no era", "Já não saio".
  if (language.name !== "en" && [language.markers, language.past].some((list) => list.has(first))) return null;
  if (ADVERB.test(first) || vocabulary.reasonsIn([first]).length > 0 || vocabulary.needsIn(words).some((need) => need.at === at))
    return null;
  const companion = { kind: "companion", relation: raw.replace(/['’]s$/u, ""), name: null, unsure: true } as const;
  if (isName(raw)) return tells(behind) || /['’]s$/u.test(raw) ? companion : null;
  return language.name === "en" && english.personal.at(words, behind) > 0 ? companion : null;
}

/** German, of whoever the guest speaks to: "bitte achten Sie auf meine Nussallergie". */
const FORMAL: ReadonlySet<string | undefined> = new Set(["Sie", "Ihnen"]);

/** Whom a pronoun that doesn't begin its clause can mean; nobody where the words are of what is the guest's. */
export function pronounWithin(clause: Clause, language: Language): readonly Meant[] {
  return language.mine.in(clause.words) === -1 ? pronounIn(withoutFormal(clause, language), language) : [];
}

/** "Bitte keine Nüsse für sie in meiner Buchung": nothing of the guest's stands before whom it is for, and no allergy of theirs behind. */
export function isForSomebody(clause: Clause, language: Language): boolean {
  const words = withoutFormal(clause, language);
  const forWhom = words.findIndex((word, at) => language.for.has(word) && language.pronounAt(words, at + 1).length > 0);
  if (forWhom === -1 || language.mine.in(words) < forWhom || language.first.in(words.slice(0, forWhom)) !== -1) return false;
  return language.avoid.in(words.slice(forWhom).flatMap(uncompounded)) === -1;
}

function withoutFormal({ text, words }: Clause, { name }: Language): readonly string[] {
  const raw = rawWords(text);
  return words.filter((_, at) => name !== "de" || at === 0 || !FORMAL.has(raw[at]));
}

/** "One of us uses a wheelchair"; `them`: "one is vegan", of whoever was named last. Null: neither. */
export function partOfGroup(words: readonly string[], language: Language): "us" | "them" | null {
  const begins = beginsAt(words);
  if (language.one_of_us.at(words, begins) > 0) return "us";
  return language.one_of_them.at(words, begins) > 0 ? "them" : null;
}

const PETS: ReadonlySet<string | undefined> = new Set(["dog", "cat"]);

export function isPet(relation: string | undefined): boolean {
  return PETS.has(relation);
}

/** Whether somebody else may be meant. */
export function isUnsure(who: Named): boolean {
  return who.kind === "companion" && who.unsure === true;
}

/** Whether the words' first pronoun can be them: of a wife nobody says "he", and "they're wheelchair accessible" is of a place. */
export function canMean(words: readonly string[], { relation }: Companion, language: Language): boolean {
  const meant = pronounIn(words, language);
  return meant.length === 0 || meant.some((each) => calledSo(relation).includes(each));
}

function calledSo(relation: string): readonly Meant[] {
  if (english.men.has(relation)) return ["he"];
  return english.women.has(relation) ? ["she"] : MEANT;
}

/** "Mum's coming too": whose mother needs no word. */
export function relationBegun(words: readonly string[]): string | undefined {
  const bare = words.map((word) => word.replace(/'s$/u, ""));
  return relationAt(bare, beginsAt(bare))?.relation;
}

export function subjectFor(who: Who): { readonly subject: string; readonly name: string | null } {
  return who.kind === "companion" ? { subject: `companion:${who.relation}`, name: who.name } : { subject: "self", name: null };
}
