import { HashingEmbedder } from "../embedding/hashing-embedder.js";
import type { VectorClient, VectorStore } from "../ports/vectors.js";
import { holdsMemories, MEMORY_COLLECTION, shapeOf } from "../vectors/mem0/collections.js";
import type { Vectors } from "./backends.js";
import { HISTORY_COLLECTION } from "./reembed.js";

/** How long the start waits to see what is stored. */
const LOOK_MS = 3_000;

/** What the vectors of a store were made with. */
export interface StoredVectors {
  /** By name; null where nothing stored names one. */
  readonly embedder: string | null;
  readonly dimension: number;
  /** False where there is neither a memory nor a message of the history. */
  readonly isInUse: boolean;
}

/** Null where neither collection is there yet, or the store is out of reach. */
export async function storedVectors({ memory, history }: Pick<Vectors, "memory" | "history">): Promise<StoredVectors | null> {
  const ofMemories = await lookedAt(memory, MEMORY_COLLECTION, holdsMemories);
  const ofHistory =
    history && (await lookedAt(history, HISTORY_COLLECTION, async (client, name) => (await client.count(name, { exact: true })).count > 0));
  const found = [ofMemories, ofHistory].filter((each) => each !== null);
  const [first] = found;
  if (first === undefined) return null;
  const named = found.find(({ embedder }) => embedder !== null) ?? first;
  return { ...named, isInUse: found.some(({ isInUse }) => isInUse) };
}

async function lookedAt(
  store: VectorStore,
  name: string,
  inUse: (client: VectorClient, name: string) => Promise<boolean>,
): Promise<StoredVectors | null> {
  try {
    return await store.withSignal(AbortSignal.timeout(LOOK_MS), async () => {
      if (!(await store.client.collectionExists(name)).exists) return null;
      const { size, embedder } = await shapeOf(store.client, name);
      return typeof size === "number" ? { embedder, dimension: size, isInUse: await inUse(store.client, name) } : null;
    });
  } catch {
    return null;
  }
}

/**
 * The stand-in that the stored vectors are of, for a store of before there was a model in the package. Null for vectors of any other
 * embedder.
 */
export function standInOf({ embedder, dimension }: StoredVectors): HashingEmbedder | null {
  if (dimension < HashingEmbedder.MIN_DIMENSION || dimension > HashingEmbedder.MAX_DIMENSION) return null;
  const standIn = new HashingEmbedder({ dimension });
  // Where nothing names one, it was the only one that needed no configuration.
  return embedder === null || embedder === standIn.id ? standIn : null;
}
