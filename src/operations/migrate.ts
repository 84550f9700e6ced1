import type { MovableState } from "../ports/transfer.js";
import {
  beginMove,
  type ComparedPartition,
  comparePartition,
  damageIn,
  endMove,
  type JournalDamage,
  requireNothingElse,
  requireUnused,
} from "./migration-checks.js";
import { copyPartition } from "./partition-copy.js";
import { eachPartition, INSTALLATION_PARTITION, partitionsOf } from "./portable-entries.js";
import { type StateCounts, StateTally } from "./state-counts.js";

export interface MigrateOptions {
  readonly signal: AbortSignal;
  readonly now: Date;
  /** Of partitions, each counted when it is moved and when it is compared. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface MigrationReport {
  readonly source: StateCounts;
  readonly target: StateCounts;
  /** Entries and journals' records that this run wrote or deleted; those that an earlier run brought were there. */
  readonly moved: number;
  /** What could not be read in the source, and so was not moved. */
  readonly left_behind: { readonly damaged_records: number; readonly damaged_journals: number };
  /** What is not the same in both, by user, or by partition where it tells no user; empty when all is well. */
  readonly differences: readonly string[];
}

/**
 * Copies everything that one store of state holds to another, which holds nothing else, and compares the two. The source stays as it is.
 * Broken off, the same again goes on where it was. Nobody else may use either meanwhile.
 * @throws STORAGE_IN_USE, TARGET_NOT_EMPTY, COMMIT_TOO_LARGE, STORAGE_UNAVAILABLE, ABORTED
 */
export async function migrate(source: MovableState, target: MovableState, options: MigrateOptions): Promise<MigrationReport> {
  const { signal, now, onProgress = () => {} } = options;
  for (const state of [source, target]) await requireUnused(state, signal);
  const damage = await damageIn(source.journals);
  await requireNothingElse(source, target, signal);
  await beginMove(source, target, now);

  let total = 0;
  for await (const page of partitionsOf(source, signal)) total += page.length * 2;
  let done = 0;
  const step = () => {
    done += 1;
    onProgress(done, total);
  };
  let moved = 0;
  await eachPartition(source, signal, async (partition, either) => {
    moved += await copyPartition(source, target, partition, either);
    step();
  });
  const compared = await compare(source, target, { signal, step });
  if (compared.differences.length === 0) await endMove(target);
  return { ...compared, moved, left_behind: leftBehind(damage) };
}

async function compare(
  source: MovableState,
  target: MovableState,
  { signal, step }: { readonly signal: AbortSignal; readonly step: () => void },
): Promise<Pick<MigrationReport, "source" | "target" | "differences">> {
  const [ours, theirs] = [new StateTally(), new StateTally()];
  const differences: string[] = [];
  const note = ({ isSame, owner }: ComparedPartition, partition: string) => {
    if (!isSame) differences.push(owner === null ? `partition ${partition}` : `user ${owner}`);
  };
  const tallies = [ours, theirs] as const;
  await eachPartition(source, signal, async (partition, either) => {
    note(await comparePartition(source, target, partition, { signal: either, tallies }), partition);
    step();
  });
  await eachPartition(target, signal, async (partition, either) => {
    const { version } = await source.engine.read(partition, {}, { signal: either });
    if (version > 0 || partition === INSTALLATION_PARTITION) return;
    note(await comparePartition(source, target, partition, { signal: either, tallies }), partition);
  });
  return { source: ours.counts(), target: theirs.counts(), differences: differences.sort() };
}

export function leftBehind({ records, journals }: JournalDamage): MigrationReport["left_behind"] {
  return { damaged_records: records, damaged_journals: journals };
}
