import { LRUCache } from "lru-cache";
import { expect, onTestFinished, test, vi } from "vitest";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { EngineOwnerLedger } from "../../src/state/ledger/ledger.js";
import { ERASURES, openKey } from "../../src/state/ledger/ledger-values.js";
import { named, ownerPartition } from "../../src/state/partition.js";
import { ownerLedgerContract } from "../contract/owner-ledger.contract.js";
import { ALICE, BOB } from "../support/journal-records.js";
import { CutEngine, contentsOf } from "./cut-engine.js";

const AT = "2026-03-01T10:00:00.000Z";
const TOMBSTONES = 150;

ownerLedgerContract("engine", async () => ({ ledger: new EngineOwnerLedger(new MemoryEngine()), dispose: async () => {} }));

const tombstone = (memoryId: string) => ({ memoryId, messageIds: ["m1"], textHash: `hash of ${memoryId}`, at: AT });
const receiptOf = (receiptId: string) => ({ receipt_id: receiptId, completed_at: AT, erased: {}, verified: true });

async function fill(ledger: EngineOwnerLedger): Promise<void> {
  const ids = Array.from({ length: TOMBSTONES }, (_, index) => `memory-${index}`);
  await ledger.addTombstones(ALICE, ids.map(tombstone));
  await ledger.seen(ALICE, { at: AT, displayName: "Alice" });
  await ledger.setProgress(ALICE, "promote / all", "7");
}

async function eraseAll(ledger: EngineOwnerLedger): Promise<string> {
  const { receiptId } = await ledger.beginErasure(ALICE, AT);
  const done = (await ledger.receipts(ALICE)).find(({ receipt_id }) => receipt_id === receiptId);
  if (done === undefined) {
    const trail = await ledger.auditTrail(ALICE);
    if (trail.length === 0) await ledger.audit(ALICE, { at: AT, action: "erase", by: "user", receiptId, counts: {} });
    await ledger.completeErasure(ALICE, receiptOf(receiptId));
  }
  return receiptId;
}

async function expectErased(engine: MemoryEngine, receiptIds: readonly string[]): Promise<void> {
  const ledger = new EngineOwnerLedger(engine);
  expect(await ledger.openErasures()).toEqual([]);
  expect((await ledger.receipts(ALICE)).map(({ receipt_id }) => receipt_id)).toEqual(receiptIds);
  expect(await ledger.auditTrail(ALICE)).toHaveLength(1);
  expect(await ledger.tombstones(ALICE)).toEqual([]);
  expect(await ledger.epoch(ALICE)).toBe(receiptIds.length);
  expect(await contentsOf(engine)).not.toContain("alice");
}

test("more tombstones than one commit takes are kept in the order in which they were added last", async () => {
  const ledger = new EngineOwnerLedger(new MemoryEngine());
  await fill(ledger);
  await ledger.addTombstones(ALICE, [tombstone("memory-3"), tombstone("memory-1"), tombstone("memory-3")]);
  const ids = (await ledger.tombstones(ALICE)).map(({ memoryId }) => memoryId);
  expect(ids).toHaveLength(TOMBSTONES);
  expect(ids.slice(-3)).toEqual([`memory-${TOMBSTONES - 1}`, "memory-1", "memory-3"]);
});

test("an erasure whose every reply is lost once ends as any other", async () => {
  for (let lostReply = 1, commits = 99; lostReply <= commits; lostReply++) {
    const engine = new MemoryEngine();
    await fill(new EngineOwnerLedger(engine));
    const cut = new CutEngine(engine, { lostReply });
    const receiptId = await eraseAll(new EngineOwnerLedger(cut));
    await expectErased(engine, [receiptId]);
    commits = cut.commits - 1;
  }
});

test("an erasure that is killed between any two commits is open until it is done again, and raises one epoch", async () => {
  for (let killed = 1; ; killed++) {
    const engine = new MemoryEngine();
    await fill(new EngineOwnerLedger(engine));
    const cut = new CutEngine(engine, { killed });
    const first = await eraseAll(new EngineOwnerLedger(cut)).catch(() => null);
    if (first !== null) return expect(killed).toBeGreaterThan(5);
    const ledger = new EngineOwnerLedger(engine);
    const open = await ledger.openErasures();
    const begun = (await ledger.epoch(ALICE)) > 0;
    const done = (await ledger.receipts(ALICE)).length > 0;
    expect(open).toHaveLength(begun && !done ? 1 : 0);
    if (!done) expect([await eraseAll(ledger)]).toEqual((await ledger.receipts(ALICE)).map(({ receipt_id }) => receipt_id));
    const [receipt] = await ledger.receipts(ALICE);
    await expectErased(engine, [receipt?.receipt_id ?? ""]);
  }
});

test("of many who begin an erasure at once all are given the same", async () => {
  const engine = new MemoryEngine();
  const begun = await Promise.all(Array.from({ length: 8 }, () => new EngineOwnerLedger(engine).beginErasure(ALICE, AT)));
  expect(new Set(begun.map(({ receiptId }) => receiptId)).size).toBe(1);
  expect(begun.every(({ epoch }) => epoch === 1)).toBe(true);
});

test("an owner of whom something is left keeps their name, until that is gone too", async () => {
  const engine = new MemoryEngine();
  const ledger = new EngineOwnerLedger(engine);
  const partition = ownerPartition(ALICE);
  await engine.commit(partition, { id: "1", puts: [{ key: "session/1", value: "{}" }, named(ALICE)] });
  await eraseAll(ledger);
  expect((await engine.read(partition, { keys: ["owner"] })).entries.size).toBe(1);
  await engine.commit(partition, { id: "2", deletes: ["session/1"] });
  await eraseAll(ledger);
  expect(await contentsOf(engine)).not.toContain("alice");
  expect(await ledger.receipts(ALICE)).toHaveLength(2);
});

test("a registry that has more than there is open is swept; one whose erasure is about to begin stays", async () => {
  const engine = new MemoryEngine();
  const ledger = new EngineOwnerLedger(engine);
  await eraseAll(ledger);
  const put = (epoch: number) => ({ key: openKey(ownerPartition(ALICE), epoch), value: JSON.stringify(ALICE) });
  await engine.commit(ERASURES, { id: "1", puts: [put(1), put(2)] });
  expect(await ledger.openErasures()).toEqual([]);
  const left = await engine.read(ERASURES, { ranges: [{ from: "", to: "\u{10FFFF}" }] });
  expect(left.ranges[0]?.map(({ key }) => key)).toEqual([put(2).key]);
});

test("a sighting that an erasure overtakes leaves nothing of another's", async () => {
  const ledger = new EngineOwnerLedger(new MemoryEngine());
  await Promise.all([ledger.seen(BOB, { at: AT, displayName: "Bob" }), ledger.seen(ALICE, { at: AT }), ledger.beginErasure(ALICE, AT)]);
  expect(await ledger.user(BOB)).toMatchObject({ displayName: "Bob" });
});

test("a visit like the last one is looked up once a minute, by whatever clock it is told, and of who came no name is held", async () => {
  let nowMs = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  // A cache asks for the time once a millisecond at most.
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const caching = vi.spyOn(LRUCache.prototype, "set");
  onTestFinished(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  const engine = new MemoryEngine();
  const [here, there] = [new EngineOwnerLedger(engine), new EngineOwnerLedger(engine)];
  const looks = vi.spyOn(engine, "read");
  const visit = async (displayName: string, timeZone: string) => {
    looks.mockClear();
    await here.seen(ALICE, { at: AT, displayName, timeZone });
    return looks.mock.calls.length;
  };
  expect(await visit("Alicia", "Europe/Lisbon")).toBe(1);
  expect(await visit("Alicia", "Europe/Lisbon")).toBe(0);
  expect(await visit("Alicia", "Asia/Tokyo")).toBe(1);
  expect(await visit("Alicia", "Asia/Tokyo")).toBe(0);
  await there.seen(ALICE, { at: AT, timeZone: "Europe/Rome" });
  nowMs += 60_001;
  vi.advanceTimersByTime(1);
  expect(await visit("Alicia", "Asia/Tokyo")).toBe(1);
  expect(await here.user(ALICE)).toMatchObject({ timeZone: "Asia/Tokyo" });
  expect(JSON.stringify(caching.mock.calls)).not.toMatch(/Alicia|Tokyo/);
});
