import { PostgresBookings } from "../concierge/postgres-bookings.js";
import { CatchingUp } from "../operations/catching-up.js";
import { NEVER_BEHIND } from "../stores/journal/never-behind.js";
import { PostgresDatabase } from "../stores/postgres/database.js";
import { agreedInstallation } from "../stores/postgres/installation.js";
import { PostgresLeases } from "../stores/postgres/leases.js";
import { OwnerRows } from "../stores/postgres/owner-rows.js";
import { PostgresDailyTokens } from "../stores/postgres/postgres-daily-tokens.js";
import { PostgresEventLog } from "../stores/postgres/postgres-event-log.js";
import { PostgresEventQueue } from "../stores/postgres/postgres-event-queue.js";
import { PostgresImages } from "../stores/postgres/postgres-images.js";
import { PostgresMemoryLog } from "../stores/postgres/postgres-memory-log.js";
import { PostgresOwnerLedger } from "../stores/postgres/postgres-owner-ledger.js";
import { postgresSessionStore } from "../stores/postgres/postgres-session-store.js";
import { catchUpIndex } from "../stores/sqlite-index/index-catch-up.js";
import { aloneWithMemories, announceProcess, holdLocalFiles } from "./shared-engine.js";
import type { Stores } from "./stores.js";
import { same, type Wiring } from "./wiring.js";

/** Everything of sessions and owners in one PostgreSQL, for as many processes as like. */
export async function openPostgresStores(wiring: Wiring, url: string): Promise<Stores> {
  const { config, logger, clock, around, codec, closing } = wiring;
  const database = closing(await PostgresDatabase.open({ url, schema: config.DATABASE_SCHEMA, logger }), (it) => it.close());
  const owners = new OwnerRows(database);
  const ledger = new PostgresOwnerLedger(database, owners, codec);
  const events = new PostgresEventLog(database, { queued: config.WEBHOOK_URL !== undefined });
  await events.open();
  const memoryLog = (around.memoryLog ?? same)(new PostgresMemoryLog(database, owners, codec, events));
  const store = (around.sessions ?? same)(postgresSessionStore(database, owners, { logger, clock, codec, events }));
  await announceProcess(store.locks, wiring);
  const lapsed = await new PostgresLeases(database, owners).sweep();
  if (lapsed > 0) logger.info({ leases: lapsed }, "Leases of processes that were killed long ago were deleted");
  const swept = await new PostgresImages(database, owners).sweep();
  if (swept > 0) logger.info({ images: swept }, "Images that no message came to have were deleted");
  await holdLocalFiles(store.locks, wiring);
  const indexCatchUp = new CatchingUp("index", () => catchUpIndex(store), logger);
  return {
    store,
    storage: database,
    ledger,
    memoryLog,
    writer: store.journal,
    events,
    eventQueue: new PostgresEventQueue(database),
    lagging: NEVER_BEHIND,
    indexCatchUp,
    rebuildIndex: async (options) => {
      await store.index.clear();
      return catchUpIndex(store, options);
    },
    bookings: new PostgresBookings(database),
    dailyTokens: new PostgresDailyTokens(database),
    limiter: (requests, seconds) => database.limiter(requests, seconds),
    agreedInstallation: (own) => agreedInstallation(database, own),
    aloneWithMemories: aloneWithMemories(store.locks),
  };
}
