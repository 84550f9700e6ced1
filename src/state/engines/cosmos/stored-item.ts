import { gunzipSync, gzipSync } from "node:zlib";
import type { KeyRange, StoredEntry } from "../../engine.js";
import { compareKeys, isEmpty } from "../../optimistic-heads.js";
import type { PartitionHead } from "../../partition-head.js";
import type { Item, Operation } from "./cosmos-client.js";

/** Of a partition: its head, beside which everything is written. */
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

export function headWrite(partition: string, head: PartitionHead, tag: string | undefined): Operation {
  const resourceBody = { id: HEAD, partition, ...head, claimedUntilMs: head.claim?.untilMs ?? 0 };
  return tag === undefined ? { operationType: "Create", resourceBody } : { operationType: "Replace", id: HEAD, ifMatch: tag, resourceBody };
}

/** In the range's order. */
export function inRange(entries: readonly StoredEntry[], range: KeyRange): readonly StoredEntry[] {
  if (isEmpty(range)) return [];
  const found = entries
    .filter(({ key }) => compareKeys(range.from, key) <= 0 && compareKeys(key, range.to) < 0)
    .sort((one, other) => compareKeys(one.key, other.key));
  return range.reverse === true ? found.reverse() : found;
}
