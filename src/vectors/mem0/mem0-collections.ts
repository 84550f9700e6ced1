import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import type { VectorClient } from "../../ports/vectors.js";
import { type CollectionShape, ensureCollection } from "./collections.js";
import { SPARSE_NAME, type SparseVectors } from "./mem0-client.js";
import { Mem0Memory, type Mem0SearchOptions, type SimilarMemories, type SimilarMemory } from "./mem0-memory.js";
import { newScopes } from "./mem0-scope.js";
import type { MemoryPayload } from "./memory-payload.js";
import type { MemoryRouter } from "./memory-router.js";

export interface Mem0CollectionsOptions extends CollectionShape {
  readonly reads: VectorClient;
  readonly writes: VectorClient;
  readonly router: MemoryRouter;
  readonly sparse: SparseVectors;
  /** Where Mem0 keeps its own id. */
  readonly dir: string;
}

interface Pair {
  readonly reading: Mem0Memory;
  readonly writing: Mem0Memory;
}

/** One Mem0 for each collection and side, opened when the store is first reached, and again until it was. */
export class Mem0Collections {
  readonly #options: Mem0CollectionsOptions;
  #opened: Promise<ReadonlyMap<string, Pair>> | undefined;

  constructor(options: Mem0CollectionsOptions) {
    this.#options = options;
  }

  /** Resolves when every collection is there. @throws REINDEX_REQUIRED, QDRANT_TOO_OLD, what the store threw */
  async ready(): Promise<void> {
    await this.#open();
  }

  async add(owner: Owner, payload: MemoryPayload, vector: readonly number[]): Promise<void> {
    await (await this.#of(this.#options.router.collectionOf(payload.type))).writing.add(owner, payload, vector);
  }

  /** Writes a point again, with its vector. Around Mem0, whose update embeds by itself. */
  async addVector(payload: MemoryPayload, vector: readonly number[]): Promise<void> {
    const { writes, router, sparse } = this.#options;
    await this.#open();
    await writes.upsert(router.collectionOf(payload.type), {
      points: [
        { id: payload.memory_id, vector: { "": [...vector], [SPARSE_NAME]: sparse.documentVector(payload.data) }, payload: { ...payload } },
      ],
      update_mode: "update_only",
      wait: true,
    });
  }

  /** In every collection; best first. */
  async similar(owner: Owner, text: string, vector: readonly number[], options: Mem0SearchOptions): Promise<SimilarMemories> {
    const collections = this.#options.router.collections();
    const answers = await Promise.all(collections.map(async (name) => (await this.#of(name)).reading.search(owner, text, vector, options)));
    const hits: SimilarMemory[] = answers.flatMap((answer) => answer.hits);
    const best = hits.sort((a, b) => b.score - a.score || (a.record.id < b.record.id ? -1 : 1)).slice(0, options.limit);
    return { hits: best, foreign: answers.reduce((sum, answer) => sum + answer.foreign, 0) };
  }

  async #of(collection: string): Promise<Pair> {
    const pair = (await this.#open()).get(collection);
    if (pair === undefined) throw new AppError("INTERNAL", { detail: "A collection was not opened." });
    return pair;
  }

  #open(): Promise<ReadonlyMap<string, Pair>> {
    this.#opened ??= this.#connect().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #connect(): Promise<ReadonlyMap<string, Pair>> {
    const { reads, writes, router, dir, sparse, dimension } = this.#options;
    const scopes = newScopes();
    const pairs = new Map<string, Pair>();
    for (const collection of router.collections()) {
      await ensureCollection(writes, collection, this.#options);
      const common = { dir, scopes, collection, dimension, sparse };
      const reading = await Mem0Memory.open({ ...common, client: reads });
      pairs.set(collection, { reading, writing: await Mem0Memory.open({ ...common, client: writes }) });
    }
    return pairs;
  }
}
