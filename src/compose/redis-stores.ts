import { RedisBookings } from "../concierge/redis-bookings.js";
import { CatchingUp } from "../operations/catching-up.js";
import { NEVER_BEHIND } from "../stores/journal/never-behind.js";
import { RedisDatabase } from "../stores/redis/database.js";
import { agreedInstallation } from "../stores/redis/installation.js";
import { RedisDailyTokens } from "../stores/redis/redis-daily-tokens.js";
import { RedisEventLog } from "../stores/redis/redis-event-log.js";
import { RedisEventQueue } from "../stores/redis/redis-event-queue.js";
import { RedisMemoryLog } from "../stores/redis/redis-memory-log.js";
import { RedisOwnerLedger } from "../stores/redis/redis-owner-ledger.js";
import { redisSessionStore } from "../stores/redis/redis-session-store.js";
import { catchUpIndex } from "../stores/sqlite-index/index-catch-up.js";
import { aloneWithMemories, announceProcess, holdLocalFiles } from "./shared-engine.js";
import type { Stores } from "./stores.js";
import { same, type Wiring } from "./wiring.js";

const DAY_MS = 24 * 60 * 60 * 1000;
/** Retention deletes before keys end by themselves. */
const AFTER_RETENTION_MS = 30 * DAY_MS;

/** Everything of sessions and owners in one Redis, or a Cluster, for as many processes as like. */
export async function openRedisStores(wiring: Wiring, url: string): Promise<Stores> {
  const { config, logger, clock, around, codec, closing } = wiring;
  const { REDIS_DURABILITY: durability, REDIS_PREFIX: prefix } = config;
  const database = closing(await RedisDatabase.open({ url, prefix, durability, logger }), (it) => it.close());
  const events = closing(new RedisEventLog(database, { queued: config.WEBHOOK_URL !== undefined, logger }), (it) => it.close());
  const store = (around.sessions ?? same)(redisSessionStore(database, { logger, clock, ttlMs: ttlOf(config), codec, events }));
  await announceProcess(store.locks, wiring);
  await events.open();
  await holdLocalFiles(store.locks, wiring);
  return {
    store,
    storage: database,
    ledger: new RedisOwnerLedger(database, codec),
    memoryLog: (around.memoryLog ?? same)(new RedisMemoryLog(database, codec, events)),
    writer: store.journal,
    events,
    eventQueue: new RedisEventQueue(database),
    lagging: NEVER_BEHIND,
    indexCatchUp: new CatchingUp("index", () => catchUpIndex(store), logger),
    rebuildIndex: async (options) => {
      await store.index.clear();
      return catchUpIndex(store, options);
    },
    bookings: new RedisBookings(database),
    dailyTokens: new RedisDailyTokens(database),
    limiter: (requests, seconds) => database.limiter(requests, seconds),
    agreedInstallation: (own) => agreedInstallation(database, own),
    aloneWithMemories: aloneWithMemories(store.locks),
  };
}

/** 0, for ever, where a part of retention is off. */
function ttlOf(config: Wiring["config"]): number {
  const { RETENTION_ACTIVE_DAYS: active, RETENTION_ARCHIVED_DAYS: archived, RETENTION_DELETED_DAYS: deleted } = config;
  if (active === 0 || archived === 0 || deleted === 0) return 0;
  return (Math.max(active, archived) + deleted) * DAY_MS + AFTER_RETENTION_MS;
}
