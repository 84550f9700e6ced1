import type { Owner } from "../domain/owner.js";
import type { JournalRecord } from "../domain/session.js";
import type { StateEngine } from "../state/engine.js";
import type { ShortTermMemory } from "./session-store.js";

/** Where state can be moved from and to. */
export const STATE_BACKENDS = ["file", "postgres", "redis", "firestore", "cosmos"] as const;
export type StateBackend = (typeof STATE_BACKENDS)[number];

/** A store of state as it is copied from. */
export interface ReadableState {
  /** For a person, and the same for the same store at every run: `PostgreSQL (schema maitred)`. */
  readonly name: string;
  /** Gives and takes values as the stores over it do: where they are encrypted, behind what encrypts them. */
  readonly engine: Pick<StateEngine, "read" | "partitions">;
  readonly journals: ReadableJournals;
}

/** A store of state that can be moved to another one, exactly, while nobody else uses either. */
export interface MovableState extends ReadableState {
  readonly engine: StateEngine;
  readonly journals: MovableJournals;
  /** The leases that others hold now, by key: when each ends, in milliseconds. Each running process renews one. */
  leases(): Promise<ReadonlyMap<string, number>>;
}

/** The sessions' journals, with the store that reads them. */
export interface ReadableJournals {
  /** `rows`: entries `journal/{session}/…` of their owners' partitions. `files`: beside the engine, which has no such entries. */
  readonly keptIn: "files" | "rows";
  /** `rows`: used where the other store keeps its journals in files. Of windows the end counts; records are read with `includeRewound`. */
  readonly store: Pick<ShortTermMemory, "window" | "read" | "list" | "check">;
}

/** The same, with the store that restores them, too. */
export interface MovableJournals extends ReadableJournals {
  readonly store: ShortTermMemory & RestoresJournals;
}

/** Where the numbering of a journal is: behind its last record where that was dropped. */
export interface JournalEnd {
  readonly lastSeq: number;
  readonly lastTurn: number;
}

export interface RestoresJournals {
  /**
   * A journal as it was: seqs with their gaps, ids and times stay. What is there already is replaced. Durable on resolve. `records` may be
   * asked for twice. The index is to be caught up afterwards. @throws SESSION_CHANGED where the id is somebody else's session
   */
  restore(owner: Owner, sessionId: string, records: () => AsyncIterable<JournalRecord>, end: JournalEnd): Promise<void>;
}
