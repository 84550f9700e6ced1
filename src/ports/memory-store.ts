import type { MemoryRecord } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import type { RecallRequest } from "./memories.js";

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

/** Of a memory each of these is so, or among these; times in whole seconds since 1970, `valid_from_ts` and `valid_until_ts`. */
export type StoreFields = Readonly<
  Record<string, string | { readonly in: readonly string[] } | { readonly gte: number } | { readonly lte: number }>
>;

/** What a store is asked for by meaning. */
export interface StoreSearch {
  readonly text: string;
  /** At most. */
  readonly limit: number;
  /** All of the owner's memories by id: what is found is taken from them. */
  readonly known: ReadonlyMap<string, MemoryRecord>;
  readonly signal?: AbortSignal | undefined;
}

/** What a store is asked for a turn. */
export interface StoreRecall extends RecallRequest {
  /** All of the owner's memories by id, where the caller has them: the store is asked for what is similar alone. */
  readonly known?: ReadonlyMap<string, MemoryRecord>;
}

export interface SimilarMemory {
  readonly record: MemoryRecord;
  /** 0 to 1, comparable within one search alone. */
  readonly score: number;
}

/** What a store knows for a turn, before it is decided what the turn is given. */
export interface FoundMemories {
  /** Soft and hard ones that hold, or begin later; of very many soft ones a part, and what is like the message. */
  readonly records: readonly MemoryRecord[];
  /** Likeness to the message by id, of those that are like it. */
  readonly scores: ReadonlyMap<string, number>;
  /** Of the message; null where it was not embedded. */
  readonly vector: readonly number[] | null;
}

export interface StoreRecallResult {
  readonly status: "ok" | "timeout" | "degraded";
  readonly found: FoundMemories;
}

/**
 * The collection of memories: what the memory log says, in a form that can be searched. It can be lost, and made anew. Methods but `recall`
 * and `health` throw LONG_TERM_MEMORY_UNAVAILABLE when it is out of reach. A memory of somebody else is MEMORY_NOT_FOUND.
 */
export interface MemoryStore {
  /** True for a server of which others may have a part. */
  readonly remote: boolean;
  /** What a turn may be given; never throws. */
  recall(owner: Owner, request: StoreRecall): Promise<StoreRecallResult>;
  /** Hard memories that are active or wait, by filter, outside any limit. @throws for an answer that holds anything else */
  hard(owner: Owner, options: { readonly signal?: AbortSignal }): Promise<readonly MemoryRecord[]>;
  /** Memories that hold or will, nearest to a text first. @throws at once while the store or the embedder is left alone */
  similar(owner: Owner, search: StoreSearch): Promise<readonly MemoryRecord[]>;
  /** Of those that the fields let pass what has to do with the text, best first. */
  search(owner: Owner, search: StoreSearch & { readonly fields: StoreFields }): Promise<readonly SimilarMemory[]>;
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
  /** Notes when memories were recalled last: of those that are there, and not read back. `at`: ISO 8601. */
  countRecalled(owner: Owner, ids: readonly string[], at: string): Promise<void>;
  /** Marker included. */
  erase(owner: Owner): Promise<{ readonly memories: number; readonly history_entries: number }>;
  residue(owner: Owner): Promise<number>;
  health(): Promise<{ readonly status: "ok" | "degraded" | "down"; readonly detail?: string }>;
  close(): Promise<void>;
}
