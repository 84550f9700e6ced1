import { AsyncLocalStorage } from "node:async_hooks";
import { setMaxListeners } from "node:events";
import { AppError } from "../errors.js";
import { isDamage } from "../platform/sqlite.js";
import type { VectorClient, VectorStore } from "../vectors.js";
import { VectorStoreError } from "../vectors.js";
import { LocalEngine, METHODS, type Method } from "./local-engine.js";
import type { LocalOptions } from "./local-protocol.js";
import { LocalThread } from "./local-worker.js";
import { damageOf } from "./unreadable-store.js";

/** 256 MiB: some 60,000 points of 768 dimensions. */
const DEFAULT_CACHE_BYTES = 256 * 1024 * 1024;

export interface LocalQdrantOptions {
  /** A file, made where it is missing; `:memory:` keeps nothing. */
  readonly path: string;
  /** Bound of the points kept in memory for searching, in bytes. Default 256 MiB. */
  readonly cacheBytes?: number;
  /** Default: true for a file, false in memory. False: calls are answered in the caller's thread. */
  readonly thread?: boolean;
  /** Called once, when pages of the file are found damaged: at the opening, or by a call. What doesn't lie on them is answered. */
  readonly onDamage?: () => void;
}

export interface LocalVectorStore extends VectorStore {
  /**
   * Rewrites the file, so that no byte of what was deleted is left in it, also where SQLite moved it within a page before.
   * Deletions empty the write-ahead log and overwrite what they free by themselves. Takes time in proportion to the file.
   */
  scrub(): Promise<void>;
}

interface Caller {
  call(method: Method | "scrub", collection: string, args: unknown, signal: AbortSignal | undefined): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Qdrant's calls answered from a SQLite file, exactly and in-process, in a thread of its own. A write is durable when it resolves (`wait` or not).
 * Aborting `withSignal`'s signal rejects with ABORTED at once; a call that hasn't begun by then is never done.
 * @throws STORAGE_UNAVAILABLE, STORAGE_DAMAGED
 */
export async function openLocalQdrant(options: LocalQdrantOptions): Promise<LocalVectorStore> {
  const { path, cacheBytes = DEFAULT_CACHE_BYTES } = options;
  let damaged = false;
  const foundDamage = () => {
    if (damaged) return;
    damaged = true;
    options.onDamage?.();
  };
  const caller =
    (options.thread ?? path !== ":memory:")
      ? await LocalThread.open({ path, cacheBytes }, foundDamage)
      : inThisThread({ path, cacheBytes }, foundDamage);
  const signals = new AsyncLocalStorage<AbortSignal>();
  let closed: Promise<void> | null = null;
  const call = async (method: Method | "scrub", collection: string, args: unknown) => {
    const signal = signals.getStore();
    if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
    if (closed !== null) throw new VectorStoreError(503, "The local vector store is closed.");
    return caller.call(method, collection, args, signal);
  };
  return {
    client: Object.fromEntries(
      METHODS.map((method) => [method, (collection: string, args: unknown) => call(method, collection, args)]),
    ) as unknown as VectorClient,
    location: path === ":memory:" ? "in memory" : path,
    withSignal: (signal, work) => {
      const outer = signals.getStore();
      const both = AbortSignal.any(outer === undefined ? [signal] : [outer, signal]);
      // Calls that are made side by side listen to one signal; that is no leak.
      setMaxListeners(0, both);
      return signals.run(both, work);
    },
    health: async () => {
      try {
        await call("collectionExists", "", undefined);
        return damaged ? { status: "degraded", detail: `Not all of it can be read. ${damageOf(path)}` } : { status: "ok" };
      } catch {
        return { status: "down", detail: damaged ? damageOf(path) : "The local vector store doesn't answer." };
      }
    },
    scrub: async () => {
      await call("scrub", "", undefined);
    },
    close: () => {
      closed ??= caller.close();
      return closed;
    },
  };
}

/** Values are cloned as they would be on the way to a thread, so that nobody shares them. */
function inThisThread(options: LocalOptions, onDamage: () => void): Caller {
  const engine = LocalEngine.open(options);
  if (!engine.isSound()) onDamage();
  return {
    call: async (method, collection, args) => {
      try {
        if (method === "scrub") return engine.scrub();
        return structuredClone(engine.call(method, collection, structuredClone(args)));
      } catch (error) {
        if (error instanceof VectorStoreError) throw error;
        if (isDamage(error)) onDamage();
        throw new VectorStoreError(error instanceof DOMException ? 400 : 500, error instanceof Error ? error.message : "The call failed.");
      }
    },
    close: async () => engine.close(),
  };
}
