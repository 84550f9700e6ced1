import { join } from "node:path";
import { beginsAfter, holdsAt, type MemoryRecord } from "../../domain/memory-record.js";
import type { Owner } from "../../domain/owner.js";
import { batchesOf } from "../../platform/bounded-parallel.js";
import type { Clock } from "../../platform/clock.js";
import { AppError, isAppError } from "../../platform/errors.js";
import type { Logger } from "../../platform/logger.js";
import { numbersOf } from "../../platform/numbers.js";
import type { Embedder, EmbeddingKind } from "../../ports/embedding.js";
import type {
  MemoryStore,
  Projected,
  SimilarMemory,
  StoreFields,
  StoreMarker,
  StoreRecall,
  StoreSearch,
} from "../../ports/memory-store.js";
import type { SparseVectors, VectorStore } from "../../ports/vectors.js";
import { memoryCollection } from "./collections.js";
import { Mem0Client } from "./mem0-client.js";
import { is, isAny, MemoryPoints } from "./memory-points.js";
import { MemoryRecall } from "./memory-recall.js";
import { MemoryWriter } from "./memory-writer.js";
import { StoreCalls, unavailable } from "./store-calls.js";
import { StoreMarkers } from "./store-markers.js";

export interface Mem0ServiceParts {
  /** For all that is read outside of a write; may be the same as `writes`. Both stay the caller's to close, after this service. */
  readonly reads: VectorStore;
  readonly writes: VectorStore;
  readonly embedder: Embedder;
  readonly sparse: SparseVectors;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Mem0ServiceOptions {
  /** The storage directory; Mem0 keeps its own id in `mem0/` there. */
  readonly dir: string;
  /** True for a server of which others may have a part. Default false. */
  readonly remote?: boolean;
  /** Tells this installation from others on the same server. Default: one for all. */
  readonly installation?: string;
  /** Of all memories. Default `memory`. */
  readonly collection?: string;
  /** Memories by similarity in a recall. Default 5. */
  readonly searchLimit?: number;
  /** Bound of a write or a read outside of recall where the caller sets none. Default 10,000. */
  readonly timeoutMs?: number;
  /** Default: after 3 failed recalls in a row none is tried for 5,000 ms. */
  readonly breaker?: { readonly failures: number; readonly halfOpenAfterMs: number };
}

/** How long the start waits for the collections. */
const START_MS = 5_000;

/** Records of one write. */
const BATCH = 64;

/**
 * Long-term memory on Mem0 over Qdrant, or over what answers Qdrant's calls. Adding and searching by meaning go through
 * Mem0's `Memory`; what goes around it is listed, with the reasons, in `AROUND_MEM0`. Holds what the memory log says; writes of
 * one owner run one after the other; each is read back.
 */
export class Mem0Service implements MemoryStore {
  readonly remote: boolean;
  readonly #parts: Mem0ServiceParts;
  readonly #mem0: Mem0Client;
  readonly #timeoutMs: number;
  readonly #reading: MemoryPoints;
  readonly #points: MemoryPoints;
  readonly #writer: MemoryWriter;
  readonly #recall: MemoryRecall;
  readonly #calls: StoreCalls;
  readonly #markers: StoreMarkers;

  private constructor(parts: Mem0ServiceParts, options: Mem0ServiceOptions) {
    this.#parts = parts;
    this.remote = options.remote ?? false;
    const collection = memoryCollection(options.collection);
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#mem0 = new Mem0Client({
      reads: parts.reads.client,
      writes: parts.writes.client,
      collection,
      sparse: parts.sparse,
      dimension: parts.embedder.dimension,
      embedder: parts.embedder.id,
      dir: join(options.dir, "mem0"),
    });
    this.#calls = new StoreCalls({
      reads: parts.reads,
      writes: parts.writes,
      ready: () => this.#mem0.ready(),
      timeoutMs: this.#timeoutMs,
    });
    this.#reading = new MemoryPoints(parts.reads.client, collection);
    this.#points = new MemoryPoints(parts.writes.client, collection);
    this.#writer = new MemoryWriter({
      points: this.#points,
      embedderId: parts.embedder.id,
      dimension: parts.embedder.dimension,
      sparse: parts.sparse,
      embed: (texts, signal) => this.#embed(texts, "document", signal),
      add: (owner, payload, vector) => this.#mem0.add(owner, payload, vector),
    });
    this.#markers = new StoreMarkers(
      { reads: parts.reads.client, writes: parts.writes.client },
      { collection, embedder: parts.embedder, installation: options.installation ?? "" },
    );
    this.#recall = new MemoryRecall(
      {
        calls: this.#calls,
        points: this.#reading,
        embed: async (text, signal) => (await this.#embed([text], "query", signal))[0] ?? [],
        similar: (owner, { text, known, now }, vector, limit) => {
          const relevantFrom = this.#relevantFrom(vector);
          return this.#mem0.similar(owner, text, vector, { limit, filters: holding(now), relevantFrom, known });
        },
      },
      {
        searchLimit: options.searchLimit ?? 5,
        breaker: options.breaker ?? { failures: 3, halfOpenAfterMs: 5_000 },
      },
      parts.logger,
    );
  }

  /**
   * Creates what is missing in the store. One that is out of reach doesn't stop the start: it is asked again when it is needed.
   * @throws INVALID_CONFIG for a `collection` that can't be one, REINDEX_REQUIRED, QDRANT_TOO_OLD
   */
  static async open(parts: Mem0ServiceParts, options: Mem0ServiceOptions): Promise<Mem0Service> {
    const service = new Mem0Service(parts, options);
    try {
      await parts.writes.withSignal(AbortSignal.timeout(Math.min(service.#timeoutMs, START_MS)), () => service.#mem0.ready());
    } catch (error) {
      if (isAppError(error, "REINDEX_REQUIRED") || isAppError(error, "QDRANT_TOO_OLD")) throw error;
      parts.logger.warn({ err: error }, "Long-term memory is out of reach; it will be tried again when it is needed");
    }
    return service;
  }

  recall(owner: Owner, request: StoreRecall) {
    return this.#recall.recall(owner, request);
  }

  async hard(owner: Owner, options: { readonly signal?: AbortSignal }): Promise<readonly MemoryRecord[]> {
    const filter = { must: [is("strength", "hard"), isAny("status", ["active", "review"])] };
    // Without a place to count them, hits that are not the owner's are an error: a gate must not read a lie as "no constraints".
    return this.#calls.read(options.signal, () => this.#reading.collect(owner, filter));
  }

  async similar(owner: Owner, search: StoreSearch): Promise<readonly MemoryRecord[]> {
    const leaves = this.#recall.leavesAlone(owner);
    if (leaves.store || leaves.embedder) throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE");
    const now = this.#parts.clock.now();
    const hits = await this.#nearest(owner, { ...search, fields: holding(now) }, () => undefined);
    return hits.map(({ record }) => record).filter((record) => holdsAt(record, now) || beginsAfter(record, now));
  }

  search(owner: Owner, search: StoreSearch & { readonly fields: StoreFields }): Promise<readonly SimilarMemory[]> {
    return this.#nearest(owner, search, (vector) => this.#relevantFrom(vector));
  }

  async *all(owner: Owner): AsyncIterable<MemoryRecord> {
    try {
      await this.#mem0.ready();
      yield* this.#reading.scan(owner, {}, { count: 0 });
    } catch (error) {
      throw unavailable(error);
    }
  }

  async count(owner: Owner): Promise<number> {
    return this.#calls.read(undefined, () => this.#reading.count(owner));
  }

  async takenBySomebodyElse(owner: Owner, ids: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#calls.read(undefined, () => this.#reading.takenBySomebodyElse(owner, ids));
  }

  async marker(owner: Owner): Promise<StoreMarker | null> {
    return this.#calls.read(undefined, () => this.#markers.of(owner));
  }

  async knowsUs(): Promise<boolean> {
    return this.#calls.read(undefined, () => this.#markers.isOurs());
  }

  async announce(): Promise<void> {
    await this.#calls.read(undefined, () => this.#markers.makeOurs());
  }

  /** In batches, each within its own bound: new and changed ones, then what goes, then the marker. */
  async project(owner: Owner, { puts, removed, marker }: Projected, options: { readonly signal?: AbortSignal }): Promise<void> {
    const { signal: given } = options;
    for (const batch of batchesOf(puts, BATCH)) await this.#calls.write(owner, given, (signal) => this.#writer.put(owner, batch, signal));
    for (const ids of batchesOf(removed, BATCH)) await this.#calls.write(owner, given, () => this.#writer.remove(owner, ids));
    await this.#calls.write(owner, given, () => this.#markers.put(owner, marker));
  }

  countRecalled(owner: Owner, ids: readonly string[], at: string): Promise<void> {
    return this.#calls.write(owner, undefined, () => this.#points.setPayload(owner, ids, { last_recalled_at: at }));
  }

  async erase(owner: Owner): Promise<{ readonly memories: number; readonly history_entries: number }> {
    return this.#calls.write(owner, undefined, async () => {
      const erased = await this.#points.erase(owner);
      await this.#markers.remove(owner);
      return erased;
    });
  }

  async residue(owner: Owner): Promise<number> {
    return this.#calls.read(undefined, async () => {
      const left = await this.#reading.residue(owner);
      return left + ((await this.#markers.of(owner)) === null ? 0 : 1);
    });
  }

  async health(): Promise<{ readonly status: "ok" | "degraded" | "down"; readonly detail?: string }> {
    const health = await this.#parts.reads.health();
    if (health.status !== "ok") return health;
    const failing = this.#recall.failing;
    if (failing !== null) return { status: "degraded", detail: `The last ${failing} recalls failed or were late.` };
    if (this.#recall.isOpen) return { status: "degraded", detail: "The circuit breaker is open." };
    const unwritten = this.#calls.failingWrites;
    return unwritten === null ? { status: "ok" } : { status: "degraded", detail: `The last ${unwritten} writes failed.` };
  }

  /** Waits for what is being written. The stores stay open: they are the caller's. */
  async close(): Promise<void> {
    await this.#calls.settled();
  }

  async #embed(texts: readonly string[], kind: EmbeddingKind, signal: AbortSignal): Promise<readonly (readonly number[])[]> {
    const { embedder } = this.#parts;
    const vectors = await embedder.embed(texts, { kind, signal });
    const fits = (vector: Float32Array) => vector.length === embedder.dimension && vector.every(Number.isFinite);
    if (vectors.length !== texts.length || !vectors.every(fits))
      throw new AppError("EMBEDDING_UNAVAILABLE", { detail: "The embedder answered with vectors of another shape." });
    return vectors.map(numbersOf);
  }

  #relevantFrom(query: readonly number[]): number | undefined {
    return this.#parts.embedder.relevantFrom?.(new Float32Array(query));
  }

  async #nearest(
    owner: Owner,
    { text, limit, fields: filters, known, signal: given }: StoreSearch & { readonly fields: StoreFields },
    relevantFrom: (vector: readonly number[]) => number | undefined,
  ): Promise<readonly SimilarMemory[]> {
    if (text.trim() === "") return [];
    return this.#calls.read(given, async (signal) => {
      const vector = (await this.#embed([text], "query", signal))[0] ?? [];
      return (await this.#mem0.similar(owner, text, vector, { limit, filters, known, relevantFrom: relevantFrom(vector) })).hits;
    });
  }
}

/** What holds or will, in whole seconds. */
function holding(now: Date): StoreFields {
  return { status: "active", valid_until_ts: { gte: Math.floor(now.getTime() / 1000) } };
}
