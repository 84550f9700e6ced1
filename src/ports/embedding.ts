/**
 * What a text is for: to be found (`document`), or to find by (`query`). Some models want them told apart; and as a reply waits for a
 * query, it goes before all documents that wait.
 */
export type EmbeddingKind = "query" | "document";

export interface EmbedOptions {
  /** Default `document`. */
  readonly kind?: EmbeddingKind;
  readonly signal?: AbortSignal;
  /** Nobody waits for it: it may come behind all else, and is not kept for a next call. Default false. */
  readonly background?: boolean;
}

/** Turns texts into vectors of one fixed dimension. */
export interface Embedder {
  /** Names the model and what shapes the vectors of documents; a changed one over existing data asks for a reindex. */
  readonly id: string;
  readonly dimension: number;
  /** True for stand-ins that compare words, not meanings. */
  readonly lexical: boolean;
  /** True where texts go over a network. Default false. */
  readonly remote?: boolean;
  /** True where a text's vector as a query is another one than as a document. Default false: one vector serves both. */
  readonly byKind?: boolean;
  /** What the last call failed with and what to do, for a person; null when it went well. Absent where nothing can fail. */
  readonly problem?: string | null;
  /**
   * The least cosine at which a text has to do with a query of this vector; infinite for one that asks for nothing ("hello"). Absent:
   * every likeness counts.
   */
  relevantFrom?(query: Float32Array): number;
  /**
   * In the order of the texts; batched by the adapter, in pieces small enough that a query need not wait for the whole of somebody else's
   * documents. @throws EMBEDDING_UNAVAILABLE, ABORTED
   */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly Float32Array[]>;
}
