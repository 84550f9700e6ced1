import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { compiledThreads } from "./test/support/compiled-threads.js";
import { LongestFirst } from "./test/support/longest-first.js";

/** Whole processes, kills, faults, races, packages, frameworks, a browser: what takes long, or needs more than Node. See docs/testing.md. */
const DEEP = [
  "test/{crash,planted,races,packaging,ecosystem,web,cli-e2e}/**/*.test.ts",
  "test/{cli,mcp}/process.test.ts",
  "test/e2e/{processes,examples,client-examples}.test.ts",
  "test/reading/adversarial-doors.test.ts",
  "test/embedding/transformers-embedder.test.ts",
  "test/short-term/killed-writer.test.ts",
];
/** What a deadline decides, to the turn: beside nothing else that takes the processor. */
const FAULTS = ["test/faults/**/*.test.ts"];
/** Several servers and an engine, which take the whole machine: after all others. */
const REPLICAS = ["test/replicas/**/*.test.ts"];
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

export default defineConfig({
  plugins: [compiledThreads(temporary)],
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
    reporters: [
      "default",
      "./test/support/what-ran.ts",
      ...(process.env.TEST_RESULTS === undefined
        ? []
        : [["json", { outputFile: process.env.TEST_RESULTS }] as [string, Record<string, unknown>]]),
    ],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: { name: "fast", include: ["test/**/*.test.ts"], exclude: ["**/node_modules/**", ...DEEP, ...FAULTS, ...REPLICAS] },
      },
      { extends: true, test: { name: "deep", include: DEEP, exclude: ["**/node_modules/**"] } },
      {
        extends: true,
        test: { name: "faults", include: FAULTS, exclude: ["**/node_modules/**"], maxWorkers: 2, sequence: { groupOrder: 1 } },
      },
      { extends: true, test: { name: "replicas", include: REPLICAS, exclude: ["**/node_modules/**"], sequence: { groupOrder: 2 } } },
    ],
  },
});
