import { setTimeout as pause } from "node:timers/promises";
import { committed } from "./durable-commit.js";
import type { Commit, PartitionRead, ReadQuery, StateEngine } from "./engine.js";

/** Tries that follow one another at once; behind them each waits for a random time, so that writers of one key don't move in step. */
const AT_ONCE = 2;
const STEP_MS = 5;
const MOST_STEPS = 20;

/** What is to be committed, if all is as it was read; null: nothing. */
export interface Decision<T> {
  readonly commit: Omit<Commit, "id"> | null;
  readonly result: T;
}

/**
 * Reads, decides and commits: again from the beginning where somebody else was faster. Whoever is refused was so because another write
 * came through. @throws STORAGE_UNAVAILABLE, and what `decide` throws
 */
export async function optimisticCommit<T>(
  engine: StateEngine,
  partition: string,
  query: ReadQuery,
  decide: (read: PartitionRead) => Decision<T> | Promise<Decision<T>>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const { commit, result } = await decide(await engine.read(partition, query));
    if (commit === null || (await committed(engine, partition, commit)).ok) return result;
    if (tries > AT_ONCE) await pause(Math.random() * STEP_MS * Math.min(tries, MOST_STEPS));
  }
}

/** As {@link optimisticCommit}, where there is nothing to tell. `decide`: null: nothing is to be committed. */
export function optimisticChange(
  engine: StateEngine,
  partition: string,
  query: ReadQuery,
  decide: (read: PartitionRead) => Decision<void>["commit"] | Promise<Decision<void>["commit"]>,
): Promise<void> {
  return optimisticCommit(engine, partition, query, async (read) => ({ commit: await decide(read), result: undefined }));
}

/** Whether a key is still as it was read, there or not. */
export function unchanged(read: PartitionRead, ...keys: readonly string[]): { readonly key: string; readonly version: number | null }[] {
  return keys.map((key) => ({ key, version: read.entries.get(key)?.version ?? null }));
}
