import type { Owner } from "../../domain/owner.js";

/** Beyond so many nothing is said of them any more. */
const MAX_JOURNALS = 100_000;

interface WrittenJournal {
  readonly sessionId: string;
  /** Null where the journal's first line is damaged. */
  readonly owner: Owner | null;
  readonly lastSeq: number;
}

/** The journals that a process has written since its start, each with the seq that it ends with. */
export class WrittenJournals {
  readonly #journals = new Map<string, WrittenJournal>();
  #tooMany = false;
  #writes = 0;

  note(sessionId: string, owner: Owner | null, lastSeq: number): void {
    this.#writes += 1;
    if (this.#journals.size >= MAX_JOURNALS && !this.#journals.has(sessionId)) this.#tooMany = true;
    else this.#journals.set(sessionId, { sessionId, owner, lastSeq });
  }

  drop(sessionId: string): void {
    this.#journals.delete(sessionId);
  }

  /** Grows with each write: where it hasn't, {@link entries} still says the same. */
  get writes(): number {
    return this.#writes;
  }

  /** Null where there were more than are remembered. */
  entries(): readonly WrittenJournal[] | null {
    return this.#tooMany ? null : [...this.#journals.values()];
  }
}
