import { describe, expect, test } from "vitest";
import type { Owner } from "../../src/domain/owner.js";
import type { JournalRecord, NewRecord } from "../../src/domain/session.js";
import { reindexHistory } from "../../src/operations/reindex.js";
import { systemClock } from "../../src/platform/clock.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { ConversationHistory } from "../../src/ports/history.js";
import type { HistoryMessage } from "../../src/ports/resources.js";
import { type SessionStore, sessionLockKey } from "../../src/ports/session-store.js";
import { DisabledHistory } from "../../src/vectors/history/disabled-history.js";
import { ALICE, BOB, JournalRecords } from "../support/journal-records.js";
import { memorySessionStore } from "../support/memory-stores.js";
import { memoryHistory } from "../support/session-world.js";

const SESSIONS = 450;

test("what history lacks is found by a query for many sessions, and no session is asked for alone", async () => {
  const store = memorySessionStore({ logger: silentLogger, clock: systemClock });
  const records = new JournalRecords();
  const sessions = await Promise.all(
    Array.from({ length: SESSIONS }, async (_, index) => {
      const [owner, sessionId] = [index % 2 === 0 ? ALICE : BOB, newId()];
      const begun = await store.journal.create(owner, sessionId, [records.session(owner), ...records.round(1), records.done(1)]);
      await store.index.apply(owner, sessionId, begun);
      return { owner, sessionId };
    }),
  );
  const lost = sessions[7]?.sessionId ?? "";
  const calls: string[] = [];
  const added: string[] = [];
  const history: ConversationHistory = Object.assign(new DisabledHistory(), {
    counts: async (asked: Parameters<ConversationHistory["counts"]>[0]) => {
      calls.push("counts");
      return new Map(asked.filter(({ sessionId }) => sessionId !== lost).map(({ sessionId }) => [sessionId, 2]));
    },
    count: async () => {
      calls.push("count");
      return 0;
    },
    addSession: async (_owner: Owner, sessionId: string) => {
      added.push(sessionId);
      return 2;
    },
  });
  const during = async (_owner: unknown, signal: AbortSignal, work: (signal: AbortSignal) => Promise<number>) => work(signal);
  const report = await reindexHistory({ store, history, during, logger: silentLogger }, { which: "missing" });
  expect(report).toEqual({ sessions: SESSIONS, added: 2, failed: 0 });
  expect(added).toEqual([lost]);
  expect(calls).toEqual(["counts", "counts", "counts"]);
});

describe("what is taken out of a session while it is brought into history is not brought back", () => {
  async function reindexed(meanwhile: (store: SessionStore, sessionId: string) => Promise<unknown>) {
    const store = memorySessionStore({ logger: silentLogger, clock: systemClock });
    const records = new JournalRecords();
    const sessionId = newId();
    const begun = await store.journal.create(ALICE, sessionId, [
      records.session(ALICE),
      ...[1, 2].flatMap((turn) => [...records.round(turn), records.done(turn)]),
    ]);
    await store.index.apply(ALICE, sessionId, begun);
    const found = memoryHistory();
    const { addEvents } = found;
    const history: ConversationHistory = Object.assign(found, {
      addSession: async (owner: Owner, id: string, messages: AsyncIterable<HistoryMessage>) => {
        const all: HistoryMessage[] = [];
        for await (const message of messages) all.push(message);
        // It has been read, and is not there yet.
        await meanwhile(store, id);
        return addEvents(owner, all);
      },
    });
    const during = async (_owner: unknown, signal: AbortSignal, work: (signal: AbortSignal) => Promise<number>) => work(signal);
    const report = await reindexHistory({ store, history, during, logger: silentLogger }, { which: "all" });
    expect(report.failed).toBe(0);
    return found.entries(ALICE).map(({ turn }) => turn);
  }
  const records = new JournalRecords();
  const append = async (store: SessionStore, id: string, record: NewRecord) =>
    store.index.apply(ALICE, id, await store.journal.append(ALICE, id, [record]));
  const at = "2026-03-01T10:00:00.000Z";

  test("[forgotten-stays-forgotten] a turn that is taken off the record", async () => {
    const turns = await reindexed((store, id) =>
      append(store, id, { type: "off_record", id: newId(), turn: 2, at, body: { of_turn: 1, message_ids: [] } }),
    );
    expect(turns).toEqual([2, 2]);
  });

  test("a turn that is taken back", async () => {
    const turns = await reindexed(async (store, id) => {
      const read: JournalRecord[] = [];
      for await (const record of store.journal.read(ALICE, id)) read.push(record);
      const to_seq = (read.find(({ turn }) => turn === 2)?.seq ?? 0) - 1;
      await append(store, id, { type: "rewind", id: newId(), turn: 2, at, body: { to_seq, to_offset: 0 } });
    });
    expect(turns).toEqual([1, 1]);
  });

  test("a session that another process purges: it has the session's lock until the session is gone", async () => {
    const turns = await reindexed(async (store, id) => {
      const lease = await store.locks.acquire(sessionLockKey(ALICE, id), { waitMs: 0 });
      setTimeout(async () => {
        await store.journal.remove(ALICE, id);
        await store.index.remove(ALICE, id);
        await lease.release();
      }, 20);
    });
    expect(turns).toEqual([]);
  });

  test("and what is said meanwhile leaves all as it is", async () => {
    const turns = await reindexed(async (store, id) => {
      for (const record of records.round(3)) await append(store, id, record);
    });
    expect(turns).toEqual([1, 1, 2, 2]);
  });
});
