import { setTimeout as pause } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { KeyedMutex } from "../platform/keyed-mutex.js";
import { NotCommitted } from "./durable-commit.js";
import { behind, type Commit, type CommitResult, type KeyRange, type StoredEntry } from "./engine.js";
import { decide, erasedHead, type PartitionHead } from "./partition-head.js";

/** What one look told of a partition. It holds as long as the head is as it was then, which the write itself finds out. */
export interface Seen<Tag> {
  readonly head: PartitionHead;
  /** Of the head's state; undefined: there is no head yet. */
  readonly tag: Tag | undefined;
  /** Null: there is no such key. */
  readonly versions: ReadonlyMap<string, number | null>;
  /** Keys in these that are not among the versions are not there. */
  readonly whole: readonly KeyRange[];
  /** The engine's clock then. */
  readonly nowMs: number;
}

export type Changes = Pick<Commit, "checks" | "puts" | "deletes" | "durability">;

/** A database that changes some of its items if one of them, the head, is as it was read. */
export interface HeadStore<Tag> {
  /** For a person. */
  readonly name: string;
  /** Of what a commit names, the keys that must be known before it is tried: not those that by `seen` are not there. */
  keysToKnow(changes: Changes, seen?: Seen<Tag>): readonly string[];
  /** Of what a tag holds. Default: none. */
  charactersOf?(tag: Tag): number;
  look(partition: string, keys: readonly string[]): Promise<Seen<Tag>>;
  /** All or nothing. The new head's tag; null: somebody else was faster, and nothing was written. */
  write(partition: string, seen: Seen<Tag>, head: PartitionHead, changes: Changes): Promise<Tag | null>;
}

/** Of heads with their keys and what tags hold, over all partitions. */
const MOST_CHARACTERS = 8_000_000;
/** Of a head alone: it names its last commits. */
const HEAD_CHARACTERS = 500;
/** Of one partition. */
const MOST_KEYS = 1_000;
const MOST_RANGES = 20;
/** Before a write that met another one is tried again: up to so much more each time, in milliseconds. */
const STEP_MS = 10;
const MOST_STEPS = 20;

/**
 * Commits over such a database, without locks: decided by what was seen, and again by a look where somebody else was faster. Who commits on
 * what this process has just read needs no look. Writers of one process wait for each other.
 */
export class OptimisticHeads<Tag> {
  readonly #store: HeadStore<Tag>;
  readonly #timeoutMs: number;
  readonly #writers = new KeyedMutex();
  readonly #seen = new LRUCache<string, Seen<Tag>>({
    maxSize: MOST_CHARACTERS,
    sizeCalculation: ({ versions, whole, tag }) => {
      const keys = [...versions.keys(), ...whole.flatMap(({ from, to }) => [from, to])];
      const inTag = tag === undefined ? 0 : (this.#store.charactersOf?.(tag) ?? 0);
      return keys.reduce((sum, key) => sum + key.length, HEAD_CHARACTERS) + inTag;
    },
  });

  constructor(store: HeadStore<Tag>, { timeoutMs }: { readonly timeoutMs: number }) {
    this.#store = store;
    this.#timeoutMs = timeoutMs;
  }

  /** @throws STORAGE_UNAVAILABLE */
  commit(partition: string, commit: Commit): Promise<CommitResult> {
    // A claim is measured by the engine's clock, of which only a look knows.
    return this.#change(partition, commit, commit.claim === undefined, (seen) => {
      const { result, head } = decide(seen.head, commit, (key) => versionIn(seen, key) ?? null, seen.nowMs);
      return { result, head, isSure: result.ok };
    });
  }

  /** Begins an erasure. Returns the version up to which entries are to be deleted. @throws STORAGE_UNAVAILABLE */
  async raiseEpoch(partition: string, changes: Changes = {}): Promise<number> {
    const till = await this.#change(partition, changes, true, (seen) => {
      const head = erasedHead(seen.head);
      return { result: head.version, head, isSure: true };
    });
    this.#seen.delete(partition);
    return till;
  }

  last(partition: string): Seen<Tag> | undefined {
    return this.#seen.get(partition);
  }

  saw(partition: string, seen: Seen<Tag>): void {
    const before = this.#seen.peek(partition);
    if (before !== undefined && before.head.version > seen.head.version) return;
    const both = before === undefined ? seen : together(before, seen);
    const kept = [both, withoutAbsent(both), seen].find(({ versions }) => versions.size <= MOST_KEYS);
    if (kept !== undefined) this.#seen.set(partition, kept);
    else if (before !== undefined && !isSame(before, seen)) this.#seen.delete(partition);
  }

  #change<T>(
    partition: string,
    changes: Changes,
    mayRemember: boolean,
    decided: (seen: Seen<Tag>) => { readonly result: T; readonly head: PartitionHead | null; readonly isSure: boolean },
  ): Promise<T> {
    const untilMs = performance.now() + this.#timeoutMs;
    const keys = [...new Set([...this.#store.keysToKnow(changes), ...(changes.checks ?? []).map(({ key }) => key)])];
    return this.#writers.run(partition, async () => {
      for (let tries = 0; performance.now() < untilMs; tries++) {
        if (tries > 1) await pause(Math.random() * STEP_MS * Math.min(tries, MOST_STEPS));
        const before = tries === 0 && mayRemember ? this.last(partition) : undefined;
        const isEnough =
          before !== undefined && this.#store.keysToKnow(changes, before).every((key) => versionIn(before, key) !== undefined);
        const seen = isEnough ? before : await this.#look(partition, keys, before);
        const { result, head, isSure } = decided(seen);
        // What is refused by an old look is looked at again.
        if (head === null && isEnough && !isSure) continue;
        if (head === null) return result;
        const tag = await this.#write(partition, seen, head, changes);
        if (tag !== null) return result;
      }
      throw new NotCommitted({ detail: `Too many write to the same partition of ${this.#store.name}.`, retryAfterSeconds: 1 });
    });
  }

  /** For what was not seen before, where that still holds. */
  async #look(partition: string, keys: readonly string[], before: Seen<Tag> | undefined): Promise<Seen<Tag>> {
    const missing = before === undefined ? keys : keys.filter((key) => versionIn(before, key) === undefined);
    const seen = await this.#store.look(partition, missing);
    this.saw(partition, seen);
    if (before === undefined || missing.length === keys.length) return seen;
    return isSame(before, seen) ? together(before, seen) : this.#look(partition, keys, undefined);
  }

  async #write(partition: string, seen: Seen<Tag>, head: PartitionHead, changes: Changes): Promise<Tag | null> {
    const before = this.last(partition);
    const tag = await this.#store.write(partition, seen, head, changes).catch((error: unknown) => {
      // Whether it was written is not known.
      this.#seen.delete(partition);
      throw error;
    });
    if (tag === null) return null;
    const known = before === undefined ? seen : together(before, seen);
    const versions = new Map(known.versions);
    for (const key of changes.deletes ?? []) versions.set(key, null);
    for (const { key } of changes.puts ?? []) versions.set(key, head.version);
    this.saw(partition, { ...known, head, tag, versions });
    return tag;
  }
}

/** Whether nothing was written between the two. */
export function isSame(before: Pick<Seen<unknown>, "head">, after: Pick<Seen<unknown>, "head">): boolean {
  return before.head.version === after.head.version && before.head.epoch === after.head.epoch;
}

/** What both saw, where nothing was written between them; else the later. */
function together<Tag>(before: Seen<Tag>, after: Seen<Tag>): Seen<Tag> {
  if (!isSame(before, after)) return after;
  const whole = [...before.whole, ...after.whole].reduce<readonly KeyRange[]>(withRange, []).slice(-MOST_RANGES);
  return { ...after, versions: new Map([...before.versions, ...after.versions]), whole };
}

/** Keys that were looked for and are not there are the least to lose. */
function withoutAbsent<Tag>(seen: Seen<Tag>): Seen<Tag> {
  return { ...seen, versions: new Map([...seen.versions].filter(([, version]) => version !== null)) };
}

function withRange(ranges: readonly KeyRange[], range: KeyRange): readonly KeyRange[] {
  if (ranges.some((other) => holds(other, range))) return ranges;
  return [...ranges.filter((other) => !holds(range, other)), range];
}

function holds(range: KeyRange, other: KeyRange): boolean {
  return compareKeys(range.from, other.from) <= 0 && compareKeys(other.to, range.to) <= 0;
}

/** Undefined: not known. */
export function versionIn<Tag>({ versions, whole }: Seen<Tag>, key: string): number | null | undefined {
  const version = versions.get(key);
  return version === undefined && whole.some(({ from, to }) => compareKeys(from, key) <= 0 && compareKeys(key, to) < 0) ? null : version;
}

/** What a look saw that asked for keys and ranges. */
export function seenOf(
  keys: readonly string[],
  entries: ReadonlyMap<string, StoredEntry>,
  ranges: readonly KeyRange[],
  found: readonly (readonly StoredEntry[])[],
): Pick<Seen<unknown>, "versions" | "whole"> {
  const versions = new Map<string, number | null>(keys.map((key) => [key, entries.get(key)?.version ?? null]));
  for (const { key, version } of found.flat()) versions.set(key, version);
  return { versions, whole: ranges.flatMap((range, place) => seenPart(range, found[place] ?? [])) };
}

/** Of a range, what was seen whole: where there was more than was asked for, up to the last that was found. */
function seenPart(
  { from, to, limit = Number.POSITIVE_INFINITY, reverse = false }: KeyRange,
  found: readonly StoredEntry[],
): readonly KeyRange[] {
  if (found.length < limit) return [{ from, to }];
  const last = found.at(-1);
  if (last === undefined) return [];
  return [reverse ? { from: last.key, to } : { from, to: behind(last.key) }];
}

/** Whether nothing can be in it. */
export function isEmpty({ from, to, limit }: KeyRange): boolean {
  return limit === 0 || compareKeys(from, to) >= 0;
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
