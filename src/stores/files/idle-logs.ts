import { LRUCache } from "lru-cache";
import type { FileSystem } from "../../platform/file-system.js";
import { JsonlLog } from "../../platform/jsonl-log.js";
import { FilePlace } from "./file-place.js";

interface IdleLog {
  readonly log: JsonlLog;
  readonly place: FilePlace;
}

export interface IdleLogsOptions {
  readonly fileSystem: FileSystem;
  /** Logs kept open while nobody uses them. */
  readonly max: number;
  readonly onCloseError: (error: unknown) => void;
}

/**
 * Logs that stay open between two uses, those used last. To be called for one path by one at a time: whoever takes a log gives it back,
 * or closes it.
 */
export class IdleLogs {
  readonly #fs: FileSystem;
  readonly #idle: LRUCache<string, IdleLog>;
  readonly #onCloseError: (error: unknown) => void;
  readonly #places = new WeakMap<JsonlLog, FilePlace>();
  #closed = false;

  constructor({ fileSystem, max, onCloseError }: IdleLogsOptions) {
    this.#fs = fileSystem;
    this.#onCloseError = onCloseError;
    this.#idle = new LRUCache({
      max,
      dispose: ({ log }, _path, reason) => {
        if (reason === "evict") log.close().catch(onCloseError);
      },
    });
  }

  /** The log as it lies there now: another file that stands in its place is opened anew. As {@link JsonlLog.open}. */
  async take(path: string): Promise<{ readonly log: JsonlLog; readonly tornBytes: number } | null> {
    const idle = this.#idle.get(path);
    this.#idle.delete(path);
    if (idle !== undefined) {
      if (await idle.place.isHeld().catch(() => false)) return { log: idle.log, tornBytes: 0 };
      await idle.log.close().catch(this.#onCloseError);
    }
    const opened = await JsonlLog.open(this.#fs, path);
    if (opened !== null) this.#places.set(opened.log, await FilePlace.of(this.#fs, path));
    return opened;
  }

  /** One that was made anew, or has a failed append to be cut off, is closed. */
  async give(path: string, log: JsonlLog): Promise<void> {
    const place = this.#places.get(log);
    if (this.#closed || place === undefined || log.needsRepair) await log.close();
    else this.#idle.set(path, { log, place });
  }

  /** Before its file is replaced or removed. */
  async drop(path: string): Promise<void> {
    const idle = this.#idle.get(path);
    this.#idle.delete(path);
    await idle?.log.close();
  }

  /** Closes all; what is given back later is closed at once. */
  async close(): Promise<void> {
    this.#closed = true;
    const idle = [...this.#idle.values()];
    this.#idle.clear();
    await Promise.all(idle.map(({ log }) => log.close()));
  }
}
