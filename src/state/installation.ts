import type { StateEngine } from "./engine.js";
import { optimisticCommit, unchanged } from "./optimistic-commit.js";
import { systemPartition } from "./partition.js";

const KEY = "installation";

/** The id of the installation that all processes on this engine are: the one that the first of them came with. */
export function agreedInstallation(engine: StateEngine, own: string): Promise<string> {
  return optimisticCommit(engine, systemPartition("installation"), { keys: [KEY] }, (read) => {
    const agreed = read.entries.get(KEY)?.value;
    if (agreed !== undefined) return { commit: null, result: JSON.parse(agreed) as string };
    return { commit: { checks: unchanged(read, KEY), puts: [{ key: KEY, value: JSON.stringify(own) }] }, result: own };
  });
}
