import { gunzipSync, gzipSync } from "node:zlib";
import type { StoredEntry } from "../../engine.js";
import type { Item } from "./cosmos-client.js";

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
