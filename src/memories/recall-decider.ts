import type { MemoryRecord } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import type { RecallRequest, RecallResult } from "../ports/memories.js";
import type { FoundMemories } from "../ports/memory-store.js";

/** Which memories a turn is given. */
export interface RecallDecider {
  /** Memories whose likeness to a message it asks for. Null: as many as the store tells by itself; 0: the message is not embedded. */
  alikeFor(text: string): number | null;
  decide(owner: Owner, found: FoundMemories, request: Pick<RecallRequest, "text" | "now">): Promise<DecidedRecall>;
}

export interface DecidedRecall {
  readonly told: Pick<RecallResult, "memories" | "held_back">;
  /** The soft memories given that are like the message. */
  readonly alike: readonly MemoryRecord[];
}
