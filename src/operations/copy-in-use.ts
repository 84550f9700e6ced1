import { setTimeout as pause } from "node:timers/promises";
import { AppError, isAppError } from "../platform/errors.js";
import type { MovableState, ReadableState } from "../ports/transfer.js";
import { prefixRange } from "../state/engine.js";
import { ERASURE_KEY, LAST_TOMBSTONE_KEY } from "../state/ledger/ledger-values.js";
import { isOwnersPartition } from "../state/partition.js";
import { SESSIONS } from "../state/sessions/keys.js";
import { rowOf } from "../state/sessions/session-row.js";
import { wholeValues } from "../state/stored-rows.js";
import { damageIn, type JournalDamage, requireWhole } from "./migration-checks.js";
import { copyPartition } from "./partition-copy.js";
import { ALL } from "./partition-reader.js";
import { eachOf, eachPartition, sessionOf } from "./portable-entries.js";

/** A store as it is copied from while others write to it: as it is now, or as it was at one moment. */
export interface StateInUse extends ReadableState {
  /** Another answer once a session's journal was replaced; null where its row tells that. */
  journalId(sessionId: string): Promise<string | null>;
  close(): Promise<void>;
}

export interface CopyInUseOptions {
  readonly signal: AbortSignal;
  /** Of partitions. */
  readonly onProgress: (done: number, total: number) => void;
}

/** As often it is looked whether something was taken out meanwhile, this long after each other. */
const MAX_ROUNDS = 100;
const NEXT_ROUND_MS = 100;

/** A partition when it was copied. */
interface Seen {
  readonly version: number;
  /** What only an erasure, a forgetting, or the end of a session or of its journal takes away. */
  readonly marks: ReadonlySet<string>;
}

/**
 * Copies all state into an empty store while others write to it. Each partition is as it was at one moment; what the installation tells of
 * owners is not older than they are. All that was answered before it began is in the copy. What is erased, purged or forgotten while it
 * runs is taken out again: it is looked until a look finds nothing taken out. Tells what could not be read.
 * @throws STORAGE_IN_USE for half of a move, STORAGE_UNAVAILABLE, ABORTED
 */
export async function copyInUse(
  open: () => Promise<StateInUse>,
  copy: MovableState,
  { signal, onProgress }: CopyInUseOptions,
): Promise<JournalDamage> {
  let damage: JournalDamage | null = null;
  let copied: ReadonlyMap<string, Seen> = new Map();
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const source = await open();
    try {
      await requireWhole(source.engine, source.name);
      const seen = await lookAt(source, signal);
      if (damage !== null && !wasTakenOut(copied, seen)) return damage;
      damage ??= await damageIn(source.journals);
      const changed = [...seen].flatMap(([partition, { version }]) => (copied.get(partition)?.version === version ? [] : [partition]));
      let done = 0;
      for (const some of [changed.filter(isOwnersPartition), changed.filter((each) => !isOwnersPartition(each))])
        await eachOf(some, signal, async (partition, either) => {
          await copyAtOnce(source, copy, partition, either);
          onProgress(++done, changed.length);
        });
      copied = seen;
    } finally {
      await source.close();
    }
    await pause(NEXT_ROUND_MS, undefined, { signal });
  }
  throw new AppError("STORAGE_UNAVAILABLE", { detail: "Users were being erased all the time." });
}

async function lookAt(source: StateInUse, signal: AbortSignal): Promise<ReadonlyMap<string, Seen>> {
  const seen = new Map<string, Seen>();
  await eachPartition(source, signal, async (partition, either) => {
    const keys = [LAST_TOMBSTONE_KEY, ERASURE_KEY];
    const read = await source.engine.read(partition, { keys, ranges: [prefixRange(SESSIONS)] }, { signal: either });
    const marks = new Set([`epoch ${read.epoch}`, ...keys.map((key) => `${key} ${read.entries.get(key)?.version ?? 0}`)]);
    for (const entry of wholeValues(read.ranges[0] ?? [])) {
      const sessionId = sessionOf(entry.key) ?? "";
      marks.add(`${sessionId} ${rowOf(entry).generation} ${await source.journalId(sessionId)}`);
    }
    seen.set(partition, { version: read.version, marks });
  });
  return seen;
}

function wasTakenOut(before: ReadonlyMap<string, Seen>, now: ReadonlyMap<string, Seen>): boolean {
  return [...before].some(([partition, { marks }]) => [...marks].some((mark) => now.get(partition)?.marks.has(mark) !== true));
}

/** Page by page; where somebody writes meanwhile, all of the partition in one look, which is held in memory. */
async function copyAtOnce(source: ReadableState, copy: MovableState, partition: string, signal: AbortSignal): Promise<void> {
  try {
    await copyPartition(source, copy, partition, signal);
  } catch (error) {
    if (!isAppError(error, "STORAGE_IN_USE")) throw error;
    await copyPartition({ ...source, engine: await pinned(source.engine, partition, signal) }, copy, partition, signal);
  }
}

/** One partition as it is at one look. */
async function pinned(engine: ReadableState["engine"], partition: string, signal: AbortSignal): Promise<ReadableState["engine"]> {
  const look = await engine.read(partition, { ranges: [ALL] }, { signal });
  const all = look.ranges[0] ?? [];
  const range = ({ from, to, limit = all.length }: { readonly from: string; readonly to: string; readonly limit?: number }) =>
    all.filter(({ key }) => key >= from && key < to).slice(0, limit);
  return {
    partitions: (page) => engine.partitions(page),
    read: async (_, { keys = [], ranges = [] }) => ({
      ...look,
      entries: new Map(all.flatMap((entry) => (keys.includes(entry.key) ? [[entry.key, entry] as const] : []))),
      ranges: ranges.map(range),
    }),
  };
}
