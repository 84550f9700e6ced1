import type { MemoryRecord } from "../domain/memory-record.js";
import type { Reconciled } from "./reconciled.js";

/** From what is kept to what is to be kept. */
export function between(
  before: ReadonlyMap<string, MemoryRecord>,
  base: ReadonlyMap<string, MemoryRecord>,
  { puts }: Reconciled,
  forgotten: ReadonlySet<string>,
): { readonly puts: readonly MemoryRecord[]; readonly removed: readonly string[] } {
  const after = new Map(base);
  for (const record of puts) after.set(record.id, record);
  for (const id of forgotten) after.delete(id);
  return {
    puts: [...after.values()].filter((record) => before.get(record.id) !== record),
    removed: [...before.keys()].filter((id) => !after.has(id)),
  };
}

export function summed(...counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const each of counts) for (const [why, count] of Object.entries(each)) sum[why] = (sum[why] ?? 0) + count;
  return sum;
}
