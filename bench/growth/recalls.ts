import { join } from "node:path";
import { CONCIERGE_CATEGORIES } from "../../src/concierge/categories.js";
import { ownerOf } from "../../src/domain/owner.js";
import { documentVector, queryVector } from "../../src/embedding/sparse-vectors.js";
import { HashingEmbedder } from "../../src/offline/hashing-embedder.js";
import { silentLogger } from "../../src/platform/logger.js";
import { openLocalQdrant } from "../../src/stores/local-vectors/local-qdrant.js";
import { ensureCollection } from "../../src/stores/mem0/collections.js";
import { Mem0Service } from "../../src/stores/mem0/mem0-service.js";
import { DIMENSION, loadMemories, userOf } from "../field/data.js";
import { NOW, rowOf } from "../recall/memory-rows.js";

/** The service that a turn's recall is made by. */
export interface Recalls {
  readonly service: Mem0Service;
  close(): Promise<void>;
}

/** Filled past Mem0, in bulk, with as many memories of each user; `guest-0` is the first of them. What is searched goes through Mem0. */
export async function openRecalls(dir: string, { memories, each }: { readonly memories: number; readonly each: number }): Promise<Recalls> {
  const embedder = new HashingEmbedder({ dimension: DIMENSION });
  const vectors = await openLocalQdrant({ path: join(dir, "vectors.db") });
  await ensureCollection(vectors.client, "memory", { dimension: DIMENSION, embedder: embedder.id });
  await loadMemories({ to: memories, each, loadMs: Number.POSITIVE_INFINITY }, async (chunk) => {
    const rows = await Promise.all(chunk.map(({ n }) => rowOf(ownerOf("default", userOf(n, each)), n, embedder)));
    const points = rows.map(({ id, text, vector, payload }) => ({ id, vector: { "": vector, bm25: documentVector(text) }, payload }));
    await vectors.client.upsert("memory", { points, wait: true });
  });
  const service = await Mem0Service.open(
    { reads: vectors, writes: vectors, embedder, sparse: { documentVector, queryVector }, clock: { now: () => NOW }, logger: silentLogger },
    { dir, categoriesOf: () => CONCIERGE_CATEGORIES },
  );
  return {
    service,
    close: async () => {
      await service.close();
      await vectors.close();
    },
  };
}
