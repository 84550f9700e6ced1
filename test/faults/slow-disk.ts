import type { FileSystem, OpenFile } from "../../src/platform/file-system.js";

type Slowed = "write" | "datasync";

/** A disk whose syncs, or writes, of chosen files take until {@link release}. */
export class SlowDisk {
  readonly fileSystem: FileSystem;
  #chosen: (path: string, operation: Slowed) => boolean = () => false;
  #waiting: (() => void)[] = [];
  #arrived: (() => void)[] = [];
  readonly #running = new Set<Promise<unknown>>();

  constructor(over: FileSystem) {
    const slowed = (path: string, file: OpenFile): OpenFile => ({
      read: (position, length) => file.read(position, length),
      write: async (data, position) => {
        if (this.#chosen(path, "write")) await this.#turn();
        return this.#noted(file.write(data, position));
      },
      truncate: (length) => file.truncate(length),
      datasync: async () => {
        if (this.#chosen(path, "datasync")) await this.#turn();
        return this.#noted(file.datasync());
      },
      size: () => file.size(),
      close: () => file.close(),
    });
    this.fileSystem = {
      open: async (path, mode) => slowed(path, await over.open(path, mode)),
      rename: (from, to) => over.rename(from, to),
      unlink: (path) => over.unlink(path),
      readdir: (path) => over.readdir(path),
      mkdir: (path) => over.mkdir(path),
      stat: (path) => over.stat(path),
      identity: (path) => over.identity(path),
      syncDirectory: (path) => over.syncDirectory(path),
    };
  }

  slow(chosen: (path: string) => boolean, operation: Slowed = "datasync"): void {
    this.#chosen = (path, called) => called === operation && chosen(path);
  }

  /** Resolves when a sync waits. */
  async arrived(): Promise<void> {
    while (this.#waiting.length === 0) await new Promise<void>((resolve) => this.#arrived.push(resolve));
  }

  release(): void {
    this.#chosen = () => false;
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Resolves when what was released is done. */
  async settled(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.allSettled(this.#running);
    await new Promise((resolve) => setImmediate(resolve));
  }

  #noted<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    return work.finally(() => this.#running.delete(work));
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      for (const arrived of this.#arrived.splice(0)) arrived();
    });
  }
}
