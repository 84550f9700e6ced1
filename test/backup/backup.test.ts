import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { backupsOf } from "../../src/compose/backups.js";
import type { ChatAnswer } from "../../src/ports/application.js";
import { filesHolding, openWorld, startWorld, tempDir } from "../e2e/world.js";

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

describe("is refused", () => {
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
    await writeFile(join(held, "bookings.db"), "");
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
