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

/** Partitions that hold a key, or all, in the engine's order, a page at a time. `after`: the last partition that is passed over. */
export async function* partitionPages(
  engine: Pick<StateEngine, "partitions">,
  key: string | null,
  size: number,
  after?: string,
): AsyncGenerator<readonly PartitionEntry[]> {
  for (let last = after; ; ) {
    const page = await engine.partitions({ limit: size, ...(key !== null && { key }), ...(last !== undefined && { after: last }) });
    if (page.length > 0) yield page;
    if (page.length < size) return;
    last = page.at(-1)?.partition;
  }
}

/** Follows the key of a value's first part: `~` and the part's place. Sorts right behind it. */
const PART = /^(.*)~(\d{4})$/;

/** A value over the engine's limit lies in parts under keys that follow the first one. `maxBytes`: of each part, in UTF-8. */
export function partsOf(key: string, value: string, maxBytes: number): readonly { readonly key: string; readonly value: string }[] {
  if (value.length * 3 <= maxBytes || Buffer.byteLength(value) <= maxBytes) return [{ key, value }];
  const parts: { key: string; value: string }[] = [];
  for (let from = 0; from < value.length; ) {
    let to = Math.min(value.length, from + Math.floor(maxBytes / 3));
    // A pair of surrogates stays together.
    if (to < value.length && isHighSurrogate(value.charCodeAt(to - 1))) to -= 1;
    const place = parts.length;
    parts.push({ key: partKey(key, place), value: value.slice(from, to) });
    from = to;
  }
  return parts;
}

/** Keys of a value that lies in so many parts. */
export function partKeys(key: string, parts: number): readonly string[] {
  return Array.from({ length: parts }, (_, place) => partKey(key, place));
}

function partKey(key: string, place: number): string {
  return place === 0 ? key : `${key}~${String(place).padStart(4, "0")}`;
}

/**
 * Values put together again, in the order of the entries' first parts; entries come in the order of their keys, or the other way round.
 * A value whose first part is not among the entries is left out: it lies beyond the range's limit.
 */
export function wholeValues(entries: readonly StoredEntry[], { reverse = false } = {}): readonly StoredEntry[] {
  const forward = reverse ? entries.toReversed() : entries;
  const whole: StoredEntry[] = [];
  for (const entry of forward) {
    const part = PART.exec(entry.key);
    const last = whole.at(-1);
    if (part === null) whole.push(entry);
    else if (last !== undefined && last.key === part[1]) whole[whole.length - 1] = { ...last, value: last.value + entry.value };
  }
  return reverse ? whole.toReversed() : whole;
}

/** Of a page of rows what is whole, as the last value of a full page may go on behind it. `next`: where it goes on; null: nowhere. */
export function wholePage(
  entries: readonly StoredEntry[],
  limit: number,
): { readonly rows: readonly StoredEntry[]; readonly next: string | null } {
  const rows = wholeValues(entries);
  return entries.length < limit ? { rows, next: null } : { rows: rows.slice(0, -1), next: rows.at(-1)?.key ?? null };
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
