import { resolve } from "node:path";
import { systemClock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import { VERSION } from "../platform/version.js";
import type { Backups } from "../ports/backups.js";
import { backUp } from "../state/jsonl/backup.js";
import { restoreBackup } from "../state/jsonl/restore-backup.js";
import type { StateFile } from "../state/jsonl/state-file.js";
import type { Config } from "./config.js";

/** Backups of what the configuration names. @throws INVALID_REQUEST where that is no directory */
export function backupsOf({ SHORT_TERM_BACKEND, MEMORY_STORAGE_DIR }: Pick<Config, "SHORT_TERM_BACKEND" | "MEMORY_STORAGE_DIR">): Backups {
  if (SHORT_TERM_BACKEND !== "file")
    throw new AppError("INVALID_REQUEST", {
      detail: `With SHORT_TERM_BACKEND=${SHORT_TERM_BACKEND} what decides is not in a directory.`,
      hint: "Use the backups of that database itself (pg_dump, a copy of Redis' append-only file); memories in Qdrant follow from it.",
    });
  const dir = resolve(MEMORY_STORAGE_DIR);
  return {
    backUp: async (to, options) =>
      backUp(dir, resolve(to), { ...options, now: systemClock.now(), version: VERSION, state: await stateFile() }),
    restore: (from, options) => restoreBackup(resolve(from), dir, { ...options, now: systemClock.now() }),
  };
}

async function stateFile(): Promise<StateFile> {
  const { SqliteEngine } = await import("../state/engines/sqlite/sqlite-engine.js");
  const { copyStateFile, erasuresOf } = await import("../state/engines/sqlite/state-file.js");
  return { open: (path) => SqliteEngine.open({ path }), copy: copyStateFile, erasures: erasuresOf };
}
