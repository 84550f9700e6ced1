import type { FileSystem, OpenFile } from "./file-system.js";

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
