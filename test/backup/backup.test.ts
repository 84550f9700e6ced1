import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { backupsOf } from "../../src/compose/backups.js";
import type { ChatAnswer } from "../../src/ports/application.js";
import { SqliteEngine } from "../../src/state/engines/sqlite/sqlite-engine.js";
import { copyStateFile, erasuresOf } from "../../src/state/engines/sqlite/state-file.js";
import { backUp } from "../../src/state/jsonl/backup.js";
import { type Client, filesHolding, openWorld, startWorld, tempDir } from "../e2e/world.js";

const options = { signal: new AbortController().signal, onProgress: () => {} };
const backupsIn = (dir: string) => backupsOf({ SHORT_TERM_BACKEND: "file", MEMORY_STORAGE_DIR: dir });

interface Page<T> {
  readonly data: readonly T[];
}

test("[turn-durable] [write-back-once] a backup that is taken while guests talk has all that was answered before it began", async () => {
  const world = await startWorld(await tempDir());
  const ada = world.as("ada");
  const { session_id } = await ada.say("I prefer jazz concerts in the evening.");
  await ada.say("What is on this weekend?", { session_id });
  let over = false;
  const talk = async (user: string) => {
    let answer: ChatAnswer | undefined;
    for (let turn = 1; !over; turn++)
      answer = await world
        .as(user)
        .say(`Turn ${turn}: is anything on today?`, answer === undefined ? {} : { session_id: answer.session_id });
  };
  const talking = ["bob", "carol", "dave"].map(talk);
  const target = join(await tempDir(), "copy");
  const report = await backupsIn(world.dir).backUp(target, options);
  over = true;
  await Promise.all(talking);
  const dir = await tempDir();
  expect(await backupsIn(dir).restore(target, options)).toEqual(report);

  const restored = await startWorld(dir);
  await restored.application.parts.worker.drain(20_000);
  const thread = `/v1/sessions/${session_id}/thread`;
  expect((await restored.as("ada").get(thread)).text).toBe((await ada.get(thread)).text);
  const { data } = (await restored.as("ada").get<Page<{ id: string; text: string }>>("/v1/memories")).body;
  expect(data).toMatchObject([{ text: expect.stringContaining("jazz") }]);
  expect((await restored.as("ada").get<{ source: object }>(`/v1/memories/${data[0]?.id}/why`)).body.source).toMatchObject({
    message: "I prefer jazz concerts in the evening.",
  });
  const search = { query: "what is on this weekend" };
  const found = (await restored.as("ada").post<Page<{ content: string }>>("/v1/history/search", search)).body.data;
  expect(found.map(({ content }) => content)).toContain("What is on this weekend?");
  for (const user of ["bob", "carol", "dave"])
    for (const session of (await restored.as(user).get<Page<{ id: string }>>("/v1/sessions")).body.data) {
      const messages = `/v1/sessions/${session.id}/messages?limit=200`;
      const kept = (await restored.as(user).get<Page<{ id: string; content: string }>>(messages)).body.data;
      const said = (await world.as(user).get<Page<{ id: string; content: string }>>(messages)).body.data;
      expect(kept).toEqual(said.slice(0, kept.length));
    }
});

test("[erasure-complete] who is erased while a backup runs is not in what is restored from it", async () => {
  const world = await startWorld(await tempDir());
  for (const user of ["bob", "carol", "dave"]) await world.as(user).say(`I am ${user} and prefer quixotic concerts.`);
  const target = join(await tempDir(), "copy");
  let erased: Promise<{ status: number }> | undefined;
  const onProgress = () => {
    erased ??= world.as("bob").delete("/v1/me?confirm=true");
  };
  await backupsIn(world.dir).backUp(target, { ...options, onProgress });
  expect((await erased)?.status).toBe(200);
  const dir = await tempDir();
  await backupsIn(dir).restore(target, options);
  const restored = await openWorld(dir);
  expect((await restored.as("bob").get<Page<object>>("/v1/sessions")).body.data).toEqual([]);
  expect((await restored.as("bob").get<Page<object>>("/v1/memories")).body.data).toEqual([]);
  expect((await restored.as("carol").get<Page<object>>("/v1/sessions")).body.data).toHaveLength(1);
  await restored.stop();
  expect(await filesHolding(dir, ["I am bob"])).toEqual([]);
});

describe("what happens behind the copy of state.db", () => {
  /** A backup during which `work` is done once, when journals and state have been copied. */
  async function copiedWhile(dir: string, work: () => Promise<unknown>): Promise<string> {
    const target = join(await tempDir(), "copy");
    let done = false;
    const open = async (path: string) => {
      if (!done) await work();
      done = true;
      return SqliteEngine.open({ path });
    };
    const state = { open, copy: copyStateFile, erasures: erasuresOf };
    await backUp(dir, target, { ...options, state, now: new Date(), version: "test" });
    return target;
  }

  test.each([
    ["an erasure", (bob: Client) => bob.delete("/v1/me?confirm=true")],
    [
      "that a memory is forgotten",
      async (bob: Client) => {
        const [memory] = (await bob.get<Page<{ id: string }>>("/v1/memories")).body.data;
        return bob.delete(`/v1/memories/${memory?.id}`);
      },
    ],
  ])("[erasure-complete] is taken out of it: %s, of somebody without a session", async (_, takeOut) => {
    const world = await startWorld(await tempDir());
    await world.as("ada").say("Good evening to you all.");
    const bob = world.as("bob");
    expect((await bob.post("/v1/memories", { text: "Prefers quixotic concerts" })).status).toBe(201);
    const target = await copiedWhile(world.dir, () => takeOut(bob));
    expect(await filesHolding(target, ["quixotic"])).toEqual([]);
    const dir = await tempDir();
    await backupsIn(dir).restore(target, options);
    const restored = await startWorld(dir);
    expect((await restored.as("bob").get<Page<object>>("/v1/memories")).body.data).toEqual([]);
  });

  test("[turn-once] a turn that the copied journal hasn't is not there, and can be said again with the same key", async () => {
    const world = await startWorld(await tempDir());
    const [ada, bob] = [world.as("ada"), world.as("bob")];
    const { session_id } = await ada.say("Good evening to you all.");
    await bob.post("/v1/memories", { text: "Prefers quixotic concerts" });
    const turn = [{ message: "What is on at the opera?", session_id }, { "Idempotency-Key": "k" }] as const;
    // The erasure has the state copied once more.
    const target = await copiedWhile(world.dir, async () => {
      await ada.post("/v1/chat", ...turn);
      await bob.delete("/v1/me?confirm=true");
    });
    const dir = await tempDir();
    await backupsIn(dir).restore(target, options);
    const restored = await startWorld(dir);
    const listed = async () => (await restored.as("ada").get<Page<object>>("/v1/sessions")).body.data;
    expect(await listed()).toMatchObject([{ id: session_id, message_count: 2 }]);
    expect((await restored.as("ada").post("/v1/chat", ...turn)).body).toMatchObject({ session_id, turn: 2 });
    expect(await listed()).toMatchObject([{ id: session_id, message_count: 4 }]);
    const events = (await restored.as("ada").get<Page<{ type: string }>>("/v1/me/events?limit=200")).body.data;
    expect(events.filter(({ type }) => type === "session.created")).toHaveLength(1);
  });
});

describe("is refused", () => {
  test("of a directory of an older version, and a restore of what was made of such a one", async () => {
    const former = await tempDir();
    await writeFile(join(former, "index.db"), "");
    const refused = { code: "INVALID_CONFIG", message: expect.stringContaining("older version") };
    await expect(backupsIn(former).backUp(join(await tempDir(), "copy"), options)).rejects.toMatchObject(refused);
    await rm(join(former, "index.db"));
    await writeFile(join(former, "bookings.db"), "");
    const report = { v: 1, at: new Date().toISOString(), maitred: "0.1.0", sessions: 0, files: 1 };
    await writeFile(join(former, "backup.json"), JSON.stringify(report));
    await expect(backupsIn(await tempDir()).restore(former, options)).rejects.toMatchObject(refused);
  });

  test("into the directory itself, and into one that holds something", async () => {
    const dir = await tempDir();
    await writeFile(join(dir, "notes.txt"), "mine");
    const backups = backupsIn(await tempDir());
    await expect(backups.backUp(dir, options)).rejects.toMatchObject({ code: "TARGET_NOT_EMPTY" });
    await expect(backupsIn(dir).backUp(join(dir, "copy"), options)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  test("a restore of what is no whole backup, into a directory that holds something or is in use", async () => {
    const world = await startWorld(await tempDir());
    await world.as("ada").say("Good evening to you all.");
    const target = join(await tempDir(), "copy");
    await backupsIn(world.dir).backUp(target, options);
    await expect(backupsIn(world.dir).restore(target, options)).rejects.toMatchObject({ code: "STORAGE_IN_USE" });
    const held = await tempDir();
    await writeFile(join(held, "state.db"), "");
    await expect(backupsIn(held).restore(target, options)).rejects.toMatchObject({ code: "TARGET_NOT_EMPTY" });
    await rm(join(target, "backup.json"));
    await expect(backupsIn(await tempDir()).restore(target, options)).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringContaining("no whole backup"),
    });
  });

  test("where a database holds what decides, with what to use instead", () => {
    const config = { SHORT_TERM_BACKEND: "postgres", MEMORY_STORAGE_DIR: "/nowhere" } as const;
    expect(() => backupsOf(config)).toThrow(expect.objectContaining({ hint: expect.stringContaining("pg_dump") }));
  });
});
