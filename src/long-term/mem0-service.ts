import { join } from "node:path";
import type { Embedder } from "../embedding.js";
import { AppError, isAppError } from "../errors.js";
import type {
  AppliedOperations,
  LongTermMemory,
  Memory,
  MemoryEvent,
  MemoryOperation,
  MemoryPatch,
  MemoryQuery,
  MemorySearch,
  MemorySource,
  NewStatement,
  RecallRequest,
  RecallResult,
  RestorableMemory,
} from "../long-term.js";
import type { Owner } from "../owner.js";
import type { OwnerLedger } from "../owner-ledger.js";
import type { Clock } from "../platform/clock.js";
import { isId, newId } from "../platform/ids.js";
import type { Logger } from "../platform/logger.js";
import type { Page } from "../session-store.js";
import type { VectorStore } from "../vectors.js";
import { byHand, refuseUnfit } from "./by-hand.js";
import { type Category, CONCIERGE_CATEGORIES } from "./categories.js";
import type { Claim } from "./claim.js";
import { concernedBy, concerning } from "./concerned.js";
import { erasePoints, residueOf } from "./erasure.js";
import type { SparseVectors } from "./mem0-client.js";
import { Mem0Collections } from "./mem0-collections.js";
import { eventsOf } from "./memory-events.js";
import { listMemories, selectionOf } from "./memory-listing.js";
import { is, isAny, MemoryPoints } from "./memory-points.js";
import { MemoryRecall } from "./memory-recall.js";
import { MemoryRouter } from "./memory-router.js";
import { MemoryWriter } from "./memory-writer.js";
import { patched } from "./patch.js";
import { PROFILE_DEFAULTS } from "./profile.js";
import { type ReconcileOptions, reconcile, reconcileClaims, resettle } from "./reconcile.js";
import { type MemoryRecord, memoryOf } from "./record.js";
import { restorable } from "./restore.js";
import { textHash } from "./same-statement.js";
import { withEvent } from "./slots.js";
import { StoreCalls, unavailable } from "./store-calls.js";

export interface Mem0ServiceParts {
  /** For recall, lists and reads; may be the same as `writes`. Both stay the caller's to close, after this service. */
  readonly reads: VectorStore;
  readonly writes: VectorStore;
  readonly embedder: Embedder;
  readonly sparse: SparseVectors;
  readonly ledger: Pick<OwnerLedger, "tombstones" | "addTombstone">;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Mem0ServiceOptions {
  /** The storage directory; Mem0 keeps its own id in `mem0/` there. */
  readonly dir: string;
  /** Default: one collection, `memory`. */
  readonly router?: MemoryRouter;
  readonly categories?: readonly Category[];
  /** Default 0.6. */
  readonly minConfidence?: number;
  /** Default 180. */
  readonly halfLifeDays?: number;
  /** Memories by similarity in a recall. Default 5. */
  readonly searchLimit?: number;
  /** Standing preferences in a recall. Default 12. */
  readonly standingLimit?: number;
  /** Bound of a write or a read outside of recall where the caller sets none. Default 10,000. */
  readonly timeoutMs?: number;
  /** Default: after 3 failed recalls in a row none is tried for 5,000 ms. */
  readonly breaker?: { readonly failures: number; readonly halfOpenAfterMs: number };
}

/** How long the start waits for the collections. */
const START_MS = 5_000;

/** A memory counts as recalled at most once in this time, so that a chat doesn't write at every turn. */
const RECALL_COUNTS_EVERY_MS = 86_400_000;

/**
 * Long-term memory on Mem0 over Qdrant, or over what answers Qdrant's calls. Adding and searching by meaning go through
 * Mem0's `Memory`; what goes around it is listed, with the reasons, in {@link AROUND_MEM0}. Writes of one owner run one
 * after the other; each is read back.
 */
export class Mem0Service implements LongTermMemory {
  readonly #parts: Mem0ServiceParts;
  readonly #mem0: Mem0Collections;
  readonly #router: MemoryRouter;
  readonly #categories: readonly Category[];
  readonly #minConfidence: number;
  readonly #timeoutMs: number;
  readonly #reading: MemoryPoints;
  readonly #points: MemoryPoints;
  readonly #writer: MemoryWriter;
  readonly #recall: MemoryRecall;
  readonly #calls: StoreCalls;
  readonly #background = new Set<Promise<unknown>>();

  private constructor(parts: Mem0ServiceParts, options: Mem0ServiceOptions) {
    this.#parts = parts;
    this.#router = options.router ?? new MemoryRouter();
    this.#categories = options.categories ?? CONCIERGE_CATEGORIES;
    this.#minConfidence = options.minConfidence ?? 0.6;
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#mem0 = new Mem0Collections({
      reads: parts.reads.client,
      writes: parts.writes.client,
      router: this.#router,
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
    this.#reading = new MemoryPoints(parts.reads.client, this.#router);
    this.#points = new MemoryPoints(parts.writes.client, this.#router);
    this.#writer = new MemoryWriter({
      points: this.#points,
      ledger: parts.ledger,
      embedderId: parts.embedder.id,
      embed: (texts, signal) => this.#embed(texts, signal),
      add: (owner, payload, vector) => this.#mem0.add(owner, payload, vector),
    });
    const categoryOrder = this.#categories.map((category) => category.name);
    this.#recall = new MemoryRecall(
      {
        ready: () => this.#mem0.ready(),
        within: (signal, work) => parts.reads.withSignal(signal, work),
        points: this.#reading,
        embed: async (text, signal) => (await this.#embed([text], signal))[0] ?? [],
        similar: (owner, text, vector, limit, now) =>
          this.#mem0.similar(owner, text, vector, limit, selectionOf({ status: "active" }, now).fields),
      },
      {
        searchLimit: options.searchLimit ?? 5,
        standingLimit: options.standingLimit ?? 12,
        ranking: { halfLifeDays: options.halfLifeDays ?? 180, categoryOrder },
        profile: { ...PROFILE_DEFAULTS, categoryOrder },
        breaker: options.breaker ?? { failures: 3, halfOpenAfterMs: 5_000 },
      },
      parts.logger,
    );
  }

  /**
   * Creates what is missing in the store. One that is out of reach doesn't stop the start: it is asked again when it is needed.
   * @throws REINDEX_REQUIRED, QDRANT_TOO_OLD
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

  async recall(owner: Owner, request: RecallRequest): Promise<RecallResult> {
    const { recalled, ...result } = await this.#recall.recall(owner, request);
    this.#countRecalled(owner, recalled, request.now);
    return result;
  }

  async constraints(
    owner: Owner,
    options: { readonly now: Date; readonly categories?: readonly string[]; readonly signal?: AbortSignal },
  ): Promise<readonly Memory[]> {
    const selection = selectionOf({ status: "active" }, options.now);
    const categories = options.categories === undefined ? [] : [isAny("category", options.categories)];
    const until = { key: "valid_until_ts", range: { gte: Math.floor(options.now.getTime() / 1000) } };
    const filter = { must: [is("status", "active"), is("strength", "hard"), until, ...categories] };
    // Without a place to count them, hits that are not the owner's are an error: a gate must not read a lie as "no constraints".
    const records = await this.#calls.read(options.signal, () => this.#reading.collect(owner, filter));
    return records.filter(selection.keep).map(memoryOf);
  }

  async related(
    owner: Owner,
    text: string,
    options: { readonly limit: number; readonly signal?: AbortSignal },
  ): Promise<readonly Memory[]> {
    const now = this.#parts.clock.now();
    return this.#calls.read(options.signal, async (signal) => {
      const { fields, keep } = selectionOf({ status: "active" }, now);
      const vector = (await this.#embed([text], signal))[0] ?? [];
      const near =
        text.trim() === "" ? [] : (await this.#mem0.similar(owner, text, vector, options.limit, fields)).hits.map((hit) => hit.record);
      const newest = await this.#reading.latest(owner, { must: [is("status", "active")] }, "last_confirmed_at_ts", options.limit, {
        count: 0,
      });
      const all = new Map([...near, ...newest].filter(keep).map((record) => [record.id, record]));
      return [...all.values()].slice(0, options.limit).map(memoryOf);
    });
  }

  async apply(
    owner: Owner,
    operations: readonly MemoryOperation[],
    options: { readonly now: Date; readonly signal?: AbortSignal },
  ): Promise<AppliedOperations> {
    return this.#calls.write(owner, options.signal, async (signal) => {
      const memories = await concernedBy(this.#points, owner, operations);
      const changes = reconcile(memories, operations, await this.#rules(owner, options.now));
      await this.#writer.commit(owner, changes, signal);
      const going = memories.filter((record) => changes.forgotten.includes(record.id));
      const asking = operations.flatMap((operation) => (operation.op === "forget" ? [operation.source.message_id] : []));
      const forgotten = going.length === 0 ? [] : await this.#writer.forget(owner, going, options.now, asking);
      return { ...changes.outcome, forgotten: forgotten.map((record) => record.id) };
    });
  }

  async add(
    owner: Owner,
    said: NewStatement,
    options: { readonly id?: string; readonly now: Date; readonly source?: MemorySource },
  ): Promise<Memory> {
    const id = options.id ?? newId();
    const { statement, review } = byHand(said, this.#categories);
    return this.#calls.write(owner, undefined, async (signal) => {
      const claim: Claim = {
        id,
        statedAt: options.now.toISOString(),
        source: options.source ?? null,
        statement,
        review,
        replaces: null,
      };
      const filter = concerning([statement.category], [id], options.source === undefined ? [] : [options.source.message_id]);
      const memories = await this.#points.collect(owner, filter, { count: 0 });
      // What a user says by hand is as sure as it gets: the gate is for extractors.
      const changes = reconcileClaims(memories, [claim], { ...(await this.#rules(owner, options.now)), minConfidence: 0 });
      await this.#writer.commit(owner, changes, signal);
      const resolved = changes.resolved.get(id);
      if (resolved === undefined)
        throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/valid_until", detail: "It is over already, or was forgotten." }] });
      return memoryOf(await this.#find(owner, resolved));
    });
  }

  async get(owner: Owner, id: string, options: { readonly signal?: AbortSignal } = {}): Promise<Memory> {
    return this.#calls.read(options.signal, async () => memoryOf(await this.#find(owner, id)));
  }

  async list(owner: Owner, query: MemoryQuery): Promise<Page<Memory>> {
    const page = await this.#calls.read(query.signal, () => listMemories(this.#reading, owner, query, this.#parts.clock.now()));
    return { data: page.data.map(memoryOf), nextCursor: page.nextCursor };
  }

  async search(owner: Owner, query: MemorySearch): Promise<readonly (Memory & { readonly score: number })[]> {
    const { fields, keep } = selectionOf(query, this.#parts.clock.now());
    if (query.text.trim() === "") return [];
    return this.#calls.read(query.signal, async (signal) => {
      const vector = (await this.#embed([query.text], signal))[0] ?? [];
      const { hits } = await this.#mem0.similar(owner, query.text, vector, Math.min(Math.max(query.limit ?? 20, 1), 200), fields);
      return hits.filter(({ record }) => keep(record)).map(({ record, score }) => ({ ...memoryOf(record), score }));
    });
  }

  async patch(owner: Owner, id: string, patch: MemoryPatch, options: { readonly now: Date }): Promise<Memory> {
    refuseUnfit(patch);
    return this.#calls.write(owner, undefined, async (signal) => {
      const before = await this.#find(owner, id);
      if (before.status !== "active" && before.status !== "review")
        throw new AppError("INVALID_REQUEST", { detail: "Only a memory that holds, or waits for approval, can be edited." });
      const edited = patched(before, patch, options.now);
      const moves = this.#router.collectionOf(edited.type) !== this.#router.collectionOf(before.type);
      // Text and vector are never changed in place, nor does a point change its collection.
      const replaces = edited.text !== before.text || moves;
      const after: MemoryRecord = replaces
        ? {
            ...edited,
            id: newId(),
            created_at: options.now.toISOString(),
            source: null,
            confirmed_by: [],
            events: [{ at: options.now.toISOString(), event: "edited" }],
          }
        : edited;
      await this.#settle(owner, after, options.now, signal);
      if (replaces) {
        const past = {
          ...before,
          status: "superseded",
          superseded_by: after.id,
          valid_until: options.now.toISOString(),
          events: withEvent(before, options.now, "superseded"),
          updated_at: options.now.toISOString(),
        } as const;
        await this.#writer.commit(owner, { created: [], updated: [past] }, signal);
      }
      return memoryOf(await this.#find(owner, after.id));
    });
  }

  async approve(owner: Owner, id: string, options: { readonly now: Date }): Promise<Memory> {
    return this.#calls.write(owner, undefined, async (signal) => {
      const record = await this.#find(owner, id);
      if (record.status === "active") return memoryOf(record);
      if (record.status !== "review") throw new AppError("INVALID_REQUEST", { detail: "Only a memory in review can be approved." });
      const approved = {
        ...record,
        status: "active",
        explicit: true,
        last_confirmed_at: options.now.toISOString(),
        events: withEvent(record, options.now, "approved"),
        updated_at: options.now.toISOString(),
      } as const;
      await this.#settle(owner, approved, options.now, signal);
      return memoryOf(await this.#find(owner, id));
    });
  }

  async history(owner: Owner, id: string): Promise<readonly MemoryEvent[]> {
    const now = this.#parts.clock.now();
    return this.#calls.read(undefined, async () =>
      eventsOf(await this.#writer.withPredecessors(owner, [await this.#find(owner, id)]), now),
    );
  }

  async forget(
    owner: Owner,
    id: string,
    options: { readonly now: Date; readonly askedIn?: readonly string[] },
  ): Promise<readonly Memory[]> {
    return this.#calls.write(owner, undefined, async () =>
      (await this.#writer.forget(owner, [await this.#find(owner, id)], options.now, options.askedIn)).map(memoryOf),
    );
  }

  async forgetAll(owner: Owner, options: { readonly now: Date }): Promise<number> {
    return this.#calls.write(owner, undefined, async () => {
      const all = await this.#points.collect(owner, {}, { count: 0 });
      return (await this.#writer.forget(owner, all, options.now)).length;
    });
  }

  async detachSession(owner: Owner, sessionId: string, how: "delete" | "drop-quotes"): Promise<number> {
    return this.#calls.write(owner, undefined, async () => {
      const filter = { must: [is("source_session_id", sessionId)] };
      const records = await this.#points.collect(owner, filter, { count: 0 });
      if (how === "delete") {
        if (records.length > 0) await this.#points.delete(owner, filter);
        return records.length;
      }
      const quoted = records.flatMap(({ id, source }) => (source === null || source.quote === "" ? [] : [{ id, source }]));
      for (const { id, source } of quoted) await this.#points.setPayload(owner, id, { source: { ...source, quote: "" } });
      return quoted.length;
    });
  }

  async *all(owner: Owner): AsyncIterable<Memory> {
    try {
      await this.#mem0.ready();
      for await (const record of this.#reading.scan(owner, {}, { count: 0 })) yield memoryOf(record);
    } catch (error) {
      throw unavailable(error);
    }
  }

  async restore(owner: Owner, memories: readonly RestorableMemory[]): Promise<number> {
    return this.#calls.write(owner, undefined, async (signal) => {
      const tombstones = await this.#parts.ledger.tombstones(owner);
      const created = await restorable(this.#points, owner, memories, tombstones);
      await this.#writer.commit(owner, { created, updated: [] }, signal);
      if (created.length > 0) this.#parts.logger.info({ memories: created.length }, "Memories were restored");
      return created.length;
    });
  }

  async erase(owner: Owner): Promise<{ readonly memories: number; readonly history_entries: number }> {
    await Promise.allSettled(this.#background);
    return this.#calls.write(owner, undefined, () => erasePoints(this.#parts.writes.client, this.#points, this.#router, owner));
  }

  async residue(owner: Owner): Promise<number> {
    return this.#calls.read(undefined, () => residueOf(this.#parts.reads.client, this.#reading, this.#router, owner));
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

  /** Waits for what runs in the background. The stores stay open: they are the caller's. */
  async close(): Promise<void> {
    await this.#calls.settled();
    await Promise.allSettled(this.#background);
  }

  // ---- inner ---------------------------------------------------------------------------------------------------

  async #embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]> {
    const { embedder } = this.#parts;
    const vectors = await embedder.embed(texts, { signal });
    const fit =
      vectors.length === texts.length && vectors.every((vector) => vector.length === embedder.dimension && vector.every(Number.isFinite));
    if (!fit) throw new AppError("EMBEDDING_UNAVAILABLE", { detail: "The embedder answered with vectors of another shape." });
    return vectors.map((vector) => Array.from(vector));
  }

  async #find(owner: Owner, id: string): Promise<MemoryRecord> {
    if (!isId(id)) throw new AppError("MEMORY_NOT_FOUND");
    const [record] = await this.#points.retrieve(owner, [id]);
    if (record === undefined) throw new AppError("MEMORY_NOT_FOUND");
    return record;
  }

  /** Stores a record that was changed by hand, and settles the slot that it stands in. */
  async #settle(owner: Owner, record: MemoryRecord, now: Date, signal: AbortSignal): Promise<void> {
    const memories = await this.#points.collect(owner, concerning([record.category], [record.id], []), { count: 0 });
    const rules = await this.#rules(owner, now);
    await this.#writer.commit(owner, resettle(memories, [record], rules), signal);
  }

  async #rules(owner: Owner, now: Date): Promise<ReconcileOptions> {
    const tombstones = await this.#parts.ledger.tombstones(owner);
    return { now, minConfidence: this.#minConfidence, tombstones, hash: (text) => textHash(owner, text), categories: this.#categories };
  }

  /** Decay counts from the last recall too: noted off the reply path, at most once a day, and no matter if it fails. */
  #countRecalled(owner: Owner, recalled: readonly MemoryRecord[], now: Date): void {
    const due = recalled.filter(({ last_recalled_at: at }) => at === null || now.getTime() - Date.parse(at) >= RECALL_COUNTS_EVERY_MS);
    if (due.length === 0) return;
    const { writes, logger } = this.#parts;
    const work = writes
      .withSignal(AbortSignal.timeout(this.#timeoutMs), async () => {
        for (const record of due) await this.#points.setPayload(owner, record.id, { last_recalled_at: now.toISOString() });
      })
      .catch((error: unknown) => logger.debug({ err: error }, "A recall was not counted"))
      .finally(() => this.#background.delete(work));
    this.#background.add(work);
  }
}
