// Over 300 lines: where entries lie, and what is read and remembered of them, behind each kind of commit.
import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { StoredEntry } from "../../../src/state/engine.js";
import {
  type Container,
  type CosmosClient,
  cosmosClient,
  type Item,
  type Operation,
} from "../../../src/state/engines/cosmos/cosmos-client.js";
import { NO_ENTRIES } from "../../../src/state/engines/cosmos/inline-entries.js";
import { RememberedEntries } from "../../../src/state/engines/cosmos/remembered-entries.js";
import { headOf } from "../../../src/state/engines/cosmos/stored-item.js";
import { MemoryEngine } from "../../../src/state/engines/memory/memory-engine.js";
import { EMPTY_HEAD } from "../../../src/state/partition-head.js";
import { COSMOS_KEY, type CosmosServer, openCosmosServer } from "../../support/cosmos-server.js";
import { needing } from "../../support/needing.js";

const HEAD_BYTES = 16_384;
/** More than an entry in the head may have. */
const LONG = "L".repeat(20_000);
const ALL = { from: "", to: "\u{10FFFF}" };

needing("cosmos")("Cosmos DB, entries in the head and beside it", () => {
  let server: CosmosServer;
  beforeAll(async () => {
    server = await openCosmosServer();
  });
  afterAll(() => server.close());
  const withContainer = async <T>(database: string, work: (container: Container) => Promise<T>): Promise<T> => {
    const client = await cosmosClient({ endpoint: server.endpoint, key: COSMOS_KEY }, 10_000);
    const { database: found } = await client.databases.createIfNotExists({ id: database });
    const { container } = await found.containers.createIfNotExists({ id: "maitred", partitionKey: { paths: ["/partition"] } });
    return work(container).finally(() => client.dispose());
  };
  /** The items themselves. */
  const items = (database: string, partition: string): Promise<readonly Item[]> =>
    withContainer(database, async (container) => {
      const parameters = [{ name: "@partition", value: partition }];
      const query = { query: "SELECT * FROM c WHERE c.partition = @partition", parameters };
      return (await container.items.query(query, { partitionKey: partition }).fetchAll()).resources;
    });
  const shape = async (database: string, partition = "o:a") => {
    const all = await items(database, partition);
    const head = all.find(({ id }) => id === "head");
    expect(Buffer.byteLength(JSON.stringify(head))).toBeLessThanOrEqual(HEAD_BYTES);
    const { entries = new Map<string, StoredEntry>(), spilled = {} } = headOf(head).tag?.inline ?? {};
    const outside = all.filter(({ id }) => id !== "head").map(({ key }) => String(key));
    return { inline: [...entries.keys()], outside, text: JSON.stringify([all, [...entries.values()], spilled]) };
  };
  /** Text that can't be packed, the same for the same seed. */
  const noise = (seed: string, length: number) =>
    Array.from({ length: Math.ceil(length / 64) }, (_, index) => createHash("sha512").update(`${seed} ${index}`).digest("base64url"))
      .join("")
      .slice(0, length);
  const put = (key: string, value: string) => ({ id: `put ${key} ${value.length} ${value[0]}`, puts: [{ key, value }] });

  test("what does not fit is given items of its own, and all comes back in order, page by page, in any process", async () => {
    const engine = await server.open("fits");
    const keys = Array.from({ length: 30 }, (_, index) => `note/${String(index).padStart(3, "0")}`);
    for (const key of keys) await engine.commit("o:a", put(key, noise(key, 1_000)));
    const { inline, outside } = await shape("fits");
    expect([...inline, ...outside].sort()).toEqual(keys);
    expect(inline.length).toBeGreaterThan(2);
    expect(outside.length).toBeGreaterThan(inline.length);
    for (const reader of [engine, await server.open("fits")])
      for (const reverse of [false, true]) {
        const order = reverse ? [...keys].reverse() : keys;
        for (const limit of [1, 7, 29, 30, 31, undefined]) {
          const range = { from: "note/", to: "note0", reverse, ...(limit !== undefined && { limit }) };
          const { ranges } = await reader.read("o:a", { ranges: [range] });
          expect(ranges[0]?.map(({ key }) => key)).toEqual(order.slice(0, limit));
          expect(ranges[0]?.every(({ key, value }) => value === noise(key, 1_000))).toBe(true);
        }
      }
  });

  test("a commit that nobody waits for clears the head of what was put once, and leaves what is rewritten", async () => {
    const engine = await server.open("background");
    for (const id of ["1", "2"]) await engine.commit("o:a", { id, puts: [{ key: "row", value: noise(id, 2_000) }] });
    for (const key of ["said/1", "said/2"]) await engine.commit("o:a", put(key, noise(key, 1_000)));
    expect(await shape("background")).toMatchObject({ inline: ["row", "said/1", "said/2"], outside: [] });
    await engine.commit("o:a", { ...put("small", "s"), durability: "relaxed" });
    expect(await shape("background")).toMatchObject({ inline: ["row", "small"], outside: ["said/1", "said/2"] });
  });

  test("a value that grows leaves the head, one that shrinks comes back, and what is deleted is nowhere", async () => {
    const engine = await server.open("grows");
    await engine.commit("o:a", put("a/1", "small"));
    expect(await shape("grows")).toMatchObject({ inline: ["a/1"], outside: [] });
    await engine.commit("o:a", put("a/1", LONG));
    expect(await shape("grows")).toMatchObject({ inline: [], outside: ["a/1"] });
    await engine.commit("o:a", put("a/1", "tiny"));
    const shrunk = await shape("grows");
    expect(shrunk).toMatchObject({ inline: ["a/1"], outside: [] });
    expect(shrunk.text).not.toContain("LLL");
    await engine.commit("o:a", { ...put("b/1", "M".repeat(20_000)), deletes: ["a/1"] });
    await engine.commit("o:a", { id: "gone", deletes: ["b/1"] });
    const { inline, outside, text } = await shape("grows");
    expect([...inline, ...outside]).toEqual([]);
    expect(text).not.toMatch(/tiny|MMM/);
  });

  test("who has not seen a key writes over it where it lies, in the head or beside it", async () => {
    const [one, other] = [await server.open("blind"), await server.open("blind")];
    await one.commit("o:a", { id: "1", puts: [...put("a/1", LONG).puts, ...put("a/2", "small").puts] });
    await other.commit("o:a", { id: "2", puts: [...put("a/1", "new 1").puts, ...put("a/2", "new 2").puts] });
    const { inline, outside, text } = await shape("blind");
    expect([...inline, ...outside].sort()).toEqual(["a/1", "a/2"]);
    expect(text).not.toMatch(/LLL|small/);
    for (const reader of [one, other]) {
      const { entries } = await reader.read("o:a", { keys: ["a/1", "a/2"] });
      expect([...entries.values()].map(({ key, value }) => [key, value]).sort()).toEqual([
        ["a/1", "new 1"],
        ["a/2", "new 2"],
      ]);
    }
  });

  test("as many operations as a commit takes are one batch, however full the head is", async () => {
    const engine = await server.open("full");
    const puts = (word: string) =>
      Array.from({ length: 99 }, (_, index) => ({ key: `${word}/${index}`, value: noise(`${word} ${index}`, 120) }));
    for (const word of ["one", "two", "three"]) {
      await engine.commit("o:a", { id: word, puts: puts(word) });
      server.requests.length = 0;
      await engine.commit("o:a", { id: `${word} again`, puts: puts(word) });
      expect(Math.max(...server.requests.map(({ bytes }) => bytes.length))).toBeLessThanOrEqual(100);
      const { inline, outside } = await shape("full");
      expect(new Set([...inline, ...outside]).size).toBe(inline.length + outside.length);
    }
    const { ranges } = await engine.read("o:a", { ranges: [ALL] });
    expect(ranges[0]).toHaveLength(3 * 99);
  });

  test("a commit that only deletes is one batch, whatever else lies in the head", async () => {
    const engine = await server.open("deletes");
    const long = Array.from({ length: 96 }, (_, index) => `long/${index}`);
    await engine.commit("o:a", { id: "long", puts: long.map((key) => ({ key, value: LONG })) });
    const small = Array.from({ length: 50 }, (_, index) => `small/${index}`);
    await engine.commit("o:a", { id: "small", puts: small.map((key) => ({ key, value: "s".repeat(40) })) });
    expect((await shape("deletes")).inline).toEqual(small);
    server.requests.length = 0;
    expect(await engine.commit("o:a", { id: "gone", deletes: long })).toMatchObject({ ok: true });
    expect(server.requests.map(({ bytes }) => bytes.length)).toEqual([97]);
    const { inline, outside } = await shape("deletes");
    expect([...inline, ...outside].sort()).toEqual([...small].sort());
  });

  test("keys of more kinds than a head tells apart are read, written over and erased", async () => {
    const engine = await server.open("kinds");
    const keys = Array.from({ length: 30 }, (_, index) => `kind-${String(index).padStart(2, "0")}/1`);
    await engine.commit("o:a", { id: "1", puts: keys.map((key) => ({ key, value: LONG })) });
    const [head] = (await items("kinds", "o:a")).filter(({ id }) => id === "head");
    expect(head).not.toHaveProperty("spilled");
    const other = await server.open("kinds");
    await other.commit("o:a", { ...put(keys[0] ?? "", "new"), deletes: keys.slice(1, 2) });
    for (const reader of [engine, other]) {
      const { ranges } = await reader.read("o:a", { ranges: [ALL] });
      expect(ranges[0]?.map(({ key }) => key)).toEqual(keys.filter((_, index) => index !== 1));
      expect(ranges[0]?.[0]?.value).toBe("new");
    }
    expect(await other.erase("o:a")).toBe(29);
    expect(await shape("kinds")).toMatchObject({ inline: [], outside: [] });
  });

  test.each([
    [4, /version 4, .* knows 5\./],
    [1_000, /version 1000; .* knows 5\./],
  ])("a start on what another version wrote (%i) says so; a look at the health leaves it as it is", async (layout, said) => {
    const database = `layout-${layout}`;
    const engine = await server.open(database);
    await withContainer(database, async (container) => {
      const installation = container.item("installation", "installation");
      const { resource } = await installation.read();
      await container.items.batch([{ operationType: "Upsert", resourceBody: { ...resource, layout } }], "installation");
      expect(await engine.health()).toEqual({ status: "ok" });
      expect((await installation.read()).resource).toMatchObject({ layout, beatAtMs: expect.any(Number) });
    });
    await expect(server.open(database)).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringMatching(said),
      hint: expect.stringContaining("COSMOS_DATABASE"),
    });
  });

  test("who has only claimed a partition finds that a key is there", async () => {
    const [one, other] = [await server.open("claimed"), await server.open("claimed")];
    await one.commit("o:a", { ...put("x/1", "first"), dueAtMs: 1 });
    expect(await other.due(Date.now(), 1, 1_000)).toMatchObject([{ partition: "o:a" }]);
    const made = { ...put("x/1", "second"), checks: [{ key: "x/1", version: null }] };
    expect(await other.commit("o:a", made)).toMatchObject({ ok: false, refused: "checks", keys: ["x/1"] });
    expect((await one.read("o:a", { keys: ["x/1"] })).entries.get("x/1")?.value).toBe("first");
  });

  test("partitions are found by a key wherever it lies", async () => {
    const engine = await server.open("found");
    for (const key of ["name", "path/name"])
      for (const [partition, size] of [
        ["o:a", 20_000],
        ["o:b", 1],
        ["o:c", 5_000],
      ] as const)
        await engine.commit(partition, put(key, "v".repeat(size)));
    for (const key of ["name", "path/name"]) {
      const found = await engine.partitions({ key, limit: 10 });
      expect(found.map(({ partition, value }) => [partition, value.length])).toEqual([
        ["o:a", 20_000],
        ["o:b", 1],
        ["o:c", 5_000],
      ]);
      expect((await engine.partitions({ key, limit: 1, after: "o:a" })).map(({ partition }) => partition)).toEqual(["o:b"]);
    }
  });

  test("what an erasure leaves names no key", async () => {
    const engine = await server.open("erased");
    for (let index = 0; index < 20; index++)
      await engine.commit("o:a", { ...put(`secret/${index}`, `word${index} ${noise(`${index}`, 1_000)}`), id: `${index}` });
    await engine.erase("o:a");
    const { inline, outside, text } = await shape("erased");
    expect([...inline, ...outside]).toEqual([]);
    expect(text).not.toMatch(/secret|word/);
    await engine.commit("o:a", put("after/1", "new"));
    expect(await shape("erased")).toMatchObject({ inline: ["after/1"], outside: [] });
  });

  test("who reads while another process erases remembers nothing of it", async () => {
    const other = await server.open("while");
    const keys = Array.from({ length: 50 }, (_, index) => `long/${index}`);
    const read = async () => (await other.read("o:a", { keys })).entries.size;
    const seen: number[] = [];
    const connect = async (...address: Parameters<typeof cosmosClient>) =>
      beforeBatches(await cosmosClient(...address), async (operations) => {
        if (operations.some(({ operationType }) => operationType === "Delete")) seen.push(await read());
      });
    const one = await server.open("while", { connect });
    await one.commit("o:a", { id: "1", puts: keys.map((key) => ({ key, value: LONG })) });
    expect(await one.erase("o:a")).toBe(keys.length);
    expect(seen).toEqual([keys.length]);
    expect(await read()).toBe(0);
  });

  describe("a process remembers nothing", () => {
    afterEach(() => vi.restoreAllMocks());
    /** What is remembered for those who believe that it is as it was then. */
    const remembering = () => {
      const add = vi.spyOn(RememberedEntries.prototype, "add");
      return (key: string, version: number) => {
        const tag = { eTag: "", inline: { ...NO_ENTRIES, spilled: undefined } };
        const seen = { head: EMPTY_HEAD, tag, versions: new Map([[key, version]]), whole: [], nowMs: 0 };
        const all = [...new Set(add.mock.contexts)].filter((each) => each instanceof RememberedEntries);
        return all.flatMap((remembered) => remembered.recall("o:a", seen, [key], []).entries);
      };
    };

    test.each([
      ["that it has deleted", { deletes: ["a/1"] }],
      ["that it has put into the head", { puts: [{ key: "a/1", value: "short" }] }],
    ])("%s", async (what, changes) => {
      const [remembered, engine] = [remembering(), await server.open("forgets")];
      const { version } = await engine.commit("o:a", { id: `${what} 1`, puts: ["a/1", "a/2"].map((key) => ({ key, value: LONG })) });
      expect([...remembered("a/1", version), ...remembered("a/2", version)]).toHaveLength(2);
      await engine.commit("o:a", { id: `${what} 2`, ...changes });
      expect(remembered("a/1", version)).toEqual([]);
      expect(remembered("a/2", version)).toHaveLength(1);
    });

    test("that it has read in the middle of an erasure", async () => {
      const remembered = remembering();
      let isErasing = false;
      let whileErasing = 0;
      const connect = async (...address: Parameters<typeof cosmosClient>) =>
        beforeBatches(await cosmosClient(...address), async () => {
          if (isErasing) whileErasing += (await engine.read("o:a", { keys: ["a/1"] })).entries.size;
        });
      const engine = await server.open("forgets-erased", { connect });
      const { version } = await engine.commit("o:a", put("a/1", LONG));
      isErasing = true;
      expect(await engine.erase("o:a")).toBe(1);
      expect(whileErasing).toBeGreaterThan(1);
      expect(remembered("a/1", version)).toEqual([]);
    });
  });

  describe.each([1, 2, 3, 4])("any commits, read by two processes (seed %i)", (seed) => {
    test("give what an engine in memory gives", async () => {
      const database = `any-${seed}`;
      const model = new MemoryEngine();
      const pair = [await server.open(database), await server.open(database)] as const;
      const random = sequence(seed);
      const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
      const anyKey = () => `${pick(["a", "b", "c", "name"])}${pick(["", "/", "/x/"])}${Math.floor(random() * 25)}`;
      const anyRange = () => {
        const [from, to] = [anyKey(), anyKey()].sort() as [string, string];
        const limit = pick([undefined, 1, 3, 10]);
        return { from, to: pick([to, "\u{10FFFF}"]), reverse: random() < 0.5, ...(limit !== undefined && { limit }) };
      };
      for (let step = 0; step < 150; step++) {
        const engine = pick(pair);
        const value = () => noise(`${seed} ${step}`, pick([5, 30, 400, 1_500, 3_500, 6_000, 17_000]));
        const puts = Array.from({ length: Math.floor(random() * 5) }, () => ({ key: anyKey(), value: value() }));
        const deletes = Array.from({ length: Math.floor(random() * 4) }, anyKey).filter((key) => !puts.some((each) => each.key === key));
        if (random() < 0.5) await engine.read("o:a", { keys: [anyKey(), anyKey()], ranges: [anyRange()] });
        const commit = { id: `step ${step}`, puts, deletes };
        expect(await engine.commit("o:a", commit)).toEqual(await model.commit("o:a", commit));
        const query = { keys: [anyKey(), anyKey(), anyKey()], ranges: [anyRange(), anyRange()] };
        const expected = await model.read("o:a", query);
        for (const reader of pair)
          expect(await reader.read("o:a", query)).toMatchObject({ entries: expected.entries, ranges: expected.ranges });
      }
      const { inline, outside } = await shape(database);
      const { ranges } = await model.read("o:a", { ranges: [ALL] });
      expect([...inline, ...outside].sort()).toEqual(ranges[0]?.map(({ key }) => key).sort());
      expect((await pair[0].read("o:a", { ranges: [ALL] })).ranges).toEqual(ranges);
      expect(await pair[1].erase("o:a")).toBe(ranges[0]?.length);
      expect((await pair[0].read("o:a", { ranges: [ALL] })).ranges).toEqual([[]]);
    });
  });
});

/** The client, with what is done before each of its batches. */
function beforeBatches(client: CosmosClient, before: (operations: readonly Operation[]) => Promise<void>): CosmosClient {
  const watched = (container: Container): Container => ({
    item: (id, partition) => container.item(id, partition),
    items: {
      query: (query, options) => container.items.query(query, options),
      batch: async (operations, partition) => {
        await before(operations);
        return container.items.batch(operations, partition);
      },
    },
  });
  return {
    getDatabaseAccount: () => client.getDatabaseAccount(),
    databases: {
      createIfNotExists: async (definition) => {
        const { database } = await client.databases.createIfNotExists(definition);
        const createIfNotExists = async (container: object) => ({
          container: watched((await database.containers.createIfNotExists(container)).container),
        });
        return { database: { containers: { createIfNotExists } } };
      },
    },
    dispose: () => client.dispose(),
  };
}

/** Numbers from 0 to 1, the same each time. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
