import type { MemoryRecord } from "../domain/memory-record.js";

/** By which message a memory was given, and which of two was said first. */

export function messageOf(record: MemoryRecord): string {
  return record.source?.message_id ?? `by-hand:${record.stated_at}`;
}

export function isNewer(record: MemoryRecord, statedAt: string): boolean {
  return Date.parse(record.last_confirmed_at) > Date.parse(statedAt);
}

/** By when they were last stated, then by message and id, so that it doesn't matter in which order they arrive. */
export function isBefore(a: MemoryRecord, b: MemoryRecord): boolean {
  const order = (record: MemoryRecord) => [record.confirmed_by.at(-1) ?? record.source?.message_id ?? "", record.id].join(" ");
  const times = Date.parse(a.last_confirmed_at) - Date.parse(b.last_confirmed_at);
  return times === 0 ? order(a) < order(b) : times < 0;
}

export function overBefore(record: MemoryRecord, other: MemoryRecord): boolean {
  return record.valid_until !== null && Date.parse(record.valid_until) <= Date.parse(other.stated_at);
}
