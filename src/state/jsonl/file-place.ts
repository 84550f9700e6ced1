import type { FileSystem } from "../../platform/file-system.js";

/** How long what was seen in its place is taken to be there by whoever says that this is enough, in milliseconds. */
const SEEN_MS = 1_000;

/**
 * The place of an open file: it may be deleted, or another one put there, and what is written to it then is lost. To look costs more than
 * to write, as a thread has to be woken for it.
 */
export class FilePlace {
  readonly #fs: FileSystem;
  readonly #path: string;
  readonly #identity: string | null;
  #seenAt = performance.now();

  private constructor(fs: FileSystem, path: string, identity: string | null) {
    this.#fs = fs;
    this.#path = path;
    this.#identity = identity;
  }

  /** Of the file that stands there now. */
  static async of(fs: FileSystem, path: string): Promise<FilePlace> {
    return new FilePlace(fs, path, await fs.identity(path));
  }

  /** False where the file was deleted, or another one stands in its place. */
  async isHeld(): Promise<boolean> {
    const held = this.#identity !== null && (await this.#fs.identity(this.#path)) === this.#identity;
    if (held) this.#seenAt = performance.now();
    return held;
  }

  /** The same, without another look where it was seen within the last second. */
  async wasHeld(): Promise<boolean> {
    return (this.#identity !== null && performance.now() - this.#seenAt < SEEN_MS) || this.isHeld();
  }
}
