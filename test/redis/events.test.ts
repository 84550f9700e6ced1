import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Owner } from "../../src/domain/owner.js";
import { systemClock } from "../../src/platform/clock.js";
import { AppError } from "../../src/platform/errors.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import { BEGINNING, type EventScope } from "../../src/ports/event-log.js";
import { RedisDatabase } from "../../src/stores/redis/database.js";
import { LOG_EVENTS } from "../../src/stores/redis/event-log-scripts.js";
import { RedisEventLog, type WriteTeller } from "../../src/stores/redis/redis-event-log.js";
import { RedisEventQueue } from "../../src/stores/redis/redis-event-queue.js";
import { redisSessionStore } from "../../src/stores/redis/redis-session-store.js";
import { ALICE, BOB, JournalRecords } from "../../src/testing/journal-records.js";
import { needing } from "../support/needing.js";
import { openRedisServer, type RedisServer } from "../support/redis-server.js";

const WRITES = 30;
const LEASE_MS = 60_000;

needing("redis")("events in Redis", () => {
  let server: RedisServer;
  let prefixes = 0;
  beforeAll(async () => {
    server = await openRedisServer();
  }, 60_000);
  afterAll(() => server.close());

  /** Processes on one Redis, each with a connection and a log. */
  function processes() {
    prefixes += 1;
    const prefix = `events-${prefixes}`;
    return async (around: (database: RedisDatabase) => RedisDatabase = (it) => it) => {
      const database = await RedisDatabase.open({ url: server.url, prefix, durability: "strict", logger: silentLogger });
      const log = new RedisEventLog(around(database), { queued: true, logger: silentLogger, lateMs: 200, sweepMs: 20 });
      onTestFinished(async () => {
        await log.close();
        await database.close();
      });
      const storeTelling = (events: WriteTeller | null) =>
        redisSessionStore(database, { logger: silentLogger, clock: systemClock, events });
      return { log, queue: new RedisEventQueue(database), storeTelling, store: storeTelling(log) };
    };
  }

  /** Tells as the log does, and is killed before what it wrote is carried over. */
  const killed = (log: RedisEventLog): WriteTeller => ({ told: (...args) => log.told(...args), written: () => {} });
  const typesIn = async (log: RedisEventLog, scope: EventScope) =>
    (await log.read(scope, { after: BEGINNING, limit: 1_000 })).map(({ event }) => event.type);

  /** A database whose scripts pass something first. */
  const passing = (database: RedisDatabase, before: (sha: string) => Promise<void>) => {
    const run: RedisDatabase["run"] = async (script, ...rest) => {
      await before(script.sha);
      return database.run(script, ...rest);
    };
    const command: RedisDatabase["command"] = (...args) => database.command(...args);
    return { prefix: database.prefix, keys: database.keys.bind(database), command, run } as unknown as RedisDatabase;
  };

  async function create({ journal }: ReturnType<typeof redisSessionStore>, owner: Owner): Promise<string> {
    const id = newId();
    await journal.create(owner, id, [new JournalRecords().session(owner)]);
    return id;
  }

  test("[events-told] what a killed process wrote is told by the next that starts, and is delivered", async () => {
    const open = processes();
    const before = await open();
    await create(before.storeTelling(killed(before.log)), ALICE);
    await create(before.storeTelling(killed(before.log)), BOB);
    const after = await open();
    expect(await typesIn(after.log, "all")).toEqual([]);
    await after.log.open();
    expect(await typesIn(after.log, "all")).toEqual(["session.created", "session.created"]);
    expect(await after.queue.counts()).toEqual({ waiting: 2, dead: 0 });
  });

  test("[events-told] what a killed process wrote is told by another that runs, again and again", async () => {
    const open = processes();
    const [one, other] = [await open(), await open()];
    await other.log.open();
    const heard: Owner[] = [];
    other.log.onAdded((owner) => void heard.push(owner));
    for (const times of [1, 2, 3]) {
      await create(one.storeTelling(killed(one.log)), BOB);
      await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(times);
      expect(await typesIn(other.log, "all")).toHaveLength(times);
    }
  });

  test("[events-told] what a killed process wrote is told before what its user does next elsewhere, also to the user at once", async () => {
    const open = processes();
    const [one, other] = [await open(), await open()];
    const id = await create(one.storeTelling(killed(one.log)), ALICE);
    expect(await typesIn(other.log, { owner: ALICE })).toEqual(["session.created"]);
    const records = new JournalRecords();
    await one.storeTelling(killed(one.log)).journal.append(ALICE, id, [records.patch({ status: "archived", by: "user" })]);
    await other.store.journal.append(ALICE, id, [records.patch({ status: "deleted", by: "user" })]);
    expect(await typesIn(other.log, "all")).toEqual(["session.created", "session.archived", "session.deleted"]);
  });

  test("[events-resumed] of what two processes write at once a follower misses nothing, and each user's is in order", async () => {
    const open = processes();
    const both = [await open(), await open()];
    const reader = await open();
    const made = new Map<Owner, string[]>([ALICE, BOB].map((owner) => [owner, []]));
    const writing = Promise.all(
      [ALICE, BOB].map(async (owner) => {
        for (let round = 0; round < WRITES; round += 1) made.get(owner)?.push(await create((both[round % 2] ?? reader).store, owner));
      }),
    );
    const read: [Owner, string][] = [];
    for (let after = BEGINNING; read.length < 2 * WRITES; ) {
      const found = await reader.log.read("all", { after, limit: 7 });
      read.push(...found.map(({ owner, event }): [Owner, string] => [owner, event.data.session_id ?? ""]));
      after = found.at(-1)?.event.id ?? after;
    }
    await writing;
    for (const owner of [ALICE, BOB]) expect(read.filter(([of]) => of === owner).map(([, id]) => id)).toEqual(made.get(owner));
    expect(await reader.log.read("all", { after: BEGINNING, limit: 1_000 })).toHaveLength(2 * WRITES);
  });

  test("what is on its way to the log while its user is erased doesn't come there", async () => {
    const open = processes();
    const eraser = await open();
    let erased = false;
    const late = await open((database) =>
      passing(database, async (sha) => {
        if (sha !== LOG_EVENTS.sha) return;
        expect(await eraser.log.erase(ALICE)).toBe(1);
        erased = true;
      }),
    );
    await create(late.store, ALICE);
    await expect.poll(() => erased).toBe(true);
    await late.log.newest("all");
    expect(await typesIn(eraser.log, "all")).toEqual([]);
    expect(await eraser.log.residue(ALICE)).toBe(0);
    expect(await eraser.queue.counts()).toEqual({ waiting: 0, dead: 0 });
    // The user comes back, and is told of again.
    await create(eraser.store, ALICE);
    expect(await typesIn(eraser.log, { owner: ALICE })).toEqual(["session.created"]);
  });

  test("[events-told] what could not be carried over to the log stays with its user until it is", async () => {
    let failures = 0;
    const { log, store } = await processes()((database) =>
      passing(database, async (sha) => {
        if (sha !== LOG_EVENTS.sha || failures > 0) return;
        failures += 1;
        throw new AppError("STORAGE_UNAVAILABLE");
      }),
    );
    const id = await create(store, ALICE);
    expect(await typesIn(log, "all")).toEqual([]);
    expect(failures).toBe(1);
    await store.journal.append(ALICE, id, new JournalRecords().round(1));
    expect(await typesIn(log, "all")).toEqual(["session.created", "turn.completed"]);
  });

  test("a session that was written before there were events is told of from then on", async () => {
    const { log, store, storeTelling } = await processes()();
    const id = await create(storeTelling(null), ALICE);
    await log.open();
    await store.journal.append(ALICE, id, new JournalRecords().round(1));
    expect(await typesIn(log, { owner: ALICE })).toEqual(["turn.completed"]);
  });

  test("an owner whose worker was killed is claimed by another once the lease has ended", async () => {
    const { log, queue, store } = await processes()();
    await create(store, ALICE);
    expect(await typesIn(log, { owner: ALICE })).toHaveLength(1);
    expect(await queue.claim(new Date(), 8, LEASE_MS)).toHaveLength(1);
    expect(await queue.claim(new Date(), 8, LEASE_MS)).toEqual([]);
    await queue.release({ owner: ALICE, attempts: 0, mark: 0 }, { dueAt: new Date(), attempts: 0 });
    expect(await queue.claim(new Date(), 8, 1)).toHaveLength(1);
    await expect.poll(async () => (await queue.claim(new Date(), 8, LEASE_MS)).length).toBe(1);
  });
});
