import { describe, expect, test } from "vitest";
import { erasedEvent, eventOf, type OwnerEvent, sessionEvents } from "../../src/domain/event.js";
import type { Owner } from "../../src/domain/owner.js";
import type { JournalRecord, NewRecord } from "../../src/domain/session.js";
import { systemClock } from "../../src/platform/clock.js";
import { BEGINNING, type EventScope } from "../../src/ports/events.js";
import type { SessionWriter } from "../../src/ports/session-writer.js";
import type { StateEngine } from "../../src/state/engine.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { FEED, OUTBOX } from "../../src/state/events/event-keys.js";
import { EngineEventQueue } from "../../src/state/events/event-queue.js";
import { EngineEventLog } from "../../src/state/events/events.js";
import { eventPuts } from "../../src/state/events/outbox.js";
import { EngineOwnerLedger } from "../../src/state/ledger/ledger.js";
import { EngineMemoryLog } from "../../src/state/memory-log/memory-log.js";
import { ownerPartition } from "../../src/state/partition.js";
import { describeEventLogContract } from "../contract/event-log.contract.js";
import { ALICE, BOB } from "../support/journal-records.js";
import { CutEngine, contentsOf } from "./cut-engine.js";

const AT = "2026-03-01T10:00:00.000Z";
const LEASE_MS = 60_000;

/** Writes nothing but what is told of the records. */
function tellingWriter(engine: StateEngine, log: EngineEventLog): SessionWriter {
  let seq = 0;
  const write = async (owner: Owner, sessionId: string, records: readonly NewRecord[]) => {
    const numbered = records.map((record) => {
      seq += 1;
      return { v: 1, seq, ...record } as JournalRecord;
    });
    await engine.commit(ownerPartition(owner), { id: `write ${seq}`, puts: eventPuts(owner, sessionEvents(owner, sessionId, numbered)) });
    log.publish(owner);
    return numbered;
  };
  return { create: write, append: write };
}

function opened(engine: StateEngine, queued = true) {
  const log = new EngineEventLog(engine, { queued });
  return { log, queue: new EngineEventQueue(engine, { clock: systemClock, log }) };
}

describeEventLogContract("engine", async () => {
  const engine = new MemoryEngine();
  const { log, queue } = opened(engine);
  return { log, queue, writer: tellingWriter(engine, log), memoryLog: new EngineMemoryLog(engine, log), dispose: () => log.close() };
});

const eventNumber = (owner: Owner, n: number): OwnerEvent => eventOf(owner, "session.created", [n], AT, { session_id: `session ${n}` });
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
const sessionsOf = async (log: EngineEventLog, scope: EventScope) =>
  (await log.read(scope, { after: BEGINNING, limit: 1_000 })).map(({ event }) => event.data.session_id);

describe("what is published", () => {
  test("is there once and in order, whichever reply is lost", async () => {
    for (let lostReply = 1, commits = 99; lostReply <= commits; lostReply++) {
      const engine = new MemoryEngine();
      const cut = new CutEngine(engine, { lostReply });
      const { log, queue } = opened(cut);
      for (const n of [1, 2]) await log.add(ALICE, [eventNumber(ALICE, n), eventNumber(ALICE, n + 10)]);
      const told = ["session 1", "session 11", "session 2", "session 12"];
      expect(await sessionsOf(log, "all")).toEqual(told);
      expect((await queue.next(ALICE, 10)).map(({ data }) => data.session_id)).toEqual(told);
      expect(await queue.counts()).toEqual({ waiting: 4, dead: 0 });
      expect(await contentsOf(engine)).not.toContain(OUTBOX);
      commits = cut.commits - 1;
    }
  });

  test("is there once and in order, wherever the process that published it was killed", async () => {
    const events = numbers(0, 70).map((n) => eventNumber(ALICE, n));
    for (let killed = 2; ; killed++) {
      const engine = new MemoryEngine();
      const first = opened(new CutEngine(engine, { killed }));
      await first.log.add(ALICE, events);
      await first.log.close();
      const { log, queue } = opened(engine);
      await log.add(ALICE, [eventNumber(ALICE, 70)]);
      await log.catchUpAll();
      expect(await sessionsOf(log, { owner: ALICE })).toEqual(numbers(0, 71).map((n) => `session ${n}`));
      expect((await queue.next(ALICE, 100)).length).toBe(71);
      expect(await contentsOf(engine)).not.toContain(OUTBOX);
      if ((await first.log.read("all", { after: BEGINNING, limit: 1 }).catch(() => null)) !== null)
        return expect(killed).toBeGreaterThan(5);
    }
  });

  test("of many owners and processes at once is in one order for all, each owner's own kept", async () => {
    const engine = new MemoryEngine();
    const processes = numbers(0, 3).map(() => opened(engine).log);
    await Promise.all(
      numbers(0, 60).map((n) => processes[n % 3]?.add(n % 2 === 0 ? ALICE : BOB, [eventNumber(n % 2 === 0 ? ALICE : BOB, n)])),
    );
    const { log } = opened(engine);
    const all = await log.read("all", { after: BEGINNING, limit: 100 });
    expect(new Set(all.map(({ event }) => event.id)).size).toBe(60);
    for (const owner of [ALICE, BOB])
      expect(await log.read({ owner }, { after: BEGINNING, limit: 100 })).toEqual(all.filter((kept) => kept.owner === owner));
    expect(await log.read({ tenant: "default" }, { after: BEGINNING, limit: 100 })).toEqual(all);
  });

  test("comes in the order of the commits, whatever the clocks of those who wrote it say", async () => {
    const engine = new MemoryEngine();
    const rows = numbers(0, 3).map((n) => eventPuts(ALICE, [eventNumber(ALICE, n)]));
    for (const n of [2, 0, 1]) await engine.commit(ownerPartition(ALICE), { id: String(n), puts: rows[n] ?? [] });
    const { log } = opened(engine);
    await log.catchUp(ALICE);
    expect(await sessionsOf(log, "all")).toEqual(["session 2", "session 0", "session 1"]);
  });

  test("is there a little later where the store was out of reach", async () => {
    const engine = new MemoryEngine();
    let out = false;
    const failing = new CutEngine(engine);
    const read = failing.read.bind(failing);
    failing.read = (...asked) => (out ? Promise.reject(new Error("out of reach")) : read(...asked));
    const { log } = opened(failing);
    out = true;
    await log.add(ALICE, [eventNumber(ALICE, 1)]);
    out = false;
    await expect.poll(() => sessionsOf(log, "all"), { timeout: 5_000 }).toEqual(["session 1"]);
    await log.close();
  });
});

describe("an erasure", () => {
  test("takes what is on its way: neither read before, nor added after, nor in an outbox", async () => {
    for (let killed = 2; killed <= 3; killed++) {
      const engine = new MemoryEngine();
      await opened(new CutEngine(engine, { killed })).log.add(ALICE, [eventNumber(ALICE, 1)]);
      const { log } = opened(engine);
      expect(await log.residue(ALICE)).toBeGreaterThan(0);
      await log.erase(ALICE);
      expect(await log.residue(ALICE)).toBe(0);
      await log.catchUpAll();
      expect(await sessionsOf(log, "all")).toEqual([]);
      await log.add(ALICE, [eventNumber(ALICE, 2)]);
      expect(await sessionsOf(log, "all")).toEqual(["session 2"]);
    }
  });

  test("is not undone by a process that had read the outbox before it", async () => {
    const engine = new MemoryEngine();
    let reached = () => {};
    let goOn = () => {};
    const atFeed = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const slow = new CutEngine(engine);
    const commit = slow.commit.bind(slow);
    slow.commit = async (partition, each) => {
      if (partition === FEED) {
        reached();
        await gate;
      }
      return commit(partition, each);
    };
    const adding = opened(slow).log.add(ALICE, [eventNumber(ALICE, 1), erasedEvent(ALICE, "receipt", AT)]);
    await atFeed;
    const { log, queue } = opened(engine);
    await log.erase(ALICE);
    goOn();
    await adding;
    await log.catchUpAll();
    expect((await log.read("all", { after: BEGINNING, limit: 10 })).map(({ event }) => event.type)).toEqual(["owner.erased"]);
    expect((await queue.next(ALICE, 10)).map(({ type }) => type)).toEqual(["owner.erased"]);
    expect(await log.residue(ALICE)).toBe(0);
  });

  test("that is killed between any two commits is done by doing it again; what tells of it outlives it, and no name stays in the partition", async () => {
    for (let killed = 1; ; killed++) {
      const engine = new MemoryEngine();
      const { log, queue } = opened(engine);
      await log.add(
        ALICE,
        numbers(0, 60).map((n) => eventNumber(ALICE, n)),
      );
      await queue.bury(ALICE, eventNumber(ALICE, 0).id, { attempts: 8, error: "TIMEOUT", deadSince: AT });
      const erase = async (on: StateEngine) => {
        const [ledger, events] = [new EngineOwnerLedger(on), opened(on).log];
        const { receiptId } = await ledger.beginErasure(ALICE, AT);
        await events.erase(ALICE);
        await events.add(ALICE, [erasedEvent(ALICE, receiptId, AT)]);
        await ledger.completeErasure(ALICE, { receipt_id: receiptId, completed_at: AT, erased: {}, verified: true });
      };
      const killedOnce = await erase(new CutEngine(engine, { killed })).then(
        () => false,
        () => true,
      );
      const ledger = new EngineOwnerLedger(engine);
      if ((await ledger.receipts(ALICE)).length === 0) await erase(engine);
      await log.catchUpAll();
      expect(await ledger.openErasures()).toEqual([]);
      expect(await log.residue(ALICE)).toBe(0);
      expect((await log.read({ owner: ALICE }, { after: BEGINNING, limit: 9 })).map(({ event }) => event.type)).toEqual(["owner.erased"]);
      expect((await contentsOf(engine)).split("\n").filter((line) => line.startsWith("o:") && line.includes("alice"))).toEqual([]);
      const [claim] = await queue.claim(new Date(), 1, LEASE_MS);
      const [event] = await queue.next(ALICE, 9);
      await queue.delivered(ALICE, event?.id ?? "");
      if (claim !== undefined) await queue.release(claim, { dueAt: null, attempts: 0 });
      expect(await contentsOf(engine)).not.toMatch(/queue|waiting|due\//);
      if (!killedOnce) return expect(killed).toBeGreaterThan(8);
    }
  });
});

test("an erasure of many events that were given up is commits that every engine takes", async () => {
  const engine = new MemoryEngine();
  const { log, queue } = opened(engine);
  const events = numbers(0, 60).map((n) => eventNumber(ALICE, n));
  await log.add(ALICE, events);
  for (const { id } of events) await queue.bury(ALICE, id, { attempts: 8, error: "TIMEOUT", deadSince: AT });
  // As an engine of 99 that keeps an owner's keys beside each value that it encrypts.
  const few = opened(new CutEngine(engine, {}, { maxOperations: 98 })).log;
  expect(await few.erase(ALICE)).toBe(60);
  expect(await few.residue(ALICE)).toBe(0);
  expect(await contentsOf(engine)).not.toMatch(/dead/);
});

describe("the queue", () => {
  test("a claim whose reply is lost, a delivery, a release and a retry that are asked for again: nothing twice, nothing lost", async () => {
    for (let lostReply = 1, commits = 99; lostReply <= commits; lostReply++) {
      const engine = new MemoryEngine();
      await opened(engine).log.add(ALICE, [eventNumber(ALICE, 1), eventNumber(ALICE, 2)]);
      const cut = new CutEngine(engine, { lostReply });
      const { queue } = opened(cut);
      const [claim] = await queue.claim(new Date(), 5, LEASE_MS);
      if (claim === undefined) throw new Error("nothing is due");
      await queue.bury(ALICE, eventNumber(ALICE, 1).id, { attempts: 8, error: "TIMEOUT", deadSince: AT });
      await queue.delivered(ALICE, eventNumber(ALICE, 2).id);
      expect(await queue.retry("default", eventNumber(ALICE, 1).id, new Date())).toBe(true);
      await queue.release(claim, { dueAt: null, attempts: 0 });
      expect(await queue.claim(new Date(), 5, LEASE_MS)).toHaveLength(1);
      expect((await queue.next(ALICE, 5)).map(({ data }) => data.session_id)).toEqual(["session 1"]);
      expect(await queue.counts()).toEqual({ waiting: 1, dead: 0 });
      commits = cut.commits - 1;
    }
  });

  test("of many workers at once one is given an owner, and again once the lease, by the engine's clock, has ended", async () => {
    let nowMs = Date.parse(AT);
    const engine = new MemoryEngine({ clock: { now: () => new Date(nowMs) } });
    await opened(engine).log.add(ALICE, [eventNumber(ALICE, 1)]);
    const workers = numbers(0, 5).map(() => opened(engine).queue);
    const claims = async () => (await Promise.all(workers.map((queue) => queue.claim(new Date(0), 5, LEASE_MS)))).flat();
    expect(await claims()).toHaveLength(1);
    nowMs += LEASE_MS - 1;
    expect(await claims()).toHaveLength(0);
    nowMs += 1;
    expect(await claims()).toHaveLength(1);
  });
});

test("old events of many pages are dropped, those that came after stay", async () => {
  const { log } = opened(new MemoryEngine(), false);
  await log.add(
    ALICE,
    numbers(0, 130).map((n) => eventNumber(ALICE, n)),
  );
  const young = eventOf(ALICE, "session.created", ["young"], "2026-04-01T10:00:00.000Z", { session_id: "young" });
  await log.add(ALICE, [young]);
  expect(await log.prune(new Date("2026-03-02T10:00:00.000Z"))).toBe(130);
  expect(await sessionsOf(log, { owner: ALICE })).toEqual(["young"]);
  expect(await log.newest({ tenant: "default" })).toBe(young.id);
});
