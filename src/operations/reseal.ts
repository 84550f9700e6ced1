import { committed } from "../state/durable-commit.js";
import type { StateEngine } from "../state/engine.js";
import { changedMeanwhile, PartitionReader } from "./partition-reader.js";

interface ResealParts {
  /** As it stores values. */
  readonly stored: StateEngine;
  /** The same, by which values are read in clear and written as they are to be. */
  readonly engine: StateEngine;
  /** Whether a value is as it is to be. */
  readonly isDone: (partition: string, key: string, value: string) => Promise<boolean>;
}

/**
 * Writes the values of a partition again that are not as they are to be, and deletes what no key opens any more; broken off, the same again
 * does the rest. Returns how many. @throws STORAGE_IN_USE where somebody else writes, COMMIT_TOO_LARGE, STORAGE_UNAVAILABLE, ABORTED
 */
export async function resealPartition({ stored, engine, isDone }: ResealParts, partition: string, signal: AbortSignal): Promise<number> {
  const { maxOperations, maxCommitBytes } = engine.manifest;
  const state = { name: stored.manifest.name, engine: stored };
  const reader = new PartitionReader(state, partition);
  let keys: string[] = [];
  let bytes = 0;
  let changed = 0;
  const write = async () => {
    const { entries, version } = await engine.read(partition, { keys }, { signal });
    const puts = [...entries.values()].map(({ key, value }) => ({ key, value }));
    const result = await committed(engine, partition, { version, puts, deletes: keys.filter((key) => !entries.has(key)) });
    if (!result.ok) throw changedMeanwhile(state, partition);
    reader.wrote(result.version);
    changed += keys.length;
    keys = [];
    bytes = 0;
  };
  for await (const { key, value } of reader.entries(signal)) {
    if (await isDone(partition, key, value)) continue;
    const size = Buffer.byteLength(key) + Buffer.byteLength(value);
    if (keys.length === maxOperations || (keys.length > 0 && bytes + size > maxCommitBytes / 2)) await write();
    keys.push(key);
    bytes += size;
  }
  if (keys.length > 0) await write();
  return changed;
}
