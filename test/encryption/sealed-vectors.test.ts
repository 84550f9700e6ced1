import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { type Composed, compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { encryptionOf } from "../../src/compose/encryption-commands.js";
import { ownerOf } from "../../src/domain/owner.js";
import type { VectorStore } from "../../src/ports/vectors.js";
import { sealedOwners } from "../../src/state/encryption/sealed-journals.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { ofUser, uuid } from "../../src/testing/vectors-contract.js";
import { denseInMemory } from "../../src/vectors/encrypted/dense-in-memory.js";
import { encryptedVectors } from "../../src/vectors/encrypted/encrypted-vectors.js";
import { openLocalQdrant } from "../../src/vectors/local/local-qdrant.js";
import { CANARY, tell } from "../support/a-life.js";
import { byWords } from "../support/by-words.js";
import { encryptedForTest, MASTER_KEY } from "../support/encryption.js";

const alice = ownerOf("default", "alice");
const bob = ownerOf("default", "bob");
const quiet = { signal: new AbortController().signal, onProgress: () => {} };

let base = "";
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "maitred-vectors-"));
  await writeFile(join(base, "key"), MASTER_KEY);
});
afterEach(() => rm(base, { recursive: true, force: true }));

type Env = Readonly<Record<string, string>>;
const SEALED = { ENCRYPT_VECTORS: "true" };
const configOf = (env: Env) =>
  parseConfig(
    byWords({ MEMORY_STORAGE_DIR: join(base, "storage"), RECALL_DEADLINE_MS: "5000", ENCRYPTION_KEY_FILE: join(base, "key"), ...env }),
  );
async function start(env: Env): Promise<Composed> {
  const application = await compose(configOf(env));
  onTestFinished(() => application.close({ drainMs: 0 }).catch(() => undefined));
  return application;
}

/** The dense vectors of what says words, as they lie in the file, each once. */
async function storedVectors(): Promise<ReadonlySet<string>> {
  const store = await openLocalQdrant({ path: join(base, "storage", "vectors.db") });
  const found = new Set<string>();
  for (const collection of ["memories", "history"]) {
    if (!(await store.client.collectionExists(collection)).exists) continue;
    const { points } = await store.client.scroll(collection, { limit: 1_000, with_payload: true, with_vector: true });
    for (const { payload, vector } of points)
      if (payload?._sealed !== undefined)
        found.add(JSON.stringify(Array.isArray(vector) ? vector : (vector as Record<string, number[]>)[""]));
  }
  await store.close();
  return found;
}

async function lived(env: Env): Promise<void> {
  const application = await start(env);
  await tell(application, alice, `I prefer ${CANARY} and quiet aisles.`);
  await tell(application, bob, "I prefer the front row at the opera.");
  await application.close({ drainMs: 5_000 });
}

async function foundBy(env: Env): Promise<readonly string[]> {
  const application = await start(env);
  const found = await application.history.search(alice, { query: "somewhere calm to sit" });
  const memories = await application.memories.search(alice, { text: "somewhere calm to sit" });
  await application.close({ drainMs: 5_000 });
  return [...found.map(({ content }) => content), ...memories.map(({ text }) => text)];
}

test("[sealed-at-rest] with ENCRYPT_VECTORS no dense vector tells two texts apart, and what is alike is found as without", async () => {
  await lived(SEALED);
  expect((await storedVectors()).size).toBe(1);
  const sealed = await foundBy(SEALED);
  await rm(join(base, "storage"), { recursive: true });
  await lived({});
  expect((await storedVectors()).size).toBeGreaterThan(2);
  expect(sealed).toEqual(await foundBy({}));
  expect(sealed.join()).toContain(CANARY);
});

test("vectors in clear are sealed in place; a start that expects another state of them ends, and changes nothing", async () => {
  await lived({});
  await expect(start(SEALED)).rejects.toThrow("ENCRYPT_VECTORS: true, and dense vectors are in clear.");
  await expect(start({ ...SEALED, ENCRYPTION_KEY_FILE: "" })).rejects.toThrow("there is no master key");
  const before = await foundBy({});
  expect((await encryptionOf(configOf(SEALED)).encrypt(quiet)).points).toBeGreaterThan(2);
  expect((await storedVectors()).size).toBe(1);
  expect(await foundBy(SEALED)).toEqual(before);
  await expect(start({})).rejects.toThrow("ENCRYPT_VECTORS: false, and dense vectors are encrypted.");
  await expect(encryptionOf(configOf({})).encrypt(quiet)).rejects.toThrow("ENCRYPT_VECTORS: false");
  await encryptionOf(configOf(SEALED)).renew(alice, quiet);
  expect(await foundBy(SEALED)).toEqual(before);
});

test("a search reads what it does not hold, and no more; what another process wrote or deleted counts at once", async () => {
  const { keyring } = await encryptedForTest(new MemoryEngine());
  const inner = await openLocalQdrant({ path: ":memory:" });
  onTestFinished(() => inner.close());
  let read = 0;
  const counted: VectorStore = {
    ...inner,
    client: {
      ...inner.client,
      retrieve: async (collection, args) => {
        const points = await inner.client.retrieve(collection, args);
        if (args.with_vector === true) read += points.length;
        return points;
      },
    },
  };
  const processes = [1, 2].map(() => denseInMemory(2 ** 20)(encryptedVectors(counted, sealedOwners(keyring))).client);
  const [here, there] = processes as [VectorStore["client"], VectorStore["client"]];
  await here.createCollection("c", { vectors: { size: 2, distance: "Cosine" } });
  await here.createPayloadIndex("c", { field_name: "user_id", field_schema: "keyword", wait: true });
  const point = (n: number, vector: number[], owner = "ana") => ({ id: uuid(n), vector, payload: { user_id: owner, data: `text ${n}` } });
  await here.upsert("c", { points: [point(1, [3, 0]), point(2, [3, 4]), point(3, [0, 2], "ben")] });
  const nearest = async () =>
    (await here.query("c", { query: [1, 0], filter: ofUser("ana"), with_payload: ["data"] })).points.map(({ payload, score }) => [
      payload?.data,
      Number(score.toFixed(3)),
    ]);
  expect(await nearest()).toEqual([
    ["text 1", 1],
    ["text 2", 0.6],
  ]);
  expect(read).toBe(2);
  await nearest();
  expect(read).toBe(2);
  await there.upsert("c", { points: [point(2, [-1, 0]), point(4, [2, 1])] });
  await there.delete("c", { points: [uuid(1)] });
  expect(await nearest()).toEqual([
    ["text 4", 0.894],
    ["text 2", -1],
  ]);
  expect(read).toBe(4);
  // Another owner's erasure costs this one nothing.
  await here.delete("c", { filter: ofUser("ben") });
  await nearest();
  expect(read).toBe(4);
});
