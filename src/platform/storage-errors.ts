import { AppError } from "./errors.js";
import { errnoOf } from "./file-system.js";

const FULL = "The disk is full: free space on it, then try again; with the same Idempotency-Key nothing is done twice.";
const NO_ACCESS = "The server's process needs write access to its storage directory.";
const TOO_MANY_FILES = "Too many files are open: raise the limit of the server's process (`ulimit -n`).";
const FAILING = "The disk answers with errors: look at the system's log before the storage is used on.";
const GONE = "The storage directory is gone, or another one is mounted in its place: bring it back, then start the server again.";

const ADVICE: Readonly<Record<string, string>> = {
  EACCES: NO_ACCESS,
  EPERM: NO_ACCESS,
  EROFS: NO_ACCESS,
  SQLITE_READONLY: NO_ACCESS,
  SQLITE_CANTOPEN: NO_ACCESS,
  EMFILE: TOO_MANY_FILES,
  ENFILE: TOO_MANY_FILES,
  EIO: FAILING,
  ENOENT: GONE,
  ENOTDIR: GONE,
  ESTALE: GONE,
};

/** The disk, or what this process may have of it, is used up. */
export function isDiskFull(errno: string | undefined): boolean {
  return errno === "ENOSPC" || errno === "EDQUOT" || errno === "SQLITE_FULL";
}

/** What has to be done about a refusal before a repetition can go well; undefined where there is nothing to do but wait. */
export function storageAdvice(errno: string | undefined): string | undefined {
  if (isDiskFull(errno)) return FULL;
  // SQLite's extended codes begin with the plain one, and an I/O error of it is one of the disk.
  if (errno?.startsWith("SQLITE_IOERR")) return FAILING;
  return errno === undefined ? undefined : (ADVICE[errno] ?? ADVICE[errno.split("_").slice(0, 2).join("_")]);
}

/** Where somebody's file, or the directory that it lay in, is no longer what was opened. */
export function storageGone(): AppError {
  return new AppError("STORAGE_UNAVAILABLE", { detail: "The storage directory is gone.", hint: GONE, retryAfterSeconds: 1 });
}

/** What the operating system refused, as the ports name it; everything else passes through. */
export function asStorageError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  if (errno.startsWith("Z_")) return new AppError("STORAGE_DAMAGED", { detail: "A packed file can't be unpacked.", cause: error });
  const hint = storageAdvice(errno);
  return new AppError("STORAGE_UNAVAILABLE", {
    detail: `The storage answered ${errno}.`,
    ...(hint !== undefined && { hint }),
    cause: error,
    retryAfterSeconds: 1,
  });
}

export async function onStorage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asStorageError(error);
  }
}

/**
 * The same object, each of whose methods, all asynchronous or async generators, rejects with what {@link asStorageError} makes of it.
 */
export function onStorageEach<T extends object>(target: T): T {
  return new Proxy(target, {
    get: (_, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const result = value.apply(target, args) as Promise<unknown> | AsyncIterable<unknown>;
        return Symbol.asyncIterator in result ? eachOnStorage(result) : onStorage(() => result);
      };
    },
  });
}

async function* eachOnStorage<T>(values: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* values;
  } catch (error) {
    throw asStorageError(error);
  }
}

/**
 * That what is stored can be read by this version. `what`: what it is, with its verb ("What Redis holds is"). `elsewhere`: what else can be
 * done than to start a newer Maitred. @throws STORAGE_UNAVAILABLE with both versions
 */
export function assertKnownLayout(what: string, found: unknown, known: number, elsewhere?: string): void {
  if (Number(found) <= known) return;
  const newer = "Start a Maitred that is at least as new as the one that wrote it";
  throw new AppError("STORAGE_UNAVAILABLE", {
    detail: `${what} of version ${String(found)}; this Maitred knows ${known}.`,
    hint: elsewhere === undefined ? `${newer}.` : `${newer}, or ${elsewhere}.`,
  });
}

/** As {@link assertKnownLayout}, where what an older version wrote can't be read either. */
export function assertSameLayout(what: string, found: unknown, known: number, elsewhere: string): void {
  assertKnownLayout(what, found, known, elsewhere);
  if (Number(found) === known) return;
  throw new AppError("STORAGE_UNAVAILABLE", {
    detail: `${what} of version ${String(found)}, which this Maitred can't read; it knows ${known}.`,
    hint: `Export with the version that wrote it, ${elsewhere}, and import there.`,
  });
}
