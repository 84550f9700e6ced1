import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { nodeFileSystem } from "../../src/platform/file-system.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { SessionStore } from "../../src/session-store.js";
import { openFileSessionStore } from "../../src/short-term/file-session-store.js";
import { step } from "../support/rounds.js";
import { alice, makeWorld, TestClock } from "../support/session-world.js";

/** What sessions do to the files of a storage directory. */

let dir = "";
let store: SessionStore;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-sessions-"));
  store = await openFileSessionStore({ dir, logger: silentLogger, clock: new TestClock(), fileSystem: nodeFileSystem });
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

test("emptying and purging leave no byte of what was said in any file", async () => {
  const { sessions, say } = await makeWorld({ store });
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
  store = await openFileSessionStore({ dir, logger: silentLogger, clock: new TestClock(), fileSystem: nodeFileSystem });
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
