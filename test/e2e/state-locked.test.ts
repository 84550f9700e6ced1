import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { STATE_FILE } from "../../src/compose/engine.js";
import { collected } from "../../src/platform/collected.js";
import { type Logger, silentLogger } from "../../src/platform/logger.js";
import { openDatabase, type Sqlite } from "../../src/platform/sqlite.js";
import type { MessageReader } from "../../src/ports/extraction.js";
import type { MemoryLog } from "../../src/ports/memory-log.js";
import { type Guest, World } from "../memory-e2e/world.js";
import { TestClock } from "../support/session-world.js";
import { standInReader } from "../support/stand-in.js";

/** `state.db` can be read and not written: another program holds its lock, or its disk is full. Journals are written as ever. */

let world: World;
let clock: TestClock;
let held: Sqlite | null = null;
let readings = 0;
let unrecorded = 0;
let onReading = () => {};
let onLogged = () => {};

/** A model's calls, counted. */
function countedReader(): MessageReader {
  const inner = standInReader();
  const read: MessageReader["read"] = (...args) => {
    readings += 1;
    onReading();
    return inner.read(...args);
  };
  return { name: inner.name, read };
}

/** A memory log that tells of what it has taken in. */
function watched(log: MemoryLog): MemoryLog {
  return new Proxy(log, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "append") return value.bind(target);
      return async (...args: Parameters<MemoryLog["append"]>) => {
        const entry = await target.append(...args);
        onLogged();
        return entry;
      };
    },
  });
}

function lock(): void {
  held ??= openDatabase(join(world.app.info.storageDir, STATE_FILE));
  if (!held.inTransaction) held.exec("BEGIN IMMEDIATE");
}

function unlock(): void {
  if (held?.inTransaction) held.exec("ROLLBACK");
}

beforeEach(async () => {
  held = null;
  readings = 0;
  unrecorded = 0;
  onReading = () => {};
  onLogged = () => {};
  clock = new TestClock();
  const error = (_fields: unknown, message?: string) => {
    if (message === "a failed write-back could not be recorded") unrecorded += 1;
  };
  const logger: Logger = { ...silentLogger, error };
  world = await World.open({}, { clock, logger, reader: countedReader(), around: { memoryLog: watched } });
});
afterEach(async () => {
  unlock();
  held?.close();
  await world.close();
});

/** The worker is told that there may be something to do, and looks, again and again. */
async function lookOften(): Promise<void> {
  for (let n = 0; n < 20; n++) {
    world.app.parts.worker.kick();
    await world.app.parts.worker.drain(20);
  }
}

async function doneOf({ owner, sessionId }: Guest): Promise<number> {
  const records = await collected(world.app.parts.store.journal.read(owner, sessionId ?? ""));
  return records.filter(({ type }) => type === "write_back_done").length;
}

describe("[write-back-once] a turn whose end the index can't take in", () => {
  test("is read by the model once and done once, also when the lease of its claim is long over", async () => {
    const ada = world.guest();
    onLogged = lock;
    await ada.asks("I need wheelchair access.");
    await vi.waitFor(async () => expect(await doneOf(ada)).toBe(1), { timeout: 10_000 });
    await lookOften();
    clock.days(1);
    await lookOften();
    expect(await doneOf(ada)).toBe(1);
    expect(readings).toBe(1);
    unlock();
    await ada.flush();
    expect(await ada.holds()).toEqual(["Needs wheelchair access"]);
    expect(await doneOf(ada)).toBe(1);
    expect(readings).toBe(1);
  });

  test("and whose failure it can't take in either is not tried without a pause", async () => {
    const ada = world.guest();
    onReading = lock;
    await ada.asks("I need wheelchair access.");
    await vi.waitFor(() => expect(unrecorded).toBe(1), { timeout: 10_000 });
    await lookOften();
    expect(readings).toBe(1);
    expect(await doneOf(ada)).toBe(0);
    onReading = () => {};
    unlock();
    clock.days(1);
    await ada.flush();
    expect(readings).toBe(2);
    expect(await doneOf(ada)).toBe(1);
  });
});

describe("a change of a session that the index can't take in", () => {
  test("is not told as done: a session that is deleted is refused until it is, and then it is", async () => {
    const ada = world.guest();
    await ada.says("Good evening.");
    const id = ada.sessionId ?? "";
    lock();
    await expect(world.app.sessions.delete(ada.owner, id)).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    expect(await world.app.sessions.get(ada.owner, id)).toMatchObject({ status: "active" });
    unlock();
    await world.app.sessions.delete(ada.owner, id);
    expect(await world.app.sessions.get(ada.owner, id)).toMatchObject({ status: "deleted" });
  });

  test("a session that is made is out of reach for the moment, and not unknown", async () => {
    const { owner } = world.guest();
    lock();
    await expect(world.app.sessions.create(owner, {})).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
  });
});
