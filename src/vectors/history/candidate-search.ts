import { LRUCache } from "lru-cache";
import type { Owner } from "../../domain/owner.js";
import { isAppError } from "../../platform/errors.js";
import type { Logger } from "../../platform/logger.js";
import { numbersOf } from "../../platform/numbers.js";
import type { Embedder } from "../../ports/embedding.js";
import type { HistorySearch } from "../../ports/history.js";
import type { SparseVector, VectorClient } from "../../ports/vectors.js";
import { type Candidate, speakersOf } from "./candidate.js";
import { CandidateQuery } from "./candidate-query.js";
import { withoutNames } from "./signals/speaker.js";

const NO_TERMS: SparseVector = { indices: [], values: [] };
const NOBODY: ReadonlySet<string> = new Set();
/** Owners whose speakers are remembered, and for how long after their last search. */
const MAX_OWNERS = 500;
const KEPT_MS = 10 * 60_000;
/** With more, only those of the last search are. */
const MAX_SPEAKERS = 50;

export interface CandidateSearchOptions {
  readonly client: VectorClient;
  readonly collection: string;
  readonly embedder: Embedder;
  readonly logger: Logger;
}

/**
 * Finds what may answer a question, by its words and by what it means without the names of those who speak: a name is near to every
 * message that is addressed to its bearer, and who speaks is known without it. The names come with what is found. They are remembered, so
 * that only a name that is new to this process costs a second query.
 */
export class CandidateSearch {
  readonly #embedder: Embedder;
  readonly #logger: Logger;
  readonly #query: CandidateQuery;
  readonly #speakers = new LRUCache<Owner, ReadonlySet<string>>({ max: MAX_OWNERS, ttl: KEPT_MS });
  /** Code of the last failure to embed a question; null when the last one went well. */
  #embedderDown: string | null = null;

  constructor({ client, collection, embedder, logger }: CandidateSearchOptions) {
    this.#embedder = embedder;
    this.#logger = logger;
    this.#query = new CandidateQuery(client, collection);
  }

  get embedderDown(): string | null {
    return this.#embedderDown;
  }

  async run(owner: Owner, search: HistorySearch, terms: SparseVector): Promise<readonly Candidate[]> {
    if (this.#embedder.lexical) return this.#byWordsFirst(owner, search, terms);
    const known = this.#speakers.get(owner) ?? NOBODY;
    const asked = withoutNames(search.query, known);
    const found = await this.#near(owner, search, terms, asked);
    const speakers = this.#remember(owner, known, speakersOf(found));
    const better = withoutNames(search.query, speakers);
    // While the embedder fails there is nothing to ask better.
    return better === asked || this.#embedderDown !== null ? found : this.#near(owner, search, terms, better);
  }

  /** Forgets who speaks in an owner's conversations. */
  forget(owner: Owner): void {
    this.#speakers.delete(owner);
  }

  #remember(owner: Owner, known: ReadonlySet<string>, found: ReadonlySet<string>): ReadonlySet<string> {
    const all = new Set([...known, ...found]);
    const speakers = all.size > MAX_SPEAKERS ? found : all;
    if (speakers.size > 0) this.#speakers.set(owner, speakers);
    return speakers;
  }

  /**
   * A stand-in embedder that compares words adds nothing to the words but time (its scan is most of a query), so it is asked only where
   * they find nothing: a misspelling.
   */
  async #byWordsFirst(owner: Owner, search: HistorySearch, terms: SparseVector): Promise<Candidate[]> {
    const found = await this.#query.run(owner, search, { terms, dense: null });
    // What has found nothing by itself finds nothing beside the vector either.
    return found.length > 0 ? found : this.#near(owner, search, NO_TERMS, search.query);
  }

  async #near(owner: Owner, search: HistorySearch, terms: SparseVector, text: string): Promise<Candidate[]> {
    return this.#query.run(owner, search, { terms, dense: await this.#embed(text, search.signal) });
  }

  /** Null when the embedder fails: words alone find much, and a guest need not wait for a mended service. */
  async #embed(text: string, signal: AbortSignal | undefined): Promise<number[] | null> {
    try {
      const [vector] = await this.#embedder.embed([text], { kind: "query", ...(signal === undefined ? {} : { signal }) });
      this.#embedderDown = null;
      return vector === undefined ? null : numbersOf(vector);
    } catch (error) {
      if (signal?.aborted === true || isAppError(error, "ABORTED")) throw error;
      this.#embedderDown = isAppError(error) ? error.code : "INTERNAL";
      this.#logger.warn({ code: this.#embedderDown }, "history searches by words alone: the embedder failed");
      return null;
    }
  }
}
