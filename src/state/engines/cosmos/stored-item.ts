import { gunzipSync, gzipSync } from "node:zlib";
import type { KeyRange, StoredEntry } from "../../engine.js";
import { compareKeys, isEmpty } from "../../optimistic-heads.js";
import { EMPTY_HEAD, type PartitionHead } from "../../partition-head.js";
import type { Item, Operation } from "./cosmos-client.js";
import type { HeadTag, InlineEntries } from "./inline-entries.js";

/** Of a partition: its head, with its inline entries, beside which everything is written. */
export const HEAD = "head";

/** Values of so many characters are packed where escaping, as an item is JSON, would make more of them: 2 MB are a commit's limit. */
const PACKED_FROM = 16_384;

/** An item's id can't hold `/`, `\`, `?` or `#`. */
export function itemId(key: string): string {
  return `k.${key.replace(/[./\\?#]/g, (character) => `.${character.charCodeAt(0).toString(16)}`)}`;
}

export function itemOf(partition: string, { key, value, version }: StoredEntry): Item {
  const grows = value.length >= PACKED_FROM && JSON.stringify(value).length > value.length + 2;
  return { id: itemId(key), partition, key, version, ...(grows ? { gzip: gzipSync(value).toString("base64") } : { value }) };
}

export function entryOf({ key, value, gzip, version }: Item): StoredEntry {
  const whole = typeof gzip === "string" ? gunzipSync(Buffer.from(gzip, "base64")).toString("utf8") : String(value);
  return { key: String(key), value: whole, version: Number(version) };
}

interface InlineItem extends StoredEntry {
  readonly rewritten?: boolean;
}

/** What of a head's item is not as in a head. */
interface HeadItem {
  readonly inline: readonly InlineItem[];
  /** Commits: id, version, epoch. */
  readonly recent: readonly (readonly [string, number, number])[];
  readonly spilled?: InlineEntries["spilled"];
}

/** `eTag`: the head's until now; undefined: there is none yet. */
export function headWrite(
  partition: string,
  head: PartitionHead,
  { entries, rewritten, spilled }: InlineEntries,
  eTag: string | undefined,
): Operation {
  const resourceBody = {
    id: HEAD,
    partition,
    ...head,
    recent: head.recent.map(({ id, version, epoch }) => [id, version, epoch]),
    claimedUntilMs: head.claim?.untilMs ?? 0,
    names: [...entries.keys()].filter(isName),
    inline: [...entries.values()].map((entry) => (rewritten.has(entry.key) ? { ...entry, rewritten: true } : entry)),
    ...(spilled !== undefined && { spilled }),
  };
  return eTag === undefined
    ? { operationType: "Create", resourceBody }
    : { operationType: "Replace", id: HEAD, ifMatch: eTag, resourceBody };
}

export function headOf(item: Item | undefined): { readonly head: PartitionHead; readonly tag: HeadTag | undefined } {
  if (item === undefined) return { head: EMPTY_HEAD, tag: undefined };
  const { version, epoch, dueAtMs, claim } = { ...EMPTY_HEAD, ...(item as Partial<PartitionHead>) };
  const { inline, recent, spilled } = item as unknown as HeadItem;
  const entries = new Map(inline.map(({ key, value, version }) => [key, { key, value, version }]));
  const again = new Set(inline.filter(({ rewritten }) => rewritten === true).map(({ key }) => key));
  return {
    head: { version, epoch, dueAtMs, claim, recent: recent.map(([id, version, epoch]) => ({ id, version, epoch })) },
    tag: { eTag: String(item._etag), inline: { entries, rewritten: again, spilled } },
  };
}

/** By an index; for a key that is a path every head is looked at. */
function isName(key: string): boolean {
  return !key.includes("/");
}

/** The condition of items that hold `@key`, in the head `@head` or as `@item`. */
export function holding(key: string): string {
  const inline = isName(key) ? "ARRAY_CONTAINS(c.names, @key)" : 'ARRAY_CONTAINS(c.inline, {"key": @key}, true)';
  return `(c.id = @item OR (c.id = @head AND ${inline}))`;
}

/** Of an item that holds it, the head's or its own. */
export function valueIn(item: Item, key: string): string {
  return item.id === HEAD ? (headOf(item).tag?.inline.entries.get(key)?.value ?? "") : entryOf(item).value;
}

/** In the range's order. */
export function inRange(entries: readonly StoredEntry[], range: KeyRange): readonly StoredEntry[] {
  if (isEmpty(range)) return [];
  const found = entries
    .filter(({ key }) => compareKeys(range.from, key) <= 0 && compareKeys(key, range.to) < 0)
    .sort((one, other) => compareKeys(one.key, other.key));
  return range.reverse === true ? found.reverse() : found;
}
