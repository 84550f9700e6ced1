import type { MemoryRecord } from "../../domain/memory-record.js";
import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import { type GuardedClientOptions, guardedClient } from "./mem0-client.js";
import { loadMem0 } from "./mem0-environment.js";
import type { Mem0Scope, Mem0Scopes } from "./mem0-scope.js";
import { fromPayload, type MemoryPayload } from "./memory-payload.js";

/** The calls of Mem0's `Memory` that are used. */
export interface Mem0 {
  add(text: string, options: { userId: string; infer: false; metadata: Record<string, unknown> }): Promise<unknown>;
  search(
    query: string,
    options: { filters: Record<string, unknown>; topK: number; threshold: number },
  ): Promise<{ results: readonly { id: string; score?: number; memory: string; user_id?: string; metadata?: Record<string, unknown> }[] }>;
}

export interface Mem0MemoryOptions extends GuardedClientOptions {
  /** Where Mem0 keeps its own id. */
  readonly dir: string;
}

export interface SimilarMemory {
  readonly record: MemoryRecord;
  /** 0 to 1, comparable within one search alone. */
  readonly score: number;
}

export interface SimilarMemories {
  readonly hits: readonly SimilarMemory[];
  readonly foreign: number;
}

export interface Mem0SearchOptions {
  readonly filters: Record<string, unknown>;
  readonly limit: number;
  /** The least cosine of a hit that shares no word with the text; infinite: there is none. Default: any. */
  readonly relevantFrom?: number | undefined;
  /** All of the owner's memories, by id: what is found is taken from them. Default: it is read from the store. */
  readonly known?: ReadonlyMap<string, MemoryRecord> | undefined;
}

/** One collection of memories as Mem0 sees it: adding, and searching by meaning. */
export class Mem0Memory {
  readonly #mem0: Mem0;
  readonly #scopes: Mem0Scopes;

  private constructor(mem0: Mem0, scopes: Mem0Scopes) {
    this.#mem0 = mem0;
    this.#scopes = scopes;
  }

  /** The collection must be there. Makes no request. */
  static async open(options: Mem0MemoryOptions): Promise<Mem0Memory> {
    const { Memory } = await loadMem0(options.dir);
    const scopes = options.scopes;
    const mem0 = new Memory({
      disableHistory: true,
      embedder: { provider: "langchain", config: { model: scopedEmbedder(scopes, options.dimension) } },
      llm: { provider: "langchain", config: { model: noModel } },
      vectorStore: {
        provider: "qdrant",
        config: { client: guardedClient(options), collectionName: options.collection, dimension: options.dimension },
      },
    });
    return new Mem0Memory(mem0, scopes);
  }

  /** Adds one memory; insert only. @throws what the store threw; LONG_TERM_MEMORY_UNAVAILABLE when nothing was handed to it */
  async add(owner: Owner, payload: MemoryPayload, vector: readonly number[]): Promise<void> {
    const { data: text, user_id: _owner, ...metadata } = payload;
    const scope: Mem0Scope = { kind: "add", owner, text, vector, memoryId: payload.memory_id, failures: [], foreign: 0, upserted: 0 };
    await this.#scopes.run(scope, () => this.#mem0.add(text, { userId: owner, infer: false, metadata }));
    throwFirst(scope.failures);
    // Mem0 can report an addition that never reached the store.
    if (scope.upserted !== 1) throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE", { detail: "Mem0 stored nothing." });
  }

  /**
   * Best first. `foreign` counts hits that were dropped because they were not the owner's; of those that are `known` the others are left
   * out. @throws what the store threw
   */
  async search(owner: Owner, text: string, vector: readonly number[], options: Mem0SearchOptions): Promise<SimilarMemories> {
    const { known, relevantFrom = Number.NEGATIVE_INFINITY } = options;
    const brief = known !== undefined;
    const scope: Mem0Scope = { kind: "search", relevantFrom, brief, owner, text, vector, failures: [], foreign: 0 };
    const answer = await this.#scopes.run(scope, () =>
      this.#mem0.search(text, { filters: { ...options.filters, user_id: owner }, topK: options.limit, threshold: 0 }),
    );
    throwFirst(scope.failures);
    const hits = answer.results.flatMap((item) => {
      if (known !== undefined) {
        const record = known.get(item.id);
        return record === undefined ? [] : [{ record, score: item.score ?? 0 }];
      }
      const memory = fromPayload({ ...item.metadata, data: item.memory, user_id: item.user_id });
      if (memory?.owner === owner && memory.record.id === item.id) return [{ record: memory.record, score: item.score ?? 0 }];
      scope.foreign += 1;
      return [];
    });
    return { hits, foreign: scope.foreign };
  }
}

function throwFirst(failures: readonly unknown[]): void {
  if (failures.length > 0) throw failures[0];
}

/** Langchain's shape of an embedder. Answers with the scope's vector: the service has embedded the text before. */
function scopedEmbedder(scopes: Mem0Scopes, dimension: number) {
  return {
    async embedQuery(text: string): Promise<number[]> {
      const scope = scopes.get();
      if (scope === undefined || scope.text !== text)
        throw new AppError("EMBEDDING_UNAVAILABLE", { detail: "Mem0 embeds an unknown text." });
      return [...scope.vector];
    },
    /** Mem0 embeds the names in a query to look them up in its collection of entities, which is answered empty: any vector will do. */
    async embedDocuments(texts: string[]): Promise<number[][]> {
      return texts.map(() => new Array<number>(dimension).fill(0));
    },
  };
}

/** Mem0 wants a model at hand; with `infer: false` it never asks it. */
const noModel = {
  async invoke(): Promise<never> {
    throw new AppError("INTERNAL", { detail: "Mem0 asked a model." });
  },
};
