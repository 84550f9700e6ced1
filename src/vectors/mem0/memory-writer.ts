import { LRUCache } from "lru-cache";
import type { MemoryRecord } from "../../domain/memory-record.js";
import type { Owner } from "../../domain/owner.js";
import { batchesOf, eachInParallel } from "../../platform/bounded-parallel.js";
import { AppError, isAppError } from "../../platform/errors.js";
import type { SparseVectors } from "../../ports/vectors.js";
import { SPARSE_NAME } from "./collections.js";
import { type MemoryPayload, toPayload, UNEMBEDDED } from "./memory-payload.js";
import { is, type MemoryPoints } from "./memory-points.js";

export interface WriterParts {
  readonly points: MemoryPoints;
  /** Goes into each payload. */
  readonly embedderId: string;
  /** Of a vector. */
  readonly dimension: number;
  readonly sparse: SparseVectors;
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]>;
  /** Through Mem0; insert only. */
  add(owner: Owner, payload: MemoryPayload, vector: readonly number[]): Promise<void>;
}

/** Memories that are embedded together once the embedder is back. */
const LATE_BATCH = 64;
/** Owners of whom nothing waits for its vector, and for how long that is taken for granted: another process may write, too. */
const MAX_OWNERS = 10_000;
const LOOK_AGAIN_MS = 60_000;

/** Writes what the log says, and believes it when it was read back. The caller holds the owner's lock. */
export class MemoryWriter {
  readonly #parts: WriterParts;
  readonly #embedded = new LRUCache<Owner, true>({ max: MAX_OWNERS, ttl: LOOK_AGAIN_MS });

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /**
   * New memories are added, those that are there changed; cut off anywhere, a repetition completes it.
   * @throws LONG_TERM_MEMORY_UNAVAILABLE when something can't be read back as it was written
   */
  async put(owner: Owner, records: readonly MemoryRecord[], signal: AbortSignal): Promise<void> {
    const { points, embedderId } = this.#parts;
    const ids = records.map(({ id }) => id);
    const there = new Map((await points.retrieve(owner, ids)).map((record) => [record.id, record]));
    // Text and vector are never changed in place: what has other words there is an old copy.
    const other = records.flatMap(({ id, text }) => ((there.get(id)?.text ?? text) === text ? [] : [id]));
    await this.remove(owner, other);
    const created = records.filter((record) => there.get(record.id)?.text !== record.text);
    const vectors = await this.#vectors(created, signal);
    for (const [index, record] of created.entries()) {
      signal.throwIfAborted();
      await this.#parts.add(owner, toPayload(owner, record, vectors.embedderId), vectors.of[index] ?? []);
    }
    if (vectors.embedderId === UNEMBEDDED) this.#embedded.delete(owner);
    else if (created.length > 0) await this.#embedLate(owner, signal);
    const changed = records.filter(({ id, text }) => there.get(id)?.text === text);
    signal.throwIfAborted();
    // None goes on behind the owner's lock, where it would overwrite what is newer.
    await eachInParallel(changed, (record) => points.setPayload(owner, [record.id], mutablePart(toPayload(owner, record, embedderId))));
    await this.#verify(owner, records);
  }

  /** @throws LONG_TERM_MEMORY_UNAVAILABLE when something is still there */
  async remove(owner: Owner, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#parts.points.delete(owner, { must: [{ has_id: [...ids] }] });
    if ((await this.#parts.points.retrieve(owner, ids)).length > 0)
      throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE", { detail: "What was deleted is still there." });
  }

  /** While the embedder fails, zeros: what was said is kept and found by its words, and is near to nothing until {@link #embedLate}. */
  async #vectors(
    records: readonly MemoryRecord[],
    signal: AbortSignal,
  ): Promise<{ readonly of: readonly (readonly number[])[]; readonly embedderId: string }> {
    if (records.length === 0) return { of: [], embedderId: this.#parts.embedderId };
    const texts = records.map((record) => record.text);
    try {
      return { of: await this.#parts.embed(texts, signal), embedderId: this.#parts.embedderId };
    } catch (error) {
      if (!isAppError(error, "EMBEDDING_UNAVAILABLE")) throw error;
      return { of: texts.map(() => new Array<number>(this.#parts.dimension).fill(0)), embedderId: UNEMBEDDED };
    }
  }

  /** Gives vectors to what was written while the embedder failed. */
  async #embedLate(owner: Owner, signal: AbortSignal): Promise<void> {
    if (this.#embedded.has(owner)) return;
    const { points, embedderId, embed, sparse } = this.#parts;
    const late = await points.collect(owner, { must: [is("embedder", UNEMBEDDED)] }, { count: 0 });
    for (const batch of batchesOf(late, LATE_BATCH)) {
      const texts = batch.map((record) => record.text);
      const vectors = await embed(texts, signal);
      for (const [index, record] of batch.entries()) {
        const vector = { "": [...(vectors[index] ?? [])], [SPARSE_NAME]: sparse.documentVector(record.text) };
        // As it was just read, under the owner's lock. Around Mem0, whose update embeds by itself.
        await points.replace(toPayload(owner, record, embedderId), vector);
      }
    }
    this.#embedded.set(owner, true);
  }

  async #verify(owner: Owner, expected: readonly MemoryRecord[]): Promise<void> {
    const ids = expected.map(({ id }) => id);
    const found = new Map((await this.#parts.points.retrieve(owner, ids)).map((record) => [record.id, record]));
    const compared = ["text", "status", "superseded_by", "seen_count"] as const;
    const missing = expected.filter((record) => compared.some((key) => found.get(record.id)?.[key] !== record[key]));
    if (missing.length > 0)
      throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE", {
        detail: `${missing.length} of ${expected.length} memories could not be read back.`,
      });
  }
}

/** What may change without touching text, vector or owner. */
function mutablePart(payload: MemoryPayload): Partial<MemoryPayload> {
  const { v: _v, memory_id: _id, user_id: _owner, data: _text, embedder: _embedder, created_at: _created, ...mutable } = payload;
  return mutable;
}
