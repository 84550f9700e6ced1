import { type FileHandle, open } from "node:fs/promises";
import type { Sqlite } from "../../../platform/sqlite.js";

/** The write-ahead log of a database, to be synced away from the thread that commits. Nothing is to be synced for one in memory. */
export class WriteAheadLog {
  readonly #path: string | null;
  #file: FileHandle | null = null;

  constructor(db: Sqlite) {
    this.#path = db.memory ? null : `${db.name}-wal`;
  }

  /** What was committed before the call outlives a power cut. @throws what the disk says */
  async sync(): Promise<void> {
    if (this.#path === null) return;
    // One file for as long as the database is open: a checkpoint empties it and goes on in it.
    this.#file ??= await open(this.#path, "r+");
    await this.#file.datasync();
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = null;
  }
}
