import { normalised } from "../domain/folded-text.js";
import type { Memory } from "../domain/memory.js";

/**
 * Which subjects are one person: a relation and a name are, once they were said together ("my daughter Emma"). A relation that stands
 * before two names is neither's, and what two people share, as a family's name, joins nobody.
 */

const COMPANION = "companion:";

type Named = Pick<Memory, "subject" | "entities" | "source">;

/** The names by which people were called. Follows from the memories alone, in any order. */
export class Companions {
  /** What stood first → what stood behind it. */
  readonly #behind = new Map<string, Set<string>>();
  /** "daughter emma" → what it is made of. */
  readonly #compounds = new Map<string, Compound>();

  constructor(memories: Iterable<Named>) {
    for (const memory of memories) this.learn(memory);
  }

  /** Names that stand next to each other in the quote, of which one is the subject and the other an entity. */
  learn(memory: Named): void {
    const own = nameOf(memory.subject);
    if (own === null) return;
    const name = normalised(own);
    const quote = memory.source?.quote ?? "";
    for (const entity of memory.entities) this.#learnFrom(name, normalised(entity), quote);
    const compound = compoundIn(own, memory.entities);
    if (compound === null) return;
    this.#compounds.set(name, compound);
    this.#join(compound.first, compound.second);
  }

  /** The subject under which memories of the same person are kept already, else the subject as it is. */
  subjectOf(subject: string, known: Iterable<Named>): string {
    const name = nameOf(subject);
    if (name === null) return subject;
    for (const memory of known) if (memory.subject !== subject && this.same(memory.subject, subject)) return memory.subject;
    return subject;
  }

  same(a: string, b: string): boolean {
    if (a === b) return true;
    const [left, right] = [nameOf(a), nameOf(b)];
    if (left === null || right === null) return false;
    const [one, other] = [normalised(left), normalised(right)];
    const names = this.#namesOf(other);
    return this.#namesOf(one).some((each) => names.some((name) => name === each || this.#areOne(name, each)));
  }

  /** Whether two of one relation are two people, by the names that stand behind it: "my daughter Emma", "my daughter Lea". */
  areTwo(a: Named, b: Named): boolean {
    const [own, other] = [nameOf(a.subject), nameOf(b.subject)];
    if (own === null || other === null || normalised(own) !== normalised(other)) return false;
    const names = namesBehind(b, normalised(own));
    const mine = namesBehind(a, normalised(own));
    return names.length > 0 && mine.length > 0 && !mine.some((name) => names.includes(name));
  }

  /** As which somebody is surely known: of "daughter Emma" Emma, and the daughter where there is one alone. */
  #namesOf(name: string): readonly string[] {
    const compound = this.#compounds.get(name);
    if (compound === undefined) return [name];
    const { first, second, isName } = compound;
    const alone = this.#behind.get(first)?.size === 1;
    const shared = [...this.#behind.values()].filter((behind) => behind.has(second)).length > 1;
    return [name, ...(isName || !shared ? [second] : []), ...(alone ? [first] : [])];
  }

  #areOne(a: string, b: string): boolean {
    const only = (first: string, second: string) => this.#behind.get(first)?.size === 1 && this.#behind.get(first)?.has(second) === true;
    return only(a, b) || only(b, a);
  }

  #learnFrom(a: string, b: string, quote: string): void {
    if (standsBehind(b, a, quote)) this.#join(a, b);
    if (standsBehind(a, b, quote)) this.#join(b, a);
  }

  #join(first: string, second: string): void {
    this.#behind.set(first, (this.#behind.get(first) ?? new Set()).add(second));
  }
}

/** "daughter Emma": with nothing but white space between. Two names with a comma or a word between them are two people. */
function standsBehind(name: string, first: string, quote: string): boolean {
  if (name === "" || first === "" || name === first) return false;
  return quote.split(/[^\p{L}\p{M}\p{N}\s'’-]+/u).some((run) => ` ${normalised(run)} `.includes(` ${first} ${name} `));
}

function namesBehind({ entities, source }: Named, relation: string): readonly string[] {
  return entities.map(normalised).filter((entity) => standsBehind(entity, relation, source?.quote ?? ""));
}

interface Compound {
  readonly first: string;
  readonly second: string;
  /** The first begins with a small letter and the second with a capital: a relation and a name. */
  readonly isName: boolean;
}

/** Both in the subject itself: "daughter Emma". "Karl's mother" is somebody whom the other's name only leads to. */
function compoundIn(said: string, entities: readonly string[]): Compound | null {
  const [first = "", second = "", ...more] = said.trim().split(/\s+/u);
  const [one, other] = [normalised(first), normalised(second)];
  if (one === "" || other === "" || more.length > 0 || /['\u2018\u2019\u02BC]/u.test(first)) return null;
  // "Karls Mutter", as it may be where the first is a name.
  const whose = entities.map(normalised).some((entity) => entity !== "" && (one === entity || one === `${entity}s`));
  if (whose || (/^\p{Lu}.*s$/u.test(first) && /^\p{Lu}/u.test(second))) return null;
  return { first: one, second: other, isName: /^\p{Ll}/u.test(first) && /^\p{Lu}/u.test(second) };
}

/** Null for the guest. */
export function nameOf(subject: string): string | null {
  return subject.startsWith(COMPANION) ? subject.slice(COMPANION.length) : null;
}

/** The entities of a statement about `subject`: the companion whom nobody named among them too, as a reader names whom a quote does. */
export function entitiesNaming(entities: readonly string[], subject: string): string[] {
  const name = nameOf(subject);
  return name === null || entities.includes(name) ? [...entities] : [...entities, name];
}
