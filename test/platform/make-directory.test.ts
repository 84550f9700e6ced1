import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDirectory, nodeFileSystem } from "../../src/platform/file-system.js";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-directory-"));
});
afterEach(() => rm(dir, { recursive: true }));

test("is made with its parents, by several at once, and is there already the next time", async () => {
  const deep = join(dir, "a", "b", "c");
  await Promise.all([deep, deep, join(dir, "a", "b"), `${deep}/`].map(makeDirectory));
  await makeDirectory(deep);
  expect(await nodeFileSystem.readdir(join(dir, "a", "b"))).toEqual(["c"]);
});

test("may be reached by a link", async () => {
  await makeDirectory(join(dir, "target"));
  await symlink(join(dir, "target"), join(dir, "link"));
  await makeDirectory(join(dir, "link", "below"));
  await makeDirectory(join(dir, "link"));
  expect(await nodeFileSystem.readdir(join(dir, "target"))).toEqual(["below"]);
});

test("where a file has the name, or a parent's, or a link leads nowhere, the operating system's word is told", async () => {
  await writeFile(join(dir, "file"), "");
  await symlink(join(dir, "gone"), join(dir, "nowhere"));
  await expect(makeDirectory(join(dir, "file"))).rejects.toMatchObject({ code: "EEXIST" });
  await expect(makeDirectory(join(dir, "file", "below"))).rejects.toMatchObject({ code: "ENOTDIR" });
  await expect(makeDirectory(join(dir, "nowhere"))).rejects.toMatchObject({ code: "EEXIST" });
});
