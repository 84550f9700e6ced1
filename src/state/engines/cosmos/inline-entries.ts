import type { KeyRange, StoredEntry } from "../../engine.js";
import { type Changes, compareKeys } from "../../optimistic-heads.js";

/** Entries that lie in their partition's head, which every commit replaces anyway; each other has an item of its own. */
export interface InlineEntries {
  readonly entries: ReadonlyMap<string, StoredEntry>;
  /** Keys of those that were put over an older value, as they will be again. */
  readonly rewritten: ReadonlySet<string>;
  /**
   * By the first segment of keys: the greatest that was ever given an item of its own, so that what is behind it has none. Undefined: any
   * key may have one.
   */
  readonly spilled: Readonly<Record<string, string>> | undefined;
}

/** State of a head's item. */
export interface HeadTag {
  readonly eTag: string;
  readonly inline: InlineEntries;
}

export const NO_ENTRIES: InlineEntries = { entries: new Map(), rewritten: new Set(), spilled: {} };

/** Where a commit leaves its partition's entries. */
export interface Placement {
  readonly inline: InlineEntries;
  /** To be written to items of their own. */
  readonly outside: readonly StoredEntry[];
  /** Keys whose items are to be deleted: each is there. */
  readonly deletes: readonly string[];
}

interface Room {
  /** Of the commit. */
  readonly version: number;
  readonly maxOperations: number;
  readonly headBytes: (inline: InlineEntries) => number;
  /** Of an entry; null: there is none; undefined: not known. */
  readonly versionOf: (key: string) => number | null | undefined;
}

/** Of an inline entry that is rewritten, as JSON. */
const MOST_ENTRY_BYTES = 16_384;
/** Of one that was put once: an answer of 1 KB. A longer one would leave the head soon, in a commit whose answer somebody waits for. */
const MOST_ONCE_BYTES = 3_072;
/** As JSON, inline entries are packed to less than a fourth of it at best. */
const BEST_PACKED = 4;
/** Of all inline entries that were put once, behind a relaxed commit. */
const MOST_LEFT_BYTES = 512;
/** Behind such a commit a larger one that none of so many commits has put, which are some of turns', has left the head. */
const OLD_COMMITS = 50;
/** Less room than in proportion, where a head is still too large. */
const LESS_BYTES = 512;
/** Of an entry that is rewritten, when it is weighed which goes. */
const REWRITTEN_WEIGHT = 1 / 16;
/** First segments of keys that are told apart. */
const MOST_SEGMENTS = 24;

/** Whether a key that is not inline may have an item of its own. */
export function mayBeSpilled({ spilled }: InlineEntries, key: string): boolean {
  if (spilled === undefined) return true;
  const greatest = spilled[segmentOf(key)];
  return greatest !== undefined && compareKeys(key, greatest) <= 0;
}

/** Whether an entry in the range may have an item of its own. */
export function mayHoldSpilled(inline: InlineEntries, { from, to }: KeyRange): boolean {
  const within = `${segmentOf(from)}/`;
  return !(from.startsWith(within) && to.startsWith(within)) || mayBeSpilled(inline, from);
}

/**
 * Entries that a commit puts are inline where they fit; what is then too much is given items of its own, what is large and was put long ago
 * first. A relaxed commit, which no answer waits for as a rule, makes room for those that follow. A key whose place is not known has its
 * item written, as one may be there. Where that were too many operations for one batch nothing that lies inline is moved.
 */
export function placeWithin(headBytes: number, before: InlineEntries, changes: Changes, room: Room): Placement {
  const clears = changes.durability === "relaxed";
  const mostOnce = clears ? MOST_LEFT_BYTES : Number.POSITIVE_INFINITY;
  const oldest = clears ? room.version - OLD_COMMITS : 0;
  for (let bytes = BEST_PACKED * headBytes; ; ) {
    const placement = placed(before, changes, room, { bytes, onceBytes: Math.min(bytes, mostOnce), oldest });
    if (placement.outside.length + placement.deletes.length > room.maxOperations) return placed(before, changes, room, NOTHING_MOVES);
    const packed = room.headBytes(placement.inline);
    if (packed <= headBytes || bytes <= 0) return placement;
    // In proportion, and a little less: what stays may pack worse, and keys of those that go may be noted in the head.
    bytes = bytesOfAll([...placement.inline.entries.values()]) * (headBytes / packed) - LESS_BYTES;
  }
}

/** Of what lies inline. */
interface Most {
  readonly bytes: number;
  /** Of entries that are not rewritten. */
  readonly onceBytes: number;
  /** Version of the oldest entry that is not small. */
  readonly oldest: number;
}

/** What is put lies outside. */
const NOTHING_MOVES: Most = { bytes: Number.POSITIVE_INFINITY, onceBytes: Number.POSITIVE_INFINITY, oldest: 0 };

function placed(before: InlineEntries, { puts = [], deletes = [] }: Changes, room: Room, most: Most): Placement {
  const { version, versionOf } = room;
  // Of a key that is put twice the last counts.
  const last = new Map(puts.map(({ key, value }) => [key, { key, value, version }]));
  const mayHaveItem = (key: string) => !before.entries.has(key) && mayBeSpilled(before, key);
  const hasItem = (key: string) => mayHaveItem(key) && (versionOf(key) ?? null) !== null;
  const touched = [...deletes, ...last.keys()];
  const entries = new Map(before.entries);
  for (const key of touched) entries.delete(key);
  const isAgain = (key: string) => before.entries.has(key) || hasItem(key);
  const isOutside = (entry: StoredEntry) =>
    most === NOTHING_MOVES ||
    bytesOf(entry) > (isAgain(entry.key) ? MOST_ENTRY_BYTES : MOST_ONCE_BYTES) ||
    (mayHaveItem(entry.key) && versionOf(entry.key) === undefined);
  const outside = [...last.values()].filter(isOutside);
  for (const entry of last.values()) if (!isOutside(entry)) entries.set(entry.key, entry);
  const again = [...last.keys()].filter(isAgain);
  const rewritten = new Set([...before.rewritten, ...again].filter((key) => entries.has(key)));
  outside.push(...tooMuch([...entries.values()], rewritten, version, most));
  for (const { key } of outside) {
    entries.delete(key);
    rewritten.delete(key);
  }
  const written = new Set(outside.map(({ key }) => key));
  const gone = [...new Set(touched)].filter((key) => hasItem(key) && !written.has(key));
  return { inline: { entries, rewritten, spilled: spilledWith(before.spilled, [...written]) }, outside, deletes: gone };
}

/** Of inline entries, those that go. */
function tooMuch(
  entries: readonly StoredEntry[],
  rewritten: ReadonlySet<string>,
  version: number,
  { bytes, onceBytes, oldest }: Most,
): readonly StoredEntry[] {
  const weight = (entry: StoredEntry) => bytesOf(entry) * (version + 1 - entry.version) * (rewritten.has(entry.key) ? REWRITTEN_WEIGHT : 1);
  const heaviest = [...entries].sort((one, other) => weight(other) - weight(one));
  const over = heaviestOver(heaviest, bytes);
  const isOld = (entry: StoredEntry) => entry.version < oldest && bytesOf(entry) > MOST_LEFT_BYTES;
  const others = heaviest.slice(over.length);
  const once = others.filter((entry) => !rewritten.has(entry.key) && !isOld(entry));
  // Small ones are what is soon deleted, or asked for by every turn; of those of one length the older ones go.
  const largest = once.sort((one, other) => lengthOf(other) - lengthOf(one));
  return [...over, ...others.filter(isOld), ...heaviestOver(largest, onceBytes)];
}

/** The first ones, so that the others are not more than so many bytes. */
function heaviestOver(entries: readonly StoredEntry[], bytes: number): readonly StoredEntry[] {
  let left = bytesOfAll(entries);
  const first = entries.findIndex((entry) => {
    if (left <= bytes) return true;
    left -= bytesOf(entry);
    return false;
  });
  return first < 0 ? entries : entries.slice(0, first);
}

export function spilledWith(before: InlineEntries["spilled"], keys: readonly string[]): InlineEntries["spilled"] {
  if (before === undefined) return undefined;
  const greatest = new Map(Object.entries(before));
  for (const key of keys) {
    const segment = segmentOf(key);
    const known = greatest.get(segment);
    if (known === undefined || compareKeys(known, key) < 0) greatest.set(segment, key);
  }
  return greatest.size > MOST_SEGMENTS ? undefined : Object.fromEntries(greatest);
}

function segmentOf(key: string): string {
  const end = key.indexOf("/");
  return end < 0 ? key : key.slice(0, end);
}

function bytesOfAll(entries: readonly StoredEntry[]): number {
  return entries.reduce((sum, entry) => sum + bytesOf(entry), 0);
}

function lengthOf({ key, value }: StoredEntry): number {
  return key.length + value.length;
}

/** As it lies in the head, at most. */
function bytesOf(entry: StoredEntry): number {
  return Buffer.byteLength(JSON.stringify({ ...entry, rewritten: true })) + 1;
}
