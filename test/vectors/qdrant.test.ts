import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { VectorStore } from "../../src/ports/vectors.js";
import { uuid, vectorsContract } from "../../src/testing/vectors-contract.js";
import { openQdrant } from "../../src/vectors/qdrant/qdrant.js";
import { openQdrantHttp, type QdrantHttp } from "../support/qdrant-http.js";
import { openQdrantServer, QDRANT_SERVER } from "../support/qdrant-server.js";

vectorsContract(QDRANT_SERVER, openQdrantServer);

describe("the real client", () => {
  let http: QdrantHttp;
  let store: VectorStore;
  beforeEach(async () => {
    http = await openQdrantHttp();
    store = await openQdrant({ url: http.url, timeoutMs: 300 });
    await http.client.createCollection("things", { vectors: { size: 2, distance: "Cosine" } });
  });
  afterEach(async () => {
    await store.close();
    await http.close();
  });
  const upsert = () => store.client.upsert("things", { points: [{ id: uuid(1), vector: [1, 0] }], wait: true, update_mode: "insert_only" });

  test("sends what it is asked for, once, where Qdrant takes it", async () => {
    await upsert();
    await store.client.query("things", { query: [1, 0], limit: 3, with_payload: true });
    const calls = http.requests.filter(({ path }) => path !== "/");
    expect(calls.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
      {
        method: "PUT",
        path: "/collections/things/points?wait=true",
        body: { points: [{ id: uuid(1), vector: [1, 0] }], update_mode: "insert_only" },
      },
      { method: "POST", path: "/collections/things/points/query", body: { query: [1, 0], limit: 3, with_payload: true } },
    ]);
  });

  test("creates collections in strict mode, so that no filter goes without an index", async () => {
    await store.client.createCollection("strict", { vectors: { size: 2, distance: "Cosine" } });
    expect(http.requests.at(-1)?.body).toMatchObject({ strict_mode_config: { enabled: true, unindexed_filtering_retrieve: false } });
  });

  test.each([
    [{ type: "status", status: 500 } as const, 500],
    [{ type: "status", status: 503 } as const, 503],
    [{ type: "status", status: 429 } as const, 429],
    [{ type: "status", status: 429, headers: { "retry-after": "1" } } as const, 429],
    [{ type: "malformed" } as const, 0],
    [{ type: "empty" } as const, 0],
    [{ type: "reset" } as const, 0],
    [{ type: "refuse" } as const, 0],
    [{ type: "hang" } as const, 0],
  ])("a server that does %j is an error with status %i, not an empty answer", async (fault, status) => {
    http.fault(fault);
    await expect(store.client.query("things", { query: [1, 0] })).rejects.toMatchObject({ name: "VectorStoreError", status });
    http.fault(null);
    expect(await store.client.query("things", { query: [1, 0] })).toMatchObject({ points: [] });
  });

  test("an abort ends a call that hangs with ABORTED, and its signal's reason", async () => {
    http.fault({ type: "hang" });
    const controller = new AbortController();
    const call = store.withSignal(controller.signal, upsert);
    await http.seen(2);
    controller.abort("enough");
    await expect(call).rejects.toMatchObject({ code: "ABORTED", cause: "enough" });
  });

  test("a call inside an aborted signal is never sent", async () => {
    await expect(store.withSignal(AbortSignal.abort(), upsert)).rejects.toMatchObject({ code: "ABORTED" });
    expect(http.requests).toHaveLength(1);
  });

  test("an inner signal doesn't take the outer one's place", async () => {
    const outer = AbortSignal.abort();
    const call = store.withSignal(outer, () => store.withSignal(new AbortController().signal, upsert));
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
  });

  test("closing ends the calls that hang", async () => {
    http.fault({ type: "hang" });
    const call = upsert();
    const ended = expect(call).rejects.toMatchObject({ name: "VectorStoreError", status: 0 });
    await http.seen(2);
    await store.close();
    await ended;
  });

  test("the key goes with every call and stands in no location and no error", async () => {
    const keyed = await openQdrant({ url: http.url, apiKey: "s3cret", timeoutMs: 300 });
    http.fault({ type: "status", status: 403 });
    const error: unknown = await keyed.client.count("things", {}).catch((thrown: unknown) => thrown);
    expect(http.requests.at(-1)?.headers["api-key"]).toBe("s3cret");
    expect(`${keyed.location} ${String(error)}`).not.toContain("s3cret");
    await keyed.close();
  });
});

describe("the server's version", () => {
  test.each(["1.16.3", "0.11.0"])("%s is refused at start", async (version) => {
    const http = await openQdrantHttp({ version });
    try {
      await expect(openQdrant({ url: http.url, timeoutMs: 1_000 })).rejects.toMatchObject({ code: "QDRANT_TOO_OLD" });
    } finally {
      await http.close();
    }
  });

  test("a server that is down at start is asked when it is back, and refused then if it is too old", async () => {
    const http = await openQdrantHttp({ version: "1.10.0" });
    try {
      http.fault({ type: "refuse" });
      const store = await openQdrant({ url: http.url, timeoutMs: 1_000 });
      expect(await store.health()).toMatchObject({ status: "down" });
      await expect(store.client.count("things", {})).rejects.toMatchObject({ status: 0 });
      http.fault(null);
      await expect(store.client.count("things", {})).rejects.toMatchObject({ code: "QDRANT_TOO_OLD" });
      await store.close();
    } finally {
      await http.close();
    }
  });

  test.each([
    ["http://127.0.0.1:1", "http://127.0.0.1:1"],
    ["http://127.0.0.1", "http://127.0.0.1:6333"],
    ["http://127.0.0.1:80/qdrant/", "http://127.0.0.1:80/qdrant"],
  ])("%s is found at %s", async (given, location) => {
    const store = await openQdrant({ url: given, timeoutMs: 50 });
    expect(store.location).toBe(location);
    await store.close();
  });

  test("an address that is no URL is an error of configuration", async () => {
    await expect(openQdrant({ url: "qdrant:6333", timeoutMs: 50 })).rejects.toMatchObject({ code: "INVALID_CONFIG" });
  });
});
