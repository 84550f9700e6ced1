import type { Memory } from "../domain/memory.js";
import type { PartyWords } from "../domain/recall-table.js";
import { PhraseIndex, plainWords } from "../platform/phrase-index.js";
import { UNSPACED } from "../platform/phrase-list.js";

/** Whether a companion comes along: named, or a group that they belong to; not, where others or nobody are named; else not told. */
export type Coming = "comes" | "stays" | "untold";

export interface Party {
  /** By a companion's `subject`. */
  coming(subject: string): Coming;
  /** Somebody comes along, whoever they are: "for us". */
  readonly together: boolean;
  /** Whether a text names somebody whom the message names by what they are to the guest: "the kids". */
  speaksOf(words: readonly string[]): boolean;
  /** Words by which companions are called, and those of the message that say who comes without naming anybody. */
  readonly words: ReadonlySet<string>;
}

const COMPANION = "companion:";

interface Companion {
  readonly subject: string;
  /** Their names, as words. */
  readonly names: readonly (readonly string[])[];
  /** Rows of the table: what they are to the guest. Empty where nothing tells. */
  readonly relations: ReadonlySet<number>;
  readonly isChild: boolean;
}

type Label = `relation ${number}` | "children" | "group" | "together" | "alone";

/** Tells who comes along, by what a message says and by what is known of the companions. */
export class RecallParty {
  readonly #index: PhraseIndex<Label>;
  readonly #possessives: ReadonlySet<string>;
  readonly #childRows: ReadonlySet<number>;
  readonly #notFamily: ReadonlySet<number>;
  readonly #ofChildren = new WeakMap<Memory, readonly string[]>();

  constructor(words: PartyWords) {
    const rows = words.relations.map((row, n): readonly [Label, readonly string[]] => [`relation ${n}`, row]);
    const all = (label: Label, lists: Readonly<Record<string, readonly string[]>>) =>
      Object.values(lists).map((list): readonly [Label, readonly string[]] => [label, list]);
    this.#index = new PhraseIndex<Label>([
      ...rows,
      ...all("children", words.children),
      ["group", words.groups],
      ...all("together", words.together),
      ...all("alone", words.alone),
    ]);
    const rowsWith = (names: readonly string[]) =>
      new Set(words.relations.flatMap((row, n) => (row.some((name) => names.includes(name)) ? [n] : [])));
    this.#possessives = new Set(words.possessives);
    this.#childRows = rowsWith(words.child);
    this.#notFamily = rowsWith(words.not_family);
  }

  /** `known`: memories that tell of companions. */
  of(message: readonly string[], known: readonly Memory[]): Party {
    const companions = this.#companionsIn(known);
    const found = this.#index.find(message);
    const own = (at: number) => at > 0 && this.#possessives.has(message[at - 1] ?? "");
    const relations = new Map<number, boolean>();
    for (const { label, at } of found) {
      const [, row] = /^relation (\d+)$/u.exec(label) ?? [];
      if (row !== undefined) relations.set(Number(row), relations.get(Number(row)) === true || at < 0 || own(at));
    }
    const says = (label: Label) => found.some((each) => each.label === label);
    const isMeant = (companion: Companion) =>
      companion.names.some((name) => stands(name, message)) ||
      [...companion.relations].some((row) => relations.has(row)) ||
      (companion.isChild && says("children")) ||
      (says("group") && ![...companion.relations].some((row) => this.#notFamily.has(row)));
    const meant = new Set(companions.filter(isMeant).map(({ subject }) => subject));
    // Whoever is spoken of by a relation that no companion is known by may be one of whom no relation is known.
    const strangers = [...relations].some(([row, spoken]) => spoken && !companions.some((each) => each.relations.has(row)));
    const othersNamed = meant.size > 0 || strangers;
    const alone = says("alone") && meant.size === 0 && !strangers;
    const byName = new Map(companions.map((each) => [each.subject, each]));
    const coming = (subject: string): Coming => {
      if (meant.has(subject)) return "comes";
      if (alone) return "stays";
      if (!othersNamed) return "untold";
      const companion = byName.get(subject);
      const isKnown = companion !== undefined && (companion.relations.size > 0 || companion.isChild);
      return strangers && !isKnown ? "untold" : "stays";
    };
    const whom = new Set(found.flatMap(({ label }) => (label === "children" || label.startsWith("relation") ? [label] : [])));
    const speaksOf = (words: readonly string[]) => this.#index.find(words).some(({ label }) => whom.has(label));
    const telling = found.flatMap(({ label, at, length }) =>
      at < 0 || label.startsWith("relation") ? [] : message.slice(at, at + length),
    );
    return {
      coming,
      together: says("together"),
      speaksOf,
      words: new Set([...companions.flatMap(({ names }) => names.flat()), ...telling]),
    };
  }

  #companionsIn(known: readonly Memory[]): readonly Companion[] {
    const bySubject = new Map<string, Memory[]>();
    for (const memory of known)
      if (memory.subject.startsWith(COMPANION)) bySubject.set(memory.subject, [...(bySubject.get(memory.subject) ?? []), memory]);
    const companions = [...bySubject].map(([subject, memories]) => this.#companion(subject, memories));
    // "Two children, Max and Ella": who is named where children are told of, of the guest or of the group itself, is one.
    const groups = new Set(["self", ...companions.filter(({ isGroup }) => isGroup).map(({ subject }) => subject)]);
    const told = known.filter(({ subject }) => groups.has(subject)).map((memory) => this.#whereChildrenAreTold(memory));
    const inGroup = (companion: Companion) => told.some((words) => companion.names.some((name) => stands(name, words)));
    return companions.map((each) => (inGroup(each) ? { ...each, isChild: true } : each));
  }

  #companion(subject: string, memories: readonly Memory[]): Companion & { readonly isGroup: boolean } {
    const own = plainWords(subject.slice(COMPANION.length));
    const entities = memories.flatMap((memory) => memory.entities.map(plainWords));
    // Whose relative somebody is tells the statement of who they are; a need tells it least of all.
    const texts = memories.filter(({ strength }) => strength === "soft").map(({ text }) => plainWords(text));
    const relations = new Set([own, ...entities, ...texts].flatMap((words) => this.#rowsIn(words)));
    const isGroup = this.#tellsOfChildren(own);
    const names = [own.filter((word) => !this.#possessives.has(word)), ...entities].filter((words) => words.length > 0);
    const isChild = isGroup || [...relations].some((row) => this.#childRows.has(row));
    return { subject, names, relations, isChild, isGroup };
  }

  /** A memory's words, if it tells of children: a group's always does. Read once. */
  #whereChildrenAreTold(memory: Memory): readonly string[] {
    const known = this.#ofChildren.get(memory);
    if (known !== undefined) return known;
    const words = plainWords(memory.text);
    const read = memory.subject !== "self" || this.#tellsOfChildren(words) ? words : [];
    this.#ofChildren.set(memory, read);
    return read;
  }

  #tellsOfChildren(words: readonly string[]): boolean {
    return this.#index.find(words).some(({ label }) => label === "children");
  }

  #rowsIn(words: readonly string[]): readonly number[] {
    return this.#index.find(words).flatMap(({ label }) => {
      const [, row] = /^relation (\d+)$/u.exec(label) ?? [];
      return row === undefined ? [] : [Number(row)];
    });
  }
}

/** Whether a name stands in a text, whole, or within what is written without spaces; a genitive is one more letter. */
function stands(name: readonly string[], words: readonly string[]): boolean {
  const isAt = (at: number) => name.every((part, n) => words[at + n] === part || (n === name.length - 1 && words[at + n] === `${part}s`));
  const [only = ""] = name.length === 1 && UNSPACED.test(name[0] ?? "") ? name : [];
  return name.length > 0 && words.some((word, at) => isAt(at) || (only !== "" && word.includes(only)));
}
