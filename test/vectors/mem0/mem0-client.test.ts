import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../../packages/concierge/src/categories.js";
import { memoryIdOf, type Owner, ownerOf } from "../../../src/domain/owner.js";
import { recordFrom } from "../../../src/memories/statement-record.js";
import { AsyncValue } from "../../../src/platform/async-value.js";
import { guardedClient, Mem0Client, type Mem0Scope } from "../../../src/vectors/mem0/mem0-client.js";
import { toPayload } from "../../../src/vectors/mem0/memory-payload.js";
import { NOW, said } from "../../contract/long-term.contract.js";
import { sparse } from "../../support/mem0.js";
import { VectorDouble } from "../../support/vector-double.js";

const ann = ownerOf("default", "ann");
const bob = ownerOf("default", "bob");
const DIMENSION = 4;
const VECTOR = [1, 0, 0, 0];
const ID = memoryIdOf(ann, "s", "m", 0);

function payloadOf(owner: Owner, text = "Prefers jazz in Leeds", id = ID) {
  const { source, statement } = said(owner, text);
  const claim = { id, statedAt: NOW.toISOString(), source, statement, waits: null };
  return toPayload(owner, recordFrom(claim, NOW, CONCIERGE_CATEGORIES), "embedder");
}

describe("What Mem0 itself asks of the client", () => {
  let dir: string;
  let double: VectorDouble;
  let memory: Mem0Client;
  const sent = (call: string) => double.calls.filter((recorded) => recorded.call === call);

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "maitred-mem0-"));
    double = new VectorDouble();
    memory = new Mem0Client({
      dir,
      collection: "memory",
      reads: double,
      writes: double,
      dimension: DIMENSION,
      embedder: "embedder",
      sparse,
    });
    await memory.ready();
    double.calls.length = 0;
  });
  afterEach(() => rm(dir, { recursive: true }));

  test("starting makes no request, prints nothing and leaves no history and nothing in the user's home", async () => {
    const printed = [vi.spyOn(console, "error"), vi.spyOn(console, "warn"), vi.spyOn(console, "debug")];
    await memory.add(ann, payloadOf(ann), VECTOR);
    expect(double.calls.map(({ call }) => call)).toEqual(["upsert"]);
    for (const spy of printed) expect(spy).not.toHaveBeenCalled();
    expect(await readdir(dir)).toEqual(["config.json"]);
    expect(process.env.MEM0_TELEMETRY).toBe("false");
    vi.restoreAllMocks();
  });

  test("an addition is one insert-only upsert of our id, our payload and our sparse vector, and it waits", async () => {
    const payload = payloadOf(ann);
    await memory.add(ann, payload, VECTOR);
    expect(sent("upsert").map(({ args }) => args)).toEqual([
      {
        points: [{ id: ID, vector: { "": VECTOR, bm25: sparse.documentVector(payload.data) }, payload }],
        wait: true,
        update_mode: "insert_only",
      },
    ]);
  });

  test("a search is a dense and a sparse query, each pinned to the owner, with no lookup of names", async () => {
    await memory.add(ann, payloadOf(ann), VECTOR);
    double.calls.length = 0;
    const filters = { status: "active", valid_until_ts: { gte: 1 }, type: { in: ["preference", "fact"] } };
    const { hits, foreign } = await memory.similar(ann, "Jazz in New York with Herbie Hancock", VECTOR, { filters, limit: 5 });
    expect(hits.map(({ record }) => record.id)).toEqual([ID]);
    expect(foreign).toBe(0);
    expect(double.calls.map(({ call, collection }) => [call, collection])).toEqual([
      ["query", "memory"],
      ["query", "memory"],
    ]);
    for (const { args } of sent("query")) {
      const { must } = (args as { filter: { must: unknown[] } }).filter;
      expect(must).toContainEqual({ key: "user_id", match: { value: ann } });
      expect(must).toContainEqual({ key: "status", match: { value: "active" } });
      expect(must).toContainEqual({ key: "valid_until_ts", range: { gte: 1 } });
    }
    expect(sent("query").map(({ args }) => (args as { query: unknown }).query)).toEqual([
      VECTOR,
      sparse.queryVector("Jazz in New York with Herbie Hancock"),
    ]);
  });

  test("an addition that the store refuses is an error, though Mem0 reports it as done; the next one has its sparse vector", async () => {
    double.fail = (call) => {
      if (call === "upsert") throw new Error("refused");
    };
    await expect(memory.add(ann, payloadOf(ann), VECTOR)).rejects.toThrow("refused");
    expect(sent("upsert")).toHaveLength(1);
    double.fail = () => {};
    await memory.add(ann, payloadOf(ann), VECTOR);
    expect(sent("upsert").at(-1)?.args).toMatchObject({ points: [{ vector: { bm25: { indices: expect.any(Array) } } }] });
    expect((await memory.similar(ann, "jazz", VECTOR, { filters: {}, limit: 5 })).hits).toHaveLength(1);
  });

  test("a keyword query that fails is an error, not a worse answer", async () => {
    double.fail = (call, args) => {
      if (call === "query" && (args as { using?: string }).using !== undefined) throw new Error("no keywords");
    };
    await expect(memory.similar(ann, "jazz", VECTOR, { filters: {}, limit: 5 })).rejects.toThrow("no keywords");
  });

  test("hits of somebody else, or that are no memory, are dropped and counted", async () => {
    await memory.add(ann, payloadOf(ann), VECTOR);
    const other = payloadOf(bob, "Prefers polka", memoryIdOf(bob, "s", "m", 0));
    double.answer = (points) => [
      ...points,
      { ...points[0], id: other.memory_id, payload: other, score: 1 } as never,
      { ...points[0], id: ID, payload: { user_id: ann, data: "half a memory" }, score: 1 } as never,
    ];
    const { hits, foreign } = await memory.similar(ann, "jazz", VECTOR, { filters: {}, limit: 5 });
    expect(hits.map(({ record }) => record.text)).toEqual(["Prefers jazz in Leeds"]);
    expect(foreign).toBe(4);
  });

  test("a hit that is less like the text than it must be counts only where they share a word; with no bound that can be met, none does", async () => {
    const far = [0.1, 0.9949874371066199, 0, 0];
    const texts = { near: VECTOR, "far, of jazz": far, far, "far the other way, of jazz": [-0.1, 0.9949874371066199, 0, 0] };
    for (const [n, [text, vector]] of Object.entries(texts).entries())
      await memory.add(ann, payloadOf(ann, text, memoryIdOf(ann, "s", "m", n)), vector);
    const found = async (relevantFrom?: number) => {
      const { hits } = await memory.similar(ann, "jazz", VECTOR, {
        filters: {},
        limit: 5,
        ...(relevantFrom !== undefined && { relevantFrom }),
      });
      return hits.map(({ record }) => record.text).sort();
    };
    expect(await found(0.2)).toEqual(["far the other way, of jazz", "far, of jazz", "near"]);
    expect(await found(0.05)).toEqual(["far", "far the other way, of jazz", "far, of jazz", "near"]);
    expect(await found(Number.POSITIVE_INFINITY)).toEqual([]);
    expect(await found()).toContain("far");
  });

  test("searches of many owners at once don't mix", async () => {
    const owners = Array.from({ length: 20 }, (_, n) => ownerOf("default", `user-${n}`));
    await Promise.all(
      owners.map((owner, n) => memory.add(owner, payloadOf(owner, `Prefers stage ${n}`, memoryIdOf(owner, "s", "m", n)), VECTOR)),
    );
    const found = await Promise.all(owners.map((owner) => memory.similar(owner, "stage", VECTOR, { filters: {}, limit: 50 })));
    expect(found.map(({ hits }) => hits.map(({ record }) => record.text))).toEqual(owners.map((_, n) => [`Prefers stage ${n}`]));
  });
});

describe("The guarded client", () => {
  const double = new VectorDouble();
  const scopes = new AsyncValue<Mem0Scope>();
  const client = guardedClient(scopes, sparse, DIMENSION);
  const at = { client: double, collection: "memory", owner: ann, vector: VECTOR };
  const searching = (): Mem0Scope => ({ kind: "search", ...at, text: "jazz", failures: [], foreign: { count: 0 }, upserted: 0 });
  const pin = (value: unknown) => ({ must: [{ key: "user_id", match: { value } }], should: undefined, must_not: undefined });

  beforeEach(() => {
    double.calls.length = 0;
  });

  const REFUSED: readonly (readonly [string, (c: typeof client) => Promise<unknown>])[] = [
    ["no filter", (c) => c.search("memory", { vector: VECTOR, filter: undefined, limit: 5 })],
    ["an empty filter", (c) => c.search("memory", { vector: VECTOR, filter: { must: [] }, limit: 5 })],
    ["another owner", (c) => c.search("memory", { vector: VECTOR, filter: pin(bob), limit: 5 })],
    ["every owner", (c) => c.search("memory", { vector: VECTOR, filter: pin("*"), limit: 5 })],
    ["a null owner", (c) => c.search("memory", { vector: VECTOR, filter: pin(null), limit: 5 })],
    ["two owners", (c) => c.search("memory", { vector: VECTOR, filter: { must: [...pin(ann).must, ...pin(bob).must] }, limit: 5 })],
    ["an owner in a should", (c) => c.search("memory", { vector: VECTOR, filter: { should: pin(ann).must }, limit: 5 })],
    ["owner and a should", (c) => c.search("memory", { vector: VECTOR, filter: { ...pin(ann), should: pin(bob).must }, limit: 5 })],
    [
      "any of the owners",
      (c) => c.search("memory", { vector: VECTOR, filter: { must: [{ key: "user_id", match: { any: [ann, bob] } }] }, limit: 5 }),
    ],
    ["an unknown option", (c) => c.search("memory", { vector: VECTOR, filter: pin(ann), limit: 5, offset: 10 })],
    ["an upsert during a search", (c) => c.upsert("memory", { points: [] })],
    ["another query", (c) => c.query("memory", { query: VECTOR, filter: pin(ann), limit: 5, with_payload: true })],
    ["a list", (c) => c.scroll("memory", { limit: 5, filter: pin(ann) })],
    ["a read by id", (c) => c.retrieve("memory", { ids: [ID] })],
    ["a deletion", (c) => c.delete("memory", { points: [ID] })],
    ["deleting the collection", (c) => c.deleteCollection("memory")],
  ];
  test.each(REFUSED)("refuses, and never asks the store: %s", async (_name, call) => {
    const scope = searching();
    await scopes.run(scope, () => call(client)).catch(() => undefined);
    expect(scope.failures).toHaveLength(1);
    expect(double.calls).toEqual([]);
  });

  test("refuses everything outside of a scope, and collections that it doesn't know", async () => {
    await expect(client.search("memory", { vector: VECTOR, filter: pin(ann), limit: 5 })).rejects.toMatchObject({
      code: "LONG_TERM_MEMORY_UNAVAILABLE",
    });
    await expect(
      scopes.run(searching(), () => client.search("history", { vector: VECTOR, filter: pin(ann), limit: 5 })),
    ).rejects.toMatchObject({
      code: "LONG_TERM_MEMORY_UNAVAILABLE",
    });
    expect(double.calls).toEqual([]);
  });

  test("refuses to store a memory of another owner, id or text than the one at hand", async () => {
    const good = payloadOf(ann);
    const point = (payload: object) => ({
      points: [{ id: ID, vector: { "": VECTOR, bm25: { text: "x", model: "Qdrant/bm25" } }, payload }],
    });
    for (const bad of [
      payloadOf(bob),
      { ...good, memory_id: memoryIdOf(ann, "s", "m", 1) },
      { ...good, data: "Prefers polka" },
      { data: "x" },
    ]) {
      const scope: Mem0Scope = {
        kind: "add",
        ...at,
        text: good.data,
        memoryId: ID,
        failures: [],
        foreign: { count: 0 },
        upserted: 0,
      };
      await scopes.run(scope, () => client.upsert("memory", point(bad)));
      expect(scope.failures).toHaveLength(1);
    }
    expect(double.calls).toEqual([]);
  });

  test("answers for Mem0's own collections locally, and for ours without asking", async () => {
    await expect(client.createCollection("memory", {})).rejects.toMatchObject({ status: 409 });
    await expect(client.getCollection("memory")).resolves.toMatchObject({ config: { params: { vectors: { size: DIMENSION } } } });
    await expect(client.createPayloadIndex("memory", {})).resolves.toBe(true);
    await expect(client.scroll("memory_migrations", {})).resolves.toEqual({ points: [] });
    await expect(client.search("memory_entities", {})).resolves.toEqual([]);
    expect(double.calls).toEqual([]);
  });
});
