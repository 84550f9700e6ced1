import { expect, test } from "vitest";
import { DEFAULT_TENANT, ownerOf } from "../../src/domain/owner.js";
import type { Point, VectorStore } from "../../src/ports/vectors.js";
import type { StateEngine } from "../../src/state/engine.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { ownerPartition } from "../../src/state/partition.js";
import { ofUser, uuid, vectorsContract } from "../../src/testing/vectors-contract.js";
import { stateVectors } from "../../src/vectors/state/state-vectors.js";
import { EVERY_ENGINE } from "../state/engines/every-engine.js";
import { needing } from "../support/needing.js";

const ana = ownerOf(DEFAULT_TENANT, "ana");
const ben = ownerOf(DEFAULT_TENANT, "ben");
const OPTIONS = { timeoutMs: 20_000, cacheBytes: 2 ** 24 };

for (const { name, program, home: openHome } of EVERY_ENGINE)
  needing(...(program === null ? [] : [program]))(`vectors in ${name}`, () => {
    vectorsContract(
      `state in ${name}`,
      async () => {
        const home = await openHome();
        const { open: opened, dispose } = await home.fresh();
        const store = stateVectors(await opened(), OPTIONS);
        const close = async () => {
          await store.close();
          await dispose();
          await home.close();
        };
        return { ...store, close };
      },
      { supports: { idf_of_all: "how rare a word is is counted in one owner's points" } },
    );
  });

const point = (n: number, owner: string, text = `text ${n}`, dense = [1, n]): Point => ({
  id: uuid(n),
  vector: { "": dense, bm25: { indices: [n], values: [1] } },
  payload: { user_id: owner, text },
});
async function made(engine: StateEngine): Promise<VectorStore["client"]> {
  const { client } = stateVectors(engine, OPTIONS);
  await client.createCollection("c", { vectors: { size: 2, distance: "Cosine" }, sparse_vectors: { bm25: { modifier: "idf" } } });
  await client.createPayloadIndex("c", { field_name: "user_id", field_schema: { type: "keyword", is_tenant: true } });
  return client;
}
const textsOf = async (client: VectorStore["client"], owner: string = ana) => {
  const { points } = await client.query("c", { query: [1, 0], filter: ofUser(owner), with_payload: true });
  return points.map(({ payload }) => payload?.text);
};

/** Reads of points' own, by the partition. */
function counting(engine: StateEngine) {
  const reads: string[] = [];
  const counted: StateEngine = Object.assign(Object.create(engine) as StateEngine, {
    manifest: engine.manifest,
    read: (...args: Parameters<StateEngine["read"]>) => {
      reads.push(args[0]);
      return engine.read(...args);
    },
    commit: (...args: Parameters<StateEngine["commit"]>) => engine.commit(...args),
    partitions: (...args: Parameters<StateEngine["partitions"]>) => engine.partitions(...args),
  });
  return { counted, reads };
}

test("an owner's points lie in their partition; where nothing has changed a search reads once, else what has, and others' writes cost nothing", async () => {
  const engine = new MemoryEngine();
  const { counted, reads } = counting(engine);
  const here = await made(engine);
  const there = stateVectors(counted, OPTIONS).client;
  await here.upsert("c", { points: [point(1, ana), point(2, ana), point(3, ben)] });
  expect(await textsOf(there)).toEqual(["text 1", "text 2"]);
  reads.length = 0;
  await textsOf(there);
  expect(reads).toEqual([ownerPartition(ana)]);
  await here.upsert("c", { points: [point(4, ben)] });
  await textsOf(there);
  expect(reads).toHaveLength(2);
  await here.setPayload("c", { points: [uuid(1)], payload: { text: "changed" } });
  await here.delete("c", { points: [uuid(2)] });
  expect(await textsOf(there)).toEqual(["changed"]);
  expect(reads).toHaveLength(4);
  // More than is named one by one.
  for (let n = 0; n < 70; n++) await here.setPayload("c", { points: [uuid(1)], payload: { text: `change ${n}` } });
  expect(await textsOf(there)).toEqual(["change 69"]);
});

test("what a process wrote itself it does not read again, and searches as another does that reads it", async () => {
  const engine = new MemoryEngine();
  await made(engine);
  const { counted, reads } = counting(engine);
  const [here, there] = [stateVectors(counted, OPTIONS).client, stateVectors(engine, OPTIONS).client];
  const found = async () => {
    reads.length = 0;
    const texts = await textsOf(here);
    expect(texts).toEqual(await textsOf(there));
    return { texts, reads: reads.length };
  };
  await found();
  await here.upsert("c", { points: [point(1, ana), point(2, ana)] });
  expect(await found()).toEqual({ texts: ["text 1", "text 2"], reads: 1 });
  await here.setPayload("c", { points: [uuid(1)], payload: { text: "changed" } });
  await here.delete("c", { points: [uuid(2)] });
  expect(await found()).toEqual({ texts: ["changed"], reads: 1 });
  // Behind another's write, which is read, and its own with it.
  await there.upsert("c", { points: [point(3, ana)] });
  await here.upsert("c", { points: [point(4, ana)] });
  expect(await found()).toEqual({ texts: ["changed", "text 3", "text 4"], reads: 2 });
});

test("[erasure-complete] where an owner's last point goes nothing of the collection is left in their partition, and it begins anew", async () => {
  const engine = new MemoryEngine();
  const [here, there] = [await made(engine), stateVectors(engine, OPTIONS).client];
  const left = async () => (await engine.read(ownerPartition(ana), { ranges: [{ from: "vector", to: "vectos" }] })).ranges[0];
  await here.upsert("c", { points: [point(1, ana), point(2, ana)] });
  expect(await textsOf(there)).toEqual(["text 1", "text 2"]);
  await here.delete("c", { filter: ofUser(ana) });
  expect(await left()).toEqual([]);
  expect(await textsOf(there)).toEqual([]);
  // As many writes as before the other process looked.
  await here.upsert("c", { points: [point(5, ana, "anew")] });
  expect(await textsOf(there)).toEqual(["anew"]);
});

test("a point that becomes another owner's is in one place, and found by its id; two processes that write at once lose nothing", async () => {
  const engine = new MemoryEngine();
  const [here, there] = [await made(engine), stateVectors(engine, OPTIONS).client];
  await here.upsert("c", { points: [point(1, ana)] });
  await there.setPayload("c", { points: [uuid(1)], payload: { user_id: ben } });
  expect([await textsOf(here), await textsOf(here, ben)]).toEqual([[], ["text 1"]]);
  expect(await here.retrieve("c", { ids: [uuid(1)], with_payload: ["user_id"] })).toMatchObject([{ payload: { user_id: ben } }]);
  const numbers = Array.from({ length: 40 }, (_, n) => n + 10);
  await Promise.all(numbers.map((n) => (n % 2 === 0 ? here : there).upsert("c", { points: [point(n, ana)] })));
  expect(await here.count("c", { filter: ofUser(ana) })).toEqual({ count: 40 });
  expect(await there.count("c", { filter: ofUser(ana) })).toEqual({ count: 40 });
});

test("a write that was broken off anywhere is done by its repeat, and deleted with its owner's", async () => {
  for (let allowed = 0; allowed < 8; allowed++) {
    const engine = new MemoryEngine();
    const whole = await made(engine);
    await whole.upsert("c", { points: [point(1, ben)] });
    let commits = 0;
    const { counted } = counting(engine);
    counted.commit = async (...args) => {
      if (++commits > allowed) throw new Error("killed");
      return engine.commit(...args);
    };
    const broken = stateVectors(counted, OPTIONS).client;
    const moved = { points: [point(1, ana), point(2, ana)] };
    await broken.upsert("c", moved).catch(() => undefined);
    if (allowed % 2 === 0) {
      await whole.upsert("c", moved);
      expect([await textsOf(whole), await textsOf(whole, ben)]).toEqual([["text 1", "text 2"], []]);
    }
    for (const owner of [ana, ben]) await whole.delete("c", { filter: ofUser(owner) });
    expect(await whole.count("c", { filter: ofUser(ana) })).toEqual({ count: 0 });
    expect(await whole.retrieve("c", { ids: [uuid(1), uuid(2)] })).toEqual([]);
  }
});
