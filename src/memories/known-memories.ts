import type { Memory } from "../domain/memory.js";
import { beginsAfter, holdsAt, lastConfirmedAt, type MemoryRecord, memoryOf } from "../domain/memory-record.js";
import { normalised } from "../domain/normalised-text.js";
import { nameOf } from "./companions.js";
import { waits } from "./waiting.js";

const MAX_KNOWN = 40;
/** So many of the nearest tell what a message is about. */
const TELLING = 3;
/** Of what a message is about, and of what was said last where nothing is near. */
const MAX_ALIKE = 10;

/**
 * What is known and may be meant: all hard and all waiting memories, those of the message's companions, the nearest, and the newest of the
 * same categories; where nearness can't be told, the newest. At most 40: what a message touches, and not all that is known.
 */
export function knownFor(text: string, records: Iterable<MemoryRecord>, nearest: readonly Memory[], now: Date): readonly Memory[] {
  const words = ` ${normalised(text)} `;
  const held = [...records].filter((record) => holdsAt(record, now) || waits(record) || beginsAfter(record, now));
  const ranked = [
    ...held.filter(({ strength }) => strength === "hard"),
    ...held.filter(waits),
    ...held.filter(({ subject, entities }) =>
      [nameOf(subject), ...(subject === "self" ? [] : entities)].some((name) => name !== null && words.includes(` ${normalised(name)} `)),
    ),
  ];
  const newest = [...held].sort((a, b) => lastConfirmedAt(b) - lastConfirmedAt(a));
  const own = new Map(held.map((record) => [record.id, record]));
  const others = new Map(nearest.map((memory) => [memory.id, memory]));
  const about = new Set(nearest.slice(0, TELLING).map(({ category }) => category));
  const alike = newest.filter(({ category }) => about.size === 0 || about.has(category)).slice(0, MAX_ALIKE);
  const ids = new Set([...ranked, ...nearest, ...alike].map(({ id }) => id));
  return [...ids].slice(0, MAX_KNOWN).flatMap((id) => {
    const record = own.get(id);
    return record === undefined ? (others.get(id) ?? []) : memoryOf(record);
  });
}
