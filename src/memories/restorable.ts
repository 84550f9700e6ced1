import type { MemoryRecord } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import { derivedId } from "../platform/ids.js";
import type { Tombstone } from "../ports/owner-ledger.js";
import { notForgotten } from "./unforgotten.js";

export interface RestoreRules {
  readonly known: ReadonlyMap<string, MemoryRecord>;
  /** Ids that another owner's memories have. */
  readonly taken: ReadonlySet<string>;
  readonly tombstones: readonly Tombstone[];
}

/**
 * Of records that an export brings those that are to be stored anew: not those that are there, nor what was forgotten since they were
 * stated. What another owner still has gets ids of its own.
 */
export function restorable(owner: Owner, memories: readonly MemoryRecord[], rules: RestoreRules): MemoryRecord[] {
  const own = (id: string) => (rules.taken.has(id) ? derivedId("memory", owner, id) : id);
  const records = memories
    .map((memory) => ({
      ...memory,
      id: own(memory.id),
      superseded_by: memory.superseded_by === null ? null : own(memory.superseded_by),
    }))
    .filter((record) => !rules.known.has(record.id) && record.status !== "forgotten");
  return notForgotten(owner, records, rules.tombstones);
}
