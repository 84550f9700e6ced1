import type { Owner } from "../domain/owner.js";
import type { MovableState } from "../ports/transfer.js";
import { OWNER_KEY, ownerOfValue } from "../state/partition.js";
import { journalDigest } from "./journal-copy.js";
import { PartitionPair } from "./partition-pair.js";
import { INSTALLATION_PARTITION } from "./portable-entries.js";
import type { StateTally } from "./state-counts.js";

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
