import type { Memory } from "maitred";
import { folded } from "maitred/stand-in";
import type { Clause } from "./clauses.js";
import type { Vocabulary } from "./domain-words.js";
import type { ReadClause } from "./draft.js";
import { beginsAt, english, type Language, pronounIn, relationAt } from "./language.js";
import { isName, rawWords } from "./names.js";
import {
  type Companion,
  calledIn,
  canMean,
  isForSomebody,
  ONE_OF_US,
  partOfGroup,
  peopleIn,
  pronounWithin,
  relationBegun,
  type Who,
  whoIn,
} from "./who.js";

/** "With Ana", "Theo (4)". */
const CALLED = /\b(?:with|mit|avec|con|met)\s+(?<with>\p{Lu}\p{Ll}+)|(?<aged>\p{Lu}\p{Ll}+)\s\(\d{1,2}\)/gu;

const COMPANION = "companion:";

/** Without a name, which these words don't say. */
function companionOf({ subject }: Memory): Companion | null {
  return subject.startsWith(COMPANION) ? { kind: "companion", relation: subject.slice(COMPANION.length), name: null } : null;
}

function namedIn({ subject, entities }: Memory): readonly (readonly [string, Companion])[] {
  if (!subject.startsWith(COMPANION)) return [];
  const relation = subject.slice(COMPANION.length);
  const names = isName(relation) ? [relation, ...entities] : entities;
  return names.map((name) => [folded(name), { kind: "companion", relation, name: name === relation ? null : name }] as const);
}

/** What was said before a clause: who was named last, and whether the guest speaks of themselves. */
export class Story {
  /** The guest asked to be remembered: what follows is meant to last. */
  standing = false;
  #companion: Companion | null = null;
  /** Somebody else was spoken of since, or they were told of in another message. */
  #mayBeAnother = false;
  #before: Who = { kind: "nobody" };
  /** Whom the clause before ends with: "I come with my sister Ida, who is deaf". */
  #endedWith: Companion | null = null;
  /** Who was told or is known by name. */
  readonly #people: Map<string, Companion>;
  /** Words that follow a relation, by which somebody may be called: "mein mann jürgen". */
  readonly #mayBeCalled = new Map<string, Companion>();

  /** @param before what the message before told: "he" is whom it was about, where that is one */
  constructor(text: string, { known, before }: { readonly known: readonly Memory[]; readonly before: readonly Memory[] }) {
    const [last = null, ...more] = before.map(companionOf);
    this.#companion = more.every((other) => other?.relation === last?.relation) ? last : null;
    this.#mayBeAnother = this.#companion !== null;
    this.#people = new Map(known.flatMap(namedIn));
    for (const { groups } of text.matchAll(CALLED)) {
      const relation = groups?.with ?? groups?.aged ?? "";
      if (!this.#people.has(folded(relation))) this.#people.set(folded(relation), { kind: "companion", relation, name: null });
    }
  }

  /** Whom "he" and "her" in these words mean: whoever was named last, unsure where the words speak against it. Null: nobody was named. */
  companionIn(words: readonly string[], language: Language): Companion | null {
    return this.#companion && { ...this.#companion, unsure: this.#mayBeAnother || !canMean(words, this.#companion, language) };
  }

  /** The guest's words of a message before, of which nobody knows whether they go on about the same one. */
  heardBefore(clauses: readonly Clause[], language: Language): void {
    const known = new Map(this.#people);
    for (const clause of clauses) this.next(clause, language, { asks: false, laughs: false, standing: false, avoiding: null });
    this.endSentence();
    this.#mayBeAnother = this.#companion !== null;
    for (const [name, companion] of this.#people) this.#people.set(name, known.get(name) ?? { ...companion, unsure: true });
  }

  #name(companion: Companion): void {
    this.#companion = companion;
    this.#mayBeAnother = false;
    const { name } = companion;
    if (name !== null) this.#people.set(folded(name), companion);
  }

  endSentence(): void {
    this.#before = { kind: "nobody" };
    this.#endedWith = null;
  }

  /** "Actually, Leo is allergic to walnuts": the son of that name. */
  #byName(words: readonly string[], { tells }: Language): Companion | null {
    const first = words[beginsAt(words)] ?? "";
    const called = tells.has(words[1]) ? this.#mayBeCalled.get(words[0] ?? "") : undefined;
    return this.#people.get(first.replace(/'s$/u, "")) ?? called ?? null;
  }

  /** Elsewhere than in English, of which more is known. */
  #hearNames({ text, words }: Clause, language: Language): void {
    if (language.name === "en") return;
    for (const at of words.keys()) {
      const named = language.mine.has(words[at - 1]) ? relationAt(words, at) : undefined;
      const called = named && words[at + named.length];
      if (named === undefined || called === undefined || [language.tells, language.joins].some((list) => list.has(called))) continue;
      const name = rawWords(text)[at + named.length] ?? called;
      this.#mayBeCalled.set(called, { kind: "companion", relation: named.relation, name, unsure: true });
    }
  }

  /** By a name anywhere in the words, as names are written: "may we" and "I hope" are none. */
  #calledWithin({ text, words }: Clause, language: Language): Companion | undefined {
    return rawWords(text)
      .filter((word, at) => isName(word) && (at > 0 || !(language.first.has(words[1]) || language.pronounAt(words, 1).length > 0)))
      .map((word) => this.#people.get(folded(word.replace(/['’]s$/u, ""))))
      .find((each) => each !== undefined);
  }

  /** By the name that begins the words: somebody of whom was told, or who may be nobody's. */
  calledIn(clause: Clause, language: Language, vocabulary: Vocabulary): Companion | null {
    return this.#byName(clause.words, language) ?? calledIn(clause, language, vocabulary);
  }

  /** "Last time they forgot": they are several, and nobody of the guest's was named last who may be. */
  #isOfStaff(clause: Clause, language: Language): boolean {
    const isOfOne = pronounWithin(clause, language).some((meant) => meant !== "they");
    // "Sadly they can't have nuts".
    if (isOfOne || language.pronounAt(clause.words, 0).length > 0 || language.avoid.in(clause.words) !== -1) return false;
    return this.#companion === null || !canMean(clause.words, this.#companion, language);
  }

  /** "No nuts for her in my booking": for whoever was named last, which is asked, as it may be the guest's own. */
  #forWhom(clause: Clause, language: Language): Companion | null {
    const last = this.#companion;
    return last !== null && isForSomebody(clause, language) && canMean(clause.words, last, language) ? { ...last, unsure: true } : null;
  }

  /** "One of us, Teo, is vegan", "my sister, Ines, uses a wheelchair": a clause that is a name says how the one before it is called. */
  #calls({ text, words: [word = "", ...more] }: Clause): boolean {
    const before = this.#before;
    const name = rawWords(text)[0] ?? "";
    if (before.kind !== "companion" || before.name !== null || more.length > 0 || !isName(name)) return false;
    if (relationAt([word], 0) !== undefined) return false;
    const called: Companion = before.relation === ONE_OF_US ? { ...before, relation: name } : { ...before, name };
    this.#name(called);
    this.#before = called;
    return true;
  }

  /** "Marco can't have kiwi, latex neither": what goes on, and names nobody, is of whoever was told of. */
  goesOnOf(companion: Companion): void {
    this.#before = companion;
  }

  /** Null where a clause tells nothing of the guest or theirs. */
  next(clause: Clause, language: Language, how: Omit<ReadClause, "clause" | "language" | "who">): ReadClause | null {
    const { words } = clause;
    if (this.#calls(clause)) return null;
    this.#hearNames(clause, language);
    const told = this.#endedWith;
    this.#endedWith = how.asks ? null : endsWith(clause, language);
    const said = told !== null && isRelative(words) ? told : whoIn(clause, language, this.#before.kind === "self");
    const plain = said.kind === "pronoun" && this.#isOfStaff(clause, language) ? ({ kind: "nobody" } as const) : said;
    const member = partOfGroup(words, language) === "them" ? this.#companion : this.#forWhom(clause, language);
    const byName = plain.kind === "nobody" || (plain.kind === "pronoun" && language.pronounAt(words, 0).length === 0);
    const named = member ?? (byName ? (this.#byName(words, language) ?? plain) : plain);
    const called = this.#calledWithin(clause, language);
    const begun = relationBegun(words);
    // "Grandad's 91 and comes with us": "he" is Grandad; of "a place for my dad's 70th" Dad.
    const mentioned =
      called ??
      peopleIn(clause, language).at(-1) ??
      (begun === undefined ? undefined : ({ kind: "companion", relation: begun, name: null } as const));
    if (mentioned !== undefined && named.kind !== "companion" && named.kind !== "pronoun") this.#name(mentioned);
    // "My boss joins us", "Tom from work is joining": "he" may be either. "Joost, who's my best mate" is Joost.
    const isBystander = named.kind === "other" && language.mine.in(words) !== -1 && !english.who.has(words[0]);
    if (isBystander || (named.kind === "nobody" && called === undefined && joinsByName(clause, language))) this.#mayBeAnother = true;
    const who = named.kind === "pronoun" ? (this.companionIn(words, language) ?? { kind: "other" as const }) : named;
    if (named.kind === "companion" && named !== member) this.#name(named);
    const before = this.#before;
    // "They forgot last time, no nuts": what follows a "they" of nobody known is not theirs.
    const isNobodys = named.kind === "pronoun" && who.kind === "other" && pronounIn(words, language).every((meant) => meant === "they");
    this.#before = isNobodys ? { kind: "nobody" } : who;
    if (language.past.in(words) !== -1 || (language.would.in(words) !== -1 && !how.standing)) return null;
    // Of a question only what is told beside it: "…, my wife is allergic to nuts?"
    if (how.asks && (clause.index === 0 || who.kind === "nobody" || who.kind === "other")) return null;
    // "… and hates garlic" goes on about the one before.
    // "… and mum is coeliac" is of nobody who was told of before.
    const meant = who.kind === "nobody" && begun === undefined && (before.kind === "companion" || before.kind === "other") ? before : who;
    return { clause, language, who: meant, ...how };
  }
}

/** "Who is deaf", "who's vegan". */
function isRelative([first = ""]: readonly string[]): boolean {
  return first !== THAT && english.who.has(first);
}

const THAT = "that";

/** Who of the guest's is the last thing that a clause names. */
function endsWith(clause: Clause, language: Language): Companion | null {
  const last = peopleIn(clause, language).at(-1);
  if (last === undefined || language.name !== "en") return null;
  const end = clause.words.length - 1;
  return folded(last.name ?? "") === clause.words[end] || relationAt(clause.words, end)?.relation === last.relation ? last : null;
}

/** "Tom from work is joining", "Ana comes along": a name that nobody told before. Whose dad comes is known. */
function joinsByName({ text, words }: Clause, { comes }: Language): boolean {
  const isOfTheirs = relationBegun(words) !== undefined;
  return isName(rawWords(text)[0] ?? "") && !isOfTheirs && !comes.has(words[0]) && comes.in(words) !== -1;
}
