import { documentVector } from "../embedding/sparse-vectors.js";
import type { Embedder } from "../ports/embedding.js";
import { MEMORY_COLLECTION, reembedCollection } from "../vectors/mem0/collections.js";
import type { Vectors } from "./backends.js";

/**
 * Fits the stores to another embedder before they are opened with it: memories keep their payloads and get new vectors; the
 * history collection goes, for it is made anew from the journals. Broken off, the next call goes on.
 * @returns how many memories were embedded anew
 */
export async function reembed(
  vectors: Pick<Vectors, "memory" | "history">,
  embedder: Embedder,
  options: { readonly signal: AbortSignal },
): Promise<number> {
  const embed = async (texts: readonly string[]) =>
    (await embedder.embed(texts, { ...options, kind: "document" })).map((vector) => [...vector]);
  const done = await reembedCollection(vectors.memory.client, MEMORY_COLLECTION, {
    dimension: embedder.dimension,
    embedder: embedder.id,
    embed,
    sparse: documentVector,
    signal: options.signal,
  });
  if (vectors.history && (await vectors.history.client.collectionExists(HISTORY_COLLECTION)).exists) {
    await vectors.history.client.deleteCollection(HISTORY_COLLECTION);
  }
  return done;
}

export const HISTORY_COLLECTION = "history";
