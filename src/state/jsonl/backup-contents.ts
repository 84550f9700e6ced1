import { z } from "zod";
import { LOCK_FILE } from "../../platform/directory-lock.js";
import type { BackupReport } from "../../ports/backups.js";

/** Written last: it says that a backup is whole. */
export const BACKUP_FILE = "backup.json";

export const backupReportSchema: z.ZodType<BackupReport> = z.object({
  v: z.literal(1),
  at: z.string(),
  maitred: z.string(),
  sessions: z.number(),
  files: z.number(),
});

const JOURNAL = /^[0-9a-f-]{36}\.jsonl(\.gz)?$/;
/** What follows from the rest, belongs to a process, or is garbage. */
const LEFT_OUT = /^(index\.level|vectors\.db|maitred\.(address|probe)|README\.md|\..*)$|\.(tmp|damaged)$|\.db-(wal|shm|journal)$/;

export function isJournal(path: string): boolean {
  return JOURNAL.test(path);
}

/** Whether a file of a storage directory, by its path in it, is part of what decides. */
export function isDecisive(path: string): boolean {
  return path !== LOCK_FILE && path !== BACKUP_FILE && !LEFT_OUT.test(path);
}
