import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import type { NewRecord } from "../../src/domain/session.js";
import { type FileSystem, nodeFileSystem } from "../../src/platform/file-system.js";
import type { SessionStore } from "../../src/ports/session-store.js";
import type { StateEngine } from "../../src/state/engine.js";
import { openFileStore } from "../support/file-store.js";
import { step } from "../support/rounds.js";
import { alice, makeWorld, TestClock } from "../support/session-world.js";

/** What sessions do to the files of a storage directory. */

let dir = "";
let store: SessionStore;
let engine: StateEngine;
const open = async () => {
  ({ store, engine } = await openFileStore({ dir, clock: new TestClock() }));
};
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-sessions-"));
  await open();
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

async function bytesWith(text: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (!entry.isFile()) continue;
    if ((await readFile(join(dir, entry.name))).includes(text)) bytes += 1;
  }
  return bytes;
}

test("an archived session takes less room, still reads whole, and goes on when it is active again", async () => {
  const { sessions, say } = await makeWorld({ store });
  const { id } = await sessions.create(alice, {});
  for (let turn = 1; turn <= 40; turn += 1)
    await say(alice, id, `question ${turn} `.repeat(20), "answer", { steps: [step(`c${turn}`, 0, turn)] });
  const before = await sessions.thread(alice, id);
  const size = async () => {
    let sum = 0;
    for (const name of await readdir(dir)) if (name.startsWith(id)) sum += (await readFile(join(dir, name))).length;
    return sum;
  };
  const full = await size();
  await sessions.patch(alice, id, { status: "archived" });
  expect(await size()).toBeLessThan(full / 4);
  expect((await sessions.thread(alice, id)).steps).toEqual(before.steps);
  expect((await sessions.messages(alice, id, { limit: 1, order: "desc" })).data[0]?.turn).toBe(40);
  await sessions.patch(alice, id, { status: "active" });
  await say(alice, id, "one more", "yes");
  expect((await sessions.thread(alice, id)).steps).toHaveLength(before.steps.length + 2);
  expect((await store.journal.window(alice, id, { rounds: 10 })).rounds.map(({ turn }) => turn)).toEqual([
    32, 33, 34, 35, 36, 37, 38, 39, 40, 41,
  ]);
});

/** Counts what is read of files. */
function counting(): FileSystem & { bytes: number } {
  const fs = Object.assign(Object.create(nodeFileSystem) as FileSystem & { bytes: number }, { bytes: 0 });
  fs.open = async (...args) => {
    const file = await nodeFileSystem.open(...args);
    const read: typeof file.read = async (...where) => {
      const block = await file.read(...where);
      fs.bytes += block.length;
      return block;
    };
    return new Proxy(file, {
      get: (target, name) => {
        const value: unknown = name === "read" ? read : Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };
  return fs;
}

test("messages cost what they hold, page by page and from either end, not what the journal does", async () => {
  const fileSystem = counting();
  await mkdir(join(dir, "large"));
  const { store: files } = await openFileStore({ dir: join(dir, "large"), clock: new TestClock(), fileSystem });
  onTestFinished(() => files.close());
  const { sessions, writer } = await makeWorld({ store: files });
  const { id } = await sessions.create(alice, {});
  const at = new Date(0).toISOString();
  const rounds = Array.from({ length: 2_000 }, (_, i): NewRecord[] => [
    { type: "message", id: `u${i}`, turn: i + 1, at, body: { role: "user", content: `question ${i} `.repeat(80), imported: true } },
    { type: "message", id: `a${i}`, turn: i + 1, at, body: { role: "assistant", content: "answer ".repeat(40), imported: true } },
  ]);
  for (let turn = 0; turn < rounds.length; turn += 100) await writer.append(alice, id, rounds.slice(turn, turn + 100).flat());
  const size = (await readFile(join(dir, "large", `${id}.jsonl`))).length;
  expect(size).toBeGreaterThan(3_500_000);
  let cursor: string | null = null;
  for (const newest of ["a1999", "a1989", "a1979"]) {
    fileSystem.bytes = 0;
    const page = await sessions.messages(alice, id, { order: "desc", limit: 20, ...(cursor !== null && { cursor }) });
    cursor = page.nextCursor;
    expect([page.data.length, page.data[0]?.id]).toEqual([20, newest]);
    // A block at the end, and where the page goes on a search for it.
    expect(fileSystem.bytes).toBeLessThan(size / 5);
  }
  // What is taken back far behind a page costs it no more.
  for (const newest of [3_990, 3_980, 3_970])
    await writer.append(alice, id, [{ type: "rewind", id: `r${newest}`, turn: 0, at, body: { to_seq: newest, to_offset: 0 } }]);
  cursor = null;
  for (const oldest of ["u0", "u10", "u20"]) {
    fileSystem.bytes = 0;
    const page = await sessions.messages(alice, id, { limit: 20, ...(cursor !== null && { cursor }) });
    cursor = page.nextCursor;
    expect([page.data.length, page.data[0]?.id]).toEqual([20, oldest]);
    expect(fileSystem.bytes).toBeLessThan(size / 5);
  }
  const all = [];
  for await (const record of files.journal.read(alice, id)) if (record.type === "message") all.push(record.seq);
  expect(all.at(-1)).toBe(3_970);
});

test("emptying and purging leave no byte of what was said in any file", async () => {
  const { sessions, say } = await makeWorld({ store, scrub: async () => engine.scrub?.() });
  const emptied = await sessions.create(alice, {});
  const purged = await sessions.create(alice, { title: "Zanzibarquartz" });
  for (const { id } of [emptied, purged]) await say(alice, id, "Zanzibarquartz".repeat(3), "Zanzibarquartz");
  expect(await bytesWith("Zanzibarquartz")).toBeGreaterThan(1);
  await sessions.empty(alice, emptied.id);
  await sessions.purge(alice, purged.id, { keepMemories: false, by: "user" });
  expect(await bytesWith("Zanzibarquartz")).toBe(0);
  await say(alice, emptied.id, "again", "yes");
  expect((await sessions.messages(alice, emptied.id, {})).data.map(({ content }) => content)).toEqual(["again", "yes"]);
});

test("a purge that died between journal and index is finished by the next", async () => {
  const { sessions } = await makeWorld({ store });
  const { id } = await sessions.create(alice, {});
  await sessions.delete(alice, id);
  await store.journal.remove(alice, id);
  await sessions.purge(alice, id, { keepMemories: false, by: "user" });
  await expect(sessions.get(alice, id)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
});

test("a fork, an emptied and a restored session are the same after a restart", async () => {
  const first = await makeWorld({ store });
  const { id } = await first.sessions.create(alice, {});
  await first.say(alice, id, "q1", "a1");
  const fork = await first.sessions.fork(alice, id, (await first.sessions.messages(alice, id, {})).data[0]?.id ?? "");
  await first.sessions.empty(alice, id);
  await first.sessions.delete(alice, fork.id);
  const restored = await first.sessions.restore(alice, fork.id);
  const listed = (await first.sessions.list(alice, {})).data;
  await store.close();
  await open();
  const again = await makeWorld({ store });
  expect((await again.sessions.list(alice, {})).data).toEqual(listed);
  expect(await again.sessions.get(alice, fork.id)).toEqual(restored);
  // The index follows from the journals alone.
  await store.index.clear();
  for (const sessionId of [id, fork.id]) {
    const records = [];
    for await (const record of store.journal.read(alice, sessionId, { includeRewound: true })) records.push(record);
    await store.index.apply(alice, sessionId, records);
  }
  expect((await again.sessions.list(alice, {})).data).toEqual(listed);
});
