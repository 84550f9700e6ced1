import type { KeyRange, StoredEntry } from "../../engine.js";

/** The entries of one partition, in the order of their keys' UTF-8 bytes. */
export class SortedEntries {
  readonly #entries = new Map<string, StoredEntry>();
  readonly #keys: string[] = [];

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): StoredEntry | undefined {
    return this.#entries.get(key);
  }

  put(entry: StoredEntry): void {
    if (!this.#entries.has(entry.key)) this.#keys.splice(this.#placeOf(entry.key), 0, entry.key);
    this.#entries.set(entry.key, entry);
  }

  delete(key: string): void {
    if (this.#entries.delete(key)) this.#keys.splice(this.#placeOf(key), 1);
  }

  range({ from, to, limit = Number.POSITIVE_INFINITY, reverse = false }: KeyRange): readonly StoredEntry[] {
    const first = this.#placeOf(from);
    const end = Math.max(first, this.#placeOf(to));
    const keys = reverse
      ? this.#keys.slice(Math.max(first, end - limit), end).reverse()
      : this.#keys.slice(first, Math.min(end, first + limit));
    return keys.flatMap((key) => this.#entries.get(key) ?? []);
  }

  /** Of the first key that is not before this one. */
  #placeOf(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(this.#keys[middle] ?? "", key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** By UTF-8 bytes: as by code units, but that what lies beyond U+FFFF comes after U+E000 to U+FFFF. */
export function compareKeys(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let place = 0; place < length; place++) {
    const a = one.charCodeAt(place);
    const b = other.charCodeAt(place);
    if (a !== b) return rank(a) - rank(b);
  }
  return one.length - other.length;
}

/** Surrogates, which stand for what lies beyond U+FFFF, come last. */
function rank(code: number): number {
  return code >= 0xd800 && code <= 0xdfff ? code + 0x10000 : code;
}
