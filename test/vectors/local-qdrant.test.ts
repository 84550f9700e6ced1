import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { vectorsContract } from "../../src/testing/vectors-contract.js";
import { openLocalQdrant } from "../../src/vectors/local/local-qdrant.js";

let dir = "";
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-vectors-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

vectorsContract("LocalQdrant, in memory", () => openLocalQdrant({ path: ":memory:" }));
vectorsContract("LocalQdrant, a file and its thread", () => openLocalQdrant({ path: join(dir, "vectors.db") }));
// With room for nothing, every call reads the file.
vectorsContract("LocalQdrant, without a cache", () => openLocalQdrant({ path: ":memory:", cacheBytes: 1 }));
