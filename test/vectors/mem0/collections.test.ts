import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ownerOf } from "../../../src/domain/owner.js";
import { HashingEmbedder } from "../../../src/embedding/hashing-embedder.js";
import { documentVector } from "../../../src/embedding/sparse-vectors.js";
import { DisabledMemories } from "../../../src/memories/disabled-memories.js";
import type { Embedder } from "../../../src/ports/embedding.js";
import type { LongTermMemory } from "../../../src/ports/memories.js";
import type { VectorClient, VectorStore } from "../../../src/ports/vectors.js";
import { ensureHistoryCollection } from "../../../src/vectors/history/collection.js";
import { openLocalQdrant } from "../../../src/vectors/local/local-qdrant.js";
import { ensureMemoryCollection, memoryCollection, reembedCollection } from "../../../src/vectors/mem0/collections.js";
import { NOW, said, TestClock } from "../../contract/long-term.contract.js";
import { InMemoryLongTerm } from "../../support/in-memory-long-term.js";
import { openMem0 } from "../../support/mem0.js";
import { VectorDouble } from "../../support/vector-double.js";

const ann = ownerOf("default", "ann");

describe("Another embedder over stored memories", () => {
  let dir: string;
  let store: VectorStore;
  const open = (embedder: Embedder) => openMem0({ dir, store, clock: new TestClock(), embedder });
  const reembed = (embedder: Embedder, client: VectorClient = store.client) =>
    reembedCollection(client, "memory", {
      dimension: embedder.dimension,
      embedder: embedder.id,
      embed: async (texts) => (await embedder.embed(texts)).map((vector) => Array.from(vector)),
      sparse: (text) => documentVector(text),
      signal: new AbortController().signal,
    });
  const small = new HashingEmbedder({ dimension: 64 });
  const large = new HashingEmbedder({ dimension: 128 });
  const other = new HashingEmbedder({ dimension: 32 });

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "maitred-mem0-"));
    store = await openLocalQdrant({ path: ":memory:" });
    const { memory } = await open(small);
    await memory.apply(ann, [said(ann, "Prefers jazz", { aspect: "jazz" }), said(ann, "Likes opera", { aspect: "opera" })], { now: NOW });
  });
  afterEach(async () => {
    await store.close();
    await rm(dir, { recursive: true });
  });

  test("stops the start, and after a reindex every memory is there and found", async () => {
    await expect(open(large)).rejects.toMatchObject({ code: "REINDEX_REQUIRED" });
    expect(await reembed(large)).toBe(2);
    const { memory } = await open(large);
    expect((await memory.list(ann, {})).data).toHaveLength(2);
    expect((await memory.search(ann, { text: "opera" }))[0]?.text).toBe("Likes opera");
  });

  test("a reindex that is cut off anywhere loses nothing: the next one completes it", async () => {
    for (let cut = 1; ; cut++) {
      let left = cut;
      const cutOff = new Proxy(store.client, {
        get: (target, name: keyof VectorClient) => async (collection: string, args: never) => {
          if (left-- <= 0) throw new Error("cut off");
          return (target[name] as (collection: string, args: never) => unknown)(collection, args);
        },
      });
      const to = cut % 2 === 1 ? large : small;
      const done = await reembed(to, cutOff).then(
        () => true,
        () => false,
      );
      // The next attempt may be for another embedder than the one that was cut off.
      const next = done || cut % 3 !== 0 ? to : other;
      if (!done) await reembed(next);
      const { memory } = await open(next);
      expect((await memory.list(ann, {})).data.map(({ text }) => text).sort()).toEqual(["Likes opera", "Prefers jazz"]);
      if (done) break;
    }
  });
});

describe("A collection of memories", () => {
  const sentTo = (client: VectorDouble, asked: string) => client.calls.filter(({ call }) => call === asked).map(({ args }) => args);
  const shape = { dimension: 2, embedder: "ours" };

  test("stays as it is where another embedder made its vectors", async () => {
    const client = new VectorDouble();
    await client.createCollection("memory", { vectors: { size: shape.dimension } });
    await client.upsert("memory", { points: [{ id: "1", vector: { "": [1, 0] }, payload: { embedder: "theirs" } }] });
    await expect(ensureMemoryCollection(client, "memory", shape)).rejects.toMatchObject({ code: "REINDEX_REQUIRED" });
    expect(sentTo(client, "createPayloadIndex")).toEqual([]);
  });

  test("is made with payloads kept as the server does by default, and one of history with them on disk", async () => {
    const client = new VectorDouble();
    await ensureMemoryCollection(client, "memory", shape);
    await ensureHistoryCollection(client, "history", shape.dimension);
    const [memory, history] = sentTo(client, "createCollection");
    expect(memory).not.toHaveProperty("on_disk_payload");
    expect(history).toMatchObject({ on_disk_payload: true });
  });
});

test.each(["memory_migrations", "memory_entities", "", "../x", "Memory"])("a collection of memories can't be called %j", (name) => {
  expect(() => memoryCollection(name)).toThrow(expect.objectContaining({ code: "INVALID_CONFIG" }));
});

describe("Long-term memory that is off", () => {
  const calls: readonly (readonly [string, (memory: LongTermMemory) => Promise<unknown>])[] = [
    ["list", (memory) => memory.list(ann, {})],
    ["add", (memory) => memory.add(ann, { text: "Likes opera" }, { now: NOW })],
    ["forget", (memory) => memory.forget(ann, "x", { now: NOW })],
    ["erase", (memory) => memory.erase(ann)],
    ["needs", (memory) => memory.needs(ann, { now: NOW })],
  ];
  test.each(calls)("refuses %s", async (_name, call) => {
    await expect(call(new DisabledMemories())).rejects.toMatchObject({ code: "LONG_TERM_MEMORY_DISABLED" });
  });

  test("recall says that it is disabled", async () => {
    const memory: LongTermMemory = new DisabledMemories();
    const recalled = await memory.recall(ann, { text: "jazz", now: NOW, deadlineMs: 100 });
    expect(recalled).toEqual({ status: "disabled", memories: [] });
  });

  test("what was stored before can still be erased", async () => {
    const before = new InMemoryLongTerm(new TestClock());
    await before.apply(ann, [said(ann, "Prefers jazz")], { now: NOW });
    const off: LongTermMemory = new DisabledMemories(before);
    expect(await off.erase(ann)).toMatchObject({ memories: 1 });
    expect(await off.residue(ann)).toBe(0);
    await expect(off.list(ann, {})).rejects.toMatchObject({ code: "LONG_TERM_MEMORY_DISABLED" });
  });
});
