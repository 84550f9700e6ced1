import { expect, test } from "vitest";
import type { Owner } from "../../src/domain/owner.js";
import { summaryMessage } from "../../src/history/history.js";
import { reindexHistory } from "../../src/operations/reindex.js";
import { systemClock } from "../../src/platform/clock.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { ConversationHistory } from "../../src/ports/history.js";
import { openMemorySessionStore } from "../../src/stores/memory/in-memory.js";
import { DisabledHistory } from "../../src/stores/vector-history/disabled-history.js";
import { ALICE, BOB, JournalRecords } from "../../src/testing/journal-records.js";

const SESSIONS = 450;

test("what history lacks is found by a query for many sessions, and no session is asked for alone", async () => {
  const store = await openMemorySessionStore({ logger: silentLogger, clock: systemClock });
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
  const report = await reindexHistory({ store, history, summaryMessage, during, logger: silentLogger }, { which: "missing" });
  expect(report).toEqual({ sessions: SESSIONS, added: 2, failed: 0 });
  expect(added).toEqual([lost]);
  expect(calls).toEqual(["counts", "counts", "counts"]);
});
