import type { MemoryRecord } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import type { NewMemoryLogEntry } from "../ports/memory-log.js";

/** An owner's memories as their log says. */
export interface LoggedMemories {
  /** By id: all states. */
  readonly records: ReadonlyMap<string, MemoryRecord>;
  /** Where what the domain reports goes on; null: from its beginning. */
  readonly happenedCursor: string | null;
  /** True of what was there and is no more. */
  isRemoved(id: string): boolean;
}

/**
 * What is made of memories by code, beside a turn: the part of the owner's log that it takes. `change` runs alone
 * for the owner; its entry is durable before the store follows.
 */
export interface MemoryChanges {
  known(owner: Owner): Promise<LoggedMemories>;
  /** `entry`: null where nothing changes. @throws OWNER_ERASED */
  change<T>(
    owner: Owner,
    plan: (memories: LoggedMemories) => Promise<{ readonly entry: NewMemoryLogEntry | null; readonly result: T }>,
    options: { readonly now: Date; readonly signal?: AbortSignal },
  ): Promise<{ readonly result: T }>;
}
