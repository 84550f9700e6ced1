import type { MemoryEvent } from "../domain/memory.js";
import type { MemoryRecord } from "../domain/memory-record.js";

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
