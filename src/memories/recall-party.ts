import type { Memory } from "../domain/memory.js";
import type { PartyWords } from "../domain/recall-table.js";
import { type FoundPhrase, PhraseIndex, plainWords } from "../platform/phrase-index.js";
import { folded, UNSPACED } from "../platform/phrase-list.js";

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

/** `loose`: by a word that may mean others, or something else. */
type Label = `relation ${number}` | `loose ${number}` | "children" | "group" | "together" | "alone";

/** Tells who comes along, by what a message says and by what is known of the companions. */
export class RecallParty {
  readonly #index: PhraseIndex<Label>;
  readonly #possessives: ReadonlySet<string>;
  readonly #ofWords: ReadonlySet<string>;
  readonly #particles: readonly string[];
  readonly #childRows: ReadonlySet<number>;
  readonly #notFamily: ReadonlySet<number>;
  readonly #ofChildren = new WeakMap<Memory, readonly string[]>();

  constructor(words: PartyWords) {
    const loose = new Set(words.loose);
    const rows = words.relations.flatMap((row, n): readonly (readonly [Label, readonly string[]])[] => [
      [`relation ${n}`, row.filter((word) => !loose.has(word))],
      [`loose ${n}`, row.filter((word) => loose.has(word))],
    ]);
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
    this.#ofWords = new Set(words.of);
    this.#particles = (words.particles ?? []).map(folded);
    this.#childRows = rowsWith(words.child);
    this.#notFamily = rowsWith(words.not_family);
  }

  /** `known`: memories that tell of companions. */
  of(message: readonly string[], known: readonly Memory[]): Party {
    const companions = this.#companionsIn(known);
    const found = this.#index.find(message);
    const isOwn = ({ at }: FoundPhrase<Label>) => at > 0 && this.#possessives.has(message[at - 1] ?? "");
    // What stands within a word may be a part of another, and a loose word mean others: they tell who may come, and nothing of the rest.
    const loose = new Set(found.flatMap((each) => (each.label.startsWith("loose") && !isOwn(each) ? [each.at] : [])));
    const sure = found.filter(({ at }) => at >= 0 && !loose.has(at));
    const spoken = new Set(sure.flatMap((each) => (isOwn(each) ? rowsOf(each) : [])));
    const named = new Set(
      companions.filter(({ names }) => names.some((name) => this.#isNamed(name, message))).map(({ subject }) => subject),
    );
    const meantBy = (phrases: readonly FoundPhrase<Label>[]) => {
      const rows = new Set(phrases.flatMap(rowsOf));
      const labels = new Set(phrases.map(({ label }) => label));
      const isMeant = ({ subject, relations, isChild }: Companion) =>
        named.has(subject) ||
        [...relations].some((row) => rows.has(row)) ||
        (isChild && labels.has("children")) ||
        (labels.has("group") && ![...relations].some((row) => this.#notFamily.has(row)));
      return new Set(companions.filter(isMeant).map(({ subject }) => subject));
    };
    const says = (label: Label) => found.some((each) => each.label === label);
    const meant = meantBy(found);
    // Whoever is spoken of by a relation that no companion is known by may be one of whom no relation is known.
    const strangers = [...spoken].some((row) => !companions.some(({ relations }) => relations.has(row)));
    const othersNamed = meantBy(sure).size > 0 || strangers;
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
    const isWhom = (each: FoundPhrase<Label>) => each.label === "children" || rowsOf(each).length > 0;
    const whom = new Set(found.filter(isWhom).map(({ label }) => label));
    const speaksOf = (words: readonly string[]) => this.#index.find(words).some(({ label }) => whom.has(label));
    const telling = found.flatMap((each) => (each.at < 0 || rowsOf(each).length > 0 ? [] : message.slice(each.at, each.at + each.length)));
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
    const inGroup = ({ names }: Companion) => told.some((words) => names.some((name) => this.#isNamed(name, words, "not as whose")));
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
    return this.#index.find(words).flatMap(rowsOf);
  }

  /**
   * Whether a name stands in a text, whole, or within what is written without spaces; a genitive is one more letter. `not as whose`: as
   * the name of whose something is, other than whose relative somebody is, it doesn't count.
   */
  #isNamed(name: readonly string[], words: readonly string[], which: "anyhow" | "not as whose" = "anyhow"): boolean {
    const last = name.length - 1;
    const owns = (at: number) => words[at + last] === `${name[last]}s`;
    const isWhose = (at: number) => owns(at) || words[at + name.length] === "s" || this.#isOf(words, at);
    const isAt = (at: number) =>
      name.every((part, n) => words[at + n] === part || (n === last && owns(at))) && (which === "anyhow" || !isWhose(at));
    const [only = ""] = name.length === 1 && UNSPACED.test(name[0] ?? "") ? name : [];
    return name.length > 0 && words.some((word, at) => isAt(at) || (only !== "" && this.#isWithin(only, word)));
  }

  /** "School of Luna"; "mother of Luna" tells who Luna is. */
  #isOf(words: readonly string[], at: number): boolean {
    return this.#ofWords.has(words[at - 1] ?? "") && this.#rowsIn(words.slice(Math.max(0, at - 2), at - 1)).length === 0;
  }

  #isWithin(name: string, word: string): boolean {
    if ([...name].length > 1) return word.includes(name);
    return this.#particles.some((particle) => word.includes(name + particle));
  }
}

/** What a phrase says that somebody is: a row of the table. */
function rowsOf({ label }: FoundPhrase<Label>): readonly number[] {
  const [, row] = /^(?:relation|loose) (\d+)$/u.exec(label) ?? [];
  return row === undefined ? [] : [Number(row)];
}
