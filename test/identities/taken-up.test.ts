import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import type { Commit } from "../../src/state/engine.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { ownerPartition, systemPartition } from "../../src/state/partition.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { type EngineOfProcess, sharedEngine } from "../support/processes.js";
import { TestClock } from "../support/session-world.js";

const VISITOR = ownerOf("default", "visitor");
const ADA = ownerOf("default", "ada");
const PERIOD_MS = 300_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

/** Two applications on one engine, of which the first is to stop in the middle of something. */
async function two() {
  const clock = new TestClock(new Date().toISOString());
  const shared = sharedEngine(clock);
  const open = async ({ engine: state }: EngineOfProcess) =>
    (await startWorld(await tempDir(), { MEM0_PROVIDER: "state" }, { state })).application;
  const process = shared.process();
  const [first, survivor] = [await open(process), await open(shared.process())];
  await first.memories.add(VISITOR, { text: "Likes opera" }, { now: new Date() });
  await first.memories.add(ADA, { text: "Is vegetarian" }, { now: new Date() });
  /** Its lease has ended by the engine's clock, and the survivor's look comes up. */
  const aPeriodPasses = async () => {
    clock.seconds(PERIOD_MS / 1_000);
    await vi.advanceTimersByTimeAsync(PERIOD_MS);
  };
  /** The survivor's look comes up while the other lives, and finds it at work. */
  const isLeftAlone = async () => {
    const acquire = vi.spyOn(survivor.parts.store.locks, "acquire");
    await vi.advanceTimersByTimeAsync(PERIOD_MS);
    const busy = { type: "rejected", value: expect.objectContaining({ code: "SESSION_BUSY" }) };
    await expect.poll(() => acquire.mock.settledResults, { timeout: 20_000 }).toContainEqual(busy);
  };
  return { process, first, survivor, aPeriodPasses, isLeftAlone };
}

const writesOf =
  (owner: Owner, prefix: string) =>
  (partition: string, { puts = [] }: Commit) =>
    partition === ownerPartition(owner) && puts.some(({ key }) => key.startsWith(prefix));

test("[merge-finished] a merge whose process was killed is finished by another, unasked; while it lives it is left to it", async () => {
  const { process, first, survivor, aPeriodPasses, isLeftAlone } = await two();
  const { stopped } = process.stopAt("commit", writesOf(ADA, "memory-log/"));
  const merging = first.identities.merge({ from: "visitor", to: "ada" }).catch(() => undefined);
  await stopped;
  const record = () => survivor.parts.ledger.progress(VISITOR, "merge");
  await isLeftAlone();
  expect(await record()).toContain('"state":"merging"');
  process.kill();
  await merging;
  await aPeriodPasses();
  await expect.poll(record, { timeout: 20_000 }).toContain('"state":"merged"');
  expect((await survivor.memories.list(ADA, {})).data).toHaveLength(2);
});

test.each([
  // Of `from` and `to`, and which of their writes: before the fence, and when it is down again.
  ["that was recorded, and not begun", "merge", writesOf(VISITOR, "ledger/erasure"), "merged"],
  ["that was being undone, and whose fence is down", "undo", writesOf(VISITOR, "ledger/audit/"), "undone"],
] as const)("[merge-finished] so is one %s", async (_, what, where, ended) => {
  const { process, first, survivor, aPeriodPasses } = await two();
  const ends = { from: "visitor", to: "ada" };
  const merge_id = what === "undo" ? (await first.identities.merge(ends)).merge_id : "";
  const { stopped } = process.stopAt("commit", where);
  const done = (what === "undo" ? first.identities.undo(merge_id) : first.identities.merge(ends)).catch(() => undefined);
  await stopped;
  process.kill();
  await done;
  await aPeriodPasses();
  const record = () => survivor.parts.ledger.progress(VISITOR, "merge");
  await expect.poll(record, { timeout: 20_000 }).toContain(`"state":"${ended}"`);
});

test("a look for what another process left reads the ledger of nobody whose merge is done", async () => {
  const { first, aPeriodPasses } = await two();
  await first.identities.merge({ from: "visitor", to: "ada" });
  // Either process may be the one that looks.
  const read = vi.spyOn(MemoryEngine.prototype, "read");
  onTestFinished(() => read.mockRestore());
  await aPeriodPasses();
  const looked = () => read.mock.calls.map(([partition]) => partition);
  await expect.poll(looked, { timeout: 20_000 }).toContain(systemPartition("merges"));
  const ledgers = read.mock.calls.filter(([, { keys = [] }]) => keys.some((key) => key.startsWith("ledger/")));
  expect(ledgers.map(([partition]) => partition)).not.toContain(ownerPartition(VISITOR));
});

test("[erasure-complete] so is an erasure, once, under its receipt", async () => {
  const { process, first, survivor, aPeriodPasses, isLeftAlone } = await two();
  const { stopped } = process.stopAt("commit", writesOf(ADA, "ledger/receipt/"));
  const erasing = first.privacy.erase(ADA, { by: "user" }).catch(() => undefined);
  await stopped;
  const [open] = await survivor.parts.ledger.openErasures();
  await isLeftAlone();
  expect(await survivor.parts.ledger.receipts(ADA)).toEqual([]);
  process.kill();
  await erasing;
  await aPeriodPasses();
  const receipts = () => survivor.parts.ledger.receipts(ADA);
  await expect.poll(receipts, { timeout: 20_000 }).toMatchObject([{ receipt_id: open?.receiptId, verified: true }]);
  expect((await survivor.memories.list(VISITOR, {})).data).toHaveLength(1);
});
