import type { VectorStore } from "../../ports/vectors.js";

export interface LocalVectorStore extends VectorStore {
  /**
   * Rewrites the file, so that no byte of what was deleted is left in it, also where SQLite moved it within a page before.
   * Deletions empty the write-ahead log and overwrite what they free by themselves. Takes time in proportion to the file,
   * during which reads are answered and writes wait.
   */
  scrub(): Promise<void>;
}
