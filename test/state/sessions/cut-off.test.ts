import { describe, expect, test } from "vitest";
import type { JournalRecord } from "../../../src/domain/session.js";
import { collected } from "../../../src/platform/collected.js";
import { newId } from "../../../src/platform/ids.js";
import { silentLogger } from "../../../src/platform/logger.js";
import type { SessionStore } from "../../../src/ports/session-store.js";
import type { StateEngine } from "../../../src/state/engine.js";
import { MemoryEngine } from "../../../src/state/engines/memory/memory-engine.js";
import { EngineImageStore } from "../../../src/state/images/images.js";
import { engineSessionStore } from "../../../src/state/sessions/sessions.js";
import { ALICE, JournalRecords } from "../../support/journal-records.js";
import { CutEngine, contentsOf } from "../cut-engine.js";

const START = Date.parse("2026-03-01T10:00:00.000Z");

/** Its own time, so that leases end when a test says so. */
function world() {
  let nowMs = START;
  const clock = { now: () => new Date(nowMs) };
  const alone = new MemoryEngine({ clock });
  const engine = Object.assign(alone, { manifest: { ...alone.manifest, shared: true } });
  const open = (over: StateEngine = engine): SessionStore =>
    engineSessionStore(over, { logger: silentLogger, clock, images: new EngineImageStore(over) });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { engine, open, pass, now: () => nowMs };
}

const seqsOf = async (store: SessionStore, id: string) =>
  (await collected(store.journal.read(ALICE, id, { includeRewound: true }))).map(({ seq }) => seq);

async function started(store: SessionStore, records: JournalRecords, id = newId()): Promise<string> {
  await store.journal.create(ALICE, id, [records.session(ALICE)]);
  return id;
}

describe("a reply that is lost", () => {
  /** All that a turn writes, from its lock to what is kept of it. */
  async function turn(store: SessionStore, id: string, nowMs: number): Promise<void> {
    const records = new JournalRecords();
    const begun = await store.startTurn?.(ALICE, id, { rounds: 5, waitMs: 1_000 });
    if (begun === undefined) throw new Error("no turn");
    const { lease, epoch } = begun;
    const asked = records.user(1, "hello", { idempotency: { key: "k", request_hash: "h" } });
    await store.journal.create(ALICE, id, [records.session(ALICE, { external_id: "x" }), asked], { epoch });
    await store.journal.append(ALICE, id, [records.step(1), records.assistant(1)], { fence: lease.fence, lastOf: lease });
    await lease.release();
    const [pending] = await store.turns.claim(nowMs + 60_000, 1, { leaseMs: 60_000 });
    if (pending === undefined) throw new Error("nothing is pending");
    const claim = await store.turns.renew?.(pending, 60_000);
    expect(claim).toEqual(expect.any(String));
    await store.journal.append(ALICE, id, [records.done(1), records.patch({ title: "Hello", by: "derived" })]);
    await store.journal.rewrite(ALICE, id, (record) => (record.type === "step" ? null : record));
  }

  test("of any commit of a turn loses nothing, and does nothing twice", async () => {
    for (let at = 1; ; at++) {
      const { engine, open, now } = world();
      const cut = new CutEngine(engine, { lostReply: at });
      const id = newId();
      await turn(open(cut), id, now());
      const store = open();
      expect(await seqsOf(store, id)).toEqual([1, 2, 4, 5, 6]);
      expect(await store.index.get(ALICE, id)).toMatchObject({
        message_count: 2,
        title: "Hello",
        write_back: { pending_turns: 0, failed_turns: 0 },
      });
      expect(await store.index.findByExternalId(ALICE, "x")).toMatchObject({ id });
      expect((await store.index.list(ALICE, {})).data).toHaveLength(1);
      await (await store.locks.acquire("else", { waitMs: 0, owner: ALICE })).release();
      expect(await contentsOf(engine)).not.toMatch(/ lock\/| trash\/| job\//);
      if (cut.commits < at) return;
    }
  });
});

describe("a worker that is killed", () => {
  test("has its turn until the claim ends, and then somebody else is given it, and the next behind it", async () => {
    const { open, pass, now } = world();
    const [dead, other] = [open(), open()];
    const records = new JournalRecords();
    const id = await started(dead, records);
    await dead.journal.append(ALICE, id, [...records.round(1), ...records.round(2)]);
    const claim = (store: SessionStore) => store.turns.claim(now() + 60_000, 5, { leaseMs: 10_000 });
    expect(await claim(dead)).toMatchObject([{ turn: 1 }]);
    pass(9_000);
    expect(await claim(other)).toEqual([]);
    pass(2_000);
    expect(await claim(other)).toMatchObject([{ turn: 1 }]);
    await other.journal.append(ALICE, id, [records.done(1)]);
    expect(await claim(dead)).toMatchObject([{ turn: 2 }]);
    await other.journal.append(ALICE, id, [records.done(2, "failed", 8)]);
    pass(60 * 60_000);
    expect(await claim(dead)).toEqual([]);
    expect(await dead.turns.counts()).toEqual({ pending: 0, failed: 1 });
    expect(await other.turns.retryFailed(ALICE, id, now())).toBe(1);
    expect(await claim(dead)).toMatchObject([{ turn: 2, attempts: 0 }]);
  });

  test("whose clock is an hour behind the engine's sees claims of others end", async () => {
    const { open, pass, now } = world();
    const [dead, late] = [open(), open()];
    const records = new JournalRecords();
    const id = await started(dead, records);
    await dead.journal.append(ALICE, id, records.round(1));
    pass(2 * 60 * 60_000);
    expect(await dead.turns.claim(now(), 5, { leaseMs: 10_000 })).toHaveLength(1);
    pass(11_000);
    expect(await late.turns.claim(now() - 60 * 60_000, 5, { leaseMs: 10_000 })).toHaveLength(1);
  });
});

describe("a rewrite", () => {
  const blank = (record: JournalRecord) =>
    record.type === "message" ? { ...record, body: { ...record.body, content: "…" } } : record.type === "step" ? null : record;

  test("that is killed at any of its commits leaves the journal as it was or as it is to be; done again, nothing else", async () => {
    for (let at = 1; ; at++) {
      const { engine, open } = world();
      const records = new JournalRecords();
      const id = await started(open(), records);
      for (let turn = 1; turn <= 3; turn++) await open().journal.append(ALICE, id, records.round(turn, 1));
      const before = await collected(open().journal.read(ALICE, id));
      const after = before.flatMap((record) => blank(record) ?? []);
      const cut = new CutEngine(engine, { killed: at });
      const isDone = await open(cut)
        .journal.rewrite(ALICE, id, blank)
        .then(
          () => true,
          () => false,
        );
      const found = await collected(open().journal.read(ALICE, id));
      expect(found).toEqual(found.length === before.length ? before : after);
      await open().journal.append(ALICE, id, [records.patch({ title: "still written", by: "user" })]);
      const store = open();
      await store.journal.rewrite(ALICE, id, blank);
      expect((await collected(store.journal.read(ALICE, id))).slice(0, -1)).toEqual(after);
      expect((await store.journal.window(ALICE, id, { rounds: 9 })).rounds.map(({ user }) => user.body.content)).toEqual(["…", "…", "…"]);
      // What was being built by one that was killed is cleared up when nobody can be at it any more.
      await store.journal.remove(ALICE, id);
      if (isDone) return;
    }
  });

  test("of a session that goes on meanwhile is begun anew", async () => {
    const { open } = world();
    const records = new JournalRecords();
    const store = open();
    const id = await started(store, records);
    await store.journal.append(ALICE, id, records.round(1));
    let isAdded: Promise<unknown> | undefined;
    await store.journal.rewrite(ALICE, id, (record) => {
      isAdded ??= open().journal.append(ALICE, id, records.round(2));
      return blank(record);
    });
    await isAdded;
    expect((await store.journal.window(ALICE, id, { rounds: 9 })).rounds.map(({ user }) => user.body.content)).toEqual(["…", "…"]);
  });

  test("does not disturb who reads the journal: each record once, as it was or as it is", async () => {
    const { open } = world();
    const records = new JournalRecords();
    const store = open();
    const id = await started(store, records);
    for (let turn = 1; turn <= 90; turn++) await store.journal.append(ALICE, id, records.round(turn));
    const reading: number[] = [];
    for await (const { seq } of store.journal.read(ALICE, id)) {
      reading.push(seq);
      if (seq === 20) await open().journal.rewrite(ALICE, id, blank);
    }
    expect(reading).toEqual(Array.from({ length: 181 }, (_, index) => index + 1));
  });
});

describe("a removal", () => {
  test("that is killed at any of its commits leaves the session whole or gone; done again, nothing at all", async () => {
    for (let at = 1; ; at++) {
      const { engine, open } = world();
      const records = new JournalRecords();
      const asked = records.user(1, "hello", { idempotency: { key: "k", request_hash: "h" } });
      const id = newId();
      await open().journal.create(ALICE, id, [records.session(ALICE, { external_id: "x" }), asked, records.assistant(1)]);
      for (let turn = 2; turn <= 50; turn++) await open().journal.append(ALICE, id, records.round(turn));
      await open().journal.append(ALICE, id, [records.summary(50)]);
      const cut = new CutEngine(engine, { killed: at });
      const isDone = await open(cut)
        .journal.remove(ALICE, id)
        .catch(() => null);
      const store = open();
      if ((await store.index.get(ALICE, id)) === null) {
        await expect(store.journal.window(ALICE, id, { rounds: 1 })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
        expect(await store.index.findByExternalId(ALICE, "x")).toBeNull();
        expect((await store.index.list(ALICE, {})).data).toEqual([]);
        // Its id may be used again at once.
        await started(store, records, id);
        expect(await seqsOf(store, id)).toEqual([1]);
        await store.journal.append(ALICE, id, records.round(1));
        await store.index.expiring({ status: "active", inactiveSince: "2020-01-01", expiresBefore: "2020-01-01", limit: 1 });
        expect(await seqsOf(store, id)).toEqual([1, 2, 3]);
      } else expect(await seqsOf(store, id)).toHaveLength(102);
      await store.journal.remove(ALICE, id);
      await store.index.remove(ALICE, id);
      expect((await contentsOf(engine)).split("\n").map((line) => line.split(" ")[1])).toEqual(["owner"]);
      if (isDone === true) return;
    }
  });
});
