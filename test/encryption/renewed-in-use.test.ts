import { expect, onTestFinished, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { renewKey } from "../../src/operations/renew-key.js";
import { newId } from "../../src/platform/ids.js";
import type { RenewedSeal } from "../../src/ports/key-vault.js";
import type { VectorClient, VectorStore } from "../../src/ports/vectors.js";
import { DestroyedValues } from "../../src/state/encryption/destroyed-values.js";
import { EncryptedEngine } from "../../src/state/encryption/encrypted-engine.js";
import { keysOfFile } from "../../src/state/encryption/key-file.js";
import { KEYS, Keyring } from "../../src/state/encryption/keyring.js";
import { rowOf } from "../../src/state/encryption/keys-row.js";
import { sealedOwners } from "../../src/state/encryption/sealed-journals.js";
import type { StateEngine } from "../../src/state/engine.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { ownerPartition } from "../../src/state/partition.js";
import { uuid } from "../../src/testing/vectors-contract.js";
import { encryptedVectors } from "../../src/vectors/encrypted/encrypted-vectors.js";
import { renewPoints } from "../../src/vectors/encrypted/reseal-points.js";
import { openLocalQdrant } from "../../src/vectors/local/local-qdrant.js";
import { CutEngine } from "../state/cut-engine.js";
import { MASTER_KEY } from "../support/encryption.js";

const ana = ownerOf("default", "ana");
const partition = ownerPartition(ana);
const { signal } = new AbortController();
const NOBODY_ELSE = { publish: async () => {}, rewriteJournals: async () => 0, renewPoints: async () => 0 };

/** What several processes use. */
function shared(): MemoryEngine {
  const engine = new MemoryEngine();
  return Object.assign(engine, { manifest: { ...engine.manifest, shared: true } });
}

/** As one process has it, with a keyring of its own. */
function processOn(inner: StateEngine) {
  const keyring = new Keyring(keysOfFile("key", MASTER_KEY), inner);
  const engine = new EncryptedEngine(inner, keyring);
  return {
    keyring,
    engine,
    put: (key: string, value: string) => engine.commit(partition, { id: newId(), puts: [{ key, value }] }),
    value: async (key: string) => (await engine.read(partition, { keys: [key] })).entries.get(key)?.value,
    all: async () => {
      const [found = []] = (await engine.read(partition, { ranges: [{ from: "", to: "\u{10FFFF}" }] })).ranges;
      return Object.fromEntries(found.map(({ key, value }) => [key, value]));
    },
    renew: (parts: Partial<typeof NOBODY_ELSE> = {}) => renewKey({ stored: inner, engine, keyring, ...NOBODY_ELSE, ...parts }, ana, signal),
  };
}

const keysIn = async (inner: StateEngine) => rowOf((await inner.read(partition, { keys: [KEYS] })).entries.get(KEYS)?.value);

/** Ids of the keys that the partition's values are sealed under. */
async function sealedBy(inner: StateEngine): Promise<ReadonlySet<string>> {
  const [found = []] = (await inner.read(partition, { ranges: [{ from: "", to: "\u{10FFFF}" }] })).ranges;
  return new Set(found.map(({ value }) => value.slice(4, 16)));
}

/** An engine by which something happens once, between a call that `at` names and its answer, or before it goes through. */
function meanwhile(inner: StateEngine, at: { readonly behindRead?: string; readonly beforePut?: string }, happens: () => Promise<unknown>) {
  let isDone = false;
  const once = async () => {
    if (isDone) return;
    isDone = true;
    await happens();
  };
  return new Proxy(inner, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return async (...args: Parameters<StateEngine["commit"]> & Parameters<StateEngine["read"]>) => {
        const text = JSON.stringify(args);
        if (name === "commit" && at.beforePut !== undefined && text.includes(`"key":"${at.beforePut}"`)) await once();
        const answer: unknown = await method.apply(target, args);
        if (name !== "commit" && at.behindRead !== undefined && text.includes(at.behindRead)) await once();
        return answer;
      };
    },
  });
}

test("[renewed-in-use] a process that holds the key of before goes on writing, and nothing of it is sealed by that key or lost", async () => {
  const inner = shared();
  const [one, other, renewing] = [processOn(inner), processOn(inner), processOn(inner)];
  const expected: Record<string, string> = {};
  for (let n = 0; n < 250; n += 1) expected[`row/${n}`] = `of ${n}`;
  for (const [key, value] of Object.entries(expected)) await one.put(key, value);
  await other.all();
  const before = await sealedBy(inner);
  let goesOn = true;
  const turns = (async () => {
    for (let n = 0; goesOn; n += 1) {
      const { put } = n % 2 === 0 ? one : other;
      const key = `row/${(n * 7) % 300}`;
      expected[key] = `turn ${n}`;
      expect(await put(key, `turn ${n}`)).toMatchObject({ ok: true });
      // A memory answers without waiting: others have their turn.
      await new Promise(setImmediate);
    }
  })();
  const { values } = await renewing.renew();
  goesOn = false;
  await turns;
  expect(values).toBeGreaterThan(100);
  for (const id of before) expect((await sealedBy(inner)).has(id)).toBe(false);
  expect([await one.all(), await other.all(), await processOn(inner).all()]).toEqual([expected, expected, expected]);
  expect(await keysIn(inner)).toMatchObject({ keys: [{}, {}], destroyed: [...before] });
});

test("[renewed-in-use] killed before any of its commits it goes on with the key that it had made, and ends with nothing under the one before", async () => {
  for (let killed = 1; ; killed += 1) {
    const inner = shared();
    const one = processOn(inner);
    const expected: Record<string, string> = {};
    for (let n = 0; n < 230; n += 1) expected[`row/${n}`] = `of ${n}`;
    for (const [key, value] of Object.entries(expected)) await one.put(key, value);
    const [before] = await sealedBy(inner);
    const isKilled = await processOn(new CutEngine(inner, { killed }))
      .renew()
      .then(() => false)
      .catch(() => true);
    expect(await one.all()).toEqual(expected);
    const made = (await keysIn(inner)).keys.at(-1)?.id;
    if (killed > 1) expect(made).not.toBe(before);
    await processOn(inner).renew();
    expect([await one.all(), await processOn(inner).all()]).toEqual([expected, expected]);
    expect([...(await sealedBy(inner))]).not.toContain(before);
    // Only where the first one had ended another is made.
    if (killed > 1) expect((await keysIn(inner)).keys.at(-1)?.id === made).toBe(isKilled);
    if (!isKilled) break;
    expect(killed).toBeLessThan(9);
  }
});

test("[renewed-in-use] what is written or deleted while a value is being sealed anew stays so", async () => {
  for (const isDeleted of [false, true]) {
    const inner = shared();
    const one = processOn(inner);
    for (const key of ["row/1", "row/2"]) await one.put(key, "before");
    const change = isDeleted ? { deletes: ["row/1"] } : { puts: [{ key: "row/1", value: "after" }] };
    const happens = () => one.engine.commit(partition, { id: newId(), ...change });
    expect(await processOn(meanwhile(inner, { beforePut: "row/1" }, happens)).renew()).toMatchObject({ values: 1 });
    expect(await processOn(inner).all()).toEqual(isDeleted ? { "row/2": "before" } : { "row/1": "after", "row/2": "before" });
  }
});

test("[renewed-in-use] what is read while its key goes is read, also of a listing, by a process that didn't know the key", async () => {
  for (const read of ["value", "page", "partitions"] as const) {
    const inner = shared();
    const one = processOn(inner);
    for (const key of ["row/1", "row/2", "row/3"]) await one.put(key, `of ${key}`);
    const behindRead = read === "partitions" ? '"limit":9' : "row/";
    const reading = processOn(meanwhile(inner, { behindRead }, () => processOn(inner).renew())).engine;
    if (read === "partitions") expect(await reading.partitions({ key: "row/2", limit: 9 })).toEqual([{ partition, value: "of row/2" }]);
    if (read === "value") expect((await reading.read(partition, { keys: ["row/1"] })).entries.get("row/1")?.value).toBe("of row/1");
    if (read === "page") {
      const { ranges } = await reading.read(partition, { ranges: [{ from: "row/", to: "row0", limit: 2 }] });
      expect(ranges).toMatchObject([[{ value: "of row/1" }, { value: "of row/2" }]]);
    }
    expect((await keysIn(inner)).destroyed).toHaveLength(1);
  }
});

test("[renewed-in-use] [erased-by-key] who is erased in the middle stays erased: no value comes back under any key", async () => {
  for (const at of [{ beforePut: KEYS }, { beforePut: "row/1" }, { behindRead: "row/1" }]) {
    const inner = shared();
    const [one, erasing] = [processOn(inner), processOn(inner)];
    for (const key of ["row/1", "row/2"]) await one.put(key, `of ${key}`);
    const destroy = async () => {
      await erasing.keyring.destroy(partition);
      erasing.keyring.forget(partition);
    };
    const { values } = await processOn(meanwhile(inner, at, destroy)).renew();
    expect(values).toBe(0);
    expect(await keysIn(inner)).toMatchObject({ keys: [] });
    expect([await one.all(), await erasing.all(), await processOn(inner).all()]).toEqual([{}, {}, {}]);
    // Who comes back has a key that is theirs alone, and the last look of the erasure takes nothing of it.
    await one.put("row/3", "back");
    await erasing.all();
    await processOn(inner).renew();
    const left = new DestroyedValues(inner, erasing.keyring);
    await left.erase(ana);
    expect([await left.residue(ana), await one.all(), await erasing.all()]).toEqual([0, { "row/3": "back" }, { "row/3": "back" }]);
  }
});

/** Points of ana's, in a store beside the state. */
async function pointsOn(inner: StateEngine) {
  const store = await openLocalQdrant({ path: ":memory:" });
  onTestFinished(() => store.close());
  await store.client.createCollection("c", { vectors: { size: 2, distance: "Cosine" }, sparse_vectors: { bm25: { modifier: "idf" } } });
  for (const field_name of ["user_id", "entities"])
    await store.client.createPayloadIndex("c", { field_name, field_schema: "keyword", wait: true });
  const renew = () =>
    processOn(inner).renew({
      renewPoints: async (seal: RenewedSeal) => renewPoints({ name: "c", client: store.client }, { owner: ana, seal, signal }),
    } as never);
  return { store, renew };
}

const seen = (inner: StateEngine, store: VectorStore) => encryptedVectors(store, sealedOwners(processOn(inner).keyring)).client;
const point = (n: number, data: string) => ({
  id: uuid(n),
  vector: { "": [1, 0], bm25: { indices: [7], values: [1] } },
  payload: { user_id: ana, data, entities: ["Oslo"], status: "active" },
});
/** A store whose first call of that name comes only once something else has happened. */
function delayed(store: VectorStore, name: "upsert" | "setPayload", happens: () => Promise<unknown>): VectorStore {
  let calls = 0;
  const call = async (...args: readonly [string, never]) => {
    if (++calls === 1) await happens();
    return store.client[name](...args);
  };
  return { ...store, client: { ...store.client, [name]: call } as VectorClient };
}
const textOf = async (client: VectorClient, n: number) => (await client.retrieve("c", { ids: [uuid(n)] }))[0]?.payload?.data;

test("[renewed-in-use] points are sealed anew with their words and tags, and nothing is left under the key before", async () => {
  const inner = shared();
  const { store, renew } = await pointsOn(inner);
  const client = seen(inner, store);
  await client.upsert("c", { points: [1, 2, 3].map((n) => point(n, `memory ${n}`)), wait: true });
  const [before] = (await keysIn(inner)).keys.slice(-1);
  expect(await renew()).toMatchObject({ points: 3 });
  const raw = JSON.stringify((await store.client.scroll("c", { limit: 9, with_payload: true })).points);
  expect(raw).not.toContain(`~e1:${before?.id}`);
  for (const each of [client, seen(inner, store)]) {
    const asked = { query: { indices: [7], values: [1] }, using: "bm25", with_payload: true };
    const filter = {
      must: [
        { key: "user_id", match: { value: ana } },
        { key: "entities", match: { value: "Oslo" } },
      ],
    };
    const { points } = await each.query("c", { ...asked, filter });
    expect(points.map(({ payload }) => payload?.data).sort()).toEqual(["memory 1", "memory 2", "memory 3"]);
  }
});

test("[renewed-in-use] a point that is sealed by the key before, and lands once that is gone, is sealed anew by whoever wrote it", async () => {
  for (const name of ["upsert", "setPayload"] as const) {
    const inner = shared();
    const { store, renew } = await pointsOn(inner);
    await seen(inner, store).upsert("c", { points: [point(1, "before")], wait: true });
    const writing = seen(inner, delayed(store, name, renew));
    if (name === "upsert") await writing.upsert("c", { points: [point(1, "after")], update_mode: "update_only", wait: true });
    else await writing.setPayload("c", { payload: { data: "after" }, points: [uuid(1)], wait: true });
    expect([await textOf(writing, 1), await textOf(seen(inner, store), 1)]).toEqual(["after", "after"]);
  }
});

test("[renewed-in-use] what was forgotten or written while a point was being sealed anew stays so", async () => {
  for (const happens of ["deleted", "written"] as const) {
    const inner = shared();
    const { store } = await pointsOn(inner);
    const client = seen(inner, store);
    await client.upsert("c", { points: [point(1, "before")], wait: true });
    const change = async () => {
      if (happens === "deleted") await client.delete("c", { points: [uuid(1)], wait: true });
      else await client.upsert("c", { points: [point(1, "after")], wait: true });
    };
    const alone = async <T>(work: () => Promise<T>): Promise<T> => {
      await change();
      return work();
    };
    await processOn(inner).renew({
      renewPoints: async (seal: RenewedSeal) => renewPoints({ name: "c", client: store.client, alone }, { owner: ana, seal, signal }),
    } as never);
    expect(await textOf(seen(inner, store), 1)).toBe(happens === "deleted" ? undefined : "after");
  }
});

test("[renewed-in-use] a point whose key goes while it is read is read", async () => {
  const inner = shared();
  const { store, renew } = await pointsOn(inner);
  await seen(inner, store).upsert("c", { points: [point(1, "a nut allergy")], wait: true });
  let renewals = 0;
  const retrieve: VectorClient["retrieve"] = async (...args) => {
    const found = await store.client.retrieve(...args);
    if (++renewals === 1) await renew();
    return found;
  };
  expect(await textOf(seen(inner, { ...store, client: { ...store.client, retrieve } }), 1)).toBe("a nut allergy");
  expect((await keysIn(inner)).destroyed).toHaveLength(1);
});
