import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, type FileSystem } from "../../platform/file-system.js";
import { isId, newId } from "../../platform/ids.js";
import { JsonlLog } from "../../platform/jsonl-log.js";
import { onStorage } from "../../platform/storage-errors.js";

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
