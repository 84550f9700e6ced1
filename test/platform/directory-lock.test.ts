import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DirectoryLock, LOCK_FILE } from "../../src/platform/directory-lock.js";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-lock-"));
});
afterEach(() => rm(dir, { recursive: true }));

const NOW = new Date("2026-03-01T10:00:00.000Z");

test("a second holder is refused and told who the first is; after the release it may", async () => {
  const lock = await DirectoryLock.acquire(join(dir, "new", "deep"), NOW);
  const second = DirectoryLock.acquire(join(dir, "new", "deep"), NOW);
  await expect(second).rejects.toMatchObject({ code: "STORAGE_IN_USE", message: expect.stringContaining(`Process ${process.pid} on`) });
  await lock.release();
  await lock.release();
  await (await DirectoryLock.acquire(join(dir, "new", "deep"), NOW)).release();
});

test("another process's lock holds while it lives, names it, and is free once it was killed", async () => {
  const sqlite = createRequire(import.meta.url).resolve("better-sqlite3");
  // What DirectoryLock does, in plain JavaScript, so that the child needs no loader.
  const script = `
    const db = new (require(${JSON.stringify(sqlite)}))(${JSON.stringify(join(dir, LOCK_FILE))});
    db.exec("CREATE TABLE IF NOT EXISTS holder (pid INTEGER, host TEXT, since TEXT); DELETE FROM holder");
    db.prepare("INSERT INTO holder VALUES (?, 'elsewhere', '2026-01-01')").run(process.pid);
    db.exec("BEGIN IMMEDIATE");
    process.stdout.write("held");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await new Promise((resolve) => child.stdout.once("data", resolve));
    await expect(DirectoryLock.acquire(dir, NOW)).rejects.toMatchObject({
      code: "STORAGE_IN_USE",
      message: expect.stringContaining(`Process ${child.pid} on elsewhere`),
    });
  } finally {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }
  await (await DirectoryLock.acquire(dir, NOW)).release();
});

test("a directory that can't be made or written is a clear error", async () => {
  await writeFile(join(dir, "file"), "");
  // Linux has no place for new directories there, and says ENOENT.
  const nowhere = existsSync("/proc/self") ? [join("/proc", "no-such-process"), join("/proc", "no-such-process", "below")] : [];
  for (const path of [join(dir, "file"), join(dir, "file", "below"), ...nowhere])
    await expect(DirectoryLock.acquire(path, NOW)).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringContaining("can't be written"),
      hint: expect.stringContaining("MEMORY_STORAGE_DIR"),
    });
});

test("a lock file that is no database is told as what it is, with what to do about it; the directory is writable, after all", async () => {
  const path = join(dir, LOCK_FILE);
  await writeFile(path, "no database ".repeat(500));
  const refused = await DirectoryLock.acquire(dir, NOW).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: "STORAGE_DAMAGED",
    message: expect.stringContaining(path),
    hint: expect.stringMatching(/no other process.*delete this file/),
  });
  await rm(path);
  await (await DirectoryLock.acquire(dir, NOW)).release();
});
