import type { FileSystem, OpenFile } from "../../src/platform/file-system.js";

export type FileOperation =
  | "open"
  | "read"
  | "write"
  | "truncate"
  | "datasync"
  | "close"
  | "rename"
  | "unlink"
  | "readdir"
  | "syncDirectory";
type Errno = "ENOSPC" | "EMFILE" | "EIO" | "EACCES";

export interface Fault {
  readonly operation: FileOperation;
  readonly errno: Errno;
  /** Only on paths that end so. Default: any. */
  readonly path?: string;
  /** `write` only: how many bytes get through before it fails. Default 0. */
  readonly afterBytes?: number;
  /** How often it strikes. Default once. */
  readonly times?: number;
}

/** A file system that fails as it is told to, and else hands on to the one it is put over. */
export class FaultyFileSystem implements FileSystem {
  readonly #over: FileSystem;
  #faults: { fault: Fault; left: number }[] = [];
  /** Counts of what was called, faults included. */
  readonly calls = new Map<FileOperation, number>();

  constructor(over: FileSystem) {
    this.#over = over;
  }

  inject(fault: Fault): void {
    this.#faults.push({ fault, left: fault.times ?? 1 });
  }

  /** The disk is well again. */
  heal(): void {
    this.#faults = [];
  }

  /** Throws when a fault that was injected has not struck as often as it should: the test then tests nothing. */
  assertAllStruck(): void {
    const left = this.#faults.filter((each) => each.left > 0 && each.left !== Number.POSITIVE_INFINITY);
    if (left.length > 0)
      throw new Error(`Faults that never struck: ${left.map(({ fault }) => `${fault.operation} ${fault.errno}`).join(", ")}`);
  }

  strike(operation: FileOperation, path: string): Fault | null {
    this.calls.set(operation, (this.calls.get(operation) ?? 0) + 1);
    const hit = this.#faults.find(({ fault, left }) => left > 0 && fault.operation === operation && path.endsWith(fault.path ?? ""));
    if (hit === undefined) return null;
    hit.left -= 1;
    return hit.fault;
  }

  #pass(operation: FileOperation, path: string): void {
    const fault = this.strike(operation, path);
    if (fault !== null) throw errnoError(fault);
  }

  async open(path: string, mode: Parameters<FileSystem["open"]>[1]): Promise<OpenFile> {
    this.#pass("open", path);
    return this.#file(path, await this.#over.open(path, mode));
  }

  #file(path: string, file: OpenFile): OpenFile {
    const pass = (operation: FileOperation) => this.#pass(operation, path);
    return {
      read: async (position, length) => {
        pass("read");
        return file.read(position, length);
      },
      write: async (data, position) => {
        const fault = this.strike("write", path);
        if (fault === null) return file.write(data, position);
        if (fault.afterBytes !== undefined) await file.write(data.subarray(0, fault.afterBytes), position);
        throw errnoError(fault);
      },
      truncate: async (length) => {
        pass("truncate");
        return file.truncate(length);
      },
      datasync: async () => {
        pass("datasync");
        return file.datasync();
      },
      size: () => file.size(),
      close: async () => {
        await file.close();
        pass("close");
      },
    };
  }

  async rename(from: string, to: string): Promise<void> {
    this.#pass("rename", to);
    return this.#over.rename(from, to);
  }

  async unlink(path: string): Promise<void> {
    this.#pass("unlink", path);
    return this.#over.unlink(path);
  }

  async readdir(path: string): Promise<string[]> {
    this.#pass("readdir", path);
    return this.#over.readdir(path);
  }

  mkdir(path: string): Promise<void> {
    return this.#over.mkdir(path);
  }

  stat(path: string): ReturnType<FileSystem["stat"]> {
    return this.#over.stat(path);
  }

  identity(path: string): Promise<string | null> {
    return this.#over.identity(path);
  }

  async syncDirectory(path: string): Promise<void> {
    this.#pass("syncDirectory", path);
    return this.#over.syncDirectory(path);
  }
}

function errnoError(fault: Fault): Error {
  return Object.assign(new Error(`${fault.errno}: injected into ${fault.operation}`), { code: fault.errno });
}
