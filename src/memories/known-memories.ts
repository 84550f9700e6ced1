import type { Memory } from "../domain/memory.js";
import { holdsAt, type MemoryRecord, memoryOf } from "../domain/memory-record.js";
import { normalised } from "../domain/normalised-text.js";
import { nameOf } from "./companions.js";
import { waits } from "./waiting.js";

const MAX_KNOWN = 40;

/** What is known and may be meant: all hard and all waiting memories, those of the message's companions, then the nearest; at most 40. */
export function knownFor(text: string, records: Iterable<MemoryRecord>, nearest: readonly Memory[], now: Date): readonly Memory[] {
  const words = ` ${normalised(text)} `;
  const held = [...records].filter((record) => holdsAt(record, now) || waits(record) || begins(record, now));
  const ranked = [
    ...held.filter(({ strength }) => strength === "hard"),
    ...held.filter(waits),
    ...held.filter(({ subject, entities }) =>
      [nameOf(subject), ...(subject === "self" ? [] : entities)].some((name) => name !== null && words.includes(` ${normalised(name)} `)),
    ),
  ];
  const newest = [...held].sort((a, b) => Date.parse(b.last_confirmed_at) - Date.parse(a.last_confirmed_at));
  const all = [...ranked.map(memoryOf), ...nearest, ...newest.map(memoryOf)];
  return [...new Map(all.map((memory) => [memory.id, memory])).values()].slice(0, MAX_KNOWN);
}

function begins(record: MemoryRecord, now: Date): boolean {
  return record.status === "active" && Date.parse(record.valid_from) > now.getTime();
}
