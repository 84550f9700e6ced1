import { behind, type KeyRange, type PartitionEntry, prefixRange, type StateEngine, type StoredEntry } from "./engine.js";

/** What a row holds, as JSON. Written by this version alone: its shape needs no second check. Null where there is no row. */
export function jsonOf<T>(row: Pick<StoredEntry, "value">): T;
export function jsonOf<T>(row: Pick<StoredEntry, "value"> | undefined): T | null;
export function jsonOf<T>(row: Pick<StoredEntry, "value"> | undefined): T | null {
  return row === undefined ? null : (JSON.parse(row.value) as T);
}

export async function rowAt(engine: StateEngine, partition: string, key: string): Promise<StoredEntry | undefined> {
  return (await engine.read(partition, { keys: [key] })).entries.get(key);
}

export async function rowsIn(engine: StateEngine, partition: string, range: KeyRange): Promise<readonly StoredEntry[]> {
  return (await engine.read(partition, { ranges: [range] })).ranges[0] ?? [];
}

const PAGE = 500;

/** Rows with a prefix, a page at a time; none of them in parts. */
export async function* rowPages(engine: StateEngine, partition: string, prefix: string): AsyncGenerator<readonly StoredEntry[]> {
  const { from: first, to } = prefixRange(prefix);
  for (let from = first; ; ) {
    const rows = await rowsIn(engine, partition, { from, to, limit: PAGE });
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (rows.length < PAGE || last === undefined) return;
    from = behind(last.key);
  }
}

/** Partitions that hold a key, in the engine's order, a page at a time. `after`: the last partition that is passed over. */
export async function* partitionPages(
  engine: StateEngine,
  key: string,
  size: number,
  after?: string,
): AsyncGenerator<readonly PartitionEntry[]> {
  for (let last = after; ; ) {
    const page = await engine.partitions({ key, limit: size, ...(last !== undefined && { after: last }) });
    if (page.length > 0) yield page;
    if (page.length < size) return;
    last = page.at(-1)?.partition;
  }
}
