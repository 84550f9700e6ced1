import { assertKnownLayout } from "../layout-version.js";
import type { Query } from "./database.js";

export interface TableLayout {
  /** Of one row, which tells the version. */
  readonly table: string;
  /** As in {@link assertKnownLayout}. */
  readonly what: string;
  /** What makes each version out of the one before. */
  readonly layouts: readonly (readonly string[])[];
}

/** Brings tables up to date from the version that they are of. @throws STORAGE_UNAVAILABLE for a newer one */
export async function updateTables(query: Query, version: number, { table, what, layouts }: TableLayout): Promise<void> {
  assertKnownLayout(what, version, layouts.length);
  for (const statement of layouts.slice(version).flat()) await query(statement);
  if (version < layouts.length) await query(`UPDATE {${table}} SET version = $1`, [layouts.length]);
}
