import { hash } from "node:crypto";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import type { KeyRange, StoredEntry } from "../../engine.js";
import { compareKeys, isEmpty } from "../../optimistic-heads.js";
import { EMPTY_HEAD, type PartitionHead } from "../../partition-head.js";
import type { Item, Operation } from "./cosmos-client.js";
import type { HeadTag, InlineEntries } from "./inline-entries.js";

/** Of a partition: its head, with its inline entries, beside which everything is written. */
export const HEAD = "head";

/** Values of so many characters are packed where escaping, as an item is JSON, would make more of them: 2 MB are a commit's limit. */
const PACKED_FROM = 16_384;

/** About as quick as gzip, and smaller: it knows common words. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

function packedText(text: string): string {
  return brotliCompressSync(text, QUALITY).toString("base64");
}

export function unpacked(packed: string): string {
  return brotliDecompressSync(Buffer.from(packed, "base64")).toString("utf8");
}

/** An item's id can't hold `/`, `\`, `?` or `#`. */
export function itemId(key: string): string {
  return `k.${key.replace(/[./\\?#]/g, (character) => `.${character.charCodeAt(0).toString(16)}`)}`;
}

export function itemOf(partition: string, { key, value, version }: StoredEntry): Item {
  const grows = value.length >= PACKED_FROM && JSON.stringify(value).length > value.length + 2;
  return { id: itemId(key), partition, key, version, ...(grows ? { packed: packedText(value) } : { value }) };
}

export function entryOf({ key, value, packed, version }: Item): StoredEntry {
  const whole = typeof packed === "string" ? unpacked(packed) : String(value);
  return { key: String(key), value: whole, version: Number(version) };
}

/** What of a head is not asked for by a query, packed: what it costs to write goes by the item's size. */
interface PackedHead {
  readonly inline: readonly (readonly [key: string, value: string, version: number, rewritten: 0 | 1])[];
  /** Commits: id, version, epoch. */
  readonly recent: readonly (readonly [string, number, number])[];
  readonly spilled?: InlineEntries["spilled"];
}

/** `eTag`: the head's until now; undefined: there is none yet. */
export function headWrite(
  partition: string,
  { recent, ...head }: PartitionHead,
  { entries, rewritten, spilled }: InlineEntries,
  eTag: string | undefined,
): Operation {
  const packed: PackedHead = {
    inline: [...entries.values()].map(({ key, value, version }) => [key, value, version, rewritten.has(key) ? 1 : 0]),
    recent: recent.map(({ id, version, epoch }) => [id, version, epoch]),
    ...(spilled !== undefined && { spilled }),
  };
  const keys = [...entries.keys()];
  const resourceBody = {
    id: HEAD,
    partition,
    ...head,
    claimedUntilMs: head.claim?.untilMs ?? 0,
    names: keys.filter(isName),
    paths: keys.filter((key) => !isName(key)).map(shortHash),
    packed: packedText(JSON.stringify(packed)),
  };
  return eTag === undefined
    ? { operationType: "Create", resourceBody }
    : { operationType: "Replace", id: HEAD, ifMatch: eTag, resourceBody };
}

export function headOf(item: Item | undefined): { readonly head: PartitionHead; readonly tag: HeadTag | undefined } {
  if (item === undefined) return { head: EMPTY_HEAD, tag: undefined };
  const { version, epoch, dueAtMs, claim } = { ...EMPTY_HEAD, ...(item as Partial<PartitionHead>) };
  const { inline, recent, spilled } = JSON.parse(unpacked(String(item.packed))) as PackedHead;
  const entries = new Map(inline.map(([key, value, version]) => [key, { key, value, version }]));
  const rewritten = new Set(inline.filter(([, , , again]) => again === 1).map(([key]) => key));
  return {
    head: { version, epoch, dueAtMs, claim, recent: recent.map(([id, version, epoch]) => ({ id, version, epoch })) },
    tag: { eTag: String(item._etag), inline: { entries, rewritten, spilled } },
  };
}

/** Found by an index; for a key that is a path every head is looked at, which holds their hashes. */
function isName(key: string): boolean {
  return !key.includes("/");
}

/** 66 bits: no two keys have the same. */
function shortHash(key: string): string {
  return hash("sha256", key, "base64url").slice(0, 11);
}

/** The condition of items that hold a key, in the head or by themselves, and the values of what it names. */
export function holding(key: string): { readonly condition: string; readonly values: Readonly<Record<string, string>> } {
  const [list, held] = isName(key) ? ["names", key] : ["paths", shortHash(key)];
  const condition = `(c.id = @item OR (c.id = @head AND ARRAY_CONTAINS(c.${list}, @held)))`;
  return { condition, values: { "@head": HEAD, "@item": itemId(key), "@held": held } };
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
