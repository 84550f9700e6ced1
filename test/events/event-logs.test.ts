import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeFileSystem } from "../../src/platform/file-system.js";
import { silentLogger } from "../../src/platform/logger.js";
import { BEGINNING } from "../../src/ports/event-log.js";
import { FileMemoryLog } from "../../src/stores/files/file-memory-log.js";
import { openFileSessionStore } from "../../src/stores/files/file-session-store.js";
import { IndexedSessionWriter } from "../../src/stores/files/session-writer.js";
import { openMemorySessionStore } from "../../src/stores/memory/in-memory.js";
import { InMemoryMemoryLog } from "../../src/stores/memory/in-memory-memory-log.js";
import { InMemoryOwnerLedger } from "../../src/stores/memory/in-memory-owner-ledger.js";
import { ToldMemoryLog } from "../../src/stores/sqlite-index/told-memory-log.js";
import { ALICE, BOB } from "../../src/testing/journal-records.js";
import { entryOf, NOW } from "../../src/testing/memory-log-contract.js";
import { describeEventLogContract } from "../contract/event-log.contract.js";

/** Began to tell before what the contract's records tell of. */
const clock = { now: () => new Date("2026-01-01T00:00:00.000Z") };
const ledger = new InMemoryOwnerLedger();
const onLag = () => {
  throw new Error("the index lagged");
};

async function filesIn(dir: string) {
  const store = await openFileSessionStore({ dir, logger: silentLogger, clock });
  store.events.keepQueue();
  const logs = await FileMemoryLog.open({ dir, fileSystem: nodeFileSystem, ledger, logger: silentLogger });
  const memoryLog = new ToldMemoryLog(logs, store.events, silentLogger);
  const writer = new IndexedSessionWriter(store, { onLag, logger: silentLogger });
  return { store, logs, log: store.events, queue: store.events.queue, writer, memoryLog };
}

async function withDirectory<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-events-"));
  try {
    return await work(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

describeEventLogContract("files", async () => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-events-"));
  const { store, ...made } = await filesIn(dir);
  const dispose = async () => {
    await made.memoryLog.close();
    await store.close();
    await rm(dir, { recursive: true });
  };
  return { ...made, dispose };
});

describeEventLogContract("memory", async () => {
  const store = await openMemorySessionStore({ clock });
  store.events.keepQueue();
  const memoryLog = new ToldMemoryLog(new InMemoryMemoryLog(ledger), store.events, silentLogger);
  const writer = new IndexedSessionWriter(store, { onLag, logger: silentLogger });
  return { log: store.events, queue: store.events.queue, writer, memoryLog, dispose: () => store.close() };
});

test("[events-told] what was logged and not told when a process died is told at the next start, once", () =>
  withDirectory(async (dir) => {
    const before = await filesIn(dir);
    await before.memoryLog.append(ALICE, entryOf("Prefers jazz"), { expectedSeq: 0, now: NOW });
    // The process dies between the log and the events: nothing is closed.
    await before.logs.append(ALICE, entryOf("Prefers swing"), { expectedSeq: 1, now: NOW });
    await before.logs.append(BOB, entryOf("Prefers bop"), { expectedSeq: 0, now: NOW });
    const after = await filesIn(dir);
    await after.memoryLog.catchUp();
    const told = async () => (await after.log.read({ owner: ALICE }, { after: BEGINNING, limit: 10 })).map(({ event }) => event.type);
    expect(await told()).toEqual(["memory.added", "memory.added"]);
    // Bob's log was never told of: it is before the next entry.
    await after.memoryLog.append(BOB, entryOf("Prefers soul"), { expectedSeq: 1, now: NOW });
    expect(await after.log.read({ owner: BOB }, { after: BEGINNING, limit: 10 })).toHaveLength(2);
    await after.memoryLog.catchUp();
    expect(await told()).toHaveLength(2);
    await after.store.close();
    await before.store.close();
  }));
