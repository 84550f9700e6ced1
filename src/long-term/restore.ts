import type { RestorableMemory } from "../long-term.js";
import type { Owner } from "../owner.js";
import type { Tombstone } from "../owner-ledger.js";
import { derivedId } from "../platform/ids.js";
import type { MemoryPoints } from "./memory-points.js";
import { type MemoryRecord, recordOf } from "./record.js";
import { textHash } from "./same-statement.js";

/**
 * The records of an export that are to be stored anew: not those that are there, nor what was forgotten since they were stated. What
 * another owner still has gets ids of its own.
 */
export async function restorable(
  points: MemoryPoints,
  owner: Owner,
  memories: readonly RestorableMemory[],
  tombstones: readonly Tombstone[],
): Promise<MemoryRecord[]> {
  const ids = memories.map((memory) => memory.id);
  const taken = await points.takenBySomebodyElse(owner, ids);
  const own = (id: string) => (taken.has(id) ? derivedId("memory", owner, id) : id);
  const there = new Set((await points.retrieve(owner, ids.map(own))).map((record) => record.id));
  return memories
    .map((memory) => ({
      ...recordOf(memory),
      id: own(memory.id),
      superseded_by: memory.superseded_by === null ? null : own(memory.superseded_by),
    }))
    .filter((record) => !there.has(record.id) && record.status !== "forgotten")
    .filter((record) => !tombstones.some((tombstone) => isForgotten(owner, record, tombstone)));
}

function isForgotten(owner: Owner, record: MemoryRecord, tombstone: Tombstone): boolean {
  if (tombstone.memoryId === record.id) return true;
  return tombstone.textHash === textHash(owner, record.text) && Date.parse(record.stated_at) <= Date.parse(tombstone.at);
}
