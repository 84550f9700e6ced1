import { afterAll, beforeAll } from "vitest";
import { PostgresBookings } from "../../src/concierge/postgres-bookings.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import { PostgresDatabase } from "../../src/stores/postgres/database.js";
import { OwnerRows } from "../../src/stores/postgres/owner-rows.js";
import { PostgresEventLog } from "../../src/stores/postgres/postgres-event-log.js";
import { PostgresEventQueue } from "../../src/stores/postgres/postgres-event-queue.js";
import { PostgresImages } from "../../src/stores/postgres/postgres-images.js";
import { PostgresMemoryLog } from "../../src/stores/postgres/postgres-memory-log.js";
import { PostgresOwnerLedger } from "../../src/stores/postgres/postgres-owner-ledger.js";
import { postgresSessionStore } from "../../src/stores/postgres/postgres-session-store.js";
import { imageStoreContract } from "../../src/testing/image-store-contract.js";
import { memoryLogContract } from "../../src/testing/memory-log-contract.js";
import { ownerLedgerContract } from "../../src/testing/owner-ledger-contract.js";
import { replicasContract } from "../../src/testing/replicas-contract.js";
import { sessionStoreContract } from "../../src/testing/session-store-contract.js";
import { describeBookingStoreContract } from "../contract/booking-store.contract.js";
import { describeEventLogContract } from "../contract/event-log.contract.js";
import { describeSessionNamesContract } from "../contract/session-names.contract.js";
import { needing } from "../support/needing.js";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.js";

needing("postgres")("PostgreSQL", () => {
  let server: PostgresServer;
  let schemas = 0;
  beforeAll(async () => {
    server = await openPostgresServer();
  }, 60_000);
  afterAll(() => server.close());

  /** Each test has tables of its own. */
  const open = () => {
    schemas += 1;
    return PostgresDatabase.open({ url: server.url, schema: `test_${schemas}`, connections: 5, logger: silentLogger });
  };

  const sessions = async () => {
    const database = await open();
    const store = postgresSessionStore(database, new OwnerRows(database), { logger: silentLogger, clock: systemClock });
    return { store, dispose: () => database.close() };
  };
  sessionStoreContract("PostgreSQL", sessions);
  describeSessionNamesContract("PostgreSQL", sessions);
  ownerLedgerContract("PostgreSQL", async () => {
    const database = await open();
    return { ledger: new PostgresOwnerLedger(database, new OwnerRows(database)), dispose: () => database.close() };
  });
  replicasContract("PostgreSQL", async () => {
    schemas += 1;
    const schema = `test_${schemas}`;
    return {
      dispose: async () => {},
      open: async ({ leaseMs } = {}) => {
        const database = await PostgresDatabase.open({ url: server.url, schema, connections: 4, logger: silentLogger });
        const owners = new OwnerRows(database);
        return {
          store: postgresSessionStore(database, owners, { logger: silentLogger, clock: systemClock, ...(leaseMs && { leaseMs }) }),
          ledger: new PostgresOwnerLedger(database, owners),
          log: new PostgresMemoryLog(database, owners),
          dispose: () => database.close(),
        };
      },
    };
  });
  describeEventLogContract("PostgreSQL", async () => {
    const database = await open();
    const owners = new OwnerRows(database);
    const log = new PostgresEventLog(database, { queued: true });
    await log.open();
    const { journal } = postgresSessionStore(database, owners, { logger: silentLogger, clock: systemClock, events: log });
    const memoryLog = new PostgresMemoryLog(database, owners, null, log);
    return { log, queue: new PostgresEventQueue(database), writer: journal, memoryLog, dispose: () => database.close() };
  });
  describeBookingStoreContract("PostgreSQL", async () => {
    const one = await open();
    const other = await PostgresDatabase.open({ url: server.url, schema: `test_${schemas}`, connections: 5, logger: silentLogger });
    return {
      sellers: [new PostgresBookings(one), new PostgresBookings(other)],
      dispose: async () => {
        await one.close();
        await other.close();
      },
    };
  });
  imageStoreContract("PostgreSQL", async () => {
    const database = await open();
    return { images: new PostgresImages(database, new OwnerRows(database)), dispose: () => database.close() };
  });
  memoryLogContract("PostgreSQL", async () => {
    const database = await open();
    const owners = new OwnerRows(database);
    const ledger = new PostgresOwnerLedger(database, owners);
    return { ledger, log: new PostgresMemoryLog(database, owners), dispose: () => database.close() };
  });
});
