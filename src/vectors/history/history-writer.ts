import { LRUCache } from "lru-cache";
import type { Owner } from "../../domain/owner.js";
import { AppError, isAppError } from "../../platform/errors.js";
import { numbersOf } from "../../platform/numbers.js";
import type { Embedder } from "../../ports/embedding.js";
import type { HistoryMessage } from "../../ports/resources.js";
import type { Point, PointVector, SparseVector, SparseVectors, VectorStore } from "../../ports/vectors.js";
import { encodeTerms } from "./candidate.js";
import { CONTEXT, fromPayload, messagesBetween, OWN, ownFilter, pointIdOf, toPayload, UNEMBEDDED, unembeddedAmong } from "./collection.js";

/** Messages that are embedded and stored together. */
const BATCH = 128;
/** Messages before one that go into its context vector. */
const CONTEXT_MESSAGES = 2;
/** Owners of whom nothing waits for its vector, and for how long that is taken for granted: another process may write, too. */
const MAX_OWNERS = 10_000;
const LOOK_AGAIN_MS = 60_000;

export interface HistoryWriterOptions {
  readonly store: VectorStore;
  readonly embedder: Embedder;
  readonly sparse: Pick<SparseVectors, "documentVector">;
  readonly collection: string;
}

/**
 * Writes messages as points: one embedding call and one upsert a batch, insert only. While the embedder fails they are written with
 * their words alone, so that they are found by them, and get their vectors with one of the owner's next writes: where another process
 * wrote them, within a minute's time of one.
 */
export class HistoryWriter {
  readonly #options: HistoryWriterOptions;
  readonly #embedded = new LRUCache<Owner, true>({ max: MAX_OWNERS, ttl: LOOK_AGAIN_MS });

  constructor(options: HistoryWriterOptions) {
    this.#options = options;
  }

  /** How many are new. */
  async add(owner: Owner, messages: AsyncIterable<HistoryMessage> | Iterable<HistoryMessage>, signal?: AbortSignal): Promise<number> {
    let added = 0;
    let batch: HistoryMessage[] = [];
    for await (const message of messages) {
      batch.push(message);
      if (batch.length === BATCH) {
        added += await this.#addBatch(owner, batch, signal);
        batch = [];
      }
    }
    return added + (await this.#addBatch(owner, batch, signal));
  }

  /**
   * Deletes messages. Those that follow are written again first, so that no context vector keeps a removed message's words,
   * whatever is interrupted when.
   */
  async removeMessages(owner: Owner, messageIds: readonly string[]): Promise<number> {
    const ids = [...new Set(messageIds)].map((id) => pointIdOf(owner, id));
    if (ids.length === 0) return 0;
    const removed = (await this.#options.store.client.retrieve(this.#options.collection, { ids, with_payload: true })).flatMap(
      ({ payload }) => fromPayload(owner, payload) ?? [],
    );
    if (removed.length === 0) return 0;
    const gone = new Set(removed.map(({ message_id }) => message_id));
    const followers = new Map<string, HistoryMessage>();
    const around = new Map<string, HistoryMessage>();
    for (const { session_id, position } of removed) {
      for (const message of await this.#between(owner, session_id, position - CONTEXT_MESSAGES, position + 2 * CONTEXT_MESSAGES)) {
        if (gone.has(message.message_id)) continue;
        around.set(message.message_id, message);
        if (message.position > position && message.position <= position + CONTEXT_MESSAGES) followers.set(message.message_id, message);
      }
    }
    if (followers.size > 0) await this.#upsert(owner, [...followers.values()], [...around.values()], "upsert", undefined);
    await this.#options.store.client.delete(this.#options.collection, {
      points: removed.map(({ message_id }) => pointIdOf(owner, message_id)),
      wait: true,
    });
    return removed.length;
  }

  async #addBatch(owner: Owner, batch: readonly HistoryMessage[], signal: AbortSignal | undefined): Promise<number> {
    signal?.throwIfAborted();
    const unique = [...new Map(batch.map((message) => [message.message_id, message])).values()];
    if (unique.length === 0) return 0;
    const ids = unique.map(({ message_id }) => pointIdOf(owner, message_id));
    const [stored, before] = await Promise.all([
      this.#options.store.client.retrieve(this.#options.collection, { ids, with_payload: false }),
      this.#spokenBefore(owner, unique),
    ]);
    const known = new Set(stored.map(({ id }) => id));
    const fresh = unique.filter((_, index) => !known.has(ids[index] ?? ""));
    if (fresh.length === 0) return 0;
    const embedded = await this.#upsert(owner, fresh, [...unique, ...before], "insert_only", signal);
    if (embedded) await this.#embedLate(owner, signal);
    return fresh.length;
  }

  /** Gives vectors to what was written while the embedder failed, a batch at a time. */
  async #embedLate(owner: Owner, signal: AbortSignal | undefined): Promise<void> {
    if (this.#embedded.has(owner)) return;
    const { points } = await this.#options.store.client.scroll(this.#options.collection, {
      filter: unembeddedAmong(ownFilter(owner)),
      limit: BATCH,
      with_payload: true,
    });
    const late = points.flatMap(({ payload }) => fromPayload(owner, payload) ?? []);
    if (late.length > 0) await this.#upsert(owner, late, [...late, ...(await this.#spokenBefore(owner, late))], "upsert", signal);
    else this.#embedded.set(owner, true);
  }

  async #upsert(
    owner: Owner,
    messages: readonly HistoryMessage[],
    around: readonly HistoryMessage[],
    mode: "insert_only" | "upsert",
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const dense = await this.#dense(messages, signal);
    const byPosition = new Map(around.map((message) => [positionKey(message.session_id, message.position), message]));
    const points = messages.map((message, i): Point => {
      const vector = dense === null ? null : dense[i];
      if (vector === undefined) throw new AppError("EMBEDDING_UNAVAILABLE", { detail: "The embedder gave fewer vectors than texts." });
      const before: string[] = [];
      for (let step = CONTEXT_MESSAGES; step > 0; step--) {
        const text = byPosition.get(positionKey(message.session_id, message.position - step))?.content;
        if (text !== undefined) before.push(text);
      }
      const own = this.#options.sparse.documentVector(message.content);
      return {
        id: pointIdOf(owner, message.message_id),
        vector: vectorsOf(vector, own, this.#options.sparse.documentVector(before.join("\n")), mode),
        payload: { ...toPayload(owner, message, encodeTerms(own)), ...(vector === null ? { [UNEMBEDDED]: true } : {}) },
      };
    });
    signal?.throwIfAborted();
    if (dense === null) this.#embedded.delete(owner);
    await this.#options.store.client.upsert(this.#options.collection, { points, wait: true, update_mode: mode });
    return dense !== null;
  }

  /** Null while the embedder fails. */
  async #dense(messages: readonly HistoryMessage[], signal: AbortSignal | undefined): Promise<readonly Float32Array[] | null> {
    const texts = messages.map(({ content }) => content);
    try {
      return await this.#options.embedder.embed(texts, { kind: "document", ...(signal === undefined ? {} : { signal }) });
    } catch (error) {
      if (isAppError(error, "EMBEDDING_UNAVAILABLE")) return null;
      throw error;
    }
  }

  /** What stands in the index just before the messages whose predecessor is not in the batch. */
  async #spokenBefore(owner: Owner, batch: readonly HistoryMessage[]): Promise<HistoryMessage[]> {
    const here = new Set(batch.map(({ session_id, position }) => positionKey(session_id, position)));
    const before: HistoryMessage[] = [];
    for (const { session_id, position } of batch) {
      if (position === 0 || here.has(positionKey(session_id, position - 1))) continue;
      before.push(...(await this.#between(owner, session_id, position - CONTEXT_MESSAGES, position - 1)));
    }
    return before;
  }

  #between(owner: Owner, sessionId: string, from: number, to: number): Promise<HistoryMessage[]> {
    const { store, collection } = this.#options;
    return messagesBetween(store.client, collection, { owner, sessionId, from, to });
  }
}

/**
 * A text without words has no sparse vector. A point that is replaced is given an empty one all the same: a server older than 1.19 leaves a
 * vector that isn't named where it is when the point lies in an optimized segment, and with it the words of what was removed.
 */
function vectorsOf(dense: Float32Array | null, own: SparseVector, context: SparseVector, mode: "insert_only" | "upsert"): PointVector {
  const named = (name: string, vector: SparseVector) => (mode === "insert_only" && vector.indices.length === 0 ? {} : { [name]: vector });
  return { ...(dense === null ? {} : { "": numbersOf(dense) }), ...named(OWN, own), ...named(CONTEXT, context) };
}

function positionKey(sessionId: string, position: number): string {
  return JSON.stringify([sessionId, position]);
}
