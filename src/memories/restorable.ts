import type { Category } from "../domain/categories.js";
import type { RestorableMemory } from "../domain/memory.js";
import { type MemoryRecord, recordOf } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import { isAppError } from "../platform/errors.js";
import { derivedId } from "../platform/ids.js";
import type { Tombstone } from "../ports/owner-ledger.js";
import { byHand } from "./stated-by-hand.js";
import { notForgotten } from "./unforgotten.js";

export interface RestoreRules {
  readonly known: ReadonlyMap<string, MemoryRecord>;
  /** Ids that another owner's memories have. */
  readonly taken: ReadonlySet<string>;
  readonly tombstones: readonly Tombstone[];
  readonly categories: readonly Category[];
}

/**
 * The records of an export that are to be stored anew: not those that are there, nor what was forgotten since they were stated. What
 * another owner still has gets ids of its own. One without a message that it came from is what a statement by hand would be.
 */
export function restorable(owner: Owner, memories: readonly RestorableMemory[], rules: RestoreRules): MemoryRecord[] {
  const own = (id: string) => (rules.taken.has(id) ? derivedId("memory", owner, id) : id);
  const records = memories
    .map((memory) => ({
      ...recordOf(memory),
      id: own(memory.id),
      superseded_by: memory.superseded_by === null ? null : own(memory.superseded_by),
    }))
    .filter((record) => !rules.known.has(record.id) && record.status !== "forgotten");
  return notForgotten(owner, records, rules.tombstones).flatMap((record) => (record.source === null ? checked(record, rules) : [record]));
}

/** Nothing for a secret. */
function checked(record: MemoryRecord, { categories }: RestoreRules): MemoryRecord[] {
  const { text, category, aspect, condition, about, subject, tags } = record;
  try {
    byHand({ text, category, aspect, condition, about, subject, tags: [...tags] }, categories);
    return [record];
  } catch (error) {
    if (isAppError(error, "MEMORY_REFUSED")) return [];
    throw error;
  }
}
