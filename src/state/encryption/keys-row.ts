import { z } from "zod";
import { AppError } from "../../platform/errors.js";

/** Wrapped, and of no use without the master key. */
export const keysRowSchema = z.object({
  v: z.literal(1),
  /** First the one that hashes words, which stays; then those that seal, oldest first: the last one does. `by`: the master key. */
  keys: z.array(z.object({ id: z.string(), by: z.string(), wrapped: z.string() })),
  /** Ids of those that were destroyed: what is sealed under them counts as not there. */
  destroyed: z.array(z.string()),
  /** The last key was made to take the place of those before it, under which something may be sealed still. */
  renewing: z.literal(true).exactOptional(),
});
export type KeysRow = z.infer<typeof keysRowSchema>;
export type KeyEntry = KeysRow["keys"][number];

/** @throws STORAGE_DAMAGED */
export function rowOf(value: string | undefined): KeysRow {
  if (value === undefined) return { v: 1, keys: [], destroyed: [] };
  try {
    return keysRowSchema.parse(JSON.parse(value));
  } catch (cause) {
    throw new AppError("STORAGE_DAMAGED", { detail: "A row of the keyring can't be read.", cause });
  }
}

/** Those of these ids are destroyed. */
export function without({ keys, destroyed, ...row }: KeysRow, ids: readonly string[]): KeysRow {
  const gone = new Set([...destroyed, ...ids]);
  return { ...row, keys: keys.filter(({ id }) => !gone.has(id)), destroyed: [...gone] };
}

export function idsOf(keys: KeysRow["keys"]): readonly string[] {
  return keys.map(({ id }) => id);
}

/** With keys that were kept elsewhere and are neither there nor destroyed: what hashes words, and what seals, stays what it is. */
export function withTaken(row: KeysRow, given: KeysRow): KeysRow {
  const known = new Set([...row.destroyed, ...idsOf(row.keys)]);
  const added = given.keys.filter(({ id }) => !known.has(id));
  return { ...row, keys: [...row.keys.slice(0, 1), ...added, ...row.keys.slice(1)] };
}

/** What a wrapped key is of: it holds in its own place alone. */
export function contextOf(partition: string, id: string): string {
  return `data key ${id} of ${partition}`;
}
