import type { FileSystem, OpenFile } from "./file-system.js";

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
