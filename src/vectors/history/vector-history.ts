import type { Owner } from "../../domain/owner.js";
import { AppError, isAppError } from "../../platform/errors.js";
import { FailureStreak } from "../../platform/failure-streak.js";
import { type Logger, silentLogger } from "../../platform/logger.js";
import type { Embedder } from "../../ports/embedding.js";
import type { ConversationHistory, HistorySearch } from "../../ports/history.js";
import type { HistoryHit, HistoryMessage } from "../../ports/resources.js";
import type { SparseVectors, VectorStore } from "../../ports/vectors.js";
import { CandidateSearch } from "./candidate-search.js";
import { ensureHistoryCollection, messagesBetween, ownFilter, sessionsFilter } from "./collection.js";
import { HistoryWriter } from "./history-writer.js";
import { type Ranked, rank } from "./ranking.js";
import { RANKING_WEIGHTS, type RankingWeights } from "./weights.js";

export interface VectorHistoryOptions {
  readonly store: VectorStore;
  readonly embedder: Embedder;
  readonly sparse: SparseVectors;
  /** Default `history`. */
  readonly collection?: string;
  /** Hits of a search that names no limit. Default 20. */
  readonly defaultLimit?: number;
  /** Default {@link RANKING_WEIGHTS}. */
  readonly weights?: RankingWeights;
  readonly logger?: Logger;
}

const MAX_LIMIT = 200;
/** How long the start waits for the collection. */
const START_MS = 3_000;

/**
 * Verbatim history in one vector collection: dense and sparse vectors, one round-trip a search, re-ranked by what a conversation gives
 * for free. Every call is filtered by owner, and every hit is looked at again.
 */
export class VectorHistory implements ConversationHistory {
  readonly #store: VectorStore;
  readonly #dimension: number;
  readonly #sparse: SparseVectors;
  readonly #collection: string;
  readonly #defaultLimit: number;
  readonly #weights: RankingWeights;
  readonly #logger: Logger;
  readonly #writer: HistoryWriter;
  readonly #candidates: CandidateSearch;
  readonly #searches = new FailureStreak();
  readonly #writes = new FailureStreak();
  #collectionThere: Promise<void> | undefined;

  private constructor(options: VectorHistoryOptions) {
    this.#store = options.store;
    this.#dimension = options.embedder.dimension;
    this.#sparse = options.sparse;
    this.#collection = options.collection ?? "history";
    this.#defaultLimit = options.defaultLimit ?? 20;
    this.#weights = options.weights ?? RANKING_WEIGHTS;
    this.#logger = options.logger ?? silentLogger;
    this.#writer = new HistoryWriter({ ...options, collection: this.#collection });
    const { store, embedder } = options;
    this.#candidates = new CandidateSearch({ client: store.client, collection: this.#collection, embedder, logger: this.#logger });
  }

  /**
   * Makes the collection where there is none. One that is out of reach doesn't stop the start: it is asked again when it is needed.
   * The store stays the caller's to close. @throws REINDEX_REQUIRED, QDRANT_TOO_OLD
   */
  static async open(options: VectorHistoryOptions): Promise<VectorHistory> {
    const history = new VectorHistory(options);
    try {
      await history.#guarded(AbortSignal.timeout(START_MS), async () => {});
    } catch (error) {
      if (isAppError(error, "REINDEX_REQUIRED") || isAppError(error, "QDRANT_TOO_OLD")) throw error;
      history.#logger.warn({ err: error }, "History is out of reach; it will be tried again when it is needed");
    }
    return history;
  }

  async addSession(
    owner: Owner,
    sessionId: string,
    messages: AsyncIterable<HistoryMessage> | Iterable<HistoryMessage>,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<number> {
    return this.#writing(options.signal, () => this.#writer.add(owner, ofSession(sessionId, messages), options.signal));
  }

  async addEvents(owner: Owner, messages: readonly HistoryMessage[], options: { readonly signal?: AbortSignal } = {}): Promise<number> {
    return this.#writing(options.signal, () => this.#writer.add(owner, messages, options.signal));
  }

  async search(owner: Owner, search: HistorySearch): Promise<readonly HistoryHit[]> {
    const limit = Math.min(Math.max(search.limit ?? this.#defaultLimit, 1), MAX_LIMIT);
    return this.#counted(this.#searches, search.signal, async () => {
      const terms = this.#sparse.queryVector(search.query);
      const found = await this.#candidates.run(owner, search, terms);
      const ranked = rank(
        {
          text: search.query,
          terms: terms.indices.map((index, i) => ({ index, weight: terms.values[i] ?? 1 })),
          now: search.now ?? new Date(),
          termsOf: (name) => this.#sparse.queryVector(name).indices,
        },
        found,
        this.#weights,
      ).slice(0, limit);
      return search.context !== undefined && search.context > 0
        ? Promise.all(ranked.map((hit) => this.#withContext(owner, hit, search, search.context ?? 0)))
        : ranked.map(toHit);
    });
  }

  async removeSession(owner: Owner, sessionId: string): Promise<number> {
    return this.#remove(owner, sessionId);
  }

  async removeMessages(owner: Owner, messageIds: readonly string[]): Promise<number> {
    return this.#removing(() => this.#writer.removeMessages(owner, messageIds));
  }

  async count(owner: Owner, sessionId?: string): Promise<number> {
    return this.#guarded(undefined, async () => {
      const { count } = await this.#store.client.count(this.#collection, { filter: ownFilter(owner, sessionId), exact: true });
      return count;
    });
  }

  async counts(sessions: readonly { readonly owner: Owner; readonly sessionId: string }[]): Promise<ReadonlyMap<string, number>> {
    if (sessions.length === 0) return new Map();
    return this.#guarded(undefined, async () => {
      const filter = sessionsFilter(sessions);
      const { hits } = await this.#store.client.facet(this.#collection, { key: "session_id", filter, limit: sessions.length, exact: true });
      return new Map(hits.map(({ value, count }) => [String(value), count]));
    });
  }

  async erase(owner: Owner): Promise<number> {
    this.#candidates.forget(owner);
    return this.#remove(owner);
  }

  async residue(owner: Owner): Promise<number> {
    return this.count(owner);
  }

  async health(): Promise<{ readonly status: "ok" | "degraded" | "down"; readonly detail?: string }> {
    const store = await this.#store.health();
    if (store.status !== "ok") return store;
    if (this.#searches.told !== null) return { status: "degraded", detail: `The last ${this.#searches.told} searches failed.` };
    if (this.#writes.told !== null) return { status: "degraded", detail: `The last ${this.#writes.told} writes failed.` };
    const { embedderDown } = this.#candidates;
    return embedderDown === null ? store : { status: "degraded", detail: `searches by words alone: the embedder failed (${embedderDown})` };
  }

  /** Without effect: the store is the caller's. */
  async close(): Promise<void> {}

  async #remove(owner: Owner, sessionId?: string): Promise<number> {
    return this.#removing(async () => {
      const filter = ownFilter(owner, sessionId);
      const { count } = await this.#store.client.count(this.#collection, { filter, exact: true });
      if (count > 0) await this.#store.client.delete(this.#collection, { filter, wait: true });
      return count;
    });
  }

  async #withContext(owner: Owner, ranked: Ranked, search: HistorySearch, messages: number): Promise<HistoryHit> {
    const { session_id: sessionId, position } = ranked.candidate.message;
    const place = { owner, sessionId, from: position - messages, to: position + messages };
    const near = (await messagesBetween(this.#store.client, this.#collection, place))
      .filter(({ message_id }) => !search.excludeMessageIds?.has(message_id))
      .sort((a, b) => a.position - b.position);
    return {
      ...toHit(ranked),
      before: near.filter((message) => message.position < position),
      after: near.filter((message) => message.position > position),
    };
  }

  #ensured(): Promise<void> {
    this.#collectionThere ??= ensureHistoryCollection(this.#store.client, this.#collection, this.#dimension).catch((error: unknown) => {
      this.#collectionThere = undefined;
      throw error;
    });
    return this.#collectionThere;
  }

  async #writing<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const result = await this.#counted(this.#writes, signal, work);
    // Searches are rare: that the store answers again is seen by a write.
    this.#searches.wentWell();
    return result;
  }

  /** One that goes well shows that the store answers, and not that it takes what is new. */
  async #removing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#guarded(undefined, work);
    } catch (error) {
      if (isAppError(error) && error.status >= 500) this.#writes.failed();
      throw error;
    }
  }

  /** As {@link #guarded}. A caller that went away says nothing about the store; a deadline that passed does. */
  async #counted<T>(streak: FailureStreak, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    try {
      const result = await this.#guarded(signal, work);
      streak.wentWell();
      return result;
    } catch (error) {
      const late = signal?.aborted === true && signal.reason instanceof Error && signal.reason.name === "TimeoutError";
      if (late || (isAppError(error) && error.status >= 500)) streak.failed();
      throw error;
    }
  }

  /**
   * Runs `work`, when the collection is there, under the caller's signal; what fails is HISTORY_UNAVAILABLE, or ABORTED where the
   * signal aborted.
   */
  async #guarded<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const whenThere = async () => {
      await this.#ensured();
      return work();
    };
    try {
      return await (signal === undefined ? whenThere() : this.#store.withSignal(signal, whenThere));
    } catch (cause) {
      if (signal?.aborted === true) throw new AppError("ABORTED", { cause });
      if (isAppError(cause)) throw cause;
      throw new AppError("HISTORY_UNAVAILABLE", { cause });
    }
  }
}

async function* ofSession(sessionId: string, messages: AsyncIterable<HistoryMessage> | Iterable<HistoryMessage>) {
  for await (const message of messages) {
    if (message.session_id !== sessionId) throw new AppError("INVALID_REQUEST", { detail: "A message of another session was handed in." });
    yield message;
  }
}

function toHit({ candidate: { message }, score }: Ranked): HistoryHit {
  const { session_id, turn, message_id, external_id, role, name, content, created_at, custom_metadata } = message;
  return {
    session_id,
    turn,
    id: message_id,
    message_id: external_id ?? message_id,
    role,
    name,
    content,
    created_at,
    score: Math.round(score * 1e6) / 1e6,
    ...(custom_metadata === undefined ? {} : { custom_metadata }),
  };
}
