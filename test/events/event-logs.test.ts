import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { NewRecord } from "../../src/domain/session.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import { BEGINNING } from "../../src/ports/events.js";
import { FEED } from "../../src/state/events/event-keys.js";
import { EngineEventLog } from "../../src/state/events/events.js";
import { IndexedSessionWriter } from "../../src/state/jsonl/session-writer.js";
import { EngineMemoryLog } from "../../src/state/memory-log/memory-log.js";
import { describeEventLogContract } from "../contract/event-log.contract.js";
import { entryOf, NOW } from "../contract/memory-log.contract.js";
import { openFileStore } from "../support/file-store.js";
import { ALICE, BOB, JournalRecords } from "../support/journal-records.js";

/** Began to tell before what the contract's records tell of. */
const clock = { now: () => new Date("2026-01-01T00:00:00.000Z") };
const onLag = () => {
  throw new Error("the index lagged");
};

const directory = () => mkdtemp(join(tmpdir(), "maitred-events-"));

describeEventLogContract("files", async () => {
  const dir = await directory();
  const { store, events, eventQueue, memoryLog, close } = await openFileStore({ dir, clock });
  const writer = new IndexedSessionWriter(store, { onLag, logger: silentLogger });
  const dispose = async () => {
    await close();
    await rm(dir, { recursive: true });
  };
  return { log: events, queue: eventQueue, writer, memoryLog, dispose };
});

/** A process on a directory of its own, and one that starts on what the first would leave if it were killed now. */
async function killable() {
  const dir = await directory();
  const left = `${dir}-left`;
  onTestFinished(async () => {
    for (const each of [dir, left]) await rm(each, { recursive: true, force: true });
  });
  const open = async (where: string) => {
    const opened = await openFileStore({ dir: where, clock });
    onTestFinished(() => opened.close());
    return opened;
  };
  const before = await open(dir);
  const afterKill = async () => {
    await cp(dir, left, { recursive: true });
    return open(left);
  };
  return { before, afterKill };
}

test("[events-told] what was logged and not told when a process died is told at the next start, once", async () => {
  const { before, afterKill } = await killable();
  await before.memoryLog.append(ALICE, entryOf("Prefers jazz"), { expectedSeq: 0, now: NOW });
  // The process dies between the commit and what it tells.
  const dying = new EngineMemoryLog(before.engine, { publish: () => {} });
  await dying.append(ALICE, entryOf("Prefers swing"), { expectedSeq: 1, now: NOW });
  await dying.append(BOB, entryOf("Prefers bop"), { expectedSeq: 0, now: NOW });
  const after = await afterKill();
  const told = async (owner = ALICE) =>
    (await after.events.read({ owner }, { after: BEGINNING, limit: 10 })).map(({ event }) => event.type);
  await after.events.catchUpAll();
  expect(await told()).toEqual(["memory.added", "memory.added"]);
  expect(await told(BOB)).toEqual(["memory.added"]);
  await after.memoryLog.append(BOB, entryOf("Prefers soul"), { expectedSeq: 1, now: NOW });
  expect(await told(BOB)).toHaveLength(2);
  await after.events.catchUpAll();
  expect(await told()).toHaveLength(2);
});

test("[events-told] what was journalled when a process died is told at the next start, once, also where it is folded in anew", async () => {
  const { before, afterKill } = await killable();
  const records = new JournalRecords();
  const id = newId();
  // The process dies between the journal and all that follows from it.
  await before.store.journal.create(ALICE, id, [records.session(ALICE), ...records.round(1)]);
  const after = await afterKill();
  await after.store.catchUp();
  const told = async () => (await after.events.read({ owner: ALICE }, { after: BEGINNING, limit: 10 })).map(({ event }) => event.type);
  await expect.poll(told).toEqual(["session.created", "turn.completed"]);
  await after.store.rebuild();
  await after.events.catchUpAll();
  expect(await told()).toHaveLength(2);
});

test("[events-told] where state is lost, what journals have of the last week is told again, by the same ids, and nothing older", async () => {
  const dir = await directory();
  onTestFinished(() => rm(dir, { recursive: true }));
  const now = { now: () => new Date("2026-03-09T12:00:00.000Z") };
  const [old, young] = [newId(), newId()];
  const records = new JournalRecords();
  const at = (day: string): NewRecord => ({ ...records.session(ALICE), at: `${day}T10:00:00.000Z` });
  const told = async ({ events }: Awaited<ReturnType<typeof openFileStore>>) =>
    (await events.read({ owner: ALICE }, { after: BEGINNING, limit: 10 })).map(({ event }) => event);
  const before = await openFileStore({ dir, clock: now });
  const writer = new IndexedSessionWriter(before.store, { onLag, logger: silentLogger });
  await writer.create(ALICE, old, [at("2026-03-01")]);
  await writer.create(ALICE, young, [at("2026-03-08")]);
  const [first] = (await told(before)).filter(({ data }) => data.session_id === young);
  await before.close();
  await rm(join(dir, "state.db"));
  const after = await openFileStore({ dir, clock: now });
  onTestFinished(() => after.close());
  await after.store.catchUp();
  await expect.poll(() => told(after)).toEqual([first]);
});

test("events that nobody waits for are published together, or when they are read; those that somebody waits for soon", async () => {
  const dir = await directory();
  const { engine, close } = await openFileStore({ dir, clock });
  const events = new EngineEventLog(engine, { queued: false });
  const memoryLog = new EngineMemoryLog(engine, events);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(async () => {
    vi.useRealTimers();
    await events.close();
    await close();
    await rm(dir, { recursive: true });
  });
  const commit = vi.spyOn(engine, "commit");
  const published = () => commit.mock.calls.filter(([partition]) => partition === FEED).length;
  const add = (seq: number) => memoryLog.append(ALICE, entryOf(`Prefers jazz ${seq}`), { expectedSeq: seq, now: NOW });
  await add(0);
  vi.advanceTimersByTime(4_900);
  await add(1);
  expect(published()).toBe(0);
  expect(await events.read({ owner: ALICE }, { after: BEGINNING, limit: 10 })).toHaveLength(2);
  expect(published()).toBe(1);
  const told = new Promise((resolve) => events.onAdded(resolve));
  await add(2);
  vi.advanceTimersByTime(100);
  expect(await told).toBe(ALICE);
});
