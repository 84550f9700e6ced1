import { constants, type Stats } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** What the journals and ledgers ask of a disk. Small, so that a test can put one that fails, or forgets, in its place. */
export interface FileSystem {
  /**
   * `read`: must exist. `update`: must exist, read and write. `create`: read and write, emptied when it exists.
   * Rejects with the errno error of Node (`ENOENT`, `EMFILE`, …).
   */
  open(path: string, mode: OpenMode): Promise<OpenFile>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Names, in no order. */
  readdir(path: string): Promise<string[]>;
  /** With all parents; without effect when it is there. */
  mkdir(path: string): Promise<void>;
  /** Null when nothing is there. */
  stat(path: string): Promise<{ readonly size: number; readonly mtimeMs: number } | null>;
  /** Tells what is there from what takes its name later: device and inode. Null when nothing is there. */
  identity(path: string): Promise<string | null>;
  /** Makes creates, renames and unlinks in this directory durable. */
  syncDirectory(path: string): Promise<void>;
}

type OpenMode = "read" | "update" | "create";

export interface OpenFile {
  /** Reads up to `length` bytes at `position` into a fresh buffer; shorter only at the end of the file. */
  read(position: number, length: number): Promise<Buffer>;
  /** Writes all of `data` at `position`, or rejects; a part of it may then have been written. */
  write(data: Uint8Array, position: number): Promise<void>;
  truncate(length: number): Promise<void>;
  /** Durable when it resolves: the bytes and the length (fdatasync). */
  datasync(): Promise<void>;
  /** False where all that was done is durable without a {@link datasync}. Default: true. */
  readonly needsSync?: boolean;
  size(): Promise<number>;
  close(): Promise<void>;
}

/**
 * Where a write can be asked to be durable when it returns, what is appended to takes one call for the write and its sync: the two are
 * the same to the disk, and half as much to this process. Elsewhere (macOS: its flag does not reach the medium) the sync is a call.
 */
const SYNCED_WRITES = process.platform === "linux";
const UPDATE = constants.O_RDWR | (SYNCED_WRITES ? constants.O_DSYNC : 0);
const FLAGS = { read: "r", update: UPDATE, create: "w+" } as const;

class NodeFile implements OpenFile {
  readonly #handle: FileHandle;
  readonly #syncsWrites: boolean;
  /** Something was changed that only a sync makes durable. */
  #unsynced: boolean;

  constructor(handle: FileHandle, mode: OpenMode) {
    this.#handle = handle;
    this.#syncsWrites = SYNCED_WRITES && mode === "update";
    // What another process wrote before a crash may be in the cache alone.
    this.#unsynced = true;
  }

  async read(position: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await this.#handle.read(buffer, filled, length - filled, position + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return filled === length ? buffer : buffer.subarray(0, filled);
  }

  async write(data: Uint8Array, position: number): Promise<void> {
    let written = 0;
    while (written < data.byteLength) {
      const { bytesWritten } = await this.#handle.write(data, written, data.byteLength - written, position + written);
      written += bytesWritten;
    }
  }

  truncate(length: number): Promise<void> {
    this.#unsynced = true;
    return this.#handle.truncate(length);
  }

  get needsSync(): boolean {
    return !this.#syncsWrites || this.#unsynced;
  }

  async datasync(): Promise<void> {
    if (!this.needsSync) return;
    this.#unsynced = false;
    try {
      await this.#handle.datasync();
    } catch (error) {
      this.#unsynced = true;
      throw error;
    }
  }

  async size(): Promise<number> {
    return (await this.#handle.stat()).size;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Device and inode; null where nothing is there. */
export function identityOf(found: Pick<Stats, "dev" | "ino"> | null | undefined): string | null {
  return found == null ? null : `${found.dev}:${found.ino}`;
}

/** The files of this machine, by `node:fs`. */
export const nodeFileSystem: FileSystem = {
  async open(path, mode) {
    return new NodeFile(await open(path, FLAGS[mode]), mode);
  },
  rename,
  unlink,
  readdir: (path) => readdir(path),
  mkdir: makeDirectory,
  async stat(path) {
    const found = await statOrNull(path);
    return found === null ? null : { size: found.size, mtimeMs: found.mtimeMs };
  },
  async identity(path) {
    return identityOf(await statOrNull(path));
  },
  async syncDirectory(path) {
    // Windows can't open a directory; its file system journals the names itself.
    if (process.platform === "win32") return;
    const handle = await open(path, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

/**
 * Makes a directory with all parents; without effect when it is there. Step by step: where a file system refuses new ones as if their
 * parent were missing (`/proc`), Node's recursive call never ends.
 */
export async function makeDirectory(path: string): Promise<void> {
  const there = await statOrNull(path);
  if (there?.isDirectory()) return;
  const parent = dirname(resolve(path));
  if (there === null && parent !== resolve(path)) await makeDirectory(parent);
  await mkdir(path).catch(async (error: unknown) => {
    // Somebody else may have made it meanwhile.
    if (!(await statOrNull(path))?.isDirectory()) throw error;
  });
}

function statOrNull(path: string): Promise<Stats | null> {
  return stat(path).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  });
}

/** `ENOENT`, `ENOSPC`, … of an error that came from the operating system; undefined for any other. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Far over what a busy disk takes; a client that waits for an answer has not gone by then. */
const DEFAULT_BOUND_MS = 5_000;

/**
 * A file system whose calls end: what the disk has not answered in time (a network share that is gone) rejects with ETIMEDOUT.
 * Nobody knows whether it will still happen, so until it has, or has failed, everything else on the same path rejects at once:
 * a write that comes late never lands on a later one, and a path holds no more than one of the threads that all files share.
 */
export function boundedFileSystem(over: FileSystem, boundMs = DEFAULT_BOUND_MS): FileSystem {
  const stuck = new Set<string>();

  function bounded<T>(path: string, work: () => Promise<T>, late?: (result: T) => void): Promise<T> {
    if (stuck.has(path)) return Promise.reject(timedOut());
    return new Promise((resolve, reject) => {
      let isLate = false;
      let hasEnded = false;
      const giveUp = () => {
        if (hasEnded) return;
        isLate = true;
        stuck.add(path);
        reject(timedOut());
      };
      // An event loop that was held up itself sees the time first, and then what the disk has answered long ago.
      const timer = setTimeout(() => setImmediate(giveUp), boundMs);
      const end = (settle: () => void) => {
        hasEnded = true;
        clearTimeout(timer);
        if (isLate) stuck.delete(path);
        settle();
      };
      work().then(
        (result) => end(() => (isLate ? late?.(result) : resolve(result))),
        (error) => end(() => reject(error)),
      );
    });
  }

  function boundedFile(path: string, file: OpenFile): OpenFile {
    return {
      read: (position, length) => bounded(path, () => file.read(position, length)),
      write: (data, position) => bounded(path, () => file.write(data, position)),
      truncate: (length) => bounded(path, () => file.truncate(length)),
      datasync: () => bounded(path, () => file.datasync()),
      get needsSync() {
        return file.needsSync ?? true;
      },
      size: () => bounded(path, () => file.size()),
      // A handle is given back after what is still under way on it; nobody waits for that.
      close: async () => {
        if (stuck.has(path)) void file.close().catch(() => undefined);
        else await bounded(path, () => file.close());
      },
    };
  }

  return {
    // A file that opens too late is closed: nobody has it.
    open: (path, mode) =>
      bounded(
        path,
        async () => boundedFile(path, await over.open(path, mode)),
        (file) => void file.close().catch(() => undefined),
      ),
    rename: (from, to) => bounded(to, () => over.rename(from, to)),
    unlink: (path) => bounded(path, () => over.unlink(path)),
    readdir: (path) => bounded(path, () => over.readdir(path)),
    mkdir: (path) => bounded(path, () => over.mkdir(path)),
    stat: (path) => bounded(path, () => over.stat(path)),
    identity: (path) => bounded(path, () => over.identity(path)),
    syncDirectory: (path) => bounded(path, () => over.syncDirectory(path)),
  };
}

function timedOut(): Error {
  return Object.assign(new Error("ETIMEDOUT: the disk gave no answer in time"), { code: "ETIMEDOUT" });
}

const nothing = async (): Promise<void> => {};

/** The same files, for a look at what another process writes: what would be changed stays as it is, and nobody is told. */
export function readOnlyFileSystem(over: FileSystem): FileSystem {
  return {
    ...over,
    open: async (path, mode) => (mode === "create" ? unwritten(EMPTY) : unwritten(await over.open(path, "read"))),
    rename: nothing,
    unlink: nothing,
    mkdir: nothing,
    syncDirectory: nothing,
  };
}

const EMPTY = { read: async () => Buffer.alloc(0), size: async () => 0, close: nothing };

function unwritten(file: Pick<OpenFile, "read" | "size" | "close">): OpenFile {
  return {
    read: (position, length) => file.read(position, length),
    size: () => file.size(),
    close: () => file.close(),
    write: nothing,
    truncate: nothing,
    datasync: nothing,
  };
}
