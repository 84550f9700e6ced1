import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { erasedEvent, eventOf, type OwnerEvent } from "../../src/domain/event.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { newId } from "../../src/platform/ids.js";
import { BEGINNING, type ClaimedOwner, type EventLog, type EventQueue, type EventScope } from "../../src/ports/events.js";
import type { MemoryLog } from "../../src/ports/memory-log.js";
import type { SessionWriter } from "../../src/ports/session-writer.js";
import { ALICE, BOB, JournalRecords } from "../support/journal-records.js";
import { entryOf, NOW, recordOfText } from "./memory-log.contract.js";

export interface EventLogUnderTest {
  readonly log: EventLog;
  readonly queue: EventQueue;
  /** Of the same store: what is written to them is told. */
  readonly writer: SessionWriter;
  readonly memoryLog: MemoryLog;
  dispose(): Promise<void>;
}

const ELSEWHERE = ownerOf("elsewhere", "alice");
const LEASE_MS = 60_000;

/** What every event log promises, with its queue, and the journals and memory logs of its store. */
export function describeEventLogContract(name: string, make: () => Promise<EventLogUnderTest>): void {
  describe(`event log: ${name}`, () => {
    let made: EventLogUnderTest;
    let log: EventLog;
    let queue: EventQueue;
    beforeEach(async () => {
      made = await make();
      ({ log, queue } = made);
    });
    afterEach(() => made.dispose());

    let count = 0;
    const event = (owner: Owner): OwnerEvent => {
      count += 1;
      return eventOf(owner, "session.created", [count], new Date(Date.now() + count).toISOString(), { session_id: newId() });
    };
    const add = async (owner: Owner) => {
      const added = event(owner);
      await log.add(owner, [added]);
      return added;
    };
    const read = async (scope: EventScope, after = BEGINNING, limit = 100) =>
      (await log.read(scope, { after, limit })).map((each) => each.event);
    const claimed = async () => {
      const [claim] = await queue.claim(new Date(), 1, LEASE_MS);
      if (claim === undefined) throw new Error("nothing is due");
      return claim;
    };

    test("is read in order, behind any event, of an owner, of a tenant or of all", async () => {
      const events = [];
      for (const owner of [ALICE, BOB, ELSEWHERE, ALICE]) events.push(await add(owner));
      const [first, second, third, last] = events;
      expect(await read({ owner: ALICE })).toEqual([first, last]);
      expect(await read({ tenant: "default" })).toEqual([first, second, last]);
      expect(await read("all")).toEqual(events);
      expect(await read("all", second?.id)).toEqual([third, last]);
      expect(await read({ owner: ALICE }, BEGINNING, 1)).toEqual([first]);
      expect(await read({ owner: ALICE }, first?.id)).toEqual([last]);
      // Another's is not known to an owner: then it begins anew.
      expect(await read({ owner: ALICE }, second?.id)).toEqual([first, last]);
      expect([await log.newest({ owner: BOB }), await log.newest("all")]).toEqual([second?.id, last?.id]);
      expect(await log.newest({ owner: ownerOf("default", "nobody") })).toBeNull();
    });

    test("has each event once, however often it is added, and tells who listens", async () => {
      const heard: Owner[] = [];
      const stop = log.onAdded((owner) => void heard.push(owner));
      const one = event(ALICE);
      await log.add(ALICE, [one]);
      await log.add(ALICE, [one, event(ALICE)]);
      expect(await read({ owner: ALICE })).toHaveLength(2);
      await expect.poll(() => heard).toEqual([ALICE, ALICE]);
      stop();
      expect(await queue.counts()).toEqual({ waiting: 2, dead: 0 });
    });

    test("[events-told] what is written to journals is told with it", async () => {
      const records = new JournalRecords();
      const id = newId();
      await made.writer.create(ALICE, id, [records.session(ALICE)]);
      await made.writer.append(ALICE, id, records.round(1, 1));
      await made.writer.append(ALICE, id, [records.user(2), records.assistant(2, "failed"), records.done(1, "failed")]);
      await made.writer.append(ALICE, id, [records.patch({ status: "archived", by: "user" }), records.patch({ title: "T", by: "user" })]);
      await made.writer.append(ALICE, id, [records.patch({ status: "deleted", by: "user" })]);
      const told = await read({ owner: ALICE });
      expect(told.map(({ type, data }) => [type, data.turn ?? 0])).toEqual([
        ["session.created", 0],
        ["turn.completed", 1],
        ["turn.failed", 2],
        ["write_back.failed", 1],
        ["session.archived", 0],
        ["session.deleted", 0],
      ]);
      expect(new Set(told.map(({ data }) => data.session_id))).toEqual(new Set([id]));
      expect(await queue.next(ALICE, 100)).toEqual(told);
    });

    test("[events-told] what is written to memory logs is told with it", async () => {
      await made.memoryLog.append(ALICE, entryOf("Prefers jazz", "Prefers swing"), { expectedSeq: 0, now: NOW });
      const removed = [recordOfText("Prefers swing").id];
      await made.memoryLog.append(ALICE, { kind: "forget", turn: null, puts: [], removed }, { expectedSeq: 1, now: NOW });
      await expect(made.memoryLog.append(ALICE, entryOf("Prefers bop"), { expectedSeq: 1, now: NOW })).rejects.toThrow();
      const told = await read({ owner: ALICE });
      expect(told.map(({ type }) => type)).toEqual(["memory.added", "memory.added", "memory.forgotten"]);
      expect(told[2]?.data).toEqual({ memory_id: removed[0] });
      expect(JSON.stringify(told)).not.toMatch(/jazz|swing|bop/);
    });

    test("drops what is old, and an owner's, but for what tells of their erasure", async () => {
      const old = eventOf(ALICE, "session.created", ["old"], new Date(Date.now() + 1).toISOString(), { session_id: "old" });
      await log.add(ALICE, [old]);
      expect(await log.prune(new Date(Date.now() + 2))).toBe(1);
      await add(ALICE);
      const theirs = await add(BOB);
      await log.add(ALICE, [erasedEvent(ALICE, "receipt", new Date(Date.now() + 60_000).toISOString())]);
      expect(await log.residue(ALICE)).toBeGreaterThan(0);
      expect(await log.erase(ALICE)).toBe(1);
      expect(await log.residue(ALICE)).toBe(0);
      expect((await read("all")).map(({ type, id }) => [type, id === theirs.id])).toEqual([
        ["session.created", true],
        ["owner.erased", false],
      ]);
      expect((await queue.next(ALICE, 10)).map(({ type }) => type)).toEqual(["owner.erased"]);
    });

    test("its queue gives an owner to one worker, in order, and again what was not delivered", async () => {
      const [first, second] = [await add(ALICE), await add(ALICE)];
      await add(BOB);
      const [alice, bob, ...none] = [await claimed(), await claimed(), ...(await queue.claim(new Date(), 8, LEASE_MS))];
      expect([alice.owner, bob.owner].sort()).toEqual([ALICE, BOB].sort());
      expect(none).toEqual([]);
      expect(await queue.next(ALICE, 1)).toEqual([first]);
      await queue.delivered(ALICE, first.id);
      expect(await queue.next(ALICE, 10)).toEqual([second]);
      const mine = alice.owner === ALICE ? alice : bob;
      await queue.release(mine, { dueAt: new Date(0), attempts: 3 });
      const again = await claimed();
      expect(again).toMatchObject({ owner: ALICE, attempts: 3 });
      await queue.release(again, { dueAt: new Date(Date.now() + 3_600_000), attempts: 4 });
      expect(await queue.claim(new Date(), 8, LEASE_MS)).toEqual([]);
      expect(await queue.nextDueMs()).not.toBeNull();
    });

    test("its queue gives an owner to nobody else while the claim is renewed; who lost it changes nothing of it", async () => {
      await add(ALICE);
      const [mine] = await queue.claim(new Date(), 8, 1);
      if (mine === undefined) throw new Error("nothing was claimed");
      expect(await queue.renew(mine, LEASE_MS)).toMatchObject({ owner: ALICE });
      expect(await queue.claim(new Date(), 8, LEASE_MS)).toEqual([]);
      expect(await queue.renew(mine, 1)).not.toBeNull();
      const others: ClaimedOwner[] = [];
      await expect.poll(async () => others.push(...(await queue.claim(new Date(), 8, LEASE_MS))), { timeout: 10_000 }).toBe(1);
      expect(await queue.renew(mine, LEASE_MS)).toBeNull();
      await queue.release(mine, { dueAt: new Date(0), attempts: 9 });
      expect(await queue.claim(new Date(), 8, LEASE_MS)).toEqual([]);
      for (const other of others) await queue.release(other, { dueAt: new Date(0), attempts: 2 });
      expect(await queue.claim(new Date(), 8, LEASE_MS)).toMatchObject([{ owner: ALICE, attempts: 2 }]);
    });

    test("a renewal that comes behind its own release takes the owner from nobody", async () => {
      await add(ALICE);
      const mine = await claimed();
      await queue.release(mine, { dueAt: new Date(0), attempts: 1 });
      expect(await queue.renew(mine, LEASE_MS)).toBeNull();
      expect(await queue.claim(new Date(), 8, LEASE_MS)).toMatchObject([{ owner: ALICE, attempts: 1 }]);
    });

    test("its queue misses nothing that was added while a worker looked for the last time", async () => {
      const first = await add(ALICE);
      const claim = await claimed();
      await queue.delivered(ALICE, first.id);
      const late = await add(ALICE);
      await queue.release(claim, { dueAt: null, attempts: 0 });
      const again = await claimed();
      expect(await queue.next(ALICE, 10)).toEqual([late]);
      await queue.delivered(ALICE, late.id);
      await queue.release(again, { dueAt: null, attempts: 0 });
      expect(await queue.claim(new Date(), 8, LEASE_MS)).toEqual([]);
      expect(await queue.nextDueMs()).toBeNull();
    });

    test("its queue keeps what was given up, by tenant, until it is queued again", async () => {
      const [first, second] = [await add(ALICE), await add(ALICE)];
      const claim = await claimed();
      await queue.bury(ALICE, first.id, { attempts: 8, error: "HTTP_500", deadSince: NOW.toISOString() });
      expect(await queue.next(ALICE, 10)).toEqual([second]);
      const dead = { owner: ALICE, event: first, attempts: 8, error: "HTTP_500", deadSince: NOW.toISOString() };
      expect(await queue.dead("default", { limit: 10 })).toEqual([dead]);
      expect(await queue.dead("default", { limit: 10, after: first.id })).toEqual([]);
      expect(await queue.dead("elsewhere", { limit: 10 })).toEqual([]);
      expect(await queue.counts()).toEqual({ waiting: 1, dead: 1 });
      expect(await queue.retry("elsewhere", first.id, new Date())).toBe(false);
      expect(await queue.retry("default", first.id, new Date())).toBe(true);
      expect(await queue.retry("default", first.id, new Date())).toBe(false);
      expect(await queue.next(ALICE, 10)).toEqual([second, first]);
      await queue.release(claim, { dueAt: null, attempts: 0 });
      expect(await claimed()).toMatchObject({ owner: ALICE, attempts: 0 });
      expect(await queue.counts()).toEqual({ waiting: 2, dead: 0 });
    });

    test("[events-dead-kept] its queue drops what was given up long ago, and nothing that waits", async () => {
      const [old, young] = [await add(ALICE), await add(BOB)];
      await add(ALICE);
      const end = { attempts: 8, error: "TIMEOUT" };
      await queue.bury(ALICE, old.id, { ...end, deadSince: "2026-03-01T10:00:00.000Z" });
      await queue.bury(BOB, young.id, { ...end, deadSince: "2026-03-08T10:00:00.000Z" });
      expect(await queue.pruneDead(new Date("2026-03-01T10:00:00.000Z"))).toBe(0);
      expect(await queue.pruneDead(new Date("2026-03-05T10:00:00.000Z"))).toBe(1);
      expect((await queue.dead("default", { limit: 10 })).map(({ event: { id } }) => id)).toEqual([young.id]);
      expect(await queue.retry("default", old.id, new Date())).toBe(false);
      expect(await queue.counts()).toEqual({ waiting: 1, dead: 1 });
    });

    test("its queue gives up an owner's with an erasure of theirs", async () => {
      const [first, theirs] = [await add(ALICE), await add(BOB)];
      await queue.bury(ALICE, first.id, { attempts: 8, error: "TIMEOUT", deadSince: NOW.toISOString() });
      await queue.bury(BOB, theirs.id, { attempts: 8, error: "TIMEOUT", deadSince: NOW.toISOString() });
      await log.erase(ALICE);
      expect(await log.residue(ALICE)).toBe(0);
      expect((await queue.dead("default", { limit: 10 })).map(({ owner }) => owner)).toEqual([BOB]);
    });
  });
}
