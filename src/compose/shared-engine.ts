import type { Owner } from "../domain/owner.js";
import { AppError, isAppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { TurnLock } from "../ports/session-store.js";
import { LEASE_MS } from "../state/sessions/leased-lock.js";
import type { Stores } from "./stores.js";
import type { Wiring } from "./wiring.js";

/** How long an owner's memories are waited for that another process is changing, in milliseconds. */
const MEMORIES_WAIT_MS = 10_000;
/** Beyond the lease of one that was killed. */
const BEYOND_LEASE_MS = 2_000;

/** The lock of what moves a whole store somewhere else. */
export const BEING_MOVED = "the store is being moved";
/** Others may look at the same time, in milliseconds. */
const LOOK_MS = 2_000;

/**
 * Says, by a lease of its own, that this process uses the store for as long as it runs: what moves the store as a whole sees it.
 * @throws STORAGE_IN_USE while the store is being moved
 */
export async function announceProcess(locks: TurnLock, { closing }: Wiring): Promise<void> {
  // First: whoever moves it has its lock before it looks for leases.
  closing(await locks.acquire(`process ${newId()}`, { waitMs: 0 }), (lease) => lease.release());
  try {
    await (await locks.acquire(BEING_MOVED, { waitMs: LOOK_MS })).release();
  } catch (error) {
    if (!isAppError(error, "SESSION_BUSY")) throw error;
    throw new AppError("STORAGE_IN_USE", {
      detail: "All that this store holds is being moved by `maitred migrate`.",
      hint: "Wait until it has ended, and start on the store that it was moved to.",
      cause: error,
    });
  }
}

/** Changes of an owner's memories, one process at a time. */
export function aloneWithMemories(locks: TurnLock): NonNullable<Stores["aloneWithMemories"]> {
  return async (owner: Owner, work) => {
    const lease = await locks.acquire(`memories:${owner}`, { waitMs: MEMORIES_WAIT_MS });
    try {
      return await work();
    } finally {
      await lease.release();
    }
  };
}

/** Vectors in a file are one process's. One that was killed is waited for. @throws STORAGE_IN_USE */
export async function holdLocalFiles(locks: TurnLock, { config, closing }: Wiring): Promise<void> {
  if (config.MEM0_PROVIDER !== "local" && config.HISTORY_BACKEND !== "local") return;
  try {
    closing(await locks.acquire("local files", { waitMs: LEASE_MS + BEYOND_LEASE_MS }), (lease) => lease.release());
  } catch (error) {
    if (!isAppError(error, "SESSION_BUSY")) throw error;
    throw new AppError("STORAGE_IN_USE", {
      detail: "Another Maitred on this store keeps its memories in a local file, which two can't share.",
      hint: "Set QDRANT_URL or MEM0_PROVIDER=pgvector for both, or stop the other.",
      cause: error,
    });
  }
}
