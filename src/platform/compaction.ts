import { stat } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { threadFromSource } from "./source-thread.js";
import type { Sqlite } from "./sqlite.js";

/** Smaller files, in bytes, are done in less time than a thread takes to start. */
const SMALL = 2_000_000;
/** Tries to empty the write-ahead log between the reads of others. */
const TRIES = 10;

/**
 * Writes a database's file anew. Others may read it meanwhile, and see it as it was until it is done; nobody may write. No byte of what was
 * deleted or replaced is left in it or its write-ahead log; SQLite alone leaves copies of what it moves between pages. Takes some 9 ms a
 * megabyte, of a thread of its own where the file is no small one, and as much room on the disk again.
 * @throws what SQLite throws, or where readers left no room for it
 */
export async function compactDatabase(db: Sqlite): Promise<void> {
  return (await stat(db.name)).size <= SMALL ? compactHere(db) : compactInThread(db.name);
}

/** As {@link compactDatabase}, of a file that this thread may not have open. */
export function compactInThread(path: string): Promise<void> {
  const worker = newWorker(path);
  return new Promise((resolve, reject) => {
    worker.once("error", reject);
    worker.once("exit", (code) => (code === 0 ? resolve() : reject(new Error("The thread that rewrites a file ended."))));
  });
}

/** As {@link compactDatabase}, in this thread. */
export function compactHere(db: Sqlite): void {
  db.pragma("temp_store = MEMORY");
  db.exec("VACUUM");
  // The new pages are in the write-ahead log: only when they have taken the old ones' place are those gone.
  for (let tries = 0; db.pragma("wal_checkpoint(TRUNCATE)", { simple: true }) !== 0; tries++)
    if (tries >= TRIES) throw new Error("The file is read without a pause: it can't be rewritten.");
}

function newWorker(path: string): Worker {
  if (!import.meta.url.endsWith(".ts")) return new Worker(new URL("./compaction-thread.js", import.meta.url), { workerData: path });
  return new Worker(threadFromSource(new URL("./compaction-thread.ts", import.meta.url)), { workerData: path, eval: true });
}
