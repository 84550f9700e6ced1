import { committed } from "../state/durable-commit.js";
import type { StateEngine, StoredEntry } from "../state/engine.js";
import { pagedEntries } from "./partition-reader.js";

interface ResealParts {
  /** As it stores values. */
  readonly stored: StateEngine;
  /** The same, by which values are read in clear and written as they are to be. */
  readonly engine: StateEngine;
  /** Whether a value is to stay as it is. */
  readonly isDone: (partition: string, key: string, value: string) => Promise<boolean>;
  /** Deletes what no key opens any more. Default: it stays. */
  readonly deletesLost?: boolean;
}

/**
 * Writes the values of a partition again that are not as they are to be. What somebody else writes meanwhile stays as they wrote it, and
 * behind an erasure nothing of before it is written. Broken off, the same again does the rest. How many were written, or deleted.
 * @throws COMMIT_TOO_LARGE, STORAGE_UNAVAILABLE, ABORTED
 */
export async function resealPartition(
  { stored, engine, isDone, deletesLost = false }: ResealParts,
  partition: string,
  signal: AbortSignal,
): Promise<number> {
  const { maxOperations, maxCommitBytes } = engine.manifest;
  let changed = 0;
  const write = async (all: readonly StoredEntry[]) => {
    for (let entries = all; ; ) {
      signal.throwIfAborted();
      const keys = entries.map(({ key }) => key);
      const read = await engine.read(partition, { keys }, { signal });
      const same = entries.filter(({ key, version }) => read.entries.get(key)?.version === version);
      const lost = deletesLost ? entries.filter(({ key }) => !read.entries.has(key)) : [];
      const found = [...same, ...lost];
      if (found.length === 0) return;
      const result = await committed(engine, partition, {
        epoch: read.epoch,
        checks: found.map(({ key, version }) => ({ key, version })),
        puts: same.flatMap(({ key }) => read.entries.get(key) ?? []).map(({ key, value }) => ({ key, value })),
        deletes: lost.map(({ key }) => key),
      });
      if (result.ok) changed += found.length;
      if (result.ok) return;
      entries = entries.filter(({ key }) => !result.keys.includes(key));
    }
  };
  let batch: StoredEntry[] = [];
  let bytes = 0;
  for await (const entry of pagedEntries((query) => stored.read(partition, query, { signal }))) {
    const { key, value } = entry;
    if (await isDone(partition, key, value)) continue;
    const size = Buffer.byteLength(key) + Buffer.byteLength(value);
    if (batch.length === maxOperations || (batch.length > 0 && bytes + size > maxCommitBytes / 2)) {
      await write(batch);
      [batch, bytes] = [[], 0];
    }
    batch.push(entry);
    bytes += size;
  }
  if (batch.length > 0) await write(batch);
  return changed;
}
