import type { MemoryRecord } from "../../domain/memory-record.js";
import type { Owner } from "../../domain/owner.js";
import { collected } from "../../platform/collected.js";
import { AppError } from "../../platform/errors.js";
import type { SimilarMemory } from "../../ports/memory-store.js";
import type { Condition, Filter, Payload, PointVector, StoredPoint, VectorClient } from "../../ports/vectors.js";
import { scrolled } from "../requests/scrolled.js";
import { fromPayload, type MemoryPayload } from "./memory-payload.js";

/**
 * The calls that go around Mem0, straight to the same collection, each with its reason. All else, adding a memory and
 * searching by meaning, goes through Mem0's `Memory`.
 */
export const AROUND_MEM0 = {
  scroll: "reads all of an owner's, and hard constraints outside of any limit: getAll has no cursor, and cuts at topK",
  retrieve: "reads back what was written, by id and owner: Mem0 reports additions that were never stored, and its get knows no owner",
  setPayload:
    "supersedes, confirms, edits and approves without touching text or vector: Mem0's update retrieves, embeds and writes " +
    "the whole point, not atomically",
  delete: "forgets and erases by owner, waiting for it: Mem0's delete doesn't wait, and deleteAll takes `*` for every user",
  count: "says what was erased and what is left: Mem0 has no count",
  upsert:
    "gives vectors to what was written while the embedder failed, writes markers of how far the collection follows the log; never adds",
  collections: "creates collections and payload indexes, one graph for each owner: Mem0 indexes four fields, and none of ours",
} as const;

/** Points in one request of a scroll. */
const PAGE = 256;

/** Hits that were not the owner's memories, and were dropped. */
export interface Foreign {
  count: number;
}

export interface SimilarMemories {
  readonly hits: readonly SimilarMemory[];
  /** As {@link Foreign} counts. */
  readonly foreign: number;
}

/** Memories as points, of one owner at a time: every call pins the owner in its filter, and checks every hit again. */
export class MemoryPoints {
  readonly #client: VectorClient;
  readonly #collection: string;

  constructor(client: VectorClient, collection: string) {
    this.#client = client;
    this.#collection = collection;
  }

  /** All that fit, in the order of ids. Hits of somebody else are dropped and counted in `foreign`, or, without it, are an error. */
  async *scan(owner: Owner, filter: Filter, foreign?: Foreign): AsyncGenerator<MemoryRecord> {
    const all = { filter: owned(owner, filter), limit: PAGE, with_payload: true };
    for await (const points of scrolled(this.#client, this.#collection, all)) yield* recordsOf(owner, points, foreign);
  }

  collect(owner: Owner, filter: Filter, foreign?: Foreign): Promise<MemoryRecord[]> {
    return collected(this.scan(owner, filter, foreign));
  }

  /** The owner's of these ids; others are not there. */
  async retrieve(owner: Owner, ids: readonly string[]): Promise<MemoryRecord[]> {
    if (ids.length === 0) return [];
    return recordsOf(owner, await this.#client.retrieve(this.#collection, { ids: [...ids], with_payload: true }), { count: 0 });
  }

  /** The ids that somebody else's points have. Nothing of them is read but that. */
  async takenBySomebodyElse(owner: Owner, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await this.#client.retrieve(this.#collection, { ids: [...ids], with_payload: ["user_id"] });
    return new Set(found.flatMap((point) => (point.payload?.user_id === owner ? [] : [String(point.id)])));
  }

  /** Of those of these memories that are there. */
  async setPayload(owner: Owner, ids: readonly string[], payload: Partial<MemoryPayload>): Promise<void> {
    const filter = owned(owner, { must: [{ has_id: [...ids] }] });
    await this.#client.setPayload(this.#collection, { payload: payload as Payload, filter, wait: true });
  }

  /** Writes a point again that is there, with its vectors. */
  async replace(payload: MemoryPayload, vector: PointVector): Promise<void> {
    const points = [{ id: payload.memory_id, vector, payload: { ...payload } }];
    await this.#client.upsert(this.#collection, { points, update_mode: "update_only", wait: true });
  }

  async delete(owner: Owner, filter: Filter): Promise<void> {
    await this.#client.delete(this.#collection, { filter: owned(owner, filter), wait: true });
  }

  async count(owner: Owner, filter: Filter = {}): Promise<number> {
    return (await this.#client.count(this.#collection, { filter: owned(owner, filter), exact: true })).count;
  }

  /**
   * Deletes all memories of an owner, whatever their state, and looks that none is left. Mem0's own collections are searched
   * too: ours never fill them, another program on the same server may have.
   * @returns how many points there were, and how many events of their history
   */
  async erase(owner: Owner): Promise<{ readonly memories: number; readonly history_entries: number }> {
    const memories = await this.count(owner);
    let history_entries = 0;
    if (memories > 0) for await (const record of this.scan(owner, {}, { count: 0 })) history_entries += record.events.length;
    await this.delete(owner, {});
    for (const side of await this.#sideCollections()) await this.#client.delete(side, { filter: owned(owner, {}), wait: true });
    const left = await this.residue(owner);
    if (left > 0) throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE", { detail: `${left} memories are still there after their deletion.` });
    return { memories, history_entries };
  }

  /** Points of an owner, also in collections that are not ours. */
  async residue(owner: Owner): Promise<number> {
    let left = await this.count(owner);
    for (const side of await this.#sideCollections())
      left += (await this.#client.count(side, { filter: owned(owner, {}), exact: true })).count;
    return left;
  }

  /** Mem0's own and a half-made copy, whoever filled them. */
  async #sideCollections(): Promise<string[]> {
    const names = [`${this.#collection}_entities`, `${this.#collection}__reindex`];
    const found = await Promise.all(names.map(async (name) => ((await this.#client.collectionExists(name)).exists ? [name] : [])));
    return found.flat();
  }
}

/** The filter with the owner pinned. */
function owned(owner: Owner, filter: Filter): Filter {
  return { ...filter, must: [{ key: "user_id", match: { value: owner } }, ...(filter.must ?? [])] };
}

export function is(key: keyof MemoryPayload, value: string): Condition {
  return { key, match: { value } };
}

export function isAny(key: keyof MemoryPayload, any: readonly string[]): Condition {
  return { key, match: { any: [...any] } };
}

/** Ascending by id; UUIDs compare as text. */
export function compareIds(a: MemoryRecord, b: MemoryRecord): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

/** The memories in points; what is not this owner's is counted in `foreign`. @throws LONG_TERM_MEMORY_UNAVAILABLE for it without one */
export function recordsOf(owner: Owner, points: readonly StoredPoint[], foreign: Foreign | undefined): MemoryRecord[] {
  return points.flatMap((point) => {
    const memory = fromPayload(point.payload);
    if (memory !== null && memory.owner === owner && memory.record.id === point.id) return [memory.record];
    if (foreign === undefined)
      throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE", { detail: "The store answered with something that is not this owner's memory." });
    foreign.count += 1;
    return [];
  });
}
