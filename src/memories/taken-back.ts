import type { MemoryRecord } from "../domain/memory-record.js";
import type { MemoryLogEntry } from "../ports/memory-log.js";

export interface TakenBack {
  readonly puts: readonly MemoryRecord[];
  readonly removed: readonly string[];
}

/** Each record's versions, oldest first; null where it was removed. */
type Versions = readonly { readonly record: MemoryRecord | null; readonly byMessage: boolean }[];

/**
 * What is to change so that messages, edited since, were never said: what they alone had given goes, without a tombstone; what others
 * confirmed stays; what they had ended or superseded comes back; a yes that they gave is taken back. Pure.
 */
export function takenBack(
  records: ReadonlyMap<string, MemoryRecord>,
  entries: readonly MemoryLogEntry[],
  messageIds: ReadonlySet<string>,
  now: Date,
): TakenBack {
  const histories = versionsOf(entries, messageIds);
  const removed = new Set<string>();
  const puts = new Map<string, MemoryRecord>();
  for (const record of records.values()) {
    const versions = histories.get(record.id) ?? [];
    const first = versions.findIndex(({ byMessage }) => byMessage);
    const before = first < 0 ? undefined : versions[first - 1]?.record;
    const isOwn = record.source !== null && messageIds.has(record.source.message_id);
    if (first < 0 && !isOwn) continue;
    const others = record.confirmed_by.filter((id) => !messageIds.has(id));
    const changedByHand = versions.slice(first + 1).some(({ byMessage, record: later }) => !byMessage && wasEdited(later));
    if (before === undefined || before === null) {
      if (others.length === 0 && !changedByHand) removed.add(record.id);
      continue;
    }
    const restored = withoutMessages(record, before, lastOf(versions), messageIds, now);
    if (restored !== record) puts.set(record.id, restored);
  }
  // What was superseded by something that is no more, also where no log tells how it was before.
  for (const record of records.values()) {
    const { superseded_by: by } = record;
    if (by === null || !removed.has(by) || removed.has(record.id) || puts.has(record.id)) continue;
    puts.set(record.id, { ...record, status: "active", superseded_by: null, valid_until: null, updated_at: now.toISOString() });
  }
  return { puts: [...puts.values()], removed: [...removed] };
}

function versionsOf(entries: readonly MemoryLogEntry[], messageIds: ReadonlySet<string>): Map<string, Versions[number][]> {
  const histories = new Map<string, Versions[number][]>();
  for (const entry of entries) {
    const byMessage = entry.turn !== null && messageIds.has(entry.turn.message_id);
    const add = (id: string, record: MemoryRecord | null) => histories.set(id, [...(histories.get(id) ?? []), { record, byMessage }]);
    for (const record of entry.puts) add(record.id, record);
    for (const id of entry.removed) add(id, null);
  }
  return histories;
}

/** The last version that the messages made. */
function lastOf(versions: Versions): MemoryRecord | null {
  return versions.findLast(({ byMessage }) => byMessage)?.record ?? null;
}

function wasEdited(record: MemoryRecord | null): boolean {
  const last = record?.events.at(-1)?.event;
  return last === "edited" || last === "approved";
}

/** The record as it is, but for what the messages did to it. */
function withoutMessages(
  record: MemoryRecord,
  before: MemoryRecord,
  made: MemoryRecord | null,
  messageIds: ReadonlySet<string>,
  now: Date,
): MemoryRecord {
  const { status, reason, explicit, superseded_by, valid_until, pending_change } = before;
  const confirmed_by = record.confirmed_by.filter((id) => !messageIds.has(id));
  const fewer = record.confirmed_by.length - confirmed_by.length;
  const standsAsMade =
    made !== null &&
    record.status === made.status &&
    record.superseded_by === made.superseded_by &&
    record.valid_until === made.valid_until &&
    JSON.stringify(record.pending_change) === JSON.stringify(made.pending_change);
  if (fewer === 0 && !standsAsMade) return record;
  return {
    ...record,
    ...(standsAsMade ? { status, reason, explicit, superseded_by, valid_until, pending_change } : {}),
    confirmed_by,
    seen_count: Math.max(1, record.seen_count - fewer),
    confidence: fewer > 0 ? before.confidence : record.confidence,
    last_confirmed_at: fewer > 0 || standsAsMade ? before.last_confirmed_at : record.last_confirmed_at,
    updated_at: now.toISOString(),
  };
}
