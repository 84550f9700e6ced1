import type { MemoryRecord } from "../domain/memory-record.js";
import { textHash } from "../domain/normalised-text.js";
import type { Owner } from "../domain/owner.js";
import type { OwnerLedger, Tombstone } from "../ports/owner-ledger.js";

/** Of memories that lie in a store and in no log (an installation of before, an old copy): what was neither forgotten nor erased since. */
export async function stillKept(
  ledger: Pick<OwnerLedger, "tombstones" | "receipts">,
  owner: Owner,
  records: readonly MemoryRecord[],
): Promise<MemoryRecord[]> {
  if (records.length === 0) return [];
  const erased = Math.max(0, ...(await ledger.receipts(owner)).map(({ completed_at }) => Date.parse(completed_at)));
  const made = records.filter(({ created_at }) => Date.parse(created_at) >= erased);
  return notForgotten(owner, made, await ledger.tombstones(owner));
}

export function notForgotten(owner: Owner, records: readonly MemoryRecord[], tombstones: readonly Tombstone[]): MemoryRecord[] {
  const byId = new Set(tombstones.map(({ memoryId }) => memoryId));
  return records.filter((record) => {
    const own = textHash(owner, record.text);
    const hash = ({ hashOf }: Tombstone) => (hashOf === undefined ? own : textHash(hashOf, record.text));
    const again = (tombstone: Tombstone) =>
      Date.parse(record.stated_at) <= Date.parse(tombstone.at) && tombstone.textHash === hash(tombstone);
    return !byId.has(record.id) && !tombstones.some(again);
  });
}
