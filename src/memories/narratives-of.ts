import { madeOf } from "../domain/made-of.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import type { NewMemoryLogEntry } from "../ports/memory-log.js";

/**
 * The entry, taking along what is told of the memories that it removes, words otherwise, or that hold no longer: a narrative that holds
 * their words is gone in the same write.
 */
export function withNarrativesOf(entry: NewMemoryLogEntry, records: ReadonlyMap<string, MemoryRecord>): NewMemoryLogEntry {
  const untold = entry.puts.filter((record) => isToldNoMore(records.get(record.id), record)).map(({ id }) => id);
  const gone = new Set([...entry.removed, ...untold]);
  if (gone.size === 0) return entry;
  const [put, removed] = [new Set(entry.puts.map(({ id }) => id)), new Set(entry.removed)];
  const telling = [...records.values()].filter(
    (record) => record.type === "narrative" && !removed.has(record.id) && !put.has(record.id) && madeOf(record).some((id) => gone.has(id)),
  );
  return telling.length === 0 ? entry : { ...entry, removed: [...entry.removed, ...telling.map(({ id }) => id)] };
}

function isToldNoMore(before: MemoryRecord | undefined, after: MemoryRecord): boolean {
  if (before === undefined) return false;
  return before.text !== after.text || (before.status === "active" && after.status !== "active");
}
