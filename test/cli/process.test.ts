import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DirectoryLock } from "../../src/platform/directory-lock.js";

/** The real command line in a process of its own. */

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-process-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function maitred(...argv: readonly string[]): Promise<Ended> {
  const cli = new URL("../../src/cli.ts", import.meta.url).pathname;
  const env = { PATH: process.env.PATH, MEMORY_STORAGE_DIR: dir };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, ["--import", "tsx", cli, ...argv], { env }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

test("chats, remembers in the next process, says who owns a directory that is in use, and erases", async () => {
  const first = await maitred("chat", "-m", "I prefer jazz concerts.");
  expect(first).toMatchObject({ code: 0, stderr: "" });
  const second = await maitred("--json", "chat", "-m", "Anything good this weekend?");
  expect(second).toMatchObject({ code: 0, stderr: "" });
  const answer = JSON.parse(second.stdout) as { memory: { recalled: { category: string }[] } };
  expect(answer.memory.recalled.map(({ category }) => category)).toContain("genre");

  const lock = await DirectoryLock.acquire(dir, new Date());
  try {
    const busy = await maitred("export");
    expect(busy).toMatchObject({ code: 4, stdout: "" });
    expect(busy.stderr).toContain(`Process ${process.pid}`);
    expect(busy.stderr).toContain("--url");
  } finally {
    await lock.release();
  }
  const erased = await maitred("--json", "erase", "--yes");
  expect(erased.code).toBe(0);
  expect(JSON.parse(erased.stdout)).toMatchObject({ verified: true, erased: { sessions: 2 } });
}, 120_000);
