import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Owner } from "../domain/owner.js";
import { AppError, isAppError } from "../platform/errors.js";
import { LEASE_MS } from "../platform/held-lease.js";
import { newId } from "../platform/ids.js";
import { onStorage } from "../platform/storage-errors.js";
import { type Lease, type TurnLock, underLock } from "../ports/session-store.js";
import type { StateEngine } from "../state/engine.js";
import { requireNotFormer, STATE_FILE } from "../state/jsonl/state-file.js";
import type { Stores, Wiring } from "./wiring.js";

export { STATE_FILE };

/** By SHORT_TERM_BACKEND, each client loaded where it is used. To add one: a folder of `state/engines/`, and a line. */
const ENGINES: Readonly<Record<NonNullable<Wiring["config"]["SHORT_TERM_BACKEND"]>, (wiring: Wiring) => Promise<StateEngine>>> = {
  memory: async ({ clock }) => new (await import("../state/engines/memory/memory-engine.js")).MemoryEngine({ clock }),
  file: openStateFile,
  postgres: async ({ config, logger }) =>
    (await import("../state/engines/postgres/postgres-engine.js")).PostgresEngine.open({
      url: config.DATABASE_URL ?? "",
      schema: config.DATABASE_SCHEMA,
      startupWaitMs: config.STARTUP_WAIT_MS,
      logger,
    }),
  redis: async ({ config, logger }) =>
    (await import("../state/engines/redis/redis-engine.js")).RedisEngine.open({
      url: config.REDIS_URL ?? "",
      prefix: config.REDIS_PREFIX,
      durability: config.REDIS_DURABILITY,
      startupWaitMs: config.STARTUP_WAIT_MS,
      logger,
    }),
  firestore: async ({ config, logger }) =>
    (await import("../state/engines/firestore/firestore-engine.js")).FirestoreEngine.open({
      project: config.FIRESTORE_PROJECT ?? "",
      database: config.FIRESTORE_DATABASE,
      emulator: config.FIRESTORE_EMULATOR_HOST,
      startupWaitMs: config.STARTUP_WAIT_MS,
      logger,
    }),
  cosmos: async ({ config, logger }) =>
    (await import("../state/engines/cosmos/cosmos-engine.js")).CosmosEngine.open({
      endpoint: config.COSMOS_ENDPOINT ?? "",
      key: config.COSMOS_KEY ?? "",
      database: config.COSMOS_DATABASE,
      startupWaitMs: config.STARTUP_WAIT_MS,
      logger,
    }),
};

/** By configuration. @throws STORAGE_UNAVAILABLE, STORAGE_DAMAGED, INVALID_CONFIG */
export async function openEngine(wiring: Wiring): Promise<StateEngine> {
  const { config, fileSystem, dir, kept } = wiring;
  // What lies in files beside an engine has a place.
  if (kept) await onStorage(() => fileSystem.mkdir(dir));
  return ENGINES[config.SHORT_TERM_BACKEND](wiring);
}

async function openStateFile({ dir, logger, clock }: Wiring): Promise<StateEngine> {
  const path = join(dir, STATE_FILE);
  await onStorage(() => requireNotFormer(dir));
  // A file that was cut to nothing opens as a new one does.
  if ((await stat(path).catch(() => null))?.size === 0)
    logger.error({ path }, "The file of all state is empty and begins anew: restore a backup if anybody was known here");
  return openSqlite({ logger, clock }, path);
}

/** @throws STORAGE_DAMAGED, STORAGE_UNAVAILABLE */
export async function openSqlite({ logger, clock }: Pick<Wiring, "logger" | "clock">, path: string): Promise<StateEngine> {
  return (await import("../state/engines/sqlite/sqlite-engine.js")).SqliteEngine.open({ path, logger, clock });
}

/** How long an owner's memories are waited for that another process is changing, in milliseconds. */
const MEMORIES_WAIT_MS = 10_000;
/** The same for a command that renews an owner's key. */
export const RENEWED_WAIT_MS = 600_000;
/** One that was killed is waited for, in milliseconds. */
const DEAD_BY_MS = LEASE_MS + 2_000;

/** The lock of what moves a whole store somewhere else, or writes all of it anew. */
export const BEING_MOVED = "the store is being moved";
/** Others may look at the same time, in milliseconds. */
const LOOK_MS = 2_000;

/** What one process has at a time. @throws STORAGE_IN_USE, said as given, where another has it after `waitMs` */
async function heldAlone(
  locks: TurnLock,
  key: string,
  inUse: { readonly detail: string; readonly hint: string },
  waitMs = DEAD_BY_MS,
): Promise<Lease> {
  try {
    return await locks.acquire(key, { waitMs });
  } catch (error) {
    if (!isAppError(error, "SESSION_BUSY")) throw error;
    throw new AppError("STORAGE_IN_USE", { ...inUse, cause: error });
  }
}

/** For a command that changes all of a store. @throws STORAGE_IN_USE */
export function heldWhole(locks: TurnLock, name: string): Promise<Lease> {
  return heldAlone(locks, BEING_MOVED, { detail: `${name} is being moved, or encrypted anew, by another command.`, hint: "Let it end." });
}

/**
 * Says, by a lease of its own, that this process uses the store for as long as it runs: what moves the store as a whole sees it.
 * @throws STORAGE_IN_USE while the store is being moved
 */
export async function announceProcess(locks: TurnLock, { closing }: Wiring): Promise<void> {
  // First: whoever moves it has its lock before it looks for leases.
  closing(await locks.acquire(`process ${newId()}`, { waitMs: 0 }), (lease) => lease.release());
  const inUse = {
    detail: "All that this store holds is being moved by `maitred migrate`, or written anew.",
    hint: "Wait until it has ended, and start on the store that it was moved to.",
  };
  await (await heldAlone(locks, BEING_MOVED, inUse, LOOK_MS)).release();
}

/** Changes of an owner's memories, one process at a time. `waitMs`: for another that is changing them. */
export function aloneWithMemories(locks: TurnLock, waitMs = MEMORIES_WAIT_MS): NonNullable<Stores["aloneWithMemories"]> {
  return (owner, work) => underLock(locks, `memories:${owner}`, { waitMs }, () => work());
}

/** Vectors in a file are one process's. One that was killed is waited for. @throws STORAGE_IN_USE */
export async function holdLocalFiles(locks: TurnLock, { config, closing }: Wiring): Promise<void> {
  if (config.MEM0_PROVIDER !== "local" && config.HISTORY_BACKEND !== "local") return;
  const inUse = {
    detail: "Another Maitred on this store keeps its memories in a local file, which two can't share.",
    hint: "Set QDRANT_URL, MEM0_PROVIDER=pgvector or MEM0_PROVIDER=state for both, or stop the other.",
  };
  closing(await heldAlone(locks, "local files", inUse), (lease) => lease.release());
}

/**
 * For a command that gives an owner another key while servers may go on, and nothing moves the store as a whole. One that was killed is
 * waited for. @throws STORAGE_IN_USE
 */
export async function holdOwnersKey(locks: TurnLock, wiring: Wiring, owner: Owner): Promise<Lease> {
  await announceProcess(locks, wiring);
  await holdLocalFiles(locks, wiring);
  const inUse = { detail: "Another command renews this user's key.", hint: "Let it end." };
  return wiring.closing(await heldAlone(locks, `keys:${owner}`, inUse), (lease) => lease.release());
}
