import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../src/platform/clock.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import { PostgresDatabase } from "../../src/stores/postgres/database.js";
import { OwnerRows } from "../../src/stores/postgres/owner-rows.js";
import { PostgresMemoryLog } from "../../src/stores/postgres/postgres-memory-log.js";
import { PostgresOwnerLedger } from "../../src/stores/postgres/postgres-owner-ledger.js";
import { postgresSessionStore } from "../../src/stores/postgres/postgres-session-store.js";
import { ALICE, BOB, JournalRecords } from "../../src/testing/journal-records.js";
import { entryOf, NOW } from "../../src/testing/memory-log-contract.js";
import { needing } from "../support/needing.js";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.js";

const AT = NOW.toISOString();
const WAIT = { rounds: 2, waitMs: 0 };

needing("postgres")("a turn that starts on PostgreSQL", () => {
  let server: PostgresServer;
  let databases: PostgresDatabase[];
  beforeAll(async () => {
    server = await openPostgresServer();
    databases = await Promise.all([1, 2].map(() => PostgresDatabase.open({ url: server.url, connections: 4, logger: silentLogger })));
  }, 60_000);
  afterAll(async () => {
    for (const database of databases) await database.close();
    await server.close();
  });
  /** Another process. */
  const replica = (index: 0 | 1) => {
    const database = databases[index];
    if (database === undefined) throw new Error("none");
    const owners = new OwnerRows(database);
    const store = postgresSessionStore(database, owners, { logger: silentLogger, clock: systemClock });
    if (store.startTurn === undefined) throw new Error("none");
    const { startTurn } = store;
    return { store, startTurn, ledger: new PostgresOwnerLedger(database, owners), log: new PostgresMemoryLog(database, owners) };
  };

  test("has what the ports say one by one, and nothing of somebody else's session", async () => {
    const { store, startTurn, ledger, log } = replica(0);
    const records = new JournalRecords();
    const id = newId();
    await store.journal.create(ALICE, id, [records.session(ALICE), ...[1, 2, 3].flatMap((turn) => records.round(turn, 1))]);
    await ledger.seen(ALICE, { at: AT, timeZone: "Europe/Lisbon" });
    await ledger.addTombstone(ALICE, { memoryId: "m", messageIds: ["a"], textHash: "h", at: AT });
    await log.append(ALICE, entryOf("jazz"), { expectedSeq: 0, now: NOW });
    const { lease, session, ...start } = await startTurn(ALICE, id, WAIT);
    await expect(replica(1).startTurn(ALICE, id, WAIT)).rejects.toMatchObject({ code: "SESSION_BUSY" });
    await lease.release();
    expect(start).toEqual({
      epoch: 0,
      window: await store.journal.window(ALICE, id, { rounds: 2 }),
      user: await ledger.user(ALICE),
      tombstones: await ledger.tombstones(ALICE),
      memorySeq: 1,
    });
    expect(await store.index.get(ALICE, id)).toMatchObject({ ...session });
    const bobs = await startTurn(BOB, id, WAIT);
    expect(bobs).toMatchObject({ session: null, window: null, user: null, tombstones: [], memorySeq: 0 });
    await bobs.lease.release();
  });

  test("behind another process's turn sees what that left, however close", async () => {
    const [one, other] = [replica(0), replica(1)];
    const records = new JournalRecords();
    const id = newId();
    await one.store.journal.create(ALICE, id, [records.session(ALICE)]);
    for (let turn = 1; turn <= 20; turn++) {
      const [mine, theirs] = turn % 2 === 0 ? [one, other] : [other, one];
      const held = await mine.startTurn(ALICE, id, WAIT);
      expect(held.window?.lastTurn).toBe(turn - 1);
      const next = theirs.startTurn(ALICE, id, { ...WAIT, waitMs: 5_000 });
      await mine.store.journal.append(ALICE, id, records.round(turn), { fence: held.lease.fence, lastOf: held.lease });
      const { window, lease } = await next;
      expect(window?.lastTurn).toBe(turn);
      await Promise.all([held.lease.release(), lease.release()]);
    }
  });

  test("is refused while the owner is being erased", async () => {
    const { startTurn, ledger } = replica(0);
    await startTurn(BOB, newId(), WAIT).then(({ lease }) => lease.release());
    await ledger.beginErasure(BOB, AT);
    await expect(startTurn(BOB, newId(), WAIT)).rejects.toMatchObject({ code: "OWNER_ERASED" });
  });
});
