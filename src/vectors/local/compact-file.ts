import { openDatabase } from "../../platform/sqlite.js";

/** How long each step waits for whoever reads, in milliseconds: far over what one read takes. */
const READER_MS = 5_000;
/** Tries to empty the write-ahead log between the reads of others. */
const TRIES = 10;

/**
 * Rewrites a file that somebody else has open and reads meanwhile: readers see it as it was until it is done. Nobody may write.
 * No byte of what was deleted is left in it afterwards. @throws what SQLite throws, or where readers left no room for it
 */
export function compactFile(path: string): void {
  const db = openDatabase(path, { fileMustExist: true, timeout: READER_MS });
  try {
    db.pragma("secure_delete = ON");
    db.pragma("synchronous = FULL");
    db.pragma("temp_store = MEMORY");
    db.exec("VACUUM");
    // The new pages are in the write-ahead log: only when they have taken the old ones' place are those gone.
    for (let tries = 0; db.pragma("wal_checkpoint(TRUNCATE)", { simple: true }) !== 0; tries++)
      if (tries >= TRIES) throw new Error("The vector store's file is read without a pause: it can't be rewritten.");
  } finally {
    db.close();
  }
}
