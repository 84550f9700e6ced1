import { textHash } from "../domain/folded-text.js";
import type { Memory } from "../domain/memory.js";
import { type MemoryRecord, memoryOf } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { OwnerLogs } from "./owner-logs.js";
import type { OwnerMemories } from "./owner-memories.js";

export interface ForgettingParts {
  readonly logs: OwnerLogs;
  readonly ledger: Pick<OwnerLedger, "addTombstones">;
  /**
   * Told after a forgetting is durable, off the caller's path, so that what was made from it is made anew. What it throws is its
   * own affair.
   */
  readonly onForgotten: (owner: Owner) => void;
}

/** Memories of one entry of the log. */
const BATCH = 200;

/** Forgetting: a tombstone first, durably, then the log, then its words, then the store. */
export class Forgetting {
  readonly #parts: ForgettingParts;

  constructor(parts: ForgettingParts) {
    this.#parts = parts;
  }

  async one(owner: Owner, id: string, now: Date, askedIn: readonly string[]): Promise<readonly Memory[]> {
    const { result } = await this.#parts.logs.change(
      owner,
      async (memories) => {
        if (!memories.records.has(id)) throw new AppError("MEMORY_NOT_FOUND");
        const gone = await this.tombstones(owner, memories, [id], now, askedIn);
        return { entry: { kind: "forget", turn: null, puts: [], removed: gone.map((record) => record.id) }, result: gone.map(memoryOf) };
      },
      { now },
    );
    this.tell(owner);
    return result;
  }

  async all(owner: Owner, now: Date): Promise<number> {
    for (let count = 0; ; ) {
      const { result } = await this.#parts.logs.change(
        owner,
        async (memories) => {
          const batch = [...memories.records.keys()].slice(0, BATCH);
          if (batch.length === 0) return { entry: null, result: 0 };
          const gone = await this.tombstones(owner, memories, batch, now, []);
          return { entry: { kind: "forget", turn: null, puts: [], removed: gone.map(({ id }) => id) }, result: gone.length };
        },
        { now },
      );
      if (result === 0) {
        if (count > 0) this.tell(owner);
        return count;
      }
      count += result;
    }
  }

  /**
   * Leaves tombstones of memories and their older versions; the caller logs that they are gone. `askedIn`: the messages that asked for it;
   * they are hidden with those that it came from. @returns all that are to go
   */
  async tombstones(
    owner: Owner,
    memories: OwnerMemories,
    ids: readonly string[],
    now: Date,
    askedIn: readonly string[],
  ): Promise<readonly MemoryRecord[]> {
    if (ids.length === 0) return [];
    const all = memories.withPredecessors(ids.flatMap((id) => memories.records.get(id) ?? []));
    await this.#parts.ledger.addTombstones(
      owner,
      all.map((record) => {
        const messages = [record.source?.message_id, ...record.confirmed_by, ...askedIn];
        return {
          memoryId: record.id,
          messageIds: [...new Set(messages.filter((id): id is string => id !== undefined && !id.startsWith("by-hand:")))],
          ...(askedIn.length > 0 && { askedIn }),
          textHash: textHash(owner, record.text),
          at: now.toISOString(),
        };
      }),
    );
    return all;
  }

  tell(owner: Owner): void {
    queueMicrotask(() => this.#parts.onForgotten(owner));
  }
}
