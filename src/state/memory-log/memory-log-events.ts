import { type EventDataOf, type EventType, eventOf, type OwnerEvent } from "../../domain/event.js";
import type { MemoryRecord } from "../../domain/memory-record.js";
import type { Owner } from "../../domain/owner.js";
import type { MemoryChangeKind, MemoryLogEntry } from "../../ports/memory-log.js";

/** What these put changes no memory in the user's eyes: where it was kept, how often it was used, what is told of all together. */
const UNTOLD: ReadonlySet<MemoryChangeKind> = new Set(["seed", "recalled", "narrative", "merge"]);

/** What an entry of the memory log tells of to the outside, as its records say what happened to them in it. Pure. */
export function memoryEvents(owner: Owner, entry: MemoryLogEntry): OwnerEvent[] {
  if (UNTOLD.has(entry.kind)) return [];
  const gone = entry.removed.map((id) => eventOf(owner, "memory.forgotten", [id, entry.at], entry.at, { memory_id: id }));
  return [...entry.puts.flatMap((record) => eventsOfRecord(owner, entry, record)), ...gone];
}

function eventsOfRecord(owner: Owner, { at, kind }: MemoryLogEntry, record: MemoryRecord): OwnerEvent[] {
  const types = new Set<EventType>();
  if (kind === "import" && isCurrent(record)) types.add(record.status === "review" ? "memory.to_confirm" : "memory.added");
  else
    for (const event of record.events) {
      const type = event.at === at ? typeOf(event.event, record) : null;
      if (type !== null) types.add(type);
    }
  const told = [...types].map((type) => eventOf(owner, type, [record.id, at], at, dataOf(type, record)));
  // It waits for as long as it stands in the record: told once for each.
  const { pending_change: change } = record;
  if (change === null || types.has("memory.to_confirm")) return told;
  return [...told, eventOf(owner, "memory.to_confirm", [record.id, change.stated_at], at, dataOf("memory.to_confirm", record))];
}

function isCurrent({ status }: MemoryRecord): boolean {
  return status === "active" || status === "review";
}

function typeOf(event: MemoryRecord["events"][number]["event"], record: MemoryRecord): EventType | null {
  switch (event) {
    case "added":
      return record.status === "review" ? "memory.to_confirm" : "memory.added";
    case "edited":
      return record.events.length === 1 ? "memory.added" : "memory.confirmed";
    case "confirmed":
    case "approved":
      return "memory.confirmed";
    case "superseded":
    case "expired":
      return "memory.superseded";
    case "forgotten":
      return null;
  }
}

function dataOf(type: EventType, { id, strength, source, superseded_by }: MemoryRecord): EventDataOf["memory.added"] {
  return {
    memory_id: id,
    strength,
    ...(source !== null && { session_id: source.session_id, turn: source.turn, message_id: source.message_id }),
    ...(type === "memory.superseded" && { superseded_by }),
  };
}
