import { copyFile, mkdir, readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { eachInParallel } from "../../platform/bounded-parallel.js";
import { DirectoryLock } from "../../platform/directory-lock.js";
import { AppError } from "../../platform/errors.js";
import { onStorage } from "../../platform/storage-errors.js";
import type { BackupOptions, BackupReport } from "../../ports/backups.js";
import { BACKUP_FILE, backupReportSchema, isDecisive, isJournal } from "./backup-contents.js";
import { requireNotFormer } from "./state-file.js";
import { syncPath } from "./sync-path.js";

export interface RestoreOptions extends BackupOptions {
  readonly now: Date;
}

/**
 * Puts a backup into a storage directory that holds nothing yet, and holds the directory meanwhile. Journals come last: a restore that was
 * broken off leaves a directory that this refuses, to be emptied by hand. The next start makes what follows from the journals and state.
 * @throws INVALID_CONFIG for a backup of an older version, INVALID_REQUEST where the backup isn't whole, TARGET_NOT_EMPTY, STORAGE_IN_USE,
 * STORAGE_UNAVAILABLE, ABORTED
 */
export async function restoreBackup(backup: string, dir: string, options: RestoreOptions): Promise<BackupReport> {
  const report = await reportOf(backup);
  await requireNotFormer(backup);
  const lock = await DirectoryLock.acquire(dir, options.now);
  try {
    return await onStorage(async () => {
      if ((await filesOf(dir)).length > 0)
        throw new AppError("TARGET_NOT_EMPTY", { hint: "Move away what MEMORY_STORAGE_DIR holds, or set another one." });
      const files = await filesOf(backup);
      let done = 0;
      for (const some of [files.filter((path) => !isJournal(path)), files.filter(isJournal)])
        await eachInParallel(some, async (path) => {
          options.signal.throwIfAborted();
          await mkdir(dirname(join(dir, path)), { recursive: true });
          await copyFile(join(backup, path), join(dir, path));
          await syncPath(join(dir, path));
          options.onProgress(++done, files.length);
        });
      return report;
    });
  } finally {
    await lock.release();
  }
}

/** @throws INVALID_REQUEST */
async function reportOf(backup: string): Promise<BackupReport> {
  const text = await readFile(join(backup, BACKUP_FILE), "utf8").catch(() => "");
  const report = backupReportSchema.safeParse(parsed(text));
  if (report.success) return report.data;
  throw new AppError("INVALID_REQUEST", {
    detail: `There is no whole backup: ${BACKUP_FILE}, which is written last, is missing or says something else.`,
    hint: "Name the directory that `maitred backup` made. One that was broken off can't be restored.",
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function filesOf(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries.flatMap((each) => {
    const path = relative(dir, join(each.parentPath, each.name));
    return each.isFile() && isDecisive(path) ? [path] : [];
  });
}
