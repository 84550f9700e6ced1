import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import type { VectorStore } from "../../src/ports/vectors.js";
import { sealedOwners } from "../../src/state/encryption/sealed-journals.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { ownerPartition } from "../../src/state/partition.js";
import { ofUser, uuid, vectorsContract } from "../../src/testing/vectors-contract.js";
import { denseInMemory } from "../../src/vectors/encrypted/dense-in-memory.js";
import { encryptedVectors } from "../../src/vectors/encrypted/encrypted-vectors.js";
import { openLocalQdrant } from "../../src/vectors/local/local-qdrant.js";
import { encryptedForTest } from "../support/encryption.js";

const CACHE_BYTES = 2 ** 20;

async function opened() {
  const { keyring } = await encryptedForTest(new MemoryEngine());
  const inner = await openLocalQdrant({ path: ":memory:" });
  return { inner, keyring, store: encryptedVectors(inner, sealedOwners(keyring)) };
}

const supports = { idf_of_all: "how rare a word is is counted in one owner's points" };
vectorsContract("encrypted", async () => (await opened()).store, { supports });

vectorsContract("encrypted, with dense vectors in memory", async () => denseInMemory(CACHE_BYTES)((await opened()).store), {
  supports,
});

test("what another process wrote under a key made since is read and found, also behind an erasure there", async () => {
  const state = new MemoryEngine();
  const { keyring } = await encryptedForTest(state);
  const inner = await openLocalQdrant({ path: ":memory:" });
  onTestFinished(() => inner.close());
  const writing = encryptedVectors(inner, sealedOwners(keyring)).client;
  const reading = encryptedVectors(inner, sealedOwners((await encryptedForTest(state)).keyring)).client;
  await writing.createCollection("c", { vectors: { size: 2, distance: "Cosine" }, sparse_vectors: { bm25: { modifier: "idf" } } });
  await writing.createPayloadIndex("c", { field_name: "user_id", field_schema: "keyword", wait: true });
  const owner = ownerOf("default", "guest");
  const write = (data: string) => {
    const payload = { user_id: owner, data, entities: ["Oslo"] };
    return writing.upsert("c", { points: [{ id: uuid(1), vector: { "": [1, 0], bm25: { indices: [7], values: [1] } }, payload }] });
  };
  const asked = { query: { indices: [7], values: [1] }, using: "bm25", filter: ofUser(owner), with_payload: true };
  const found = async () => (await reading.query("c", asked)).points.map(({ payload }) => payload?.data);
  expect(await found()).toEqual([]);
  await write("a nut allergy");
  expect(await found()).toEqual(["a nut allergy"]);
  await keyring.destroy(ownerPartition(owner));
  keyring.forget(ownerPartition(owner));
  await write("a fish allergy");
  expect((await reading.retrieve("c", { ids: [uuid(1)], with_payload: true }))[0]?.payload?.data).toBe("a fish allergy");
  expect(await found()).toEqual(["a fish allergy"]);
});

describe("[sealed-at-rest] payloads and words", () => {
  const ana = ownerOf("default", "ana");
  const ben = ownerOf("default", "ben");
  let inner: VectorStore;
  let store: VectorStore;
  let keyring: Awaited<ReturnType<typeof opened>>["keyring"];
  const point = (n: number, owner: string, data: string) => ({
    id: uuid(n),
    vector: { "": [1, 0], bm25: { indices: [7, n], values: [1, 2] } },
    payload: { user_id: owner, data, entities: ["Quetzal", "Oslo"], status: "active", at: n },
  });
  beforeAll(async () => {
    ({ inner, store, keyring } = await opened());
    await store.client.createCollection("c", { vectors: { size: 2, distance: "Cosine" }, sparse_vectors: { bm25: { modifier: "idf" } } });
    for (const [field_name, field_schema] of [
      ["user_id", "keyword"],
      ["entities", "keyword"],
      ["status", "keyword"],
    ] as const)
      await store.client.createPayloadIndex("c", { field_name, field_schema, wait: true });
    await store.client.upsert("c", {
      points: [point(1, ana, "likes Quetzal"), point(2, ana, "likes opera"), point(3, ben, "likes Quetzal")],
    });
  });
  afterAll(() => store.close());
  const shownOf = async (n: number) => (await store.client.retrieve("c", { ids: [uuid(n)] }))[0]?.payload;

  test("are read as they were written, and the store has none of their words", async () => {
    expect(await shownOf(1)).toEqual(point(1, ana, "likes Quetzal").payload);
    const stored = JSON.stringify(await inner.client.scroll("c", { with_payload: true, with_vector: true }));
    for (const word of ["Quetzal", "opera", "Oslo", '"indices":[7,']) expect(stored).not.toContain(word);
  });

  test("are found by entity and by word, each owner's by their own hashes", async () => {
    const named = (owner: string) => ofUser(owner, { key: "entities", match: { value: "Quetzal" } });
    expect((await store.client.count("c", { filter: named(ana), exact: true })).count).toBe(2);
    const found = await store.client.query("c", { query: { indices: [2, 99], values: [1, 1] }, using: "bm25", filter: ofUser(ana) });
    expect(found.points.map(({ id }) => id)).toEqual([uuid(2)]);
    const tags = (await inner.client.scroll("c", { with_payload: true })).points.map(({ payload }) => JSON.stringify(payload?.entities));
    expect(new Set(tags).size).toBe(2);
  });

  test("a change of some fields keeps the others; vectors that were read are written again as they are", async () => {
    await store.client.setPayload("c", { payload: { data: "likes jazz", status: "gone", at: null }, points: [uuid(2)], wait: true });
    expect(await shownOf(2)).toMatchObject({ data: "likes jazz", status: "gone", entities: ["Quetzal", "Oslo"] });
    const before = await inner.client.retrieve("c", { ids: [uuid(2)], with_vector: true });
    const [read] = await store.client.retrieve("c", { ids: [uuid(2)], with_vector: true });
    await store.client.upsert("c", { points: [{ id: uuid(2), vector: read?.vector as never, payload: read?.payload ?? {} }] });
    expect((await inner.client.retrieve("c", { ids: [uuid(2)], with_vector: true }))[0]?.vector).toEqual(before[0]?.vector);
  });

  test("what was put into another's point is not shown", async () => {
    const [one] = await inner.client.retrieve("c", { ids: [uuid(1)], with_payload: true });
    await inner.client.setPayload("c", { payload: { _sealed: one?.payload?._sealed }, points: [uuid(2)], wait: true });
    expect(await shownOf(2)).toEqual({ user_id: ana, status: "gone" });
    await inner.client.setPayload("c", { payload: { _sealed: one?.payload?._sealed }, points: [uuid(3)], wait: true });
    await expect(shownOf(3)).rejects.toMatchObject({ code: "STORAGE_DAMAGED" });
  });

  test("[erased-by-key] without the owner's key there is nothing to read", async () => {
    await keyring.destroy(ownerPartition(ana));
    keyring.forget(ownerPartition(ana));
    expect(await shownOf(1)).toEqual({ user_id: ana, status: "active", at: 1 });
  });
});
