import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type FileSystem, nodeFileSystem } from "../../../src/platform/file-system.js";
import { newId } from "../../../src/platform/ids.js";
import { silentLogger } from "../../../src/platform/logger.js";
import { DirectoryHealth } from "../../../src/state/jsonl/directory-health.js";
import { FileMemoryService } from "../../../src/state/jsonl/file-memory-service.js";
import { FaultyFileSystem } from "../../support/faulty-file-system.js";
import { ALICE, JournalRecords } from "../../support/journal-records.js";

let parent: string;
let dir: string;
const records = new JournalRecords();
const opened: FileMemoryService[] = [];

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "maitred-health-"));
  dir = join(parent, "storage");
  await mkdir(dir);
});
afterEach(async () => {
  for (const service of opened.splice(0)) await service.close();
  await rm(parent, { recursive: true });
});

async function journals(fileSystem: FileSystem = nodeFileSystem): Promise<FileMemoryService> {
  const service = await FileMemoryService.open({ dir, fileSystem, logger: silentLogger });
  opened.push(service);
  return service;
}

async function session(journal: FileMemoryService): Promise<string> {
  const id = newId();
  await journal.create(ALICE, id, [records.session(ALICE)]);
  return id;
}

const GONE = { code: "STORAGE_UNAVAILABLE", message: expect.stringContaining("is gone"), hint: expect.stringContaining("bring it back") };

describe("[journal-full-disk] a disk that is full", () => {
  test("is down before anybody has failed, and ok again once there is room; the probe leaves nothing behind", async () => {
    const disk = new FaultyFileSystem(nodeFileSystem);
    let now = 0;
    const health = await DirectoryHealth.open({ dir, fileSystem: disk, now: () => now });
    disk.inject({ operation: "write", errno: "ENOSPC", times: Number.POSITIVE_INFINITY });
    expect(await health.health()).toMatchObject({ status: "down", detail: expect.stringContaining("free space") });
    disk.heal();
    now += 60_000;
    expect(await health.health()).toEqual({ status: "ok" });
    expect(await readdir(dir)).toEqual([]);
  });

  test("is probed once however many ask within a few seconds, and at once when a write has failed since", async () => {
    const disk = new FaultyFileSystem(nodeFileSystem);
    const journal = await journals(disk);
    const id = await session(journal);
    const writes = () => disk.calls.get("write") ?? 0;
    const before = writes();
    const answers = await Promise.all(Array.from({ length: 20 }, () => journal.health()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(["ok"]));
    expect(writes() - before).toBe(1);
    disk.inject({ operation: "write", errno: "ENOSPC", times: Number.POSITIVE_INFINITY });
    await expect(journal.append(ALICE, id, [records.user(1)])).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    expect(await journal.health()).toMatchObject({ status: "down" });
    disk.heal();
    await journal.append(ALICE, id, [records.user(1)]);
    expect(await journal.health()).toEqual({ status: "ok" });
  });

  test("journals that fail one after the other in a directory that can be written make it degraded, until one goes well", async () => {
    const disk = new FaultyFileSystem(nodeFileSystem);
    const journal = await journals(disk);
    const id = await session(journal);
    disk.inject({ operation: "write", errno: "EIO", path: `${id}.jsonl`, times: 3 });
    for (let n = 0; n < 3; n++)
      await expect(journal.append(ALICE, id, [records.user(1)])).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    disk.assertAllStruck();
    expect(await journal.health()).toMatchObject({ status: "degraded", detail: expect.stringContaining("3 writes") });
    await journal.append(ALICE, id, [records.user(1)]);
    expect(await journal.health()).toEqual({ status: "ok" });
  });
});

describe("a directory that is taken away under the process", () => {
  test("refuses turns of sessions that are open and of new ones, and is down", async () => {
    const journal = await journals();
    const id = await session(journal);
    await journal.append(ALICE, id, [records.user(1)]);
    await rm(dir, { recursive: true });
    for (let n = 0; n < 2; n++) await expect(journal.append(ALICE, id, [records.user(2)])).rejects.toMatchObject(GONE);
    await expect(session(journal)).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    expect(await journal.health()).toMatchObject({ status: "down", detail: expect.stringContaining("is gone") });
  });

  test("is not the one that stands in its place: nothing is written into that", async () => {
    const journal = await journals();
    const id = await session(journal);
    await rename(dir, join(parent, "elsewhere"));
    await mkdir(dir);
    await expect(journal.append(ALICE, id, [records.user(1)])).rejects.toMatchObject(GONE);
    await expect(session(journal)).rejects.toMatchObject(GONE);
    expect(await journal.health()).toMatchObject({ status: "down" });
    expect(await readdir(dir)).toEqual([]);
  });

  test("a journal that was deleted by hand is not written to any more", async () => {
    const journal = await journals();
    const id = await session(journal);
    const other = await session(journal);
    await journal.append(ALICE, id, [records.user(1)]);
    await rm(join(dir, `${id}.jsonl`));
    await expect(journal.append(ALICE, id, [records.user(1)])).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    await expect(journal.append(ALICE, id, [records.user(1)])).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect(await journal.append(ALICE, other, [records.user(1)])).toHaveLength(1);
  });

  test("its file is looked for with each message of a user, and with what follows one unless it was seen within the last second", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const looks: string[] = [];
    const identity: FileSystem["identity"] = (path) => {
      if (path.endsWith(".jsonl")) looks.push(path);
      return nodeFileSystem.identity(path);
    };
    const journal = await journals({ ...nodeFileSystem, identity });
    const id = await session(journal);
    await journal.append(ALICE, id, [records.user(1)]);
    looks.length = 0;
    await journal.append(ALICE, id, [records.step(1), records.assistant(1)]);
    await journal.append(ALICE, id, [records.done(1)]);
    expect(looks).toHaveLength(0);
    await journal.append(ALICE, id, [records.user(2)]);
    expect(looks).toHaveLength(1);

    vi.advanceTimersByTime(1_001);
    await rm(join(dir, `${id}.jsonl`));
    await expect(journal.append(ALICE, id, [records.assistant(2)])).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
  });
});
