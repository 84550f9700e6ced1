import type { Owner } from "../../domain/owner.js";
import type { HistorySearch } from "../../ports/history.js";
import type { Prefetch, SparseVector, VectorClient } from "../../ports/vectors.js";
import type { Candidate } from "./candidate.js";
import { candidatesOf } from "./candidates.js";
import { CONTEXT, OWN } from "./collection.js";
import { searchFilter, unembeddedAmong } from "./filters.js";

/**
 * Candidates that each prefetch contributes: what a question shares words with, what follows that, and what is near in meaning. More
 * cost time and find hardly more.
 */
const SPARSE_CANDIDATES = 110;
const DENSE_CANDIDATES = 150;
/** Of messages that wait for their vector. */
const UNEMBEDDED_CANDIDATES = 50;

/** What a question is searched by. */
export interface QuestionVectors {
  readonly terms: SparseVector;
  /** Null where words alone are to be searched. */
  readonly dense: number[] | null;
}

/** A collection of history, as a search asks it. */
export class CandidateQuery {
  readonly #client: VectorClient;
  readonly #collection: string;

  constructor(client: VectorClient, collection: string) {
    this.#client = client;
    this.#collection = collection;
  }

  /**
   * What may answer, in one round-trip: near in words, after something near in words, or near in meaning; with a vector, scored by its
   * cosine. A message that waits for its vector would be lost by that, so it is asked for at the same time by its words.
   */
  async run(owner: Owner, search: HistorySearch, { terms, dense }: QuestionVectors): Promise<Candidate[]> {
    const filter = searchFilter(owner, search);
    const byWords: Prefetch[] =
      terms.indices.length === 0 ? [] : [OWN, CONTEXT].map((using) => ({ query: terms, using, filter, limit: SPARSE_CANDIDATES }));
    if (dense === null) return byWords.length === 0 ? [] : this.#byWords(owner, search, byWords);
    const prefetch = [{ query: dense, filter, limit: DENSE_CANDIDATES }, ...byWords];
    const limit = DENSE_CANDIDATES + 2 * SPARSE_CANDIDATES;
    const [near, waiting] = await Promise.all([
      this.#client.query(this.#collection, { prefetch, query: dense, filter, limit, with_payload: true }),
      byWords.length === 0 ? null : this.#waiting(owner, search, terms),
    ]);
    const found = candidatesOf(owner, near.points, "likeness");
    // One that gets its vector between the two answers is in both.
    const known = new Set(found.map(({ message }) => message.message_id));
    const others = candidatesOf(owner, waiting?.points ?? [], "words").filter(({ message }) => !known.has(message.message_id));
    return [...found, ...others];
  }

  async #byWords(owner: Owner, search: HistorySearch, prefetch: Prefetch[]): Promise<Candidate[]> {
    const filter = searchFilter(owner, search);
    const limit = 2 * SPARSE_CANDIDATES;
    const { points } = await this.#client.query(this.#collection, {
      prefetch,
      query: { fusion: "rrf" },
      filter,
      limit,
      with_payload: true,
    });
    return candidatesOf(owner, points, "words");
  }

  #waiting(owner: Owner, search: HistorySearch, terms: SparseVector) {
    const filter = unembeddedAmong(searchFilter(owner, search));
    return this.#client.query(this.#collection, {
      query: terms,
      using: OWN,
      filter,
      limit: UNEMBEDDED_CANDIDATES,
      with_payload: true,
    });
  }
}
