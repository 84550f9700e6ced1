import { afterAll, beforeAll } from "vitest";
import { RedisBookings } from "../../src/concierge/redis-bookings.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import { RedisDatabase } from "../../src/stores/redis/database.js";
import { RedisEventLog } from "../../src/stores/redis/redis-event-log.js";
import { RedisEventQueue } from "../../src/stores/redis/redis-event-queue.js";
import { RedisImages } from "../../src/stores/redis/redis-images.js";
import { RedisMemoryLog } from "../../src/stores/redis/redis-memory-log.js";
import { RedisOwnerLedger } from "../../src/stores/redis/redis-owner-ledger.js";
import { redisSessionStore } from "../../src/stores/redis/redis-session-store.js";
import { imageStoreContract } from "../../src/testing/image-store-contract.js";
import { memoryLogContract } from "../../src/testing/memory-log-contract.js";
import { ownerLedgerContract } from "../../src/testing/owner-ledger-contract.js";
import { replicasContract } from "../../src/testing/replicas-contract.js";
import { sessionStoreContract } from "../../src/testing/session-store-contract.js";
import { describeBookingStoreContract } from "../contract/booking-store.contract.js";
import { describeEventLogContract } from "../contract/event-log.contract.js";
import { describeSessionNamesContract } from "../contract/session-names.contract.js";
import { needing } from "../support/needing.js";
import { openRedisServer, type RedisServer } from "../support/redis-server.js";

/** A Cluster's node refuses a script whose keys are of two slots. */
for (const cluster of [false, true]) {
  const name = cluster ? "Redis Cluster" : "Redis";
  needing("redis")(name, () => {
    let server: RedisServer;
    let prefixes = 0;
    beforeAll(async () => {
      server = await openRedisServer({ cluster });
    }, 60_000);
    afterAll(() => server.close());

    /** Each test has keys of its own. */
    const newPrefix = () => {
      prefixes += 1;
      return `test-${prefixes}`;
    };
    const open = (prefix = newPrefix()) => RedisDatabase.open({ url: server.url, prefix, durability: "strict", logger: silentLogger });
    const storeOn = (database: RedisDatabase, options: { readonly leaseMs?: number } = {}) =>
      redisSessionStore(database, { logger: silentLogger, clock: systemClock, ...options });

    const sessions = async () => {
      const database = await open();
      return { store: storeOn(database), dispose: () => database.close() };
    };
    sessionStoreContract(name, sessions);
    describeSessionNamesContract(name, sessions);
    ownerLedgerContract(name, async () => {
      const database = await open();
      return { ledger: new RedisOwnerLedger(database), dispose: () => database.close() };
    });
    memoryLogContract(name, async () => {
      const database = await open();
      return { ledger: new RedisOwnerLedger(database), log: new RedisMemoryLog(database), dispose: () => database.close() };
    });
    describeEventLogContract(name, async () => {
      const database = await open();
      const log = new RedisEventLog(database, { queued: true, logger: silentLogger });
      const store = redisSessionStore(database, { logger: silentLogger, clock: systemClock, events: log });
      return {
        log,
        queue: new RedisEventQueue(database),
        writer: store.journal,
        memoryLog: new RedisMemoryLog(database, null, log),
        dispose: async () => {
          await log.close();
          await database.close();
        },
      };
    });
    describeBookingStoreContract(name, async () => {
      const one = await open();
      const other = await open(one.prefix);
      return {
        sellers: [new RedisBookings(one), new RedisBookings(other)],
        dispose: async () => {
          await one.close();
          await other.close();
        },
      };
    });
    imageStoreContract(name, async () => {
      const database = await open();
      return { images: new RedisImages(database), dispose: () => database.close() };
    });
    replicasContract(name, async () => {
      const prefix = newPrefix();
      return {
        dispose: async () => {},
        open: async (options) => {
          const database = await open(prefix);
          return {
            store: storeOn(database, options),
            ledger: new RedisOwnerLedger(database),
            log: new RedisMemoryLog(database),
            dispose: () => database.close(),
          };
        },
      };
    });
  });
}
