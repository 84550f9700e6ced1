import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Point, VectorStore } from "../../src/ports/vectors.js";
import { ofUser, uuid, vectorsContract } from "../../src/testing/vectors-contract.js";
import { openChroma } from "../../src/vectors/chroma/chroma.js";
import { chromaDriver } from "../../src/vectors/chroma/chroma-driver.js";
import { CHROMA, type ChromaServer, openChromaServer } from "../support/chroma-server.js";
import { needing } from "../support/needing.js";

const CANARY = "heliotrope-47";

needing("chroma", "clouds")("Chroma", () => {
  let server: ChromaServer;
  beforeAll(async () => {
    server = await openChromaServer();
  });
  afterAll(() => server.close());

  /** Chroma as somebody else uses it. */
  const theirs = async () => {
    const { ChromaClient } = await chromaDriver();
    return new ChromaClient({ host: "127.0.0.1", port: Number(new URL(server.url).port), ssl: false });
  };
  const made = async (store: VectorStore, name: string) => {
    await store.client.createCollection(name, {
      vectors: { size: 2, distance: "Cosine" },
      sparse_vectors: { bm25: { modifier: "idf" } },
    });
    await store.client.createPayloadIndex(name, { field_name: "user_id", field_schema: { type: "keyword", is_tenant: true } });
  };
  const point = (n: number, user: string, text = "", dense = [1, n]): Point => ({
    id: uuid(n),
    vector: { "": dense, bm25: { indices: [n], values: [1] } },
    payload: { user_id: user, text },
  });
  const textsOf = async (store: VectorStore, name: string, user = "ana") => {
    const { points } = await store.client.query(name, { query: [1, 0], filter: ofUser(user), with_payload: true });
    return points.map(({ payload }) => payload?.text);
  };

  vectorsContract("Chroma", () => server.open(), { supports: { idf_of_all: "how rare a word is is counted in one owner's points" } });

  test("what another process wrote, changed or deleted is seen by the next search; others' points are not read for it", async () => {
    const [one, other] = [await server.open(), await server.open()];
    await made(one, "shared");
    await one.client.upsert("shared", { points: [point(1, "ana", "first"), point(9, "ben", "theirs")] });
    expect(await textsOf(other, "shared")).toEqual(["first"]);
    await one.client.upsert("shared", { points: [point(2, "ana", "second")] });
    expect(await textsOf(other, "shared")).toEqual(["first", "second"]);
    await one.client.setPayload("shared", { points: [uuid(1)], payload: { text: "changed" } });
    expect(await textsOf(other, "shared")).toEqual(["changed", "second"]);
    await one.client.delete("shared", { filter: ofUser("ana", { has_id: [uuid(1)] }) });
    expect(await textsOf(other, "shared")).toEqual(["second"]);
    expect(await textsOf(other, "shared", "ben")).toEqual(["theirs"]);
    // By words of theirs alone.
    const words = { query: { indices: [2], values: [1] }, using: "bm25", filter: ofUser("ana") };
    expect((await other.client.query("shared", words)).points).toMatchObject([{ id: uuid(2) }]);
    // Made anew: told once, then used.
    await one.client.deleteCollection("shared");
    await made(one, "shared");
    await expect(other.client.count("shared", {})).rejects.toMatchObject({ status: 404 });
    expect(await other.client.count("shared", {})).toEqual({ count: 0 });
    await one.close();
    await other.close();
  });

  test("of a point whose old record a crash left behind the new one counts, once, and both go when it is written or deleted", async () => {
    const store = await server.open();
    await made(store, "left");
    const raw = await (await theirs()).getCollection({ name: "left" });
    const count = async () => (await raw.get({ include: [] })).ids.length;
    const leave = async () => {
      await store.client.upsert("left", { points: [point(1, "ana", "old")] });
      const { ids, metadatas, embeddings } = await raw.get({ include: ["metadatas", "embeddings"] });
      await store.client.upsert("left", { points: [point(1, "ana", "new")] });
      await raw.add({ ids, metadatas: metadatas.map((each) => each ?? {}), embeddings });
      expect(await count()).toBe(2);
    };
    await leave();
    expect(await textsOf(store, "left")).toEqual(["new"]);
    expect(await store.client.count("left", { exact: true })).toEqual({ count: 1 });
    expect(await store.client.retrieve("left", { ids: [uuid(1)] })).toMatchObject([{ payload: { text: "new" } }]);
    await store.client.setPayload("left", { points: [uuid(1)], payload: { text: "newer" } });
    expect(await count()).toBe(1);
    expect(await textsOf(store, "left")).toEqual(["newer"]);
    await leave();
    await store.client.delete("left", { filter: ofUser("ana") });
    expect(await count()).toBe(0);
    await store.close();
  });

  test("a deleted text stays in its file, as the store says, until its log was pushed on and `chroma vacuum` has run", async () => {
    const own = await openChromaServer();
    try {
      const store = await own.open();
      await made(store, "things");
      await store.client.upsert("things", { points: [point(1, "ben", "stays")] });
      for (let n = 2; n < 20; n++) await store.client.upsert("things", { points: [point(n, "ana", `${CANARY} ${n}`)] });
      expect(await filesWith(own.dir, CANARY)).not.toEqual([]);
      await store.client.delete("things", { filter: ofUser("ana") });
      expect(await filesWith(own.dir, CANARY)).not.toEqual([]);
      expect(store.keepsDeleted).toMatch(/chroma vacuum/);
      await store.scrub?.();
      await promisify(execFile)(CHROMA, ["vacuum", "--force", "--path", own.dir]);
      expect(await filesWith(own.dir, CANARY)).toEqual([]);
      expect(await textsOf(store, "things", "ben")).toEqual(["stays"]);
      expect(await store.client.count("things", { exact: true })).toEqual({ count: 1 });
      await store.close();
    } finally {
      await own.close();
    }
  });

  test("a collection of somebody else's is left alone, and said to be that", async () => {
    const configuration = { hnsw: { space: "ip", sync_threshold: 1_000 } } as const;
    await (await theirs()).createCollection({ name: "memory", metadata: { made: "by hand" }, configuration, embeddingFunction: null });
    const store = await server.open();
    await expect(store.client.collectionExists("memory")).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringContaining("not Maitred's"),
    });
    await store.close();
  });

  test("a server that goes away is told by calls and health, and used again when it is back", async () => {
    const own = await openChromaServer();
    try {
      const store = await own.open({ timeoutMs: 2_000 });
      await made(store, "things");
      await own.kill();
      await expect(store.client.count("things", {})).rejects.toMatchObject({ name: "VectorStoreError", status: 0 });
      expect(await store.health()).toMatchObject({ status: "down" });
      const early = await own.open({ timeoutMs: 2_000 });
      await own.start();
      expect(await early.client.count("things", {})).toEqual({ count: 0 });
      expect(await store.health()).toEqual({ status: "ok" });
      own.hang();
      const controller = new AbortController();
      const call = store.withSignal(controller.signal, () => store.client.count("things", {}));
      controller.abort("enough");
      await expect(call).rejects.toMatchObject({ code: "ABORTED", cause: "enough" });
      await expect(store.client.count("things", {})).rejects.toMatchObject({
        status: 0,
        message: expect.stringContaining("within 2000 ms"),
      });
      own.goOn();
      await store.close();
      await expect(store.client.count("things", {})).rejects.toMatchObject({ status: 503 });
    } finally {
      await own.close();
    }
  });

  test("an older server ends the start with what to do, and so does an address that is none", async () => {
    const old = createServer((_, response) => response.setHeader("Content-Type", "application/json").end('"0.6.3"')).listen(0, "127.0.0.1");
    await new Promise((resolve) => old.once("listening", resolve));
    const url = `http://127.0.0.1:${(old.address() as AddressInfo).port}`;
    await expect(openChroma({ url, timeoutMs: 1_000, cacheBytes: 1 })).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      message: expect.stringContaining("0.6.3"),
      hint: "Use Chroma 1.0 or newer.",
    });
    old.close();
    await expect(openChroma({ url: "chroma:8000", timeoutMs: 1_000, cacheBytes: 1 })).rejects.toMatchObject({ code: "INVALID_CONFIG" });
  });
});

async function filesWith(dir: string, text: string): Promise<string[]> {
  const files = (await readdir(dir, { recursive: true, withFileTypes: true })).filter((each) => each.isFile());
  const found = await Promise.all(
    files.map(async ({ parentPath, name }) => ((await readFile(join(parentPath, name))).includes(text) ? [name] : [])),
  );
  return found.flat();
}
