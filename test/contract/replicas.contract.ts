import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/platform/ids.js";
import type { MemoryLog } from "../../src/ports/memory-log.js";
import type { OwnerLedger } from "../../src/ports/owner-ledger.js";
import { type PendingTurn, type SessionStore, sessionLockKey } from "../../src/ports/session-store.js";
import { ALICE, BOB, JournalRecords } from "../support/journal-records.js";
import { entryOf, NOW } from "./memory-log.contract.js";

/** One process's view of an engine. */
export interface Replica {
  readonly store: SessionStore;
  readonly ledger: OwnerLedger;
  readonly log: MemoryLog;
  /** As a kill: nothing is released. */
  dispose(): Promise<void>;
}

export interface Engine {
  /** Another process on the same data. `leaseMs`: of its locks. */
  open(options?: { readonly leaseMs?: number }): Promise<Replica>;
  dispose(): Promise<void>;
}

const RACERS = 8;
const LEASE_MS = 600;
const AT = NOW.toISOString();

/** What an engine promises that several processes share. */
export function replicasContract(name: string, make: () => Promise<Engine>): void {
  describe(`replicas: ${name}`, () => {
    let engine: Engine;
    let opened: Replica[];
    let records: JournalRecords;
    beforeEach(async () => {
      engine = await make();
      opened = [];
      records = new JournalRecords();
    });
    afterEach(async () => {
      for (const replica of opened) await replica.dispose();
      await engine.dispose();
    });
    const open = async (options?: { readonly leaseMs?: number }): Promise<Replica> => {
      const replica = await engine.open(options);
      opened.push(replica);
      return replica;
    };
    const many = (count: number) => Promise.all(Array.from({ length: count }, () => open()));
    const started = async ({ store }: Replica, owner = ALICE): Promise<string> => {
      const id = newId();
      await store.index.apply(owner, id, await store.journal.create(owner, id, [records.session(owner)]));
      return id;
    };
    const say = async ({ store }: Replica, id: string, turn: number, owner = ALICE) =>
      store.index.apply(owner, id, await store.journal.append(owner, id, records.round(turn)));
    const later = () => Date.now() + 60_000;

    test("of eight workers that claim at once each turn goes to one, the oldest of a session first", async () => {
      const replicas = await many(RACERS);
      const [first] = replicas;
      if (first === undefined) throw new Error("none");
      const ids = await Promise.all(Array.from({ length: 6 }, () => started(first)));
      for (const id of ids) for (const turn of [1, 2]) await say(first, id, turn);
      const claims = await Promise.all(replicas.map(({ store }) => store.turns.claim(later(), 3, { leaseMs: 60_000 })));
      const taken = claims.flat().map(({ sessionId, turn }) => `${sessionId}:${turn}`);
      expect(taken.toSorted()).toEqual(ids.map((id) => `${id}:1`).toSorted());
      expect((await first.store.turns.claim(later(), 10, { leaseMs: 60_000 })).length).toBe(0);
    });

    test("a claim that ended is taken over; one that is let go, or whose attempt failed, at once", async () => {
      const [one, other] = await many(2);
      if (one === undefined || other === undefined) throw new Error("none");
      const id = await started(one);
      await say(one, id, 1);
      const claim = async ({ store }: Replica, leaseMs: number): Promise<PendingTurn | undefined> =>
        (await store.turns.claim(later(), 5, { leaseMs }))[0];
      const first = await claim(one, 200);
      expect(first).toMatchObject({ sessionId: id, turn: 1, owner: ALICE });
      expect(await claim(other, 60_000)).toBeUndefined();
      await pause(400);
      const second = await claim(other, 60_000);
      expect(second).toMatchObject({ sessionId: id, turn: 1 });
      if (second !== undefined) await other.store.turns.letGo(second);
      expect(await claim(one, 60_000)).toMatchObject({ turn: 1 });
      await one.store.turns.recordAttempt(
        { owner: ALICE, sessionId: id, turn: 1 },
        { attempts: 1, dueAtMs: Date.now(), errorCode: "INTERNAL" },
      );
      expect(await claim(other, 60_000)).toMatchObject({ turn: 1, attempts: 1 });
    });

    test("a lock that its holder let lapse goes on with a greater fence, and the holder writes nothing any more", async () => {
      const gone = await open({ leaseMs: LEASE_MS });
      const next = await open({ leaseMs: LEASE_MS });
      const id = await started(gone);
      const key = sessionLockKey(ALICE, id);
      const held = await gone.store.locks.acquire(key, { waitMs: 0, owner: ALICE });
      await expect(next.store.locks.acquire(key, { waitMs: 0, owner: ALICE })).rejects.toMatchObject({ code: "SESSION_BUSY" });
      await gone.dispose();
      const taken = await next.store.locks.acquire(key, { waitMs: 20 * LEASE_MS, owner: ALICE });
      expect(taken.fence).toBeGreaterThan(held.fence);
      const late = await open();
      await expect(late.store.journal.append(ALICE, id, records.round(1), { fence: held.fence })).rejects.toMatchObject({ code: "FENCED" });
      await next.store.journal.append(ALICE, id, records.round(1), { fence: taken.fence });
      await taken.release();
    });

    test("a lock that is renewed outlives its lease", async () => {
      const holder = await open({ leaseMs: LEASE_MS });
      const other = await open({ leaseMs: LEASE_MS });
      const held = await holder.store.locks.acquire("a", { waitMs: 0 });
      await expect(other.store.locks.acquire("a", { waitMs: 2 * LEASE_MS })).rejects.toMatchObject({ code: "SESSION_BUSY" });
      expect(held.signal.aborted).toBe(false);
      await held.release();
      await (await other.store.locks.acquire("a", { waitMs: 5_000 })).release();
    });

    test("a lock ends with the write that was said to be its last, and its release then harms nobody", async () => {
      const [holder, other] = await many(2);
      if (holder === undefined || other === undefined) throw new Error("none");
      const id = await started(holder);
      const key = sessionLockKey(ALICE, id);
      const held = await holder.store.locks.acquire(key, { waitMs: 0, owner: ALICE });
      await holder.store.journal.append(ALICE, id, records.round(1), { fence: held.fence, lastOf: held });
      const next = await other.store.locks.acquire(key, { waitMs: 0, owner: ALICE });
      expect(next.fence).toBeGreaterThan(held.fence);
      await held.release();
      expect(held.signal.aborted).toBe(false);
      await other.store.journal.append(ALICE, id, records.round(2), { fence: next.fence });
      await expect(holder.store.locks.acquire(key, { waitMs: 0, owner: ALICE })).rejects.toMatchObject({ code: "SESSION_BUSY" });
      await next.release();
    });

    test("one idempotency key starts one turn, whoever is asked at the same time", async () => {
      const replicas = await many(RACERS);
      const idempotency = { key: "k", request_hash: "h" };
      const begun = await Promise.allSettled(
        replicas.map(({ store }) =>
          store.journal.create(ALICE, newId(), [
            records.session(ALICE),
            { ...records.user(1), body: { ...records.user(1).body, idempotency } },
          ] as never),
        ),
      );
      const refused = begun.flatMap((each) => (each.status === "rejected" ? [each.reason.code] : []));
      expect(refused).toEqual(Array(RACERS - 1).fill("IDEMPOTENCY_IN_PROGRESS"));
      const sessions = [];
      for await (const each of replicas[0]?.store.journal.list() ?? []) sessions.push(each);
      expect(sessions.length).toBe(1);
      expect(await replicas[3]?.store.index.findIdempotent(ALICE, "k", new Date(AT))).toMatchObject({ sessionId: sessions[0]?.sessionId });
    });

    test("writers of one session get consecutive numbers, each write in one piece", async () => {
      const replicas = await many(4);
      const [first] = replicas;
      if (first === undefined) throw new Error("none");
      const id = await started(first);
      await Promise.all(replicas.map((replica, index) => say(replica, id, index + 1)));
      const turns: number[] = [];
      const seqs: number[] = [];
      for await (const { turn, seq } of first.store.journal.read(ALICE, id)) {
        turns.push(turn);
        seqs.push(seq);
      }
      expect(seqs).toEqual(seqs.map((_, index) => index + 1));
      const said = turns.filter((turn) => turn > 0);
      expect(said.filter((turn, index) => turn !== said[index - 1])).toHaveLength(4);
      expect((await first.store.index.get(ALICE, id))?.message_count).toBe(8);
    });

    test("a session that another process removed and began anew is written as it is now, not as it was", async () => {
      const [stale, other] = await many(2);
      if (stale === undefined || other === undefined) throw new Error("none");
      const id = await started(stale);
      await stale.store.journal.append(ALICE, id, [records.patch({ by: "user", title: "the old one" }), ...records.round(1)]);
      await other.store.journal.remove(ALICE, id);
      await other.store.index.remove(ALICE, id);
      await other.store.journal.create(ALICE, id, [records.session(ALICE)]);
      await other.store.journal.append(ALICE, id, records.round(1));
      await other.store.journal.append(ALICE, id, [records.patch({ by: "user", title: "the new one" })]);
      await stale.store.journal.append(ALICE, id, records.round(2));
      expect(await other.store.index.get(ALICE, id)).toMatchObject({ title: "the new one", message_count: 4 });
      expect((await other.store.journal.window(ALICE, id, { rounds: 9 })).rounds.map(({ turn }) => turn)).toEqual([1, 2]);
    });

    test("while an erasure is open nobody gets a lock, begins a session or claims a turn of the owner; others do", async () => {
      const [eraser, other] = [await open(), await open({ leaseMs: LEASE_MS })];
      const [id, bobs] = [await started(other), await started(other, BOB)];
      await say(other, id, 1);
      await say(other, bobs, 1, BOB);
      const before = await other.ledger.epoch(ALICE);
      const held = await other.store.locks.acquire(sessionLockKey(ALICE, id), { waitMs: 0, owner: ALICE });
      const bob = await other.store.locks.acquire(sessionLockKey(BOB, bobs), { waitMs: 0, owner: BOB });
      const { receiptId } = await eraser.ledger.beginErasure(ALICE, AT);
      const revoked = eraser.store.locks.revoke(ALICE);
      await new Promise<void>((resolve) => held.signal.addEventListener("abort", () => resolve(), { once: true }));
      await held.release();
      await revoked;
      expect(bob.signal.aborted).toBe(false);
      await bob.release();
      const busy = { code: "OWNER_ERASED" };
      await expect(other.store.locks.acquire(sessionLockKey(ALICE, id), { waitMs: 0, owner: ALICE })).rejects.toMatchObject(busy);
      await expect(other.store.journal.create(ALICE, newId(), [records.session(ALICE)])).rejects.toMatchObject(busy);
      expect((await other.store.turns.claim(later(), 9, { leaseMs: 60_000 })).map(({ owner }) => owner)).toEqual([BOB]);
      await eraser.store.journal.erase(ALICE);
      await eraser.store.index.erase(ALICE);
      await eraser.ledger.completeErasure(ALICE, { receipt_id: receiptId, completed_at: AT, erased: {}, verified: true });
      await expect(other.store.journal.create(ALICE, newId(), [records.session(ALICE)], { epoch: before })).rejects.toMatchObject(busy);
      await expect(other.store.journal.append(ALICE, id, records.round(2))).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
      expect((await other.store.journal.residue(ALICE)) + (await other.store.index.residue(ALICE))).toBe(0);
      await started(other);
    });

    test("an erasure waits for turns that another process is writing back", async () => {
      const [eraser, other] = await many(2);
      if (eraser === undefined || other === undefined) throw new Error("none");
      const id = await started(other);
      await say(other, id, 1);
      const [turn] = await other.store.turns.claim(later(), 1, { leaseMs: 60_000 });
      if (turn === undefined) throw new Error("nothing was claimed");
      let free = false;
      const waiting = eraser.store.turns.unclaimed(ALICE, { signal: AbortSignal.timeout(20_000) }).then(() => {
        free = true;
      });
      await pause(300);
      expect(free).toBe(false);
      await other.store.turns.letGo(turn);
      await waiting;
    });

    test("an erasure waits for turns of a process that is gone for as long as it had them, and no longer", async () => {
      const [eraser, gone] = [await open(), await open()];
      await say(gone, await started(gone), 1);
      const [turn] = await gone.store.turns.claim(later(), 1, { leaseMs: LEASE_MS });
      if (turn === undefined) throw new Error("nothing was claimed");
      await eraser.ledger.beginErasure(ALICE, AT);
      const signal = AbortSignal.timeout(20_000);
      await eraser.store.turns.unclaimed(ALICE, { signal });
      expect(signal.aborted).toBe(false);
    });

    test("a claim that is renewed outlives its lease; who had one that was taken over can neither renew it nor let it go", async () => {
      const [one, other] = await many(2);
      if (one === undefined || other === undefined) throw new Error("none");
      const id = await started(one);
      await say(one, id, 1);
      const claimed = async ({ store }: Replica, leaseMs: number) => (await store.turns.claim(later(), 5, { leaseMs }))[0];
      const first = await claimed(one, LEASE_MS);
      if (first?.claim === undefined) throw new Error("nothing was claimed");
      const claim = await one.store.turns.renew(first, 20 * LEASE_MS);
      expect(claim).toEqual(expect.any(String));
      await pause(2 * LEASE_MS);
      expect(await claimed(other, LEASE_MS)).toBeUndefined();
      // As it was before it was renewed.
      expect(await one.store.turns.renew(first, LEASE_MS)).toBeNull();
      const renewed = { ...first, claim: claim ?? "" };
      const short = await one.store.turns.renew(renewed, 100);
      await pause(300);
      const second = await claimed(other, 20 * LEASE_MS);
      expect(second).toMatchObject({ sessionId: id, turn: 1 });
      const gone = { ...first, claim: short ?? "" };
      expect(await one.store.turns.renew(gone, LEASE_MS)).toBeNull();
      await one.store.turns.letGo(gone);
      expect(await claimed(one, LEASE_MS)).toBeUndefined();
      if (second !== undefined) await other.store.turns.letGo(second);
      expect(await claimed(one, LEASE_MS)).toMatchObject({ sessionId: id, turn: 1 });
    });

    test("while an erasure is open no claim of the owner is renewed; others' are", async () => {
      const [eraser, other] = await many(2);
      if (eraser === undefined || other === undefined) throw new Error("none");
      await say(other, await started(other), 1);
      await say(other, await started(other, BOB), 1, BOB);
      const turns = await other.store.turns.claim(later(), 5, { leaseMs: 60_000 });
      expect(turns.map(({ owner }) => owner).toSorted()).toEqual([ALICE, BOB].toSorted());
      await eraser.ledger.beginErasure(ALICE, AT);
      for (const turn of turns)
        expect(await other.store.turns.renew(turn, 60_000)).toEqual(turn.owner === ALICE ? null : expect.any(String));
    });

    test("of many that change one owner's memories each sees the others' changes", async () => {
      const replicas = await many(4);
      await Promise.all(
        replicas.map(async ({ log }, index) => {
          for (let done = false; !done; ) {
            const expectedSeq = await log.lastSeq(ALICE);
            done = await log.append(ALICE, entryOf(`text ${index}`), { expectedSeq, now: NOW }).then(
              () => true,
              () => false,
            );
          }
        }),
      );
      const seqs: number[] = [];
      for await (const { seq } of replicas[0]?.log.read(ALICE) ?? []) seqs.push(seq);
      expect(seqs).toEqual([1, 2, 3, 4]);
    });
  });
}
