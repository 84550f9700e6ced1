import { statSync } from "node:fs";
import { AppError } from "../../../platform/errors.js";
import { identityOf } from "../../../platform/file-system.js";
import { storageGone } from "../../../platform/storage-errors.js";
import { asNotCommitted } from "./sqlite-errors.js";

/**
 * The file of a database, as it was opened. SQLite goes on writing one that was deleted, moved away or replaced, and what it writes there
 * is lost.
 */
export class OpenedFile {
  readonly #path: string;
  readonly #identity: string | null;

  private constructor(path: string, identity: string | null) {
    this.#path = path;
    this.#identity = identity;
  }

  static of(path: string): OpenedFile {
    return new OpenedFile(path, identityAt(path));
  }

  /** In this thread: some 4 µs, for each transaction. @throws NotCommitted where nothing, or another file, has its name */
  requireSame(): void {
    const now = identityAt(this.#path);
    if (now === this.#identity && now !== null) return;
    const detail = `${this.#path} is not the one it was: start the server again.`;
    throw asNotCommitted(now === null ? storageGone() : new AppError("STORAGE_UNAVAILABLE", { detail }));
  }
}

function identityAt(path: string): string | null {
  return identityOf(statSync(path, { throwIfNoEntry: false }));
}
