import { join } from "node:path";
import { bookingsInFile, bookingsInPostgres } from "../concierge/booking-transfer.js";
import { bookingsInRedis } from "../concierge/redis-booking-transfer.js";
import { type MigrateOptions, type MigrationReport, migrate } from "../operations/migrate.js";
import { DirectoryLock } from "../platform/directory-lock.js";
import { AppError, isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { StateBackend, TransferableState } from "../ports/transfer.js";
import { SqliteDailyTokens } from "../stores/daily-tokens/sqlite-daily-tokens.js";
import { FileMemoryLog } from "../stores/files/file-memory-log.js";
import { FileOwnerLedger } from "../stores/files/file-owner-ledger.js";
import { openFileSessionStore } from "../stores/files/file-session-store.js";
import { LEASE_MS, LeasedLock } from "../stores/journal/leased-lock.js";
import { PostgresDatabase } from "../stores/postgres/database.js";
import { eventTablesOf as postgresEvents } from "../stores/postgres/event-transfer.js";
import { PostgresLeases } from "../stores/postgres/leases.js";
import { OwnerRows } from "../stores/postgres/owner-rows.js";
import { PostgresDailyTokens } from "../stores/postgres/postgres-daily-tokens.js";
import { PostgresMemoryLog } from "../stores/postgres/postgres-memory-log.js";
import { PostgresOwnerLedger } from "../stores/postgres/postgres-owner-ledger.js";
import { postgresSessionStore } from "../stores/postgres/postgres-session-store.js";
import { RedisDatabase } from "../stores/redis/database.js";
import { eventTablesOf as redisEvents } from "../stores/redis/event-transfer.js";
import { RedisLeases } from "../stores/redis/leases.js";
import { RedisDailyTokens } from "../stores/redis/redis-daily-tokens.js";
import { RedisEventLog } from "../stores/redis/redis-event-log.js";
import { RedisMemoryLog } from "../stores/redis/redis-memory-log.js";
import { RedisOwnerLedger } from "../stores/redis/redis-owner-ledger.js";
import { redisSessionStore } from "../stores/redis/redis-session-store.js";
import { ToldMemoryLog } from "../stores/sqlite-index/told-memory-log.js";
import type { Config } from "./config.js";
import { BEING_MOVED } from "./shared-engine.js";
import { type Wiring, wiringOf } from "./wiring.js";

/** Beyond the lease of a move that was killed, in milliseconds. */
const BEYOND_LEASE_MS = 2_000;

interface OpenedState {
  readonly state: TransferableState;
  /** Aborts when the store is not held any more. */
  readonly lost?: AbortSignal;
}

/**
 * Moves all state from the one backend to the other, both as the configuration names them, and holds them meanwhile.
 * @throws INVALID_CONFIG, STORAGE_IN_USE, TARGET_NOT_EMPTY, STORAGE_UNAVAILABLE, ABORTED
 */
export async function migrateState(
  config: Config,
  backends: { readonly from: StateBackend; readonly to: StateBackend },
  { logger, ...options }: Omit<MigrateOptions, "now"> & { readonly logger: Logger },
): Promise<MigrationReport> {
  const closers: (() => Promise<unknown> | unknown)[] = [];
  const wiring = wiringOf(config, { logger }, (value, close) => {
    closers.unshift(() => close(value));
    return value;
  });
  try {
    const source = await openState(wiring, backends.from);
    const target = await openState(wiring, backends.to, { tells: false });
    const lost = [source, target].flatMap((opened) => (opened.lost === undefined ? [] : [opened.lost]));
    const signal = AbortSignal.any([options.signal, ...lost]);
    return await migrate(source.state, target.state, { ...options, signal, now: wiring.clock.now() });
  } finally {
    for (const close of closers) await close();
  }
}

/**
 * Opens what a backend keeps, and holds it against everybody else. `tells`: what happened in it and was not told yet is, before it is
 * moved; false for what it is moved to, where it has been told already. Default true.
 */
export function openState(wiring: Wiring, backend: StateBackend, { tells = true } = {}): Promise<OpenedState> {
  switch (backend) {
    case "file":
      return openFiles(wiring, tells);
    case "postgres":
      return openPostgres(wiring, required(wiring.config.DATABASE_URL, "DATABASE_URL"));
    case "redis":
      return openRedis(wiring, required(wiring.config.REDIS_URL, "REDIS_URL"));
  }
}

async function openFiles({ config, logger, clock, fileSystem, codec, dir, closing }: Wiring, tells: boolean): Promise<OpenedState> {
  closing(await DirectoryLock.acquire(dir, clock.now()), (lock) => lock.release());
  const ledgers = closing(await FileOwnerLedger.open({ dir, fileSystem, logger, codec }), (it) => it.close());
  const memoryLog = closing(await FileMemoryLog.open({ dir, fileSystem, ledger: ledgers, logger, codec }), (it) => it.close());
  const sessions = closing(await openFileSessionStore({ dir, logger, clock, fileSystem, codec }), (it) => it.close());
  const { events } = sessions;
  if (!tells) events.tellNothing();
  if (config.WEBHOOK_URL !== undefined) events.keepQueue();
  await sessions.catchUp();
  if (tells) await new ToldMemoryLog(memoryLog, events, logger).catchUp({ all: sessions.needsRebuild });
  const bookings = closing(bookingsInFile(join(dir, "bookings.db")), (it) => it.close());
  const tokens = closing(await SqliteDailyTokens.open({ path: join(dir, "daily-tokens.db"), logger }), (it) => it.close());
  const { journal, index, images } = sessions;
  const tables = [...bookings.tables, ...events.tables(), tokens];
  return { state: { name: dir, journal, index, images, memoryLog, ledgers, tables, leases: async () => new Map() } };
}

async function openPostgres(wiring: Wiring, url: string): Promise<OpenedState> {
  const { config, logger, clock, codec, closing } = wiring;
  const { DATABASE_SCHEMA: schema } = config;
  const database = closing(await PostgresDatabase.open({ url, schema, logger }), (it) => it.close());
  const owners = new OwnerRows(database);
  const leases = new PostgresLeases(database, owners);
  return held(wiring, leases, {
    ...postgresSessionStore(database, owners, { logger, clock, codec }),
    name: `PostgreSQL (schema ${schema})`,
    memoryLog: new PostgresMemoryLog(database, owners, codec),
    ledgers: new PostgresOwnerLedger(database, owners, codec),
    tables: [...bookingsInPostgres(database).tables, ...postgresEvents(database), new PostgresDailyTokens(database)],
  });
}

async function openRedis(wiring: Wiring, url: string): Promise<OpenedState> {
  const { config, logger, clock, codec, closing } = wiring;
  const { REDIS_PREFIX: prefix, REDIS_DURABILITY: durability } = config;
  const database = closing(await RedisDatabase.open({ url, prefix, durability, logger }), (it) => it.close());
  const leases = new RedisLeases(database);
  const events = new RedisEventLog(database, { queued: false, logger });
  return held(wiring, leases, {
    ...redisSessionStore(database, { logger, clock, codec }),
    name: `Redis (prefix ${prefix})`,
    memoryLog: new RedisMemoryLog(database, codec),
    ledgers: new RedisOwnerLedger(database, codec),
    tables: [...bookingsInRedis(database), ...redisEvents(database, events), new RedisDailyTokens(database)],
  });
}

/** Keeps every server from starting on it; a move that was killed is waited for. @throws STORAGE_IN_USE while it is moved already */
async function held(
  { logger, closing }: Wiring,
  leases: PostgresLeases | RedisLeases,
  { name, journal, index, images, memoryLog, ledgers, tables }: Omit<TransferableState, "leases">,
): Promise<OpenedState> {
  const locks = new LeasedLock(leases, { logger });
  try {
    const lease = closing(await locks.acquire(BEING_MOVED, { waitMs: LEASE_MS + BEYOND_LEASE_MS }), (it) => it.release());
    const state = { name, journal, index, images, memoryLog, ledgers, tables, leases: () => leases.held(BEING_MOVED) };
    return { lost: lease.signal, state };
  } catch (error) {
    if (!isAppError(error, "SESSION_BUSY")) throw error;
    throw new AppError("STORAGE_IN_USE", { detail: `${name} is being moved by another command.`, hint: "Let it end.", cause: error });
  }
}

function required(url: string | undefined, variable: string): string {
  if (url !== undefined) return url;
  throw new AppError("INVALID_CONFIG", { detail: `${variable}: needed by this move.`, hint: `Set ${variable}.` });
}
