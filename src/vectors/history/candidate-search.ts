import { LRUCache } from "lru-cache";
import type { Owner } from "../../domain/owner.js";
import { isAppError } from "../../platform/errors.js";
import type { Logger } from "../../platform/logger.js";
import { numbersOf } from "../../platform/numbers.js";
import type { Embedder } from "../../ports/embedding.js";
import type { HistorySearch } from "../../ports/history.js";
import type { Filter, Prefetch, QueryArgs, ScoredPoint, SparseVector, VectorClient } from "../../ports/vectors.js";
import { type Candidate, candidatesOf, speakersOf } from "./candidate.js";
import { CONTEXT, OWN, searchFilter, unembeddedAmong } from "./collection.js";
import { withoutNames } from "./signals/question.js";

/**
 * Candidates that each prefetch contributes: what a question shares words with, what follows that, and what is near in meaning. More
 * cost time and find hardly more.
 */
const SPARSE_CANDIDATES = 110;
const DENSE_CANDIDATES = 150;
/** Of messages that wait for their vector. */
const UNEMBEDDED_CANDIDATES = 50;

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
  readonly #options: CandidateSearchOptions;
  readonly #speakers = new LRUCache<Owner, ReadonlySet<string>>({ max: MAX_OWNERS, ttl: KEPT_MS });
  /** Code of the last failure to embed a question; null when the last one went well. */
  #embedderDown: string | null = null;

  constructor(options: CandidateSearchOptions) {
    this.#options = options;
  }

  get embedderDown(): string | null {
    return this.#embedderDown;
  }

  async run(owner: Owner, search: HistorySearch, terms: SparseVector): Promise<readonly Candidate[]> {
    if (this.#options.embedder.lexical) return this.#byWordsFirst(owner, search, terms);
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
    const found = await this.#byWords(owner, search, terms);
    // What has found nothing by itself finds nothing beside the vector either.
    return found.length > 0 ? found : this.#near(owner, search, NO_TERMS, search.query);
  }

  async #near(owner: Owner, search: HistorySearch, terms: SparseVector, text: string): Promise<Candidate[]> {
    const dense = await this.#embed(text, search.signal);
    return dense === null ? this.#byWords(owner, search, terms) : this.#byMeaning(owner, search, terms, dense);
  }

  async #byWords(owner: Owner, search: HistorySearch, terms: SparseVector): Promise<Candidate[]> {
    const filter = searchFilter(owner, search);
    const prefetch = sharing(terms, filter);
    if (prefetch.length === 0) return [];
    return candidatesOf(owner, await this.#points({ prefetch, query: { fusion: "rrf" }, filter, limit: 2 * SPARSE_CANDIDATES }), "words");
  }

  /**
   * What may answer, in one round-trip: near in words, after something near in words, or near in meaning; scored by its cosine. A message
   * that waits for its vector would be lost by that, so it is asked for at the same time by its words.
   */
  async #byMeaning(owner: Owner, search: HistorySearch, terms: SparseVector, dense: number[]): Promise<Candidate[]> {
    const filter = searchFilter(owner, search);
    const byWords = sharing(terms, filter);
    const prefetch = [{ query: dense, filter, limit: DENSE_CANDIDATES }, ...byWords];
    const waiting = { query: terms, using: OWN, filter: unembeddedAmong(filter), limit: UNEMBEDDED_CANDIDATES };
    const [near, unembedded] = await Promise.all([
      this.#points({ prefetch, query: dense, filter, limit: DENSE_CANDIDATES + 2 * SPARSE_CANDIDATES }),
      byWords.length === 0 ? [] : this.#points(waiting),
    ]);
    const found = candidatesOf(owner, near, "likeness");
    // One that gets its vector between the two answers is in both.
    const known = new Set(found.map(({ message }) => message.message_id));
    return [...found, ...candidatesOf(owner, unembedded, "words").filter(({ message }) => !known.has(message.message_id))];
  }

  async #points(args: QueryArgs): Promise<readonly ScoredPoint[]> {
    return (await this.#options.client.query(this.#options.collection, { ...args, with_payload: true })).points;
  }

  /** Null when the embedder fails: words alone find much, and a guest need not wait for a mended service. */
  async #embed(text: string, signal: AbortSignal | undefined): Promise<number[] | null> {
    try {
      const [vector] = await this.#options.embedder.embed([text], { kind: "query", ...(signal === undefined ? {} : { signal }) });
      this.#embedderDown = null;
      return vector === undefined ? null : numbersOf(vector);
    } catch (error) {
      if (signal?.aborted === true || isAppError(error, "ABORTED")) throw error;
      this.#embedderDown = isAppError(error) ? error.code : "INTERNAL";
      const reason = isAppError(error) ? error.message : undefined;
      this.#options.logger.warn({ code: this.#embedderDown, reason }, "history searches by words alone: the embedder failed");
      return null;
    }
  }
}

/** What shares words with the question, and what follows that; nothing for a question without terms. */
function sharing(terms: SparseVector, filter: Filter): Prefetch[] {
  return terms.indices.length === 0 ? [] : [OWN, CONTEXT].map((using) => ({ query: terms, using, filter, limit: SPARSE_CANDIDATES }));
}
