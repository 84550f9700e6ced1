import type { Memory } from "../domain/memory.js";
import relationsOfGuests from "../languages/relations.json" with { type: "json" };
import { appositionsIn, isAmong, isOthersIn, isOwnName, namesOf, ofGuest, ownsRelationIn, sameRelation, tokensOf } from "./companions.js";

/**
 * Which names are one person's, as the memories tell it: a relation and a name that stand side by side ("my husband Karl"), a statement
 * that tells the one of the other ("Husband's name is Karl"), a name that the memories of a relation hold. Two people whom one text names
 * stay two: "Karl's mother Ada" is neither Karl nor the guest's mother.
 */

const COMPANION = "companion:";
/** Of memories of who somebody is. */
const PEOPLE = "companions";
const { naming } = relationsOfGuests;

/** Of a message so much is looked at, in characters. */
const LOOKED_AT = 4_000;

/** That a relation of the guest's and a name are one person. Both as they are compared. */
interface Bond {
  readonly relation: string;
  readonly name: string;
  /** False for a name that a memory of the relation only holds: it may be somebody else's. */
  readonly sure: boolean;
}

/** Who is who among names, as what is known and said tells. */
export interface SamePeople {
  /** Whether two names are one person's. */
  isSame(a: string, b: string): boolean;
  /** Each person once, by the name that stands first. `perhaps`: also where a relation may be that of several. Default false. */
  once(names: readonly string[], options?: { readonly perhaps?: boolean }): readonly string[];
}

export class People implements SamePeople {
  readonly #bonds: readonly Bond[];
  readonly #held: ReadonlyMap<Memory, readonly Bond[]>;

  /** `known`: all that is told of people. `named`: names beside those that it holds. `said`: the guest's own messages in sight. */
  constructor(known: readonly Memory[], named: readonly string[] = [], said: readonly string[] = []) {
    const names = new Set(
      [...named, ...known.flatMap(({ subject, entities }) => [...nameOf(subject), ...entities])].filter(isOwnName).map(bareName),
    );
    const beside = known.map((memory) => [memory, besideIn(memory, names)] as const);
    const sure = [
      ...beside.flatMap(([, bonds]) => bonds),
      ...said.flatMap((text) => appositionsIn(ownLines(text), names, false)).map(surely),
    ];
    const held = new Map(beside.map(([memory, bonds]) => [memory, [...bonds, ...heldBy(memory, bonds, sure, known)]]));
    this.#held = held;
    this.#bonds = [...sure, ...[...held.values()].flat()];
  }

  /** By which whoever a memory is about is called; `sure`: without those that may be somebody else's. Empty for the guest. */
  namesOf(memory: Memory, { sure = false } = {}): readonly string[] {
    const own = nameOf(memory.subject);
    if (own.length === 0) return [];
    const counts = (bond: Bond) => bond.sure || !sure;
    const [subject = ""] = own;
    if (isOwnName(subject)) {
      const others = memory.entities.filter((entity) => isSpelledOut(memory, subject, entity) || (!sure && isToldOf(memory, entity)));
      const bonds = this.#bonds.filter((bond) => counts(bond) && bond.name === bareName(subject));
      // "My sister" is one of two, where there are two.
      const relations = sure ? bonds.filter(({ relation }) => people(this.#of(relation, counts)) === 1) : bonds;
      return [...new Set([subject, ...others, ...relations.map(({ relation }) => relation)])];
    }
    // "Friend", "kids", "her mother": whoever the memory names beside.
    if (ofGuest(subject) === null) {
      const others = memory.entities.filter((entity) => isOwnName(entity) && !isOwner(memory, entity));
      return [...new Set([subject, ...(sure && others.length > 1 ? [] : others)])];
    }
    const ofMemory = (this.#held.get(memory) ?? []).filter((bond) => counts(bond) && isOf(bond, subject));
    const all = this.#of(subject, counts);
    // Of two sisters, one is meant: where the memory itself doesn't tell which, neither name is hers for sure.
    const bonds = ofMemory.length > 0 ? ofMemory : people(all) === 1 ? all : [];
    return [...new Set([subject, ...bonds.map(({ name }) => name)])];
  }

  /** Whether the memories of one relation are of two people: "my daughter Emma", "my daughter Lea". */
  areTwo(a: Memory, b: Memory): boolean {
    const [own, other] = [a, b].map((memory) => this.namesOf(memory).filter(isOwnName));
    return own !== undefined && other !== undefined && own.length > 0 && other.length > 0 && !isAmong(own, other);
  }

  /** Whether a name is surely that of another relation than the one that a memory is about. */
  isAnothers(name: string, { subject }: Memory): boolean {
    const bonds = this.#bonds.filter((bond) => bond.sure && bond.name === bareName(name));
    return bonds.length > 0 && !nameOf(subject).some((own) => bonds.some((bond) => isOf(bond, own)));
  }

  isSame(a: string, b: string): boolean {
    return isAmong([a], [b]) || this.#areBonded(a, b, false);
  }

  #of(relation: string, counts: (bond: Bond) => boolean): readonly Bond[] {
    return this.#bonds.filter((bond) => counts(bond) && isOf(bond, relation));
  }

  once(names: readonly string[], { perhaps = false } = {}): readonly string[] {
    return names.filter((name, at) => !names.slice(0, at).some((before) => before === name || this.#areBonded(before, name, perhaps)));
  }

  #areBonded(a: string, b: string, perhaps: boolean): boolean {
    if (isOwnName(a) === isOwnName(b)) return false;
    const [relation, name] = isOwnName(a) ? [b, a] : [a, b];
    const bonds = this.#of(relation, (bond) => bond.sure || perhaps);
    return bonds.some((bond) => bond.name === bareName(name)) && (perhaps || people(bonds) === 1);
  }
}

/** Without lines that quote somebody. */
function ownLines(text: string): string {
  const lines = text.slice(0, LOOKED_AT).split("\n");
  return lines.filter((line) => !line.trimStart().startsWith(">")).join("\n");
}

/** "Karl (husband)" and "husband, Karl" are "husband Karl". */
function nameOf(subject: string): readonly string[] {
  if (!subject.startsWith(COMPANION)) return [];
  const said = subject.slice(COMPANION.length);
  const tokens = /[(),/]/u.test(said) ? tokensOf(said) : [];
  const relation = tokens.find(({ word }) => ofGuest(word) !== null);
  const name = tokens.filter((token) => token !== relation);
  if (relation === undefined || name.length === 0 || name.some(({ capital, owns }) => !capital || owns)) return [said];
  return [[relation, ...name].map(({ word }) => word).join(" ")];
}

function bareName(name: string): string {
  return namesOf(name)[0] ?? "";
}

function surely(bond: Omit<Bond, "sure">): Bond {
  return { ...bond, sure: true };
}

function isOf({ relation }: Bond, said: string): boolean {
  return sameRelation(relation, said);
}

/** Different people among the names: "Karl" and "Karl Meier" are one. */
function people(bonds: readonly Bond[]): number {
  const names = [...new Set(bonds.map(({ name }) => name))];
  return names.filter((name) => !names.some((other) => other !== name && ` ${name} `.includes(` ${other} `))).length;
}

/** A fuller or a shorter form of the name; by hand, whatever was given. */
function isSpelledOut({ source }: Memory, subject: string, entity: string): boolean {
  if (!isOwnName(entity)) return false;
  const [a, b] = [` ${bareName(subject)} `, ` ${bareName(entity)} `];
  return source === null || a.includes(b) || b.includes(a);
}

/** Of both, by its text: "Mia and Tom are allergic to nuts". */
function isToldOf(memory: Memory, entity: string): boolean {
  return isOwnName(entity) && !isOwner(memory, entity) && ` ${wordsIn(memory.text)} `.includes(` ${wordsIn(bareName(entity))} `);
}

/** It is whose relative a text tells of. */
function isOwner(memory: Memory, entity: string): boolean {
  return [...nameOf(memory.subject), ...textsOf(memory)].some((text) => ownsRelationIn(text, bareName(entity)));
}

function textsOf({ text, source }: Memory): readonly string[] {
  return [text, source?.quote ?? ""];
}

/** What a memory tells for sure: side by side, in its subject, or as a statement of who somebody is. */
function besideIn(memory: Memory, names: ReadonlySet<string>): readonly Bond[] {
  const bonds = textsOf(memory).flatMap((text) => appositionsIn(text, names, true));
  const [subject = ""] = nameOf(memory.subject);
  const [first = "", ...rest] = subject.split(/\s+/u);
  const compound = rest.length > 0 && isOwnName(subject) ? ofGuest(first) : null;
  if (compound !== null) bonds.push({ relation: compound, name: bareName(subject) });
  if (subject !== "" && isOwnName(subject))
    for (const relation of memory.entities.map(ofGuest))
      if (relation !== null && !textsOf(memory).some((text) => isOthersIn(text, relation, names)))
        bonds.push({ relation, name: bareName(subject) });
  return [...bonds, ...toldOf(memory, subject, names)].map(surely);
}

/** "Husband's name is Karl", of the husband; "Karl is the user's husband", of Karl or of the guest. */
function toldOf(memory: Memory, subject: string, named: ReadonlySet<string>): readonly Omit<Bond, "sure">[] {
  const { category, aspect, about, strength, entities } = memory;
  const aspects = tokensOf(aspect).map(({ word }) => word);
  const isName = aspects.some((word) => naming.includes(word));
  if (strength === "hard" || (category !== PEOPLE && !isName)) return [];
  const others = [...new Set(entities.filter((entity) => isOwnName(entity)).map(bareName))];
  const name = subject !== "" && isOwnName(subject) ? bareName(subject) : others.length === 1 ? others[0] : undefined;
  const foreign = others.some((each) => each !== name);
  if (name === undefined || foreign || textsOf(memory).some((text) => ownsRelationIn(text, name))) return [];
  const relation = subject !== "" && !isOwnName(subject) ? ofGuest(subject) : null;
  if (relation !== null) {
    const told = isName || [aspect, about].some((each) => bareName(each) === name || sameRelation(each, relation));
    return told ? [{ relation, name }] : [];
  }
  if (subject !== "" && !isOwnName(subject)) return [];
  const ofThem = [aspect, about, ...entities].map(ofGuest).find((each) => each !== null);
  if (ofThem === undefined || ofThem === null) return [];
  return textsOf(memory).some((text) => isOthersIn(text, ofThem, named)) ? [] : [{ relation: ofThem, name }];
}

/** Names that the memories of a relation hold, unless they are plainly somebody else's. */
function heldBy(memory: Memory, own: readonly Bond[], sure: readonly Bond[], known: readonly Memory[]): readonly Bond[] {
  const [subject = ""] = nameOf(memory.subject);
  const relation = ofGuest(subject);
  if (memory.strength === "soft" || relation === null) return [];
  return memory.entities.flatMap((entity): readonly Bond[] => {
    const name = bareName(entity);
    if (!isOwnName(entity) || own.some((bond) => bond.name === name)) return [];
    if (isOwner(memory, entity)) return [];
    if (isToldOf(memory, entity)) return [{ relation, name, sure: false }];
    const elsewhere = sure.filter((bond) => bond.name === name);
    if (elsewhere.length > 0 && !elsewhere.some((bond) => isOf(bond, relation))) return [];
    // The message tells of both.
    const message = memory.source?.message_id;
    const twoTold = message !== undefined && known.some((other) => isAbout(other, name) && other.source?.message_id === message);
    if (twoTold && elsewhere.length === 0) return [];
    const stands = textsOf(memory).some((text) => ` ${wordsIn(text)} `.includes(` ${wordsIn(name)} `));
    return [{ relation, name, sure: !stands }];
  });
}

function isAbout({ subject }: Memory, name: string): boolean {
  return nameOf(subject).some((each) => isOwnName(each) && bareName(each) === name);
}

function wordsIn(text: string): string {
  return tokensOf(text)
    .map(({ word }) => word)
    .join(" ");
}
