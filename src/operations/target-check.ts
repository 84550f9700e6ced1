import { AppError } from "../platform/errors.js";
import type { MovableState } from "../ports/transfer.js";
import { ownerPartition } from "../state/partition.js";
import { sessionKey } from "../state/sessions/keys.js";
import { eachPartition } from "./each-partition.js";
import { journalDigest, ownerIn } from "./journal-copy.js";
import { halfMovedFrom } from "./migration-marker.js";
import { PartitionPair } from "./partition-pair.js";
import { PartitionReader } from "./partition-reader.js";
import { INSTALLATION_PARTITION, portable } from "./portable-entries.js";

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
