import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDatabase } from "../../src/platform/sqlite.js";
import { uuid } from "../../src/testing/vectors-contract.js";
import { openLocalQdrant } from "../../src/vectors/local/local-qdrant.js";

test("a file of the first version, which didn't count vectors, scores as one of today's", async () => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-upgrade-"));
  const path = join(dir, "vectors.db");
  const scores = async () => {
    const store = await openLocalQdrant({ path, thread: false });
    const { points } = await store.client.query("c", { query: { indices: [7], values: [1] }, using: "bm25" });
    await store.close();
    return points.map(({ score }) => score);
  };
  try {
    const store = await openLocalQdrant({ path, thread: false });
    await store.client.createCollection("c", { vectors: { size: 2, distance: "Cosine" }, sparse_vectors: { bm25: { modifier: "idf" } } });
    const bm25 = (index: number) => ({ indices: [index], values: [1] });
    await store.client.upsert("c", {
      points: [
        { id: uuid(1), vector: { "": [1, 0], bm25: bm25(7) } },
        { id: uuid(2), vector: { "": [1, 0], bm25: bm25(8) } },
        { id: uuid(3), vector: [1, 0] },
      ],
      wait: true,
    });
    await store.close();
    const before = await scores();
    expect(before[0]).toBeCloseTo(Math.log(1 + (2 - 1 + 0.5) / (1 + 0.5)), 5);

    const db = openDatabase(path);
    db.exec("DELETE FROM terms WHERE term < 0; PRAGMA user_version = 1;");
    db.close();
    expect(await scores()).toEqual(before);
  } finally {
    await rm(dir, { recursive: true });
  }
});
