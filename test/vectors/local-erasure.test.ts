import { copyFile, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { documentVector } from "../../src/embedding/sparse-vectors.js";
import type { Filter } from "../../src/ports/vectors.js";
import { uuid } from "../../src/testing/vectors-contract.js";
import type { LocalVectorStore } from "../../src/vectors/local/local-qdrant.js";
import { openLocalQdrant } from "../../src/vectors/local/local-qdrant.js";
import { SLOW } from "../support/projects.js";

const CANARY = "xyzzycanary";
const of = (user: string): Filter => ({ must: [{ key: "user_id", match: { value: user } }] });

describe.each([false, true])("erasure in LocalQdrant's file (thread: %s)", (thread) => {
  let dir = "";
  let store: LocalVectorStore;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "maitred-erasure-"));
    store = await openLocalQdrant({ path: join(dir, "vectors.db"), thread });
    await store.client.createCollection("c", { vectors: { size: 8, distance: "Cosine" }, sparse_vectors: { bm25: { modifier: "idf" } } });
    await store.client.createPayloadIndex("c", { field_name: "user_id", field_schema: { type: "keyword", is_tenant: true }, wait: true });
  });
  afterEach(async () => {
    await store.close();
    await rm(dir, { recursive: true, force: true });
  });

  async function occurrences(): Promise<number> {
    let count = 0;
    for (const file of await readdir(dir)) count += (await readFile(join(dir, file), "latin1")).split(CANARY).length - 1;
    return count;
  }

  async function fill(): Promise<void> {
    for (let batch = 0; batch < 20; batch++)
      await store.client.upsert("c", {
        wait: true,
        points: Array.from({ length: 50 }, (_, i) => {
          const n = ((batch * 50 + i) * 7919) % 1_000;
          const user = n % 3 === 0 ? "erased" : "kept";
          const text = `${user === "erased" ? CANARY : "plain"} ${n} ${"words of any length ".repeat(n % 60)}`;
          return { id: uuid(n), vector: { "": Array(8).fill(n + 1), bm25: documentVector(text) }, payload: { user_id: user, text } };
        }),
      });
  }

  test("a deleted owner's text is in no file, and the others' points are untouched", async () => {
    await fill();
    expect(await occurrences()).toBeGreaterThan(300);
    await store.client.delete("c", { filter: of("erased"), wait: true });
    await store.scrub();
    expect(await occurrences()).toBe(0);
    expect(await store.client.count("c", { filter: of("kept"), exact: true })).toEqual({ count: 666 });
  });

  test("a deletion by itself already leaves nothing in the write-ahead log and in free pages", async () => {
    await fill();
    await store.client.delete("c", { filter: of("erased"), wait: true });
    expect(await occurrences()).toBe(0);
  });

  // A thread's clock is its own.
  test("a text that was replaced is gone within five seconds", { tags: thread ? [SLOW] : [] }, async () => {
    if (!thread) vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const payload = { user_id: "a", text: CANARY };
    await store.client.upsert("c", { wait: true, points: [{ id: uuid(1), vector: Array(8).fill(1), payload }] });
    await store.client.setPayload("c", { points: [uuid(1)], payload: { text: "" }, wait: true });
    expect(await occurrences()).toBeGreaterThan(0);
    if (thread) await expect.poll(occurrences, { timeout: 6_000, interval: 200 }).toBe(0);
    else {
      vi.advanceTimersByTime(5_000);
      expect(await occurrences()).toBe(0);
    }
  });

  test("terms that no point holds any more are forgotten, so that later scores are as if they had never been", async () => {
    const add = (n: number, user: string, text: string) =>
      store.client.upsert("c", {
        wait: true,
        points: [{ id: uuid(n), vector: { "": Array(8).fill(1), bm25: documentVector(text) }, payload: { user_id: user } }],
      });
    const score = async () => {
      const found = await store.client.query("c", { query: documentVector("jazz"), using: "bm25", filter: of("ana") });
      return found.points[0]?.score;
    };
    await add(1, "ana", "jazz");
    const before = await score();
    await add(2, "ben", "jazz night");
    expect(await score()).not.toBe(before);
    await store.client.delete("c", { filter: of("ben"), wait: true });
    expect(await score()).toBe(before);
  });
});

test("the log is emptied behind words and vectors that were replaced, and not behind numbers and times", async () => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-erasure-"));
  const { client, close } = await openLocalQdrant({ path: join(dir, "vectors.db"), thread: false });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(async () => {
    vi.useRealTimers();
    await close();
    await rm(dir, { recursive: true, force: true });
  });
  await client.createCollection("c", { vectors: { size: 2, distance: "Cosine" } });
  const put = (payload: object, vector = [1, 1]) =>
    client.upsert("c", { points: [{ id: uuid(1), vector, payload: { ...payload } }], wait: true });
  const isEmptiedBehind = async (change: () => Promise<unknown>) => {
    await change();
    vi.advanceTimersByTime(5_000);
    return (await stat(join(dir, "vectors.db-wal"))).size === 0;
  };
  expect(await isEmptiedBehind(() => put({ seq: 1, at: null, text: "jazz" }))).toBe(false);
  expect(await isEmptiedBehind(() => put({ seq: 2, at: null, text: "jazz" }))).toBe(false);
  for (const at of ["2026-03-01T10:00:00.000Z", "2026-03-02T10:00:00.000Z"])
    expect(await isEmptiedBehind(() => client.setPayload("c", { points: [uuid(1)], payload: { at }, wait: true }))).toBe(false);
  expect(await isEmptiedBehind(() => put({ seq: 2, at: null, text: "jazz" }, [1, 2]))).toBe(true);
  expect(await isEmptiedBehind(() => client.setPayload("c", { points: [uuid(1)], payload: { text: "folk" }, wait: true }))).toBe(true);
  expect(await isEmptiedBehind(() => put({ seq: 2 }, [1, 2]))).toBe(true);
});

test("words that were replaced before a kill are gone within five seconds of the next start, though only numbers are written then", async () => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-erasure-"));
  const left = await mkdtemp(join(tmpdir(), "maitred-erasure-"));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(async () => {
    vi.useRealTimers();
    for (const each of [dir, left]) await rm(each, { recursive: true, force: true });
  });
  const occurrences = async () => {
    const files = await Promise.all((await readdir(left)).map((file) => readFile(join(left, file), "latin1")));
    return files.join("").split(CANARY).length - 1;
  };
  const killed = await openLocalQdrant({ path: join(dir, "vectors.db"), thread: false });
  await killed.client.createCollection("c", { vectors: { size: 2, distance: "Cosine" } });
  const points = [{ id: uuid(1), vector: [1, 1], payload: { text: CANARY } }];
  await killed.client.upsert("c", { points, wait: true });
  await killed.client.setPayload("c", { points: [uuid(1)], payload: { text: "plain" }, wait: true });
  for (const file of await readdir(dir)) await copyFile(join(dir, file), join(left, file));
  await killed.close();
  expect(await occurrences()).toBeGreaterThan(0);
  const { client, close } = await openLocalQdrant({ path: join(left, "vectors.db"), thread: false });
  await client.setPayload("c", { points: [uuid(1)], payload: { seq: 2 }, wait: true });
  vi.advanceTimersByTime(5_000);
  expect(await occurrences()).toBe(0);
  await close();
});
