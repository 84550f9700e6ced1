import { AppError } from "../errors.js";
import { errnoOf } from "./file-system.js";

/** What the operating system refused, as the ports name it; everything else passes through. */
export function asStorageError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  if (errno.startsWith("Z_")) return new AppError("STORAGE_DAMAGED", { detail: "A packed file can't be unpacked.", cause: error });
  return new AppError("STORAGE_UNAVAILABLE", { detail: `The storage answered ${errno}.`, cause: error, retryAfterSeconds: 1 });
}

export async function onStorage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asStorageError(error);
  }
}

/** The same object, each of whose methods, all asynchronous, rejects with what {@link asStorageError} makes of it. */
export function onStorageEach<T extends object>(target: T): T {
  return new Proxy(target, {
    get: (_, name) => {
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (...args: unknown[]) => onStorage(() => value.apply(target, args) as Promise<unknown>) : value;
    },
  });
}
