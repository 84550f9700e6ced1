import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDatabase } from "../../src/platform/sqlite.js";
import { uuid } from "../../src/testing/vectors-contract.js";
import { openLocalQdrant } from "../../src/vectors/local/local-qdrant.js";

describe("LocalQdrant's thread and file", () => {
  let dir = "";
  let path = "";
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "maitred-thread-"));
    path = join(dir, "vectors.db");
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  const point = (n: number) => ({ id: uuid(n), vector: [1, n], payload: { text: "t".repeat(500) } });
  async function opened() {
    const store = await openLocalQdrant({ path });
    if (!(await store.client.collectionExists("c")).exists)
      await store.client.createCollection("c", { vectors: { size: 2, distance: "Cosine" } });
    return store;
  }

  test("what resolved is there after it was closed and opened again", async () => {
    const first = await opened();
    await first.client.upsert("c", { points: [point(1), point(2)] });
    await first.close();
    const second = await opened();
    expect(await second.client.count("c", {})).toEqual({ count: 2 });
    await second.close();
  });

  test("a write that waits behind another when it is aborted is never done", async () => {
    const store = await opened();
    const many = Array.from({ length: 3_000 }, (_, n) => point(n));
    const long = store.client.upsert("c", { points: many });
    const controller = new AbortController();
    const late = store.withSignal(controller.signal, () => store.client.upsert("c", { points: [point(9_999)] }));
    // Both calls are on their way to the thread, which is busy with the first.
    setImmediate(() => controller.abort());
    await expect(late).rejects.toMatchObject({ code: "ABORTED" });
    await long;
    expect(await store.client.count("c", {})).toEqual({ count: 3_000 });
    await store.close();
  });

  test("[other-users-unaffected] reads are answered while the file is rewritten; writes wait, and are done after it", async () => {
    const store = await opened();
    for (let batch = 0; batch < 10; batch++)
      await store.client.upsert("c", { points: Array.from({ length: 1_000 }, (_, n) => point(batch * 1_000 + n)) });
    const ended: string[] = [];
    const note = (what: string, work: Promise<unknown>) => work.then(() => ended.push(what));
    const erased = note("first rewriting", store.scrub());
    const again = note("second rewriting", store.scrub());
    const write = note("write", store.client.upsert("c", { points: [point(10_000)] }));
    const read = note("read", store.client.retrieve("c", { ids: [uuid(9_999)] }));
    await Promise.all([erased, again, write, read]);
    expect(ended).toEqual(["read", "first rewriting", "second rewriting", "write"]);
    expect(await store.client.count("c", {})).toEqual({ count: 10_001 });
    await store.close();
  });

  test("a write that waits for a rewriting when it is aborted is never done; closing waits for the rewriting", async () => {
    const store = await opened();
    await store.client.upsert("c", { points: [point(1)] });
    const rewriting = store.scrub();
    const controller = new AbortController();
    const late = store.withSignal(controller.signal, () => store.client.upsert("c", { points: [point(2)] }));
    controller.abort();
    await expect(late).rejects.toMatchObject({ code: "ABORTED" });
    await store.close();
    await rewriting;
    const again = await opened();
    expect(await again.client.count("c", {})).toEqual({ count: 1 });
    await again.close();
  });

  test("calls after close are refused, and closing twice is closing", async () => {
    const store = await opened();
    await store.close();
    await store.close();
    await expect(store.client.count("c", {})).rejects.toMatchObject({ status: 503 });
    expect(await store.health()).toMatchObject({ status: "down" });
  });

  test("a request with a field that isn't known is refused, in case it was a filter", async () => {
    const store = await openLocalQdrant({ path: ":memory:" });
    await store.client.createCollection("c", { vectors: { size: 2, distance: "Cosine" } });
    const odd = { query: [1, 0], filters: { must: [] } };
    await expect(store.client.query("c", odd)).rejects.toMatchObject({ status: 400 });
    await store.close();
  });

  test("a file that is no database stops the start with STORAGE_DAMAGED", async () => {
    await writeFile(path, "not a database, but long enough to be looked at as one ".repeat(50));
    await expect(openLocalQdrant({ path })).rejects.toMatchObject({ code: "STORAGE_DAMAGED" });
  });

  test.each([true, false])(
    "a value that can't be read back is damage: told once, and remembered until the file is opened again (thread: %s)",
    async (thread) => {
      const first = await opened();
      await first.client.upsert("c", { points: [point(1), point(2)] });
      await first.close();
      const other = openDatabase(path);
      other.prepare("UPDATE points SET payload = ? WHERE id = 1").run('{"text":"secret');
      other.close();
      let told = 0;
      const store = await openLocalQdrant({ path, thread, onDamage: () => void told++ });
      expect(await store.health()).toEqual({ status: "ok" });
      for (let n = 0; n < 2; n++) {
        const failure = await store.client.scroll("c", { with_payload: true }).catch((error: Error) => error.message);
        expect(failure).toMatch(/malformed/);
        expect(failure).not.toContain("secret");
      }
      expect(await store.client.retrieve("c", { ids: [uuid(2)] })).toHaveLength(1);
      expect(await store.health()).toMatchObject({ status: "degraded", detail: expect.stringContaining(path) });
      expect(told).toBe(1);
      await store.close();
    },
  );

  test("a page that is damaged is found when the file is opened", async () => {
    const first = await opened();
    await first.client.upsert("c", { points: Array.from({ length: 200 }, (_, n) => point(n)) });
    await first.close();
    const bytes = await readFile(path);
    await writeFile(path, bytes.fill(0x5a, bytes.length - 20 * 4096, bytes.length - 15 * 4096));
    let told = 0;
    const store = await openLocalQdrant({ path, onDamage: () => void told++ });
    expect(told).toBe(1);
    expect(await store.health()).toMatchObject({ status: "degraded", detail: expect.stringContaining(path) });
    expect(await store.client.collectionExists("c")).toEqual({ exists: true });
    await store.close();
  });

  test("a folder that isn't there stops the start with STORAGE_UNAVAILABLE", async () => {
    await expect(openLocalQdrant({ path: join(dir, "no", "such", "v.db") })).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
  });
});
