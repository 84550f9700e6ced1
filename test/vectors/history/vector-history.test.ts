import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ownerOf } from "../../../src/domain/owner.js";
import { HashingEmbedder } from "../../../src/embedding/hashing-embedder.js";
import { documentVector, queryVector } from "../../../src/embedding/sparse-vectors.js";
import { AppError } from "../../../src/platform/errors.js";
import type { Embedder } from "../../../src/ports/embedding.js";
import type { QueryArgs, VectorClient } from "../../../src/ports/vectors.js";
import { DisabledHistory } from "../../../src/vectors/history/disabled-history.js";
import { VectorHistory } from "../../../src/vectors/history/vector-history.js";
import type { LocalVectorStore } from "../../../src/vectors/local/local-qdrant.js";
import { openLocalQdrant } from "../../../src/vectors/local/local-qdrant.js";
import { conversation, describeHistoryContract } from "../../contract/history.contract.js";
import { openQdrantServer, QDRANT_SERVER } from "../../support/qdrant-server.js";

const sparse = { documentVector, queryVector };
type UpsertArgs = Parameters<VectorClient["upsert"]>[1];

describeHistoryContract("LocalQdrant", async (wrap = (inner) => inner) => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-history-"));
  const store = await openLocalQdrant({ path: join(dir, "vectors.db") });
  const history = await VectorHistory.open({ store, embedder: wrap(new HashingEmbedder({ dimension: 256 })), sparse });
  return {
    history,
    close: async () => {
      await history.close();
      await store.close();
      await rm(dir, { recursive: true });
    },
  };
});

describeHistoryContract(QDRANT_SERVER, async (wrap = (inner) => inner) => {
  const store = await openQdrantServer();
  const collection = `history-test-${randomUUID()}`;
  const history = await VectorHistory.open({ store, embedder: wrap(new HashingEmbedder({ dimension: 256 })), sparse, collection });
  return {
    history,
    close: async () => {
      try {
        await store.client.deleteCollection(collection);
      } finally {
        await store.close();
      }
    },
  };
});

describe("a vector history", () => {
  let store: LocalVectorStore;
  const owner = ownerOf("test", "one");
  beforeEach(async () => {
    store = await openLocalQdrant({ path: ":memory:" });
  });
  afterEach(() => store.close());

  test("one search is one query", async () => {
    const calls: string[] = [];
    const client = Object.fromEntries(
      Object.entries(store.client).map(([name, call]) => [
        name,
        (...args: unknown[]) => {
          calls.push(name);
          return (call as (...args: unknown[]) => unknown)(...args);
        },
      ]),
    ) as unknown as LocalVectorStore["client"];
    const history = await VectorHistory.open({ store: { ...store, client }, embedder: new HashingEmbedder({ dimension: 64 }), sparse });
    await history.addEvents(owner, conversation(["user: Jazz, please", "assistant: On Friday"]));
    calls.length = 0;
    expect(await history.search(owner, { query: "jazz" })).toHaveLength(2);
    expect(calls).toEqual(["query"]);
  });

  test("what is near in meaning is found though it shares no word, and so is what was said next to it", async () => {
    const letters = new HashingEmbedder({ dimension: 256 });
    // Stands for a model that knows two words for one thing.
    const meaning = (text: string) => text.replaceAll("veterinarian", "animal doctor");
    const embedder: Embedder = {
      ...{ id: letters.id, dimension: letters.dimension, lexical: false },
      embed: (texts) => letters.embed(texts.map(meaning)),
    };
    const history = await VectorHistory.open({ store, embedder, sparse });
    const filler = (n: number) => conversation([`user: The weather of day ${n} was fine`, `assistant: Lovely skies for walk ${n}`]);
    for (let n = 0; n < 20; n++) await history.addEvents(owner, filler(n));
    await history.addEvents(owner, conversation(["user: Our animal doctor?", "assistant: She lives in Harbour Street 5"]));
    const found = await history.search(owner, { query: "veterinarian", limit: 2 });
    expect(found.map(({ content }) => content)).toEqual(["Our animal doctor?", "She lives in Harbour Street 5"]);
  });

  test("a question is embedded without the names of those who speak, also by a process that doesn't know them yet", async () => {
    const letters = new HashingEmbedder({ dimension: 64 });
    const asked: string[] = [];
    const embedder: Embedder = {
      ...{ id: letters.id, dimension: letters.dimension, lexical: false },
      embed: async (texts, options) => {
        if (options?.kind === "query") asked.push(...texts);
        if (down) throw new AppError("EMBEDDING_UNAVAILABLE");
        return letters.embed(texts);
      },
    };
    let down = false;
    const other = ownerOf("test", "two");
    const history = await VectorHistory.open({ store, embedder, sparse });
    await history.addEvents(owner, conversation(["Anna: I keep bees", "Ben: Anna, how lovely"]));
    await history.addEvents(other, conversation(["user: Anna keeps bees"]));
    const embedded = async (of: typeof owner, query: string) => {
      asked.length = 0;
      await history.search(of, { query });
      return [...asked];
    };
    expect(await embedded(owner, "What does Anna keep?")).toEqual(["What does Anna keep?", "What does keep?"]);
    expect(await embedded(owner, "What does Ben's wife keep?")).toEqual(["What does wife keep?"]);
    expect(await embedded(owner, "What is kept?")).toEqual(["What is kept?"]);
    // Whom others speak with is nobody here, and who was erased is known no longer.
    expect(await embedded(other, "What does Anna keep?")).toEqual(["What does Anna keep?"]);
    await history.erase(owner);
    expect(await embedded(owner, "What does Anna keep?")).toEqual(["What does Anna keep?"]);
    // An embedder that fails isn't asked again for the same search.
    await history.addEvents(owner, conversation(["Clara: I keep goats"]));
    down = true;
    expect(await embedded(owner, "What does Clara keep?")).toEqual(["What does Clara keep?"]);
  });

  test("[owner-isolation] every filter that is sent to the store pins the owner, also where neighbours are read by position", async () => {
    const unpinned: string[] = [];
    const pins = (filter: unknown) => JSON.stringify(filter ?? null).includes(JSON.stringify({ key: "user_id", match: { value: owner } }));
    const filtersOf = (args: unknown): unknown[] => {
      if (args === null || typeof args !== "object") return [];
      return Object.entries(args).flatMap(([key, value]) => (key === "filter" ? [value] : filtersOf(value)));
    };
    const client = Object.fromEntries(
      Object.entries(store.client).map(([name, call]) => [
        name,
        (...args: unknown[]) => {
          const filters = filtersOf(args[1]);
          const reads = ["query", "search", "scroll", "count"].includes(name);
          if ((reads && filters.length === 0) || filters.some((filter) => !pins(filter))) unpinned.push(name);
          return (call as (...args: unknown[]) => unknown)(...args);
        },
      ]),
    ) as unknown as LocalVectorStore["client"];
    const history = await VectorHistory.open({ store: { ...store, client }, embedder: new HashingEmbedder({ dimension: 64 }), sparse });
    const said = conversation(["user: Jazz, please", "assistant: On Friday", "user: Two seats", "assistant: Done", "user: Thanks"]);
    await history.addEvents(owner, said);
    const [hit] = await history.search(owner, { query: "two seats", context: 1, limit: 1 });
    expect(hit).toMatchObject({ before: [{ content: "On Friday" }], after: [{ content: "Done" }] });
    const inner = new HashingEmbedder({ dimension: 64 });
    const asModel: Embedder = { ...{ id: inner.id, dimension: 64, lexical: false }, embed: (texts) => inner.embed(texts) };
    const byMeaning = await VectorHistory.open({ store: { ...store, client }, embedder: asModel, sparse });
    expect(await byMeaning.search(owner, { query: "two seats" })).not.toEqual([]);
    await history.removeMessages(owner, [said[2]?.message_id ?? ""]);
    await history.erase(owner);
    expect(unpinned).toEqual([]);
  });

  test("what follows a removed message is written with every vector, an empty one too, so that no server keeps an old one", async () => {
    const upserts: UpsertArgs[] = [];
    const client = {
      ...store.client,
      upsert: (collection: string, args: UpsertArgs) => {
        upserts.push(args);
        return store.client.upsert(collection, args);
      },
    };
    const history = await VectorHistory.open({ store: { ...store, client }, embedder: new HashingEmbedder({ dimension: 64 }), sparse });
    const [first, ...rest] = conversation(["user: A secret word", "assistant: !", "user: And more"]);
    await history.addEvents(owner, first === undefined ? [] : [first, ...rest]);
    upserts.length = 0;
    await history.removeMessages(owner, [first?.message_id ?? ""]);
    const points = upserts.flatMap((args) => args.points).sort((a, b) => Number(a.payload?.position) - Number(b.payload?.position));
    expect(points.map(({ payload }) => payload?.content)).toEqual(["!", "And more"]);
    expect(points[0]?.vector).toMatchObject({ bm25: { indices: [], values: [] }, context: { indices: [], values: [] } });
    expect(points[1]?.vector).toMatchObject({ bm25: { indices: expect.any(Array) }, context: { indices: [] } });
  });

  test("vectors of another length over existing data ask for a reindex", async () => {
    await VectorHistory.open({ store, embedder: new HashingEmbedder({ dimension: 64 }), sparse });
    await expect(VectorHistory.open({ store, embedder: new HashingEmbedder({ dimension: 65 }), sparse })).rejects.toMatchObject({
      code: "REINDEX_REQUIRED",
    });
  });

  test("an embedder that fails leaves a search by words, and health says so until it is back", async () => {
    let down = false;
    const inner = new HashingEmbedder({ dimension: 64 });
    const embedder: Embedder = {
      ...{ id: inner.id, dimension: inner.dimension, lexical: false },
      embed: async (texts) => {
        if (down) throw new AppError("EMBEDDING_UNAVAILABLE");
        return inner.embed(texts);
      },
    };
    const history = await VectorHistory.open({ store, embedder, sparse });
    await history.addEvents(owner, conversation(["user: Jazz, please"]));
    down = true;
    expect(await history.search(owner, { query: "jazz" })).toHaveLength(1);
    expect(await history.health()).toMatchObject({ status: "degraded" });
    await history.addEvents(owner, conversation(["user: Opera, please", "assistant: On Sunday"]));
    expect((await history.search(owner, { query: "opera" }))[0]?.content).toBe("Opera, please");
    const unembedded = async () => {
      const { points } = await store.client.scroll("history", {
        filter: { must: [mine] },
        limit: 10,
        with_payload: true,
        with_vector: true,
      });
      return points.filter(({ vector }) => !Array.isArray(vector) && !("" in (vector as object))).map(({ payload }) => payload?.content);
    };
    const mine = { key: "user_id", match: { value: owner } };
    expect(await unembedded()).toHaveLength(2);
    down = false;
    await history.search(owner, { query: "jazz" });
    expect(await history.health()).toMatchObject({ status: "ok" });
    expect((await history.search(owner, { query: "opera" }))[0]?.content).toBe("Opera, please");
    await history.addEvents(owner, conversation(["user: more"]));
    expect(await unembedded()).toEqual([]);
    expect((await history.search(owner, { query: "sunday" }))[0]?.content).toBe("On Sunday");
  });

  test("a store that is out of reach is HISTORY_UNAVAILABLE", async () => {
    const history = await VectorHistory.open({ store, embedder: new HashingEmbedder({ dimension: 64 }), sparse });
    await store.close();
    await expect(history.search(owner, { query: "jazz" })).rejects.toMatchObject({ code: "HISTORY_UNAVAILABLE" });
    expect(await history.health()).toMatchObject({ status: "down" });
    store = await openLocalQdrant({ path: ":memory:" });
  });

  test("searches or writes that fail three times in a row show in health, late ones too, until one goes well", async () => {
    let how: () => Promise<void> = async () => {};
    const failing = { ...store, client: { ...store.client } };
    for (const call of ["query", "upsert"] as const)
      failing.client[call] = async (collection: string, args: never) => {
        await how();
        return store.client[call](collection, args) as never;
      };
    const history = await VectorHistory.open({ store: failing, embedder: new HashingEmbedder({ dimension: 64 }), sparse });
    await history.addEvents(owner, conversation(["user: Jazz, please"]));
    const search = (signal?: AbortSignal) => history.search(owner, { query: "jazz", ...(signal && { signal }) });
    const write = () => history.addEvents(owner, conversation(["user: Jazz, please", "user: and more"]));
    const refuse = async () => {
      throw new Error("connection refused");
    };
    const late = () => new Promise<void>((_, reject) => setTimeout(reject, 20, new Error("late")));

    for (const [again, what, fault] of [
      [search, "searches", refuse],
      [write, "writes", refuse],
      [() => search(AbortSignal.timeout(1)), "searches", late],
    ] as const) {
      how = fault;
      for (let n = 0; n < 2; n++) await expect(again()).rejects.toThrow();
      expect(await history.health()).toMatchObject({ status: "ok" });
      await expect(again()).rejects.toThrow();
      expect(await history.health()).toEqual({ status: "degraded", detail: `The last 3 ${what} failed.` });
      how = async () => {};
      await (again === write ? write() : search());
      expect(await history.health()).toMatchObject({ status: "ok" });
    }
    how = late;
    for (let n = 0; n < 5; n++) await expect(search(AbortSignal.abort())).rejects.toMatchObject({ code: "ABORTED" });
    expect(await history.health()).toMatchObject({ status: "ok" });
  });

  test("[owner-isolation] a hit that a faulty store returns from somebody else is left out", async () => {
    const other = ownerOf("test", "other");
    const client = {
      ...store.client,
      query: (collection: string, { filter: _, prefetch, ...args }: QueryArgs) => {
        const open = prefetch?.map(({ filter: __, ...leg }) => leg);
        return store.client.query(collection, { ...args, ...(open === undefined ? {} : { prefetch: open }) });
      },
    };
    const history = await VectorHistory.open({ store: { ...store, client }, embedder: new HashingEmbedder({ dimension: 64 }), sparse });
    await history.addEvents(other, conversation(["user: Jazz for the other"]));
    await history.addEvents(owner, conversation(["user: Jazz for me"]));
    expect((await history.search(owner, { query: "jazz" })).map(({ content }) => content)).toEqual(["Jazz for me"]);
  });
});

test("history that is switched off takes nothing in and says so to whoever searches", async () => {
  const history = new DisabledHistory();
  expect(await history.addEvents()).toBe(0);
  expect(await history.count()).toBe(0);
  expect(await history.health()).toEqual({ status: "disabled" });
  await expect(history.search()).rejects.toMatchObject({ code: "HISTORY_DISABLED" });
});
