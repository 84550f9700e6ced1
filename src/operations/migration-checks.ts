import { setTimeout as pause } from "node:timers/promises";
import type { Owner } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import type { MovableState, ReadableJournals } from "../ports/transfer.js";
import { committed } from "../state/durable-commit.js";
import { prefixRange, type StateEngine } from "../state/engine.js";
import { OWNER_KEY, ownerOfValue, ownerPartition } from "../state/partition.js";
import { LOCKS, sessionKey } from "../state/sessions/keys.js";
import { journalDigest, ownerIn } from "./partition-copy.js";
import { PartitionPair } from "./partition-pair.js";
import { PartitionReader } from "./partition-reader.js";
import { eachPartition, INSTALLATION_PARTITION, LOCKS_PARTITION, MOVE_PARTITION, portable } from "./portable-entries.js";
import type { StateTally } from "./state-counts.js";

const LOOK_AGAIN_MS = 250;

/**
 * The leases of `s:locks` that are held now, by the engine's clock: when each ends, by key. `except`: the key of the caller's own, as its
 * lock has it.
 */
export async function leasesIn(engine: StateEngine, except: string | null = null): Promise<ReadonlyMap<string, number>> {
  const { nowMs, ranges } = await engine.read(LOCKS_PARTITION, { ranges: [prefixRange(LOCKS)] });
  const held = new Map<string, number>();
  for (const { key, value } of ranges[0] ?? []) {
    const { untilMs } = JSON.parse(value) as { readonly untilMs?: unknown };
    if (typeof untilMs === "number" && untilMs >= nowMs && key !== except) held.set(key, untilMs);
  }
  return held;
}

/**
 * Waits for the leases of processes that were killed, which end by themselves; one that is renewed, or new, is of a process that runs.
 * @throws STORAGE_IN_USE
 */
export async function requireUnused(state: Pick<MovableState, "name" | "leases">, signal: AbortSignal): Promise<void> {
  const first = await state.leases();
  for (let held = first; held.size > 0; held = await state.leases()) {
    for (const [key, until] of held) {
      if (until === first.get(key)) continue;
      throw new AppError("STORAGE_IN_USE", {
        detail: `Another Maitred uses ${state.name}: ${held.size === 1 ? "a lease" : `${held.size} leases`} there is renewed.`,
        hint: "Stop every server and command that uses it, and run this again.",
      });
    }
    await pause(LOOK_AGAIN_MS, undefined, { signal });
  }
}

export interface JournalDamage {
  readonly records: number;
  readonly journals: number;
}

/** Counts what a move would leave behind: damaged records, and journals that nobody can tell the owner of. */
export async function damageIn({ keptIn, store }: ReadableJournals): Promise<JournalDamage> {
  if (keptIn === "rows") return { records: 0, journals: 0 };
  const listed = new Set<string>();
  for await (const { sessionId } of store.list()) listed.add(sessionId);
  let records = 0;
  let journals = 0;
  for await (const { sessionId, damagedLines } of store.check()) {
    records += damagedLines.length;
    if (!listed.has(sessionId)) journals += 1;
  }
  return { records, journals };
}

export interface ComparedPartition {
  readonly isSame: boolean;
  /** Null where neither store tells whose it is. */
  readonly owner: Owner | null;
}

/** Compares a partition's entries, journals, alarm and epoch, and counts what each store has of it. */
export async function comparePartition(
  source: MovableState,
  target: MovableState,
  partition: string,
  { signal, tallies }: { readonly signal: AbortSignal; readonly tallies: readonly [StateTally, StateTally] },
): Promise<ComparedPartition> {
  const pair = await PartitionPair.of(source, target, partition, signal);
  const counters = tallies.map((tally) => tally.partition());
  let owner: Owner | null = null;
  let isSame = true;
  const differences = pair.differences(signal, ({ key, value }, side) => {
    if (partition !== INSTALLATION_PARTITION) counters[side]?.(key, value);
    if (key === OWNER_KEY) owner = ownerOfValue(value);
  });
  for await (const _ of differences) isSame = false;
  const { from, to } = pair;
  if (from.head.dueAtMs !== to.head.dueAtMs || from.head.epoch > to.head.epoch) isSame = false;
  for (const sessionId of pair.sessions.keys()) {
    signal.throwIfAborted();
    const digests =
      owner === null
        ? []
        : await Promise.all([source, target].map(({ journals }) => journalDigest(journals.store, owner as Owner, sessionId)));
    for (const [side, digest] of digests.entries()) tallies[side]?.addMessages(digest?.messages ?? 0);
    if (digests[0]?.hash !== digests[1]?.hash) isSame = false;
  }
  return { isSame, owner };
}

/**
 * Whatever the target holds must be of the source: all the same, or what a move from there left that was broken off, which may be written
 * over. So nothing of anybody is lost, and a move can be begun again. @throws TARGET_NOT_EMPTY
 */
export async function requireNothingElse(source: MovableState, target: MovableState, signal: AbortSignal): Promise<void> {
  const begunFrom = await halfMovedFrom(target.engine);
  if (begunFrom !== null && begunFrom !== source.name)
    throw new AppError("TARGET_NOT_EMPTY", { detail: `${target.name} holds what a move from ${begunFrom} left that was broken off.` });
  const refuse = (what: string): never => {
    throw new AppError("TARGET_NOT_EMPTY", {
      detail: `${target.name} holds ${what} that ${source.name} does not hold. Nothing was moved.`,
    });
  };
  await eachPartition(target, signal, async (partition, either) => {
    if (partition === INSTALLATION_PARTITION || (await isEmpty(target, partition, either))) return;
    if ((await source.engine.read(partition, {}, { signal: either })).version === 0) refuse(`something (partition ${partition})`);
    const foreign = begunFrom === null ? await foreignIn(source, target, partition, either) : null;
    if (foreign !== null) refuse(`something (${foreign}, partition ${partition})`);
  });
  const foreign = target.journals.keptIn === "files" ? await foreignFile(source, target, begunFrom === null) : null;
  if (foreign !== null) refuse(`a session (${foreign})`);
}

async function isEmpty(state: MovableState, partition: string, signal: AbortSignal): Promise<boolean> {
  for await (const _ of portable(new PartitionReader(state, partition).entries(signal))) return false;
  return true;
}

/** Key of an entry that the target alone has, or has otherwise. */
async function foreignIn(source: MovableState, target: MovableState, partition: string, signal: AbortSignal): Promise<string | null> {
  const pair = await PartitionPair.of(source, target, partition, signal);
  for await (const { key, target: theirs } of pair.differences(signal)) if (theirs !== null) return key;
  if (target.journals.keptIn === "files" || pair.sessions.size === 0) return null;
  const owner = await ownerIn(source, partition);
  for (const sessionId of owner === null ? [] : pair.sessions.keys()) {
    signal.throwIfAborted();
    const [ours, theirs] = await Promise.all(
      [source, target].map(({ journals }) => (owner === null ? null : journalDigest(journals.store, owner, sessionId))),
    );
    if (theirs && theirs.hash !== ours?.hash) return sessionKey(sessionId);
  }
  return null;
}

/** Id of a session whose journal only the target has, or, where it is to be `same`, has otherwise. */
async function foreignFile(source: MovableState, target: MovableState, same: boolean): Promise<string | null> {
  for await (const { owner, sessionId } of target.journals.store.list()) {
    const key = sessionKey(sessionId);
    const isKnown = (await source.engine.read(ownerPartition(owner), { keys: [key] })).entries.has(key);
    if (!isKnown && same) return sessionId;
    if (!isKnown) await target.journals.store.remove(owner, sessionId);
    if (!isKnown || !same) continue;
    const [ours, theirs] = await Promise.all([source, target].map(({ journals }) => journalDigest(journals.store, owner, sessionId)));
    if (ours?.hash !== theirs?.hash) return sessionId;
  }
  return null;
}

const BEGUN = "begun";

interface BegunMove {
  readonly v: 1;
  /** Name of the source. */
  readonly from: string;
  readonly at: string;
}

/** Notes in the target that what it holds is of a move that is not whole. */
export async function beginMove(source: MovableState, target: MovableState, now: Date): Promise<void> {
  const begun: BegunMove = { v: 1, from: source.name, at: now.toISOString() };
  await committed(target.engine, MOVE_PARTITION, { puts: [{ key: BEGUN, value: JSON.stringify(begun) }] });
}

export async function endMove(target: MovableState): Promise<void> {
  await committed(target.engine, MOVE_PARTITION, { deletes: [BEGUN] });
}

/** From where the engine holds half of something; null where what it holds is whole. */
export async function halfMovedFrom(engine: Pick<StateEngine, "read">): Promise<string | null> {
  const entry = (await engine.read(MOVE_PARTITION, { keys: [BEGUN] })).entries.get(BEGUN);
  return entry === undefined ? null : (JSON.parse(entry.value) as BegunMove).from;
}

/** @throws STORAGE_IN_USE where a move to this engine was broken off: going on with it would take what is written now */
export async function requireWhole(engine: Pick<StateEngine, "read">, name: string): Promise<void> {
  const source = await halfMovedFrom(engine);
  if (source === null) return;
  throw new AppError("STORAGE_IN_USE", {
    detail: `${name} holds half of a move from ${source}.`,
    hint: "Run the same `maitred migrate`, or `maitred restore`, again until it has ended.",
  });
}
