import { copyFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { backupsOf, directoryInUse } from "../../src/compose/backups.js";
import { parseConfig } from "../../src/compose/config.js";
import { stateInRows } from "../../src/compose/migration.js";
import { wired } from "../../src/compose/wiring.js";
import { BACKUP_STATE, beginBackup, countsOf, endBackup } from "../../src/operations/backup.js";
import { copyInUse } from "../../src/operations/copy-in-use.js";
import { SqliteEngine } from "../../src/state/engines/sqlite/sqlite-engine.js";
import { type Client, filesHolding, openWorld, startWorld, tempDir } from "../e2e/world.js";

const options = { signal: new AbortController().signal, onProgress: () => {} };
const configOf = (dir: string) => parseConfig({ MEMORY_STORAGE_DIR: dir });
const backupsIn = (dir: string) => backupsOf(configOf(dir));

interface Page<T> {
  readonly data: readonly T[];
}

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

describe("what happens behind the first look at a directory", () => {
  type Place = "before all is copied" | "when all is copied";

  /** A backup during which `work` is done once. */
  async function copiedWhile(dir: string, place: Place, work: () => Promise<unknown>): Promise<string> {
    const target = join(await tempDir(), "copy");
    await beginBackup(target);
    const holds = await wired(configOf(dir), {}, async (wiring) => {
      const engine = wiring.closing(await SqliteEngine.open({ path: join(target, BACKUP_STATE) }), (it) => it.close());
      const copy = stateInRows(wiring, engine, target).state;
      let looks = 0;
      const open = async () => {
        looks += 1;
        if (looks === 2 && place === "when all is copied") await work();
        const look = await directoryInUse(wiring, join(target, "snapshot.tmp"), null);
        if (looks === 1 && place === "before all is copied") await work();
        return look;
      };
      await copyInUse(open, copy, options);
      await rm(join(target, "snapshot.tmp"));
      await engine.scrub();
      return countsOf(copy, options.signal);
    });
    await endBackup(target, { at: "2026-03-01T10:00:00.000Z", maitred: "test", holds, left_behind: NOTHING });
    return target;
  }
  const NOTHING = { damaged_records: 0, damaged_journals: 0 };

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
    const target = await copiedWhile(world.dir, "when all is copied", () => takeOut(bob));
    expect(await filesHolding(target, ["quixotic"])).toEqual([]);
    const dir = await tempDir();
    await backupsIn(dir).restore(target, options);
    const restored = await startWorld(dir);
    expect((await restored.as("bob").get<Page<object>>("/v1/memories")).body.data).toEqual([]);
  });

  test.each([
    ["purged", (id: string, ada: Client) => ada.delete(`/v1/sessions/${id}?purge=true`)],
    ["emptied", (id: string, ada: Client) => ada.delete(`/v1/sessions/${id}/messages`)],
  ])("a session that is %s is taken out of it, too", async (_, takeOut) => {
    const world = await startWorld(await tempDir());
    const ada = world.as("ada");
    const { session_id } = await ada.say("Is there anything quixotic on?");
    const target = await copiedWhile(world.dir, "when all is copied", async () =>
      expect((await takeOut(session_id, ada)).status).toBeLessThan(300),
    );
    expect(await filesHolding(target, ["Is there anything quixotic on?"])).toEqual([]);
  });

  test("[turn-once] a turn that the copy hasn't is not there, and can be said again with the same key", async () => {
    const world = await startWorld(await tempDir());
    const ada = world.as("ada");
    const { session_id } = await ada.say("Good evening to you all.");
    const turn = [{ message: "What is on at the opera?", session_id }, { "Idempotency-Key": "k" }] as const;
    const target = await copiedWhile(world.dir, "before all is copied", () => ada.post("/v1/chat", ...turn));
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

test("[turn-durable] what a crash has left in journals alone is in a backup that is made before the next start", async () => {
  const dir = await tempDir();
  const world = await openWorld(dir);
  const { session_id } = await world.as("ada").say("Good evening to you all.");
  await world.stop();
  await copyFile(join(dir, "state.db"), join(dir, "older.db"));
  const later = await openWorld(dir);
  await later.as("ada").say("What is on this weekend?", { session_id });
  await later.as("ada").say("I am here again.");
  await later.stop();
  await rename(join(dir, "older.db"), join(dir, "state.db"));
  const target = join(await tempDir(), "copy");
  expect(await backupsIn(dir).backUp(target, options)).toMatchObject({ holds: { users: 1, sessions: 2, messages: 6 } });
  expect(await readdir(target)).toEqual(["backup.db", "backup.json"]);
});

describe("is refused", () => {
  test("of a directory of an older version, and of one without state", async () => {
    const former = await tempDir();
    await writeFile(join(former, "index.db"), "");
    const refused = { code: "INVALID_CONFIG", message: expect.stringContaining("older version") };
    await expect(backupsIn(former).backUp(join(await tempDir(), "copy"), options)).rejects.toMatchObject(refused);
    const empty = backupsIn(await tempDir()).backUp(join(await tempDir(), "copy"), options);
    await expect(empty).rejects.toMatchObject({ code: "INVALID_REQUEST", message: expect.stringContaining("state.db") });
  });

  test("into the directory itself, and into one that holds something", async () => {
    const world = await openWorld(await tempDir());
    await world.stop();
    const dir = await tempDir();
    await writeFile(join(dir, "notes.txt"), "mine");
    const backups = backupsIn(world.dir);
    await expect(backups.backUp(dir, options)).rejects.toMatchObject({ code: "TARGET_NOT_EMPTY" });
    await expect(backups.backUp(join(world.dir, "copy"), options)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  test("a restore of what is no whole backup, into a directory that holds somebody else or is in use", async () => {
    const world = await startWorld(await tempDir());
    await world.as("ada").say("Good evening to you all.");
    const target = join(await tempDir(), "copy");
    await backupsIn(world.dir).backUp(target, options);
    await expect(backupsIn(world.dir).restore(target, options)).rejects.toMatchObject({ code: "STORAGE_IN_USE" });
    const held = await openWorld(await tempDir());
    await held.as("bob").say("Good evening.");
    await held.stop();
    await expect(backupsIn(held.dir).restore(target, options)).rejects.toMatchObject({ code: "TARGET_NOT_EMPTY" });
    await rm(join(target, "backup.json"));
    await expect(backupsIn(await tempDir()).restore(target, options)).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringContaining("no whole backup"),
    });
  });

  test("where nothing but the server's own process holds what is kept", () => {
    expect(() => backupsOf(parseConfig({ SHORT_TERM_BACKEND: "memory" }))).toThrow(expect.objectContaining({ code: "INVALID_REQUEST" }));
  });
});
