import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { announceAddress, announcedAddress, DirectoryLock, reachable } from "../../src/platform/directory-lock.js";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-address-"));
});
afterEach(() => rm(dir, { recursive: true }));

test("the process that has the directory says where it listens; one of before, and one that says nothing, are no server", async () => {
  expect(await announcedAddress(dir)).toBeNull();
  const lock = await DirectoryLock.acquire(dir, new Date());
  try {
    expect(await announcedAddress(dir)).toBeNull();
    await announceAddress(dir, "http://0.0.0.0:4811");
    expect(await announcedAddress(dir)).toBe("http://127.0.0.1:4811");
    for (const left of [JSON.stringify({ pid: process.pid + 1, host: hostname(), url: "http://127.0.0.1:1" }), "{"]) {
      await writeFile(join(dir, "maitred.address"), left);
      expect(await announcedAddress(dir)).toBeNull();
    }
  } finally {
    await lock.release();
  }
});

test("an address that stands for all is one that answers", () => {
  expect(["http://0.0.0.0:80", "http://[::]:80", "http://10.0.0.1:80"].map(reachable)).toEqual([
    "http://127.0.0.1:80",
    "http://[::1]:80",
    "http://10.0.0.1:80",
  ]);
});
