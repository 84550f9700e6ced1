import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, type FileSystem } from "../platform/file-system.js";
import { isId, newId } from "../platform/ids.js";
import { JsonlLog } from "../platform/jsonl-log.js";
import { onStorage } from "../platform/storage-errors.js";
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

const NAME = "installation-id";

/**
 * The id of the storage directory, made at its first use: tells apart installations that share a server. `given`: what it is to be where
 * there is none yet. Default: a new one.
 */
export async function installationId(dir: string, fileSystem: FileSystem, given = newId()): Promise<string> {
  const path = join(dir, NAME);
  const there = await readFile(path, "utf8").catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  });
  if (isId(there.trim())) return there.trim();
  return onStorage(async () => {
    await fileSystem.mkdir(dir);
    const file = await JsonlLog.create(fileSystem, path);
    await file.append(Buffer.from(`${given}\n`));
    await file.close();
    await fileSystem.syncDirectory(dir);
    return given;
  });
}
