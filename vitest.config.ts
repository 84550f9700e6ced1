import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { compiledThreads } from "./test/support/compiled-threads.js";
import { LongestFirst } from "./test/support/longest-first.js";
import { DEEP, FAULTS, filesWithSlowTests, MODEL, REPLICAS, SLOW } from "./test/support/projects.js";

const GIB = 1024 ** 3;

/** Thousands of small files are synced and thrown away: a disk in memory takes half the time, where there is one with room. */
function quickDisk(): string {
  try {
    accessSync("/dev/shm", constants.W_OK);
    const { bavail, bsize } = statfsSync("/dev/shm");
    if (process.env.TMPDIR === undefined && bavail * bsize > 2 * GIB) return "/dev/shm";
  } catch {
    // There is none.
  }
  return tmpdir();
}

/** All temporary files of a run, gone when it ends. */
const temporary = mkdtempSync(join(quickDisk(), "maitred-tests-"));
process.once("exit", () => rmSync(temporary, { recursive: true, force: true }));

const PACKAGES = "**/node_modules/**";
const IN_PROCESS = { exclude: [PACKAGES, ...DEEP, ...FAULTS, ...MODEL, ...REPLICAS] };
/** Of a project: vitest passes it on, and names it as an option of the command line alone. */
const tagged = (filter: string) => ({ tagsFilter: [filter] });

export default defineConfig({
  plugins: [compiledThreads(temporary)],
  // The project's packages as they are now, not as they were built.
  resolve: {
    alias: [
      { find: /^@maitred\/([\w-]+)$/, replacement: join(import.meta.dirname, "packages/$1/src/index.ts") },
      { find: /^maitred$/, replacement: join(import.meta.dirname, "src/index.ts") },
      { find: /^maitred\/([\w-]+)$/, replacement: join(import.meta.dirname, "src/$1.ts") },
    ],
  },
  test: {
    env: { TMPDIR: temporary },
    // A worker reads the sources once for all of its files.
    isolate: false,
    // Transformed sources are kept by their content from run to run, which saves half of a short run.
    experimental: { fsModuleCache: true, fsModuleCachePath: process.env.TEST_MODULE_CACHE ?? "node_modules/.cache/vitest" },
    // Some tests wait for deadlines, or for processes of theirs.
    maxWorkers: availableParallelism() + 1,
    maxConcurrency: 2,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./test/support/what-ran.ts", "./test/support/promises-shown.ts"],
    // For what hangs; beside eight busy processes what takes ten seconds takes a minute.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What is waited for comes late where the machine has much to do: a second would be the default.
    expect: { poll: { timeout: 20_000 } },
    tags: [{ name: SLOW, description: "On a server of its own, or the whole of what others show at a few places." }],
    projects: [
      { extends: true, test: { name: "fast", ...IN_PROCESS, include: ["test/**/*.test.ts"], ...tagged(`!${SLOW}`) } },
      { extends: true, test: { name: "slow", ...IN_PROCESS, include: filesWithSlowTests(import.meta.dirname), ...tagged(SLOW) } },
      { extends: true, test: { name: "deep", include: DEEP, exclude: [PACKAGES] } },
      { extends: true, test: { name: "faults", include: FAULTS, exclude: [PACKAGES], maxWorkers: 2, sequence: { groupOrder: 1 } } },
      { extends: true, test: { name: "model", include: MODEL, exclude: [PACKAGES], maxWorkers: 1, sequence: { groupOrder: 2 } } },
      { extends: true, test: { name: "replicas", include: REPLICAS, exclude: [PACKAGES], sequence: { groupOrder: 3 } } },
    ],
  },
});
