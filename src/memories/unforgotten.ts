import { textHash } from "../domain/folded-text.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import { derivedId } from "../platform/ids.js";
import type { OwnerLedger, Tombstone } from "../ports/owner-ledger.js";
import type { ReconcileRules } from "./reconciled.js";

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

/**
 * What was forgotten stays so for everything said before: by its id, by its words, and by the message that it came from. `forgetting`:
 * messages that forget something themselves; what else they say is not what was forgotten.
 */
export function wasForgotten(
  record: MemoryRecord,
  { hash, tombstones }: Pick<ReconcileRules, "hash" | "tombstones">,
  forgetting: ReadonlySet<string>,
): boolean {
  if (tombstones.length === 0) return false;
  const own = hash(record.text);
  const messageId = record.source?.message_id;
  return tombstones.some((tombstone) => {
    if (tombstone.memoryId === record.id) return true;
    if (Date.parse(record.stated_at) > Date.parse(tombstone.at)) return false;
    const asks = messageId !== undefined && (forgetting.has(messageId) || tombstone.askedIn?.includes(messageId) === true);
    const hidden = messageId !== undefined && !asks && tombstone.messageIds.includes(messageId);
    return hidden || tombstone.textHash === (tombstone.hashOf === undefined ? own : hash(record.text, tombstone.hashOf));
  });
}

interface RestoreRules {
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
