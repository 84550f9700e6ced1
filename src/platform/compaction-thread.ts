import { workerData } from "node:worker_threads";
import { compactHere } from "./compaction.js";
import { openDatabase } from "./sqlite.js";

/** How long each step waits for whoever reads, in milliseconds: far over what one read takes. */
const READER_MS = 5_000;

const db = openDatabase(workerData as string, { fileMustExist: true, timeout: READER_MS });
try {
  db.pragma("secure_delete = ON");
  db.pragma("synchronous = FULL");
  compactHere(db);
} finally {
  db.close();
}
