import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { boundedFileSystem, nodeFileSystem } from "../../src/platform/file-system.js";
import { JsonlLog } from "../../src/platform/jsonl-log.js";
import { SlowDisk } from "../faults/slow-disk.js";

const line = (text: string) => Buffer.from(`${text}\n`);
let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-bounded-"));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(dir, { recursive: true });
});

test("a write that hangs is given up, and lands on nothing when it comes late", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const disk = new SlowDisk(nodeFileSystem);
  const fs = boundedFileSystem(disk.fileSystem, 50);
  const path = join(dir, "a.jsonl");
  const log = await JsonlLog.create(fs, path);
  await log.append(line("first"));
  disk.slow((each) => each === path, "write");
  const givenUp = expect(log.append(line("given up, and longer than what comes after"))).rejects.toMatchObject({ code: "ETIMEDOUT" });
  await disk.arrived();
  vi.advanceTimersByTime(50);
  await givenUp;
  // While it may still come, nothing else is done with the file, by whatever handle: no time passes here, so none is waited for.
  await expect(log.append(line("second"))).rejects.toMatchObject({ code: "ETIMEDOUT" });
  await expect(fs.open(path, "update")).rejects.toMatchObject({ code: "ETIMEDOUT" });
  const other = await JsonlLog.create(fs, join(dir, "b.jsonl"));
  await other.append(line("another file feels nothing"));
  await other.close();

  disk.release();
  await disk.settled();
  await log.append(line("second"));
  await log.close();
  expect(await readFile(path, "utf8")).toBe("first\nsecond\n");
});

test("what fails or ends in time does so as ever", async () => {
  const fs = boundedFileSystem(nodeFileSystem, 5_000);
  expect(await fs.stat(join(dir, "none"))).toBeNull();
  await expect(fs.open(join(dir, "none"), "read")).rejects.toMatchObject({ code: "ENOENT" });
  await expect(fs.unlink(join(dir, "none"))).rejects.toMatchObject({ code: "ENOENT" });
});

test("what the disk answered while this process was busy itself is no late answer", async () => {
  const fs = boundedFileSystem(nodeFileSystem, 20);
  const looked = fs.stat(dir);
  for (const until = performance.now() + 100; performance.now() < until; );
  expect(await looked).not.toBeNull();
});
