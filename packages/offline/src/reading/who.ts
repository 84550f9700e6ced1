import type { Clause } from "./clauses.js";
import { english, type Language, MEANT, type Meant, pronounIn, relationAt, uncompounded } from "./language.js";
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
  | { readonly kind: "other" };

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
  const bare = words.map((word) => word.replace(/'s$/u, ""));
  for (const [at, word] of words.slice(0, REACH).entries()) {
    // "The wife": nobody else's.
    if (!language.mine.has(word) && !(word === "the" && english.household.has(bare[at + 1]))) continue;
    const friend = bare[at + 1] ?? "";
    const called = rawWords(clause.text)[at + 2] ?? "";
    // "My friend Ola uses a guide dog": no family, but may come along; "according to my friend Ola I react to nuts" is the guest's.
    const isTheirs = language.first.in(words.slice(at + 3)) === -1 || words.slice(0, at).every((before) => english.fillers.has(before));
    if (isTheirs && english.friends.has(friend) && isName(called) && words[at + 2] === bare[at + 2])
      return { kind: "companion", relation: friend, name: called, unsure: true };
    // "My boss", "my late husband".
    if (english.bystanders.in(bare.slice(at + 1, at + 3)) !== -1) return { kind: "other" };
    // "My little daughter": one word may stand between.
    for (const from of [at + 1, at + 2]) {
      const relation = relationAt(bare, from);
      // "My guide dog" is what somebody uses, and "a butler for my cat" tells nothing of it.
      const isTold = from === at + 1 && words.slice(0, at).every((before) => english.fillers.has(before));
      if (relation === undefined || (isPet(relation.relation) && !isTold)) continue;
      const name = rawWords(clause.text)[from + relation.length] ?? "";
      const next = words[from + relation.length] ?? "";
      // "My son's classmate" is somebody else.
      if (words[from]?.endsWith("'s") === true && english.bystanders.has(next)) return { kind: "other" };
      return { kind: "companion", relation: relation.relation, name: isName(name) ? name.replace(/['’]s$/u, "") : null };
    }
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
  const begins = words.findIndex((word) => !english.fillers.has(word));
  if (begins === -1) return null;
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
  return relationAt(
    bare,
    Math.max(
      0,
      bare.findIndex((word) => !english.fillers.has(word)),
    ),
  )?.relation;
}

export function subjectFor(who: Who): { readonly subject: string; readonly name: string | null } {
  return who.kind === "companion" ? { subject: `companion:${who.relation}`, name: who.name } : { subject: "self", name: null };
}
