import { describe, expect, test } from "vitest";
import type { NewRecord } from "../../../src/domain/session.js";
import { systemClock } from "../../../src/platform/clock.js";
import { collected } from "../../../src/platform/collected.js";
import { newId } from "../../../src/platform/ids.js";
import { silentLogger } from "../../../src/platform/logger.js";
import type { StateEngine } from "../../../src/state/engine.js";
import { MemoryEngine } from "../../../src/state/engines/memory/memory-engine.js";
import { EngineImageStore } from "../../../src/state/images/images.js";
import { EngineOwnerLedger } from "../../../src/state/ledger/ledger.js";
import { engineSessionIndex, engineSessionStore } from "../../../src/state/sessions/sessions.js";
import { TurnJobs } from "../../../src/state/sessions/turn-jobs.js";
import { ALICE, BOB, JournalRecords } from "../../support/journal-records.js";
import { SLOW } from "../../support/projects.js";
import { CutEngine, contentsOf } from "../cut-engine.js";

/** What an engine takes in one commit that takes the least. */
const LEAST = { maxCommitBytes: 2_000_000 };

function opened<Engine extends StateEngine = CutEngine>(engine = new CutEngine(new MemoryEngine(), {}, LEAST) as StateEngine as Engine) {
  const store = engineSessionStore(engine, { logger: silentLogger, clock: systemClock, images: new EngineImageStore(engine) });
  return { engine, store, records: new JournalRecords() };
}

const long = (records: JournalRecords, turns: number, chars: number): NewRecord[] =>
  Array.from({ length: turns }, (_, turn) => [
    records.user(turn + 1, "x".repeat(chars), { origin_id: newId() }),
    records.assistant(turn + 1),
  ]).flat();

describe("what is more than one commit takes", () => {
  test("a session that begins with megabytes, as a fork does, is there whole or not at all", { tags: [SLOW] }, async () => {
    for (let at = 1; ; at++) {
      const { engine, store, records } = opened();
      const id = newId();
      const all = [records.session(ALICE, { external_id: "x" }), ...long(records, 25, 100_000)];
      const cut = opened(new CutEngine(engine, { killed: at }, LEAST));
      const made = await cut.store.journal.create(ALICE, id, all).catch(() => null);
      if (made === null) {
        await expect(store.journal.window(ALICE, id, { rounds: 1 })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
        expect(await store.index.get(ALICE, id)).toBeNull();
        await store.journal.create(ALICE, id, all);
      } else await cut.store.index.apply(ALICE, id, made).catch(() => undefined);
      const kept = await collected(store.journal.read(ALICE, id));
      expect(kept.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
      await store.index.apply(ALICE, id, kept);
      expect(await store.index.get(ALICE, id)).toMatchObject({ message_count: 50 });
      expect((await store.journal.window(ALICE, id, { rounds: 3 })).rounds.map(({ turn }) => turn)).toEqual([23, 24, 25]);
      expect((await store.index.findByExternalId(ALICE, "x"))?.id).toBe(id);
      if (cut.engine.commits < at) return;
    }
  });

  test("an append of megabytes is refused, and nothing of it is kept", async () => {
    const { store, records } = opened();
    const id = newId();
    await store.journal.create(ALICE, id, [records.session(ALICE)]);
    await expect(store.journal.append(ALICE, id, long(records, 30, 100_000))).rejects.toMatchObject({ code: "COMMIT_TOO_LARGE" });
    await store.journal.append(ALICE, id, long(records, 15, 100_000));
    expect(await collected(store.journal.read(ALICE, id))).toHaveLength(31);
  });

  test("more turns than a commit has jobs for are in the journal at once, and in the index when they are applied", async () => {
    const { store, records } = opened();
    const id = newId();
    await store.journal.create(ALICE, id, [records.session(ALICE)]);
    const idempotency = { key: "k", request_hash: "h" };
    const given = Array.from({ length: 150 }, (_, turn) => records.user(turn + 1, `said ${turn}`, { ingested: true }));
    const written = await store.journal.append(ALICE, id, [...given, records.patch({ by: "derived", idempotency })]);
    // Nobody else takes the key meanwhile.
    await expect(store.journal.append(ALICE, id, [records.user(200, "again", { idempotency })])).rejects.toMatchObject({
      code: "IDEMPOTENCY_IN_PROGRESS",
    });
    await store.index.apply(ALICE, id, written);
    expect(await store.turns.of(ALICE, id)).toHaveLength(150);
    expect(await store.index.get(ALICE, id)).toMatchObject({ message_count: 150 });
    await store.journal.append(ALICE, id, records.round(200));
    expect(await store.index.get(ALICE, id)).toMatchObject({ message_count: 152 });
    expect(await store.turns.of(ALICE, id)).toHaveLength(151);
    await store.journal.remove(ALICE, id);
    expect(await store.index.residue(ALICE)).toBe(0);
  });

  test("a session's own row may be larger than a value, and smaller again", async () => {
    const { engine, store, records } = opened();
    const id = newId();
    const metadata = (chars: number) => ({ metadata: { text: "ü".repeat(chars) } });
    await store.journal.create(ALICE, id, [{ ...records.session(ALICE), body: { owner: ALICE, ...metadata(470_000) } } as never]);
    await store.journal.append(ALICE, id, records.round(1));
    expect((await store.index.get(ALICE, id))?.metadata.text === metadata(470_000).metadata.text).toBe(true);
    expect((await store.index.list(ALICE, {})).data).toHaveLength(1);
    await store.journal.append(ALICE, id, [records.patch({ by: "user", ...metadata(10) })]);
    expect((await store.index.get(ALICE, id))?.metadata).toEqual(metadata(10).metadata);
    expect(await collected(store.journal.list())).toEqual([{ owner: ALICE, sessionId: id, lastSeq: 4 }]);
    await store.journal.append(ALICE, id, [records.patch({ by: "user", ...metadata(460_000) })]);
    await store.journal.remove(ALICE, id);
    expect((await contentsOf(engine)).split("\n").map((line) => line.split(" ")[1])).toEqual(["owner"]);
  });
});

describe("a window", () => {
  test("of a journal with many rows costs what it holds, and finds what stands behind many", async () => {
    const { store, records } = opened();
    const id = newId();
    await store.journal.create(ALICE, id, [records.session(ALICE)]);
    await store.journal.append(ALICE, id, [...records.round(1), records.summary(1)]);
    for (let turn = 2; turn <= 300; turn++) await store.journal.append(ALICE, id, records.round(turn));
    const window = await store.journal.window(ALICE, id, { rounds: 3 });
    expect(window).toMatchObject({ summary: { seq: 4 }, lastSeq: 602, lastTurn: 300 });
    expect(window.bytesRead).toBeLessThan(20_000);
    // Takes back nearly all of it.
    await store.journal.append(ALICE, id, [records.rewind(301, 8), records.user(301)]);
    const back = await store.journal.window(ALICE, id, { rounds: 9 });
    expect(back.rounds.map(({ turn }) => turn)).toEqual([1, 2, 3]);
    expect(back).toMatchObject({ summary: { seq: 4 }, lastUserMessage: { turn: 301 } });
    expect(await store.index.get(ALICE, id)).toMatchObject({ message_count: 7, summary: "summary to 1" });
  });
});

describe("a turn's start", () => {
  test("has what stands in the store, the lock, and what must be known of the owner", async () => {
    const { engine, store, records } = opened();
    const ledger = new EngineOwnerLedger(engine);
    await ledger.seen(ALICE, { at: "2026-03-01T10:00:00.000Z", displayName: "Alice" });
    await ledger.addTombstone(ALICE, { memoryId: newId(), messageIds: [], textHash: "t", at: "2026-03-01T10:00:00.000Z" });
    const id = newId();
    const first = await store.startTurn?.(ALICE, id, { rounds: 5, waitMs: 0 });
    expect(first).toMatchObject({ session: null, window: null, epoch: 0, memorySeq: 0, user: { displayName: "Alice" } });
    expect(first?.tombstones).toMatchObject([{ textHash: "t" }]);
    await store.journal.create(ALICE, id, [records.session(ALICE), ...records.round(1)]);
    await expect(store.startTurn?.(ALICE, id, { rounds: 5, waitMs: 0 })).rejects.toMatchObject({ code: "SESSION_BUSY" });
    await first?.lease.release();
    await store.journal.rewrite(ALICE, id, (record) => ({ ...record, at: "2026-03-01T11:00:00.000Z" }));
    const next = await store.startTurn?.(ALICE, id, { rounds: 5, waitMs: 0 });
    expect(next).toMatchObject({ session: { id, message_count: 2 }, window: { lastSeq: 3, rounds: [{ turn: 1 }] } });
    expect(next?.lease.fence).toBeGreaterThan(first?.lease.fence ?? 0);
    await next?.lease.release();
    await ledger.beginErasure(ALICE, "2026-03-01T12:00:00.000Z");
    await expect(store.startTurn?.(ALICE, id, { rounds: 5, waitMs: 0 })).rejects.toMatchObject({ code: "OWNER_ERASED" });
  });
});

describe("the index alone", () => {
  test("follows journals that are kept elsewhere, also from behind, and is made anew from them", async () => {
    const { store, records } = opened();
    const id = newId();
    await store.journal.create(ALICE, id, [records.session(ALICE, { external_id: "x", title: "Trip" })]);
    await store.journal.append(ALICE, id, records.round(1));
    const journal = store.journal;
    const engine = new MemoryEngine();
    const index = engineSessionIndex(engine, {
      readJournal: (owner, sessionId, fromSeq) => journal.read(owner, sessionId, { fromSeq, includeRewound: true }),
    });
    const idempotency = { key: "k", request_hash: "h" };
    const newest = await journal.append(ALICE, id, [records.user(2, "more", { idempotency }), records.assistant(2), records.summary(2)]);
    await index.apply(ALICE, id, newest);
    const session = await store.index.get(ALICE, id);
    expect(await index.get(ALICE, id)).toEqual(session);
    const back = await journal.append(ALICE, id, [records.rewind(3, 3), records.user(3)]);
    await index.apply(ALICE, id, back);
    expect(await index.get(ALICE, id)).toEqual(await store.index.get(ALICE, id));
    expect(await new TurnJobs(engine).of(ALICE)).toEqual(await store.turns.of(ALICE));
    expect(await index.indexedSeq(ALICE, id)).toBe(8);
    expect(await index.get(BOB, id)).toBeNull();
    await index.clear();
    expect((await contentsOf(engine)).split("\n").map((line) => line.split(" ")[1])).toEqual(["owner"]);
    await index.apply(ALICE, id, await collected(journal.read(ALICE, id, { includeRewound: true })));
    expect(await index.get(ALICE, id)).toEqual(await store.index.get(ALICE, id));
    expect(await index.findIdempotent(ALICE, "k", new Date("2026-03-01T12:00:00Z"))).toMatchObject({ sessionId: id });
    await index.remove(ALICE, id);
    expect(await index.residue(ALICE)).toBe(0);
    expect((await contentsOf(engine)).split("\n").map((line) => line.split(" ")[1])).toEqual(["owner"]);
  });
});

describe("a journal that is restored", () => {
  test("has the numbers that it had, replaces what was there, and leaves what the index has", async () => {
    const { store, records } = opened();
    const id = newId();
    await store.journal.create(ALICE, id, [records.session(ALICE), ...records.round(1), ...records.round(2)]);
    await store.journal.rewrite(ALICE, id, (record) => (record.turn === 2 ? null : record));
    const { engine, store: target } = opened();
    const kept = await collected(store.journal.read(ALICE, id));
    async function* again() {
      yield* kept;
    }
    for (let times = 0; times < 2; times++) await target.journal.restore(ALICE, id, again, { lastSeq: 5, lastTurn: 2 });
    expect(await collected(target.journal.read(ALICE, id))).toEqual(kept);
    await target.index.apply(ALICE, id, kept);
    expect(await target.journal.window(ALICE, id, { rounds: 2 })).toMatchObject({ lastSeq: 5, lastTurn: 2, rounds: [{ turn: 1 }] });
    expect(await target.journal.append(ALICE, id, [records.user(3)])).toMatchObject([{ seq: 6 }]);
    expect(await contentsOf(engine)).not.toMatch(/ trash\//);
  });
});
