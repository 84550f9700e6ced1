/** Turns texts into vectors of one fixed dimension. */
export interface Embedder {
  /** Names the model and what shapes its vectors; a changed one over existing data asks for a reindex. */
  readonly id: string;
  readonly dimension: number;
  /** True for stand-ins that compare words, not meanings. */
  readonly lexical: boolean;
  /** In the order of the texts; batched by the adapter. @throws EMBEDDING_UNAVAILABLE, ABORTED */
  embed(texts: readonly string[], options?: { readonly signal?: AbortSignal }): Promise<readonly Float32Array[]>;
}
