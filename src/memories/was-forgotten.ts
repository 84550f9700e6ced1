import type { MemoryRecord } from "../domain/memory-record.js";
import type { ReconcileRules } from "./reconciled.js";

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
