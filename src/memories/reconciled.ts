import type { Category } from "../domain/categories.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import type { Tombstone } from "../ports/owner-ledger.js";

export interface ReconcileRules {
  readonly now: Date;
  /** Soft statements below it are not stored. */
  readonly minConfidence: number;
  readonly categories: readonly Category[];
  readonly tombstones: readonly Tombstone[];
  /** As a tombstone hashes a text: the owner's own, or one that was taken over from `of`. */
  readonly hash: (text: string, of?: Owner) => string;
  /** What a person has one need of: a diet. Default: no need excludes another. */
  readonly slotOf?: (need: string) => string | undefined;
}

export interface Reconciled {
  /** Records that are new or changed, whole. */
  readonly puts: readonly MemoryRecord[];
  /** To be forgotten, with their older versions. */
  readonly forgotten: readonly string[];
  /** Id of a change → id of the memory that stands for it: its own, or the one that it confirmed. */
  readonly resolved: ReadonlyMap<string, string>;
  readonly confirmed: readonly string[];
  readonly superseded: readonly string[];
  /** Changes without an effect, by why. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Id of a change without an effect → why. */
  readonly reasons: ReadonlyMap<string, string>;
}

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
