import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { systemClock } from "../../src/platform/clock.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import { script } from "../../src/platform/lua-script.js";
import type { SessionStore } from "../../src/ports/session-store.js";
import { RedisDatabase } from "../../src/stores/redis/database.js";
import { DueTurns } from "../../src/stores/redis/due-turns.js";
import { HINTS, Hints, type Need, type Offer } from "../../src/stores/redis/hints.js";
import { RedisMemoryLog } from "../../src/stores/redis/redis-memory-log.js";
import { RedisOwnerLedger } from "../../src/stores/redis/redis-owner-ledger.js";
import { redisSessionStore } from "../../src/stores/redis/redis-session-store.js";
import { ALICE, JournalRecords } from "../../src/testing/journal-records.js";
import { entryOf, NOW } from "../../src/testing/memory-log-contract.js";
import { needing } from "../support/needing.js";
import { openRedisServer, type RedisServer } from "../support/redis-server.js";

const FAR = Date.parse("2100-01-01");
const ROW = JSON.stringify([2, 3, 5, 5, 0, 0, ""]);

/** A write of a pending turn that needs a hint. */
const PUT = script(
  ["own", "pending"],
  `${HINTS}
local given = cjson.decode(ARGV[1])
local asks = lacking(given.needs, given.offer ~= cjson.null and given.offer)
if asks then return asks end
call('HSET', K.pending, 'session:1', given.row)
return { 'written' }`,
);
const NEEDS: readonly Need[] = [["due", 5]];

needing("redis")("what stands outside an owner's slot", () => {
  let server: RedisServer;
  let database: RedisDatabase;
  let hints: Hints;
  let due: DueTurns;
  let store: SessionStore;
  let records: JournalRecords;
  let prefixes = 0;
  beforeAll(async () => {
    server = await openRedisServer();
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    prefixes += 1;
    database = await RedisDatabase.open({ url: server.url, prefix: `hints-${prefixes}`, durability: "strict", logger: silentLogger });
    hints = new Hints(database);
    due = new DueTurns(database, hints);
    store = redisSessionStore(database, { logger: silentLogger, clock: systemClock });
    records = new JournalRecords();
  });
  afterEach(() => database.close());

  const put = (offer: Offer | null) => database.run(PUT, database.keys(ALICE), JSON.stringify({ needs: NEEDS, offer, row: ROW }));
  const look = () => due.find(FAR, 10, { leaseMs: 0 });
  const hinted = async (name: string) => database.command("ZRANGE", `${database.prefix}:hints:${name}`, 0, -1, "WITHSCORES");
  const started = async (owner: Owner, ...body: Parameters<JournalRecords["session"]>[1][]) => {
    const id = newId();
    await store.journal.create(owner, id, [records.session(owner, ...body)]);
    return id;
  };

  test("a writer that is killed between hint and write leaves a hint that the next look takes away", async () => {
    const killed = hints.having(ALICE, NEEDS, async (offer) => {
      if (offer !== null) throw new Error("killed");
      return put(offer);
    });
    await expect(killed).rejects.toThrow("killed");
    expect(await hinted("due")).toHaveLength(2);
    expect(await look()).toEqual([]);
    expect(await hinted("due")).toEqual([]);
  });

  test("a write whose hint was taken away before it came gets another, and is found", async () => {
    const offers: (Offer | null)[] = [];
    await hints.having(ALICE, NEEDS, async (offer) => {
      offers.push(offer);
      if (offers.length === 2) expect(await look()).toEqual([]);
      return put(offer);
    });
    expect(offers.map((offer) => offer?.gen)).toEqual([undefined, 1, 2]);
    expect(await look()).toMatchObject([{ sessionId: "session", turn: 1 }]);
  });

  test("a hint follows its owner: later while nothing is due, earlier when something is, gone when all is done", async () => {
    const id = await started(ALICE);
    await store.journal.append(ALICE, id, records.round(1));
    const at = (await look())[0]?.dueAtMs ?? 0;
    await store.index.recordAttempt(ALICE, id, 1, { attempts: 1, dueAtMs: at + 50_000, errorCode: "INTERNAL" });
    expect(await store.index.claim(at + 49_999, 5, { leaseMs: 60_000 })).toEqual([]);
    const raised = [expect.any(String), String(at + 50_000)];
    expect(await hinted("due")).toEqual(raised);
    // As after a crash between the owner's slot and the hint's.
    await database.command("ZADD", `${database.prefix}:hints:due`, at, ((await hinted("due")) as readonly string[])[0] ?? "");
    expect(await store.index.claim(at + 49_999, 5, { leaseMs: 60_000 })).toEqual([]);
    expect(await hinted("due")).toEqual(raised);
    const other = await started(ALICE);
    await store.journal.append(ALICE, other, records.round(1));
    expect(await store.index.claim(at + 49_999, 5, { leaseMs: 60_000 })).toMatchObject([{ sessionId: other }]);
    for (const each of [id, other]) await store.journal.append(ALICE, each, [records.done(1)]);
    expect(await look()).toEqual([]);
    expect(await hinted("due")).toEqual([]);
    await store.journal.append(ALICE, id, [...records.round(2), records.done(2, "failed", 8)]);
    expect(await store.index.pendingCounts()).toEqual({ pending: 0, failed: 1 });
    expect(await store.index.retryFailed(ALICE, id)).toBe(1);
    expect(await store.index.pendingCounts()).toEqual({ pending: 1, failed: 0 });
    expect(await hinted("failed")).toEqual([]);
    expect(await look()).toMatchObject([{ sessionId: id, turn: 2 }]);
  });

  test("sessions of many owners whose time has come are found oldest first, page by page, and those that end", async () => {
    const owners = Array.from({ length: 5 }, (_, index) => ownerOf("acme", `user-${index}`));
    const ids: string[] = [];
    for (let round = 0; round < 3; round++) for (const owner of owners) ids.push(await started(owner));
    const soon = await started(ALICE, { expires_at: "2026-03-02T00:00:00.000Z" });
    const query = {
      status: "active" as const,
      inactiveSince: "2030-01-01T00:00:00.000Z",
      expiresBefore: "2020-01-01T00:00:00.000Z",
      limit: 4,
    };
    const found: string[] = [];
    for (let page = await store.index.expiring(query); page.length > 0; ) {
      found.push(...page.map(({ session }) => session.id));
      page = await store.index.expiring({ ...query, after: found.at(-1) ?? "" });
    }
    expect(found).toEqual([...ids, soon]);
    const ended = { ...query, inactiveSince: "2020-01-01T00:00:00.000Z", expiresBefore: "2026-03-03T00:00:00.000Z" };
    expect((await store.index.expiring(ended)).map(({ session }) => session.id)).toEqual([soon]);
    for (const [at, id] of ids.slice(0, 5).entries()) {
      const owner = owners[at];
      if (owner !== undefined) await store.journal.append(owner, id, [records.patch({ status: "archived", by: "retention" })]);
    }
    expect((await store.index.expiring(query)).map(({ session }) => session.id)).toEqual(ids.slice(5, 9));
    expect((await store.index.expiring({ ...query, status: "archived" })).map(({ session }) => session.id)).toEqual(ids.slice(0, 4));
  });

  test("after an erasure nothing of the owner stands but epoch, fences and receipts, and their name nowhere", async () => {
    const [ledger, log] = [new RedisOwnerLedger(database), new RedisMemoryLog(database)];
    const id = await started(ALICE, { external_id: "outside" });
    const asked = records.user(1, "a secret", { idempotency: { key: "k", request_hash: "h" } });
    await store.journal.append(ALICE, id, [asked, records.assistant(1), records.summary(1)]);
    await store.journal.append(ALICE, id, [records.rewind(2, 2), ...records.round(2)]);
    await log.append(ALICE, entryOf("jazz"), { expectedSeq: 0, now: NOW });
    await ledger.seen(ALICE, { at: NOW.toISOString(), displayName: "Alice" });
    await (await store.locks.acquire("a", { waitMs: 0, owner: ALICE })).release();
    const { receiptId } = await ledger.beginErasure(ALICE, NOW.toISOString());
    expect(await ledger.openErasures()).toEqual([{ owner: ALICE, receiptId }]);
    await log.erase(ALICE);
    await store.index.erase(ALICE);
    await store.journal.erase(ALICE);
    await ledger.completeErasure(ALICE, { receipt_id: receiptId, completed_at: NOW.toISOString(), erased: {}, verified: true });
    const keys = (await database.command("KEYS", `${database.prefix}:*`)) as readonly string[];
    const { own, ledger: kept } = database.keys(ALICE);
    expect(keys.filter((key) => !key.includes(":hints:")).sort()).toEqual([kept, own]);
    const values = await Promise.all([own, kept].map((key) => database.command("HGETALL", key)));
    expect(JSON.stringify(values)).not.toContain(ALICE);
    for await (const each of store.journal.list()) expect(each).toBeUndefined();
    for await (const each of log.owners()) expect(each).toBeUndefined();
    expect(await hinted("owners")).toEqual([]);
  });

  test("where a time to live is set, a session's keys have it and the owner's epoch and fences don't", async () => {
    const ttlMs = 3_600_000;
    store = redisSessionStore(database, { logger: silentLogger, clock: systemClock, ttlMs });
    const id = await started(ALICE);
    await store.journal.append(ALICE, id, records.round(1));
    const { head, records: kept, states, own } = database.keys(ALICE, id);
    for (const key of [head, kept, states]) expect(await database.command("PTTL", key)).toBeGreaterThan(0);
    expect(await database.command("PTTL", own)).toBe(-1);
  });

  test("the key of a session that a crash left without it is taken over; one with its session isn't", async () => {
    const id = newId();
    await database.command("SET", `${database.prefix}:session:${id}`, "of nobody");
    await store.journal.create(ALICE, id, [records.session(ALICE)]);
    expect(await store.index.indexedSeq(id)).toBe(1);
  });
});
