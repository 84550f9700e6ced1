import { stat } from "node:fs/promises";
import { join } from "node:path";
import { onStorage } from "../platform/storage-errors.js";
import type { StateEngine } from "../state/engine.js";
import { requireNotFormer, STATE_FILE } from "../state/jsonl/state-file.js";
import type { Wiring } from "./wiring.js";

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
