import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { migrateState } from "../../src/compose/migration.js";
import { systemClock } from "../../src/platform/clock.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import { BEGINNING } from "../../src/ports/event-log.js";
import type { StateBackend } from "../../src/ports/transfer.js";
import { RedisDatabase } from "../../src/stores/redis/database.js";
import { RedisEventLog } from "../../src/stores/redis/redis-event-log.js";
import { RedisEventQueue } from "../../src/stores/redis/redis-event-queue.js";
import { redisSessionStore } from "../../src/stores/redis/redis-session-store.js";
import { ALICE, BOB, JournalRecords } from "../../src/testing/journal-records.js";
import { needing } from "../support/needing.js";
import { openPostgresServer } from "../support/postgres-server.js";
import { openRedisServer } from "../support/redis-server.js";
import { openWebhookReceiver, WEBHOOK_SECRET } from "../support/webhook-receiver.js";

needing("postgres", "redis")("events that are moved to another store", () => {
  test("[events-moved] are told and delivered there, once, also what a killed process left, and what was given up is repeated there", async () => {
    const [postgres, redis] = await Promise.all([openPostgresServer(), openRedisServer()]);
    const dir = await mkdtemp(join(tmpdir(), "maitred-moved-events-"));
    onTestFinished(async () => {
      await Promise.all([postgres.close(), redis.close()]);
      await rm(dir, { recursive: true, force: true });
    });
    const receiver = await openWebhookReceiver();
    const variables = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, WEBHOOK_URL: receiver.url, WEBHOOK_SECRET };
    const alone = { MEM0_ENABLED: "false", MEM0_PROVIDER: "qdrant", HISTORY_BACKEND: "none" };
    const config = parseConfig({ ...variables, ...alone, MEMORY_STORAGE_DIR: dir, SHORT_TERM_BACKEND: "postgres" });
    const move = (from: StateBackend, to: StateBackend) =>
      migrateState(config, { from, to }, { logger: silentLogger, signal: new AbortController().signal });

    const database = await RedisDatabase.open({ url: redis.url, durability: "strict", logger: silentLogger });
    const log = new RedisEventLog(database, { queued: true, logger: silentLogger });
    // One that is killed before what it wrote is in the log.
    const events = { told: log.told.bind(log), written: () => {} };
    const { journal } = redisSessionStore(database, { logger: silentLogger, clock: systemClock, events });
    const [waits, givenUp] = [newId(), newId()];
    const at = systemClock.now().toISOString();
    await journal.create(BOB, givenUp, [{ ...new JournalRecords().session(BOB), at }]);
    const [dead] = await log.read({ owner: BOB }, { after: BEGINNING, limit: 1 });
    const end = { attempts: 8, error: "HTTP_500", deadSince: at };
    await new RedisEventQueue(database).bury(BOB, dead?.event.id ?? "", end);
    await journal.create(ALICE, waits, [{ ...new JournalRecords().session(ALICE), at }]);
    await database.close();

    expect(await move("redis", "postgres")).toMatchObject({
      differences: [],
      target: { rows: { events: 2, "events that wait": 1, "events given up": 1 } },
    });
    const maitred = await compose(config);
    await receiver.until((received) => received.length === 1);
    expect(receiver.received[0]?.event.data.session_id).toBe(waits);
    const { data } = await maitred.events.undelivered("default", {});
    expect(data.map(({ event, attempts }) => [event.data.session_id, attempts])).toEqual([[givenUp, 8]]);
    await maitred.events.deliverAgain("default", data[0]?.event.id ?? "");
    await receiver.until((received) => received.length === 2);
    await expect.poll(async () => (await maitred.readiness()).parts.webhooks?.detail, { timeout: 20_000 }).toBe("0 events wait");
    await maitred.close();

    // What was told is told to nobody again, though the index of files is made from journals.
    expect(await move("postgres", "file")).toMatchObject({
      differences: [],
      target: { rows: { events: 2, "events that wait": 0, "events given up": 0 } },
    });
  }, 120_000);
});
