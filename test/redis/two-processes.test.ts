import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../src/platform/clock.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import { RedisDatabase } from "../../src/stores/redis/database.js";
import { redisSessionStore } from "../../src/stores/redis/redis-session-store.js";
import { ALICE, JournalRecords } from "../../src/testing/journal-records.js";
import { needing } from "../support/needing.js";
import { openRedisServer, type RedisServer } from "../support/redis-server.js";

needing("redis")("a process that last saw a session before another one wrote", () => {
  let server: RedisServer;
  let databases: RedisDatabase[];
  beforeAll(async () => {
    server = await openRedisServer();
    databases = await Promise.all([1, 2].map(() => RedisDatabase.open({ url: server.url, durability: "strict", logger: silentLogger })));
  });
  afterAll(async () => {
    for (const database of databases) await database.close();
    await server.close();
  });

  const both = async () => {
    const [mine, theirs] = databases.map((database) => redisSessionStore(database, { logger: silentLogger, clock: systemClock }));
    if (mine === undefined || theirs === undefined) throw new Error("none");
    const records = new JournalRecords();
    const id = newId();
    await mine.journal.create(ALICE, id, [records.session(ALICE)]);
    return { mine, theirs, records, id };
  };

  test("writes behind what the other wrote, and the index counts both", async () => {
    const { mine, theirs, records, id } = await both();
    await theirs.journal.append(ALICE, id, records.round(1));
    const written = await mine.journal.append(ALICE, id, records.round(2));
    expect(written.map(({ seq }) => seq)).toEqual([4, 5]);
    expect(await theirs.index.get(ALICE, id)).toMatchObject({ message_count: 4, write_back: { pending_turns: 2 } });
  });

  test("may rewind to what the other wrote, and to nothing that nobody did", async () => {
    const { mine, theirs, records, id } = await both();
    await theirs.journal.append(ALICE, id, [...records.round(1), ...records.round(2)]);
    await expect(mine.journal.append(ALICE, id, [records.rewind(3, 99)])).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    await theirs.journal.append(ALICE, id, [...records.round(3), ...records.round(4)]);
    await mine.journal.append(ALICE, id, [records.rewind(5, 7)]);
    expect(await theirs.index.get(ALICE, id)).toMatchObject({ message_count: 6 });
    expect((await theirs.journal.window(ALICE, id, { rounds: 9 })).rounds.map(({ turn }) => turn)).toEqual([1, 2, 3]);
  });

  test("is told that the session has moved on when it must not have", async () => {
    const { mine, theirs, records, id } = await both();
    await theirs.journal.append(ALICE, id, records.round(1));
    const late = mine.journal.append(ALICE, id, records.round(2), { expectedSeq: 1 });
    await expect(late).rejects.toMatchObject({ code: "SESSION_CHANGED" });
  });

  test("finds a session gone that the other removed, and its id free for another", async () => {
    const { mine, theirs, records, id } = await both();
    await theirs.journal.remove(ALICE, id);
    await theirs.index.remove(ALICE, id);
    await expect(mine.journal.append(ALICE, id, records.round(1))).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    await mine.journal.create(ALICE, id, [records.session(ALICE)]);
    expect(await theirs.index.indexedSeq(id)).toBe(1);
  });
});
