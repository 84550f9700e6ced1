import type { MemoryEvent } from "../domain/memory.js";
import { MAX_CONFIRMATIONS, MAX_EVENTS, type MemoryRecord } from "../domain/memory-record.js";

/** What can happen to one record. All pure. */

export function withEvent(record: MemoryRecord, now: Date, event: MemoryRecord["events"][number]["event"]): MemoryRecord["events"] {
  return [...record.events, { at: now.toISOString(), event }].slice(-MAX_EVENTS);
}

/** The record as past: it ends at `at`, or where it would have ended before. */
export function ended(record: MemoryRecord, at: string, successorId: string | null, now: Date): MemoryRecord {
  const end = record.valid_until !== null && Date.parse(record.valid_until) < Date.parse(at) ? record.valid_until : at;
  const already = record.status === "superseded";
  return {
    ...record,
    status: "superseded",
    reason: null,
    pending_change: null,
    superseded_by: successorId,
    valid_until: Date.parse(end) < Date.parse(record.valid_from) ? record.valid_from : end,
    events: already ? record.events : withEvent(record, now, "superseded"),
    updated_at: now.toISOString(),
  };
}

/** The record with a successor: past at once, or, where the successor begins later, until then. */
export function supersededBy(record: MemoryRecord, successor: MemoryRecord, now: Date): MemoryRecord {
  const begins = Date.parse(successor.valid_from);
  if (record.status === "active" && begins > now.getTime() && begins > Date.parse(successor.stated_at)) {
    const end = record.valid_until !== null && Date.parse(record.valid_until) < begins ? record.valid_until : successor.valid_from;
    return {
      ...record,
      superseded_by: successor.id,
      pending_change: null,
      valid_until: end,
      events: withEvent(record, now, "superseded"),
      updated_at: now.toISOString(),
    };
  }
  const from = successor.stated_at > record.stated_at ? successor.stated_at : successor.last_confirmed_at;
  return ended(record, begins > Date.parse(from) ? successor.valid_from : from, successor.id, now);
}

/** The same said again by a message; once for each message. */
export function seenAgain(record: MemoryRecord, messageId: string, statedAt: string, end: string | null, now: Date): MemoryRecord {
  if (record.source?.message_id === messageId || record.confirmed_by.includes(messageId)) return record;
  return {
    ...record,
    seen_count: record.seen_count + 1,
    confidence: record.confidence + (1 - record.confidence) / 2,
    last_confirmed_at: statedAt > record.last_confirmed_at ? statedAt : record.last_confirmed_at,
    valid_until: record.valid_until === null || end === null || end < record.valid_until ? record.valid_until : end,
    confirmed_by: [...record.confirmed_by, messageId].slice(-MAX_CONFIRMATIONS),
    events: withEvent(record, now, "confirmed"),
    updated_at: now.toISOString(),
  };
}

/** What waited holds from now on. */
export function activated(record: MemoryRecord, at: string, now: Date): MemoryRecord {
  return {
    ...record,
    status: "active",
    reason: null,
    explicit: true,
    last_confirmed_at: at > record.last_confirmed_at ? at : record.last_confirmed_at,
    events: withEvent(record, now, "approved"),
    updated_at: now.toISOString(),
  };
}

/** What waited is closed: over, or the guest said no. Kept as past, and shown no more. */
export function closed(record: MemoryRecord, event: "expired" | "superseded", now: Date): MemoryRecord {
  return {
    ...record,
    status: "superseded",
    reason: null,
    superseded_by: null,
    events: withEvent(record, now, event),
    updated_at: now.toISOString(),
  };
}

/** What waited beyond its end, closed. */
export function expiredWaiting(records: Iterable<MemoryRecord>, now: Date): MemoryRecord[] {
  return [...records]
    .filter(({ status, valid_until }) => status === "review" && valid_until !== null && Date.parse(valid_until) <= now.getTime())
    .map((record) => closed(record, "expired", now));
}

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

/** The life of a memory and of the versions that it superseded, oldest first. An event that brought a text holds it. */
export function eventsOf(versions: readonly MemoryRecord[], now: Date): MemoryEvent[] {
  return versions
    .flatMap((record) => {
      const events = record.events.map(({ at, event }, index): MemoryEvent => {
        const text = event === "added" || (event === "edited" && index === 0) ? record.text : null;
        return { at, event, text, memory_id: record.id };
      });
      const expired = record.status === "active" && record.valid_until !== null && Date.parse(record.valid_until) <= now.getTime();
      return expired && record.valid_until !== null
        ? [...events, { at: record.valid_until, event: "expired" as const, text: null, memory_id: record.id }]
        : events;
    })
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || order(a) - order(b));
}

/** What happened at one moment, in the order in which it makes sense: the old version ends after the new one is there. */
function order(event: MemoryEvent): number {
  return ["added", "edited", "approved", "confirmed", "superseded", "expired", "forgotten"].indexOf(event.event);
}
