import { madeOf } from "../domain/made-of.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import type { NewMemoryLogEntry } from "../ports/memory-log.js";

/** The entry, taking along what is told of the memories that it removes: a narrative that holds their words is gone in the same write. */
export function withNarrativesOf(entry: NewMemoryLogEntry, records: ReadonlyMap<string, MemoryRecord>): NewMemoryLogEntry {
  const gone = new Set(entry.removed);
  if (gone.size === 0) return entry;
  const put = new Set(entry.puts.map(({ id }) => id));
  const telling = [...records.values()].filter(
    (record) => record.type === "narrative" && !gone.has(record.id) && !put.has(record.id) && madeOf(record).some((id) => gone.has(id)),
  );
  return telling.length === 0 ? entry : { ...entry, removed: [...entry.removed, ...telling.map(({ id }) => id)] };
}
