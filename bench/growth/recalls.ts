import { join } from "node:path";
import type { MemoryRecord } from "../../src/domain/memory-record.js";
import { ownerOf } from "../../src/domain/owner.js";
import { HashingEmbedder } from "../../src/embedding/hashing-embedder.js";
import { documentVector, queryVector } from "../../src/embedding/sparse-vectors.js";
import { silentLogger } from "../../src/platform/logger.js";
import { openLocalQdrant } from "../../src/vectors/local/local-qdrant.js";
import { ensureMemoryCollection } from "../../src/vectors/mem0/collections.js";
import { Mem0Service } from "../../src/vectors/mem0/mem0-service.js";
import { DIMENSION, loadMemories, userOf } from "../field/data.js";
import { NOW, rowOf } from "../recall/memory-rows.js";

export interface Recalls {
  readonly service: Mem0Service;
  /** What a turn of `guest-0` is given, their log being at hand as after their first turn: what came for its likeness to the text. */
  nearest(text: string, limit: number): Promise<readonly MemoryRecord[]>;
  close(): Promise<void>;
}

/** No deadline decides what is measured. */
const DEADLINE_MS = 10_000;

/** Filled past Mem0, in bulk, with as many memories of each user; `guest-0` is the first of them. What is searched goes through Mem0. */
export async function openRecalls(dir: string, { memories, each }: { readonly memories: number; readonly each: number }): Promise<Recalls> {
  const embedder = new HashingEmbedder({ dimension: DIMENSION });
  const vectors = await openLocalQdrant({ path: join(dir, "vectors.db") });
  await ensureMemoryCollection(vectors.client, "memory", { dimension: DIMENSION, embedder: embedder.id });
  await loadMemories({ to: memories, each, loadMs: Number.POSITIVE_INFINITY }, async (chunk) => {
    const rows = await Promise.all(chunk.map(({ n }) => rowOf(ownerOf("default", userOf(n, each)), n, embedder)));
    const points = rows.map(({ id, text, vector, payload }) => ({ id, vector: { "": vector, bm25: documentVector(text) }, payload }));
    await vectors.client.upsert("memory", { points, wait: true });
  });
  const service = await Mem0Service.open(
    { reads: vectors, writes: vectors, embedder, sparse: { documentVector, queryVector }, clock: { now: () => NOW }, logger: silentLogger },
    { dir },
  );
  const owner = ownerOf("default", userOf(0, each));
  const known = new Map<string, MemoryRecord>();
  for await (const record of service.all(owner)) known.set(record.id, record);
  return {
    service,
    nearest: async (text, limit) => {
      const { status, found } = await service.recall(owner, { text, limit, known, now: NOW, deadlineMs: DEADLINE_MS });
      if (status !== "ok") throw new Error(`recall was ${status}`);
      return found.records.filter(({ id }) => found.scores.has(id));
    },
    close: async () => {
      await service.close();
      await vectors.close();
    },
  };
}
