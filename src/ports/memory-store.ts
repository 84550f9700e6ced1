import type { Memory } from "../domain/memory.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import type { MemoryQuery, MemorySearch, RecallRequest, RecallResult } from "./memories.js";
import type { Page } from "./session-store.js";

/** How far the store follows an owner's memory log, as the store itself keeps it. */
export interface StoreMarker {
  /** The last entry of the log that it holds. */
  readonly seq: number;
  /** Memories of the owner that it should hold. */
  readonly count: number;
  /** The owner's epoch when it was written: what an older one left behind was erased since. */
  readonly epoch: number;
}

/** What the store is to hold of an owner. */
export interface Projected {
  /** Whole records: those that are there are changed, the others added. */
  readonly puts: readonly MemoryRecord[];
  readonly removed: readonly string[];
  /** Written last, once all else was read back. */
  readonly marker: StoreMarker;
}

/** What a store is asked for a turn. */
export interface StoreRecall extends RecallRequest {
  /** All of the owner's memories by id, where the caller has them and the store has no others: it is asked for what is similar alone. */
  readonly known?: ReadonlyMap<string, MemoryRecord>;
}

/** What a store knows for a turn, before it is decided what the turn is given. */
export interface FoundMemories {
  /** Soft and hard ones that hold, or begin later; of very many the latest, and what is like the message. */
  readonly records: readonly MemoryRecord[];
  /** Likeness to the message by id, of those that are like it. */
  readonly scores: ReadonlyMap<string, number>;
  /** Of the message; null where it was not embedded. */
  readonly vector: readonly number[] | null;
}

export interface StoreRecallResult extends RecallResult {
  /** The soft memories that came for their likeness. */
  readonly recalled: readonly MemoryRecord[];
  readonly found: FoundMemories;
}

/**
 * The collection of memories: what the memory log says, in a form that can be searched. It can be lost, and made anew. Methods but `recall`
 * and `health` throw LONG_TERM_MEMORY_UNAVAILABLE when it is out of reach. A memory of somebody else is MEMORY_NOT_FOUND.
 */
export interface MemoryStore {
  /** True for a server of which others may have a part. */
  readonly remote: boolean;
  /** Never throws. `memories`: what a turn is given where nothing else decides it. */
  recall(owner: Owner, request: StoreRecall): Promise<StoreRecallResult>;
  /** Hard memories that are active or wait, by filter, outside any limit. @throws for an answer that holds anything else */
  hard(owner: Owner, options: { readonly signal?: AbortSignal }): Promise<readonly MemoryRecord[]>;
  /** Memories that hold, nearest to a text first. `known`: as {@link StoreRecall} has it. */
  similar(
    owner: Owner,
    text: string,
    options: { readonly limit: number; readonly signal?: AbortSignal } & Pick<StoreRecall, "known">,
  ): Promise<readonly Memory[]>;
  /** Best first. */
  search(owner: Owner, query: MemorySearch): Promise<readonly (Memory & { readonly score: number })[]>;
  list(owner: Owner, query: MemoryQuery): Promise<Page<Memory>>;
  get(owner: Owner, id: string, options?: { readonly signal?: AbortSignal }): Promise<Memory>;
  /** Every memory of the owner, all states. */
  all(owner: Owner): AsyncIterable<MemoryRecord>;
  count(owner: Owner): Promise<number>;
  /** The ids among these that another owner's memories have. */
  takenBySomebodyElse(owner: Owner, ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Null where there is none. */
  marker(owner: Owner): Promise<StoreMarker | null>;
  /** Whether this installation has ever written here. */
  knowsUs(): Promise<boolean>;
  /** Notes that this installation writes here. */
  announce(): Promise<void>;
  /** Safe to repeat. @throws when something can't be read back as it was written */
  project(owner: Owner, projected: Projected, options: { readonly signal?: AbortSignal }): Promise<void>;
  /** Marker included. */
  erase(owner: Owner): Promise<{ readonly memories: number; readonly history_entries: number }>;
  residue(owner: Owner): Promise<number>;
  health(): Promise<{ readonly status: "ok" | "degraded" | "down"; readonly detail?: string }>;
  close(): Promise<void>;
}
