import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { ownerOf } from "../../src/domain/owner.js";
import { type FileSystem, nodeFileSystem } from "../../src/platform/file-system.js";
import { silentLogger } from "../../src/platform/logger.js";
import { openSession } from "../field/session-of-rounds.js";

const PROGRAM = fileURLToPath(new URL("./start-up.ts", import.meta.url));
const SESSIONS_OF_EACH = 100;
const AT_ONCE = 16;

/** How a process starts over so many sessions. */
export interface StartUp {
  readonly sessions: number;
  /** Until turns can be answered; without loading the program. */
  readonly ms: number;
  readonly cpuMs: number;
  /** Resident, after that. */
  readonly megabytes: number;
}

/** A start in a process of its own, over sessions of one round each, of users with 100 sessions; the quickest of three. */
export async function startUpWith(dir: string, sessions: number): Promise<StartUp> {
  await fill(dir, sessions);
  const starts: StartUp[] = [];
  for (let n = 0; n < 3; n++) starts.push({ sessions, ...(await startIn(dir)) });
  return starts.toSorted((a, b) => a.ms - b.ms)[0] as StartUp;
}

async function startIn(dir: string): Promise<Omit<StartUp, "sessions">> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", import.meta.resolve("tsx"), PROGRAM, dir]);
  return JSON.parse(stdout) as Omit<StartUp, "sessions">;
}

async function fill(dir: string, sessions: number): Promise<void> {
  const config = parseConfig({ MEMORY_STORAGE_DIR: dir, EMBEDDING_PROVIDER: "hashing", MEM0_ENABLED: "false" });
  const maitred = await compose(config, { logger: silentLogger, fileSystem: unsynced });
  let begun = 0;
  const one = async () => {
    while (begun < sessions) {
      const n = begun++;
      await openSession(maitred.parts.store, ownerOf("default", `guest-${Math.floor(n / SESSIONS_OF_EACH)}`), 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  await maitred.close({ drainMs: 0 });
}

/** What is loaded only to be measured need not survive a power cut. */
const unsynced: FileSystem = {
  ...nodeFileSystem,
  syncDirectory: async () => undefined,
  open: async (path, mode) => {
    const file = await nodeFileSystem.open(path, mode);
    return Object.assign(file, { datasync: async () => undefined });
  },
};
