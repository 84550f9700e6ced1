import { isDamage } from "../../platform/sqlite.js";
import { type VectorClient, type VectorStore, VectorStoreError } from "../../ports/vectors.js";
import { answeredCalls } from "../requests/answered-calls.js";
import { METHODS, type Method } from "../requests/requests.js";
import { LocalEngine } from "./local-engine.js";
import type { LocalOptions } from "./local-protocol.js";
import { LocalThread } from "./local-worker.js";

/** 256 MiB: some 60,000 points of 768 dimensions. */
const DEFAULT_CACHE_BYTES = 256 * 1024 * 1024;

export interface LocalVectorStore extends VectorStore {
  /**
   * Rewrites the file, so that no byte of what was deleted is left in it, also where SQLite moved it within a page before.
   * Deletions empty the write-ahead log and overwrite what they free by themselves. Takes time in proportion to the file,
   * during which reads are answered and writes wait.
   */
  scrub(): Promise<void>;
}

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

interface Caller {
  call(method: Method, collection: string, args: unknown, signal: AbortSignal | undefined): Promise<unknown>;
  compact(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Qdrant's calls answered from a SQLite file, exactly and in-process, in a thread of its own. A write that resolved (`wait` or not)
 * survives a kill; a power cut may take the last ones.
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
  let closed: Promise<void> | null = null;
  const requireOpen = () => {
    if (closed !== null) throw new VectorStoreError(503, "The local vector store is closed.");
  };
  const call = async (method: Method, collection: string, args: unknown, signal?: AbortSignal) => {
    requireOpen();
    return caller.call(method, collection, args, signal);
  };
  return {
    ...answeredCalls(call),
    location: path === ":memory:" ? "in memory" : path,
    health: async () => {
      try {
        await call("collectionExists", "", undefined);
        return damaged ? { status: "degraded", detail: `Not all of it can be read. ${damageOf(path)}` } : { status: "ok" };
      } catch {
        return { status: "down", detail: damaged ? damageOf(path) : "The local vector store doesn't answer." };
      }
    },
    scrub: async () => {
      requireOpen();
      await caller.compact();
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
  const guarded = async <T>(work: () => T): Promise<T> => {
    try {
      return work();
    } catch (error) {
      if (error instanceof VectorStoreError) throw error;
      if (isDamage(error)) onDamage();
      throw new VectorStoreError(error instanceof DOMException ? 400 : 500, error instanceof Error ? error.message : "The call failed.");
    }
  };
  return {
    call: (method, collection, args) => guarded(() => structuredClone(engine.call(method, collection, structuredClone(args)))),
    compact: () => guarded(() => engine.scrub()),
    close: async () => engine.close(),
  };
}

/** What is wrong with the file, and what to do. */
function damageOf(path: string): string {
  return `${path} is damaged. Restore it from a backup, or move it away: history is then rebuilt from the journals.`;
}

/**
 * Stands for a local store whose file is damaged. Every call fails, so that nobody takes "can't be looked at" for "nothing is there":
 * a constraint that can't be read is no constraint that isn't there. The file is left as it is.
 */
export function unreadableStore(path: string): LocalVectorStore {
  const detail = damageOf(path);
  const fail = async () => {
    throw new VectorStoreError(503, detail);
  };
  return {
    client: Object.fromEntries(METHODS.map((method) => [method, fail])) as unknown as VectorClient,
    location: `${path} (damaged)`,
    withSignal: (_signal, work) => work(),
    health: async () => ({ status: "down", detail }),
    scrub: fail,
    close: async () => {},
  };
}
