import type { Memory } from "../domain/memory.js";
import { normalised } from "../domain/normalised-text.js";

/** Which subjects are one person: a relation and a name are, once they were said together ("my daughter Emma"). */

const COMPANION = "companion:";

type Named = Pick<Memory, "subject" | "entities" | "source">;

/** The names by which people were called, each with the one that stands for it. Follows from the memories alone, oldest first. */
export class Companions {
  readonly #group = new Map<string, string>();

  constructor(memories: Iterable<Named>) {
    for (const memory of memories) this.learn(memory);
  }

  /** Names that stand next to each other in the quote, of which one is the subject and the other an entity. */
  learn(memory: Named): void {
    const own = nameOf(memory.subject);
    if (own === null) return;
    const name = normalised(own);
    this.#add(name);
    const quote = memory.source?.quote ?? "";
    for (const entity of memory.entities) if (areOneInQuote(name, normalised(entity), quote)) this.#join(name, normalised(entity));
    // "companion:daughter Emma": both in the subject itself.
    const parts = name.split(" ");
    if (parts.length === 2) for (const part of parts) this.#join(name, part);
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
    return this.#root(normalised(left)) === this.#root(normalised(right));
  }

  #add(name: string): void {
    if (!this.#group.has(name)) this.#group.set(name, name);
  }

  #root(name: string): string {
    let at = name;
    for (let up = this.#group.get(at); up !== undefined && up !== at; up = this.#group.get(at)) at = up;
    return at;
  }

  #join(a: string, b: string): void {
    if (a === "" || b === "") return;
    this.#add(a);
    this.#add(b);
    this.#group.set(this.#root(b), this.#root(a));
  }
}

/** Null for the guest. */
export function nameOf(subject: string): string | null {
  return subject.startsWith(COMPANION) ? subject.slice(COMPANION.length) : null;
}

/** "daughter Emma": with nothing but white space between. Two names with a comma or a word between them are two people. */
function areOneInQuote(a: string, b: string, quote: string): boolean {
  if (a === "" || b === "" || a === b) return false;
  const runs = quote.split(/[^\p{L}\p{M}\p{N}\s'’-]+/u).map((run) => ` ${normalised(run)} `);
  return runs.some((run) => run.includes(` ${a} ${b} `) || run.includes(` ${b} ${a} `));
}
