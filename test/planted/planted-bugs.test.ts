import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BUGS } from "./bugs.js";

const ROOT = resolve(import.meta.dirname, "../..");
const COPIED = [
  "src",
  "packages",
  "test",
  "scripts",
  "examples",
  "docs",
  "memory_storage/README.md",
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
  "README.md",
];

/** Runs one test file in a copy of the tree. Resolves to whether all its tests passed, with what it printed. */
async function runTests(tree: string, file: string, named: string | undefined): Promise<{ passed: boolean; output: string }> {
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const args = [vitest, "run", "--project", "fast", file, ...(named === undefined ? [] : ["-t", named]), "--reporter=dot"];
  const env = { PATH: process.env.PATH, CI: "true", NO_COLOR: "1", TEST_MODULE_CACHE: join(tree, "modules") };
  return new Promise((done) => {
    execFile(process.execPath, args, { cwd: tree, env, timeout: 120_000, maxBuffer: 64 * 2 ** 20 }, (error, stdout, stderr) =>
      done({ passed: error === null, output: `${stdout}\n${stderr}` }),
    );
  });
}

describe("a planted bug turns the test of its promise red", () => {
  let tree: string;
  beforeAll(async () => {
    tree = await mkdtemp(join(tmpdir(), "maitred-planted-"));
    for (const path of COPIED)
      await cp(join(ROOT, path), join(tree, path), { recursive: true, filter: (from) => !/\/(dist|node_modules)$/.test(from) });
    await symlink(join(ROOT, "node_modules"), join(tree, "node_modules"), "dir");
  });
  afterAll(() => rm(tree, { recursive: true, force: true }));

  test.each(BUGS)(
    "$promise: $name",
    async ({ file, search, replace, test: testFile, named }) => {
      const path = join(tree, "src", file);
      const sound = await readFile(path, "utf8");
      expect(sound.split(search), `"${search}" stands once in ${file}`).toHaveLength(2);
      await writeFile(
        path,
        sound.replace(search, () => replace),
      );
      try {
        const { passed, output } = await runTests(tree, testFile, named);
        // It failed by its assertions, not because nothing could be run.
        expect(output).toMatch(/Tests .*\d+ (passed|failed)/);
        expect(passed, `${testFile} passes although ${file} is broken`).toBe(false);
      } finally {
        await writeFile(path, sound);
      }
    },
    180_000,
  );
});
