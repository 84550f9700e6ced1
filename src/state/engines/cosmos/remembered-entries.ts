import { LRUCache } from "lru-cache";
import type { KeyRange, StoredEntry } from "../../engine.js";
import { compareKeys, isEmpty, type Seen, versionIn } from "../../optimistic-heads.js";
import { type HeadTag, type InlineEntries, mayBeSpilled, mayHoldSpilled, NO_ENTRIES } from "./inline-entries.js";
import { inRange } from "./stored-item.js";

/** What of a read needs no item but the head's. */
export interface Remembered {
  readonly entries: readonly StoredEntry[];
  /** Keys of which it isn't known what they hold. */
  readonly missing: readonly string[];
  /** For each range; undefined: it isn't known what it holds. */
  readonly ranges: readonly (readonly StoredEntry[] | undefined)[];
}

/** Characters of keys and values, over all partitions. */
const MOST_CHARACTERS = 8_000_000;

/** Entries that were read or written here, and have items of their own: each is what it was as long as its version is. */
export class RememberedEntries {
  readonly #of = new LRUCache<string, ReadonlyMap<string, StoredEntry>>({
    maxSize: MOST_CHARACTERS,
    sizeCalculation: (entries) => charactersOf(entries.values()) + 1,
  });

  add(partition: string, entries: readonly StoredEntry[]): void {
    if (entries.length === 0) return;
    this.#of.set(partition, new Map([...(this.#of.get(partition) ?? []), ...entries.map((entry) => [entry.key, entry] as const)]));
  }

  /** What is not as it was seen last; all, where nothing was. */
  forgetOld(partition: string, seen: Seen<HeadTag> | undefined): void {
    const before = [...(this.#of.peek(partition)?.values() ?? [])];
    const current = before.filter(({ key, version }) => seen !== undefined && versionIn(seen, key) === version);
    if (current.length === before.length) return;
    this.#of.delete(partition);
    this.add(partition, current);
  }

  recall(partition: string, seen: Seen<HeadTag>, keys: readonly string[], ranges: readonly KeyRange[]): Remembered {
    const inline = seen.tag?.inline ?? NO_ENTRIES;
    const outside = this.#of.get(partition);
    const entryOf = (key: string): StoredEntry | null | undefined => {
      const lying = inline.entries.get(key);
      if (lying !== undefined) return lying;
      const version = mayBeSpilled(inline, key) ? versionIn(seen, key) : null;
      if (version === null || version === undefined) return version;
      const entry = outside?.get(key);
      return entry?.version === version ? entry : undefined;
    };
    const entries = keys.map(entryOf);
    return {
      entries: entries.filter((entry) => entry !== null && entry !== undefined),
      missing: keys.filter((_, place) => entries[place] === undefined),
      ranges: ranges.map((range) => recallRange(range, seen, inline, entryOf)),
    };
  }
}

/** Of their keys and values. */
export function charactersOf(entries: Iterable<StoredEntry>): number {
  let sum = 0;
  for (const { key, value } of entries) sum += key.length + value.length;
  return sum;
}

function recallRange(
  range: KeyRange,
  { versions, whole }: Seen<HeadTag>,
  inline: InlineEntries,
  entryOf: (key: string) => StoredEntry | null | undefined,
): readonly StoredEntry[] | undefined {
  if (isEmpty(range)) return [];
  const { from, to, limit = Number.POSITIVE_INFINITY, reverse = false } = range;
  const keys = [...new Set([...inline.entries.keys(), ...versions.keys()])];
  for (const part of mayHoldSpilled(inline, range) ? whole : [range]) {
    const [isFirst, isLast] = [compareKeys(part.from, from) <= 0, compareKeys(to, part.to) <= 0];
    const [begins, ends] = reverse ? [isLast, isFirst] : [isFirst, isLast];
    if (!begins) continue;
    const within = { from: isFirst ? from : part.from, to: isLast ? to : part.to, reverse };
    const known = keys.filter((key) => compareKeys(within.from, key) <= 0 && compareKeys(key, within.to) < 0).map(entryOf);
    const found = inRange(
      known.filter((entry) => entry !== null && entry !== undefined),
      within,
    ).slice(0, limit);
    if (!known.includes(undefined) && (ends || found.length === limit)) return found;
  }
  return undefined;
}
