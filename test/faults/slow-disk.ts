import type { FileSystem, OpenFile } from "../../src/platform/file-system.js";

/** A disk whose syncs of chosen files take until {@link release}. */
export class SlowDisk {
  readonly fileSystem: FileSystem;
  #chosen: (path: string) => boolean = () => false;
  #waiting: (() => void)[] = [];
  #arrived: (() => void)[] = [];

  constructor(over: FileSystem) {
    const slowed = (path: string, file: OpenFile): OpenFile => ({
      read: (position, length) => file.read(position, length),
      write: (data, position) => file.write(data, position),
      truncate: (length) => file.truncate(length),
      datasync: async () => {
        if (this.#chosen(path)) await this.#turn();
        return file.datasync();
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
      syncDirectory: (path) => over.syncDirectory(path),
    };
  }

  slow(chosen: (path: string) => boolean): void {
    this.#chosen = chosen;
  }

  /** Resolves when a sync waits. */
  async arrived(): Promise<void> {
    while (this.#waiting.length === 0) await new Promise<void>((resolve) => this.#arrived.push(resolve));
  }

  release(): void {
    this.#chosen = () => false;
    for (const go of this.#waiting.splice(0)) go();
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      for (const arrived of this.#arrived.splice(0)) arrived();
    });
  }
}
