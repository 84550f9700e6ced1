import { describe, expect, test } from "vitest";
import { CachedEmbedder, prefixedEmbedder } from "../../src/embedding/cached-embedder.js";
import { HashingEmbedder } from "../../src/embedding/hashing-embedder.js";
import { AppError } from "../../src/platform/errors.js";
import type { Embedder, EmbedOptions } from "../../src/ports/embedding.js";
import { describeEmbedderContract } from "../contract/embedder.contract.js";

describeEmbedderContract("cached", async () => ({ embedder: new CachedEmbedder(new HashingEmbedder({ dimension: 64 })) }));

describeEmbedderContract("prefixed", async () => ({
  embedder: prefixedEmbedder(new HashingEmbedder({ dimension: 64 }), { query: "q: ", document: "d: " }),
}));

/** Answers when it is told to. */
class HeldEmbedder implements Embedder {
  readonly id = "held-2";
  readonly dimension = 2;
  readonly lexical = false;
  readonly byKind: boolean;
  readonly calls: { readonly texts: readonly string[]; readonly options: EmbedOptions; answer(): void; fail(): void }[] = [];

  constructor(byKind = false) {
    this.byKind = byKind;
  }

  embed(texts: readonly string[], options: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    return new Promise((resolve, reject) => {
      const answer = () => resolve(texts.map((text) => Float32Array.of(text.length, 1)));
      this.calls.push({ texts, options, answer, fail: () => reject(new AppError("EMBEDDING_UNAVAILABLE")) });
    });
  }
}

describe("CachedEmbedder", () => {
  test("a text is asked for once: while it is asked for, and after, as a query and as a document", async () => {
    const inner = new HeldEmbedder();
    const embedder = new CachedEmbedder(inner);
    const first = embedder.embed(["message"], { kind: "query" });
    const second = embedder.embed(["message", "answer"], { kind: "document" });
    for (const call of inner.calls) call.answer();
    expect((await first)[0]).toEqual((await second)[0]);
    expect(await embedder.embed(["answer", "message"])).toHaveLength(2);
    expect(inner.calls.map(({ texts }) => texts)).toEqual([["message"], ["answer"]]);
  });

  test("[query-first] a query does not join a document that may wait behind somebody's batch; a document joins a query", async () => {
    const inner = new HeldEmbedder();
    const embedder = new CachedEmbedder(inner);
    const written = embedder.embed(["message"], { kind: "document" });
    const asked = embedder.embed(["message"], { kind: "query" });
    expect(inner.calls.map(({ options }) => options.kind)).toEqual(["document", "query"]);
    inner.calls[1]?.answer();
    expect(await asked).toHaveLength(1);
    inner.calls[0]?.answer();
    expect(await written).toHaveLength(1);
  });

  test("a model that tells queries from documents is asked for each", async () => {
    const inner = new HeldEmbedder(true);
    const embedder = new CachedEmbedder(inner);
    const both = [embedder.embed(["message"], { kind: "query" }), embedder.embed(["message"], { kind: "document" })];
    for (const call of inner.calls) call.answer();
    await Promise.all(both);
    expect(inner.calls.map(({ options }) => options.kind)).toEqual(["query", "document"]);
  });

  test("who goes away leaves the call to those who wait; when the last is gone it is given up", async () => {
    const inner = new HeldEmbedder();
    const embedder = new CachedEmbedder(inner);
    const [one, two] = [new AbortController(), new AbortController()];
    const first = embedder.embed(["message"], { signal: one.signal });
    const second = embedder.embed(["message"], { signal: two.signal });
    one.abort();
    await expect(first).rejects.toMatchObject({ code: "ABORTED" });
    expect(inner.calls[0]?.options.signal?.aborted).toBe(false);
    two.abort();
    await expect(second).rejects.toMatchObject({ code: "ABORTED" });
    expect(inner.calls[0]?.options.signal?.aborted).toBe(true);
    const third = embedder.embed(["message"]);
    inner.calls[1]?.answer();
    expect(await third).toHaveLength(1);
  });

  test("a failure is not remembered", async () => {
    const inner = new HeldEmbedder();
    const embedder = new CachedEmbedder(inner);
    const first = embedder.embed(["message"]);
    inner.calls[0]?.fail();
    await expect(first).rejects.toMatchObject({ code: "EMBEDDING_UNAVAILABLE" });
    const second = embedder.embed(["message"]);
    inner.calls[1]?.answer();
    expect(await second).toHaveLength(1);
  });

  test("256 texts are kept, and bulk drives none of them out", async () => {
    let asked = 0;
    const inner = new HashingEmbedder({ dimension: 8 });
    const counting: Embedder = {
      ...{ id: inner.id, dimension: inner.dimension, lexical: true },
      embed: (texts) => {
        asked += texts.length;
        return inner.embed(texts);
      },
    };
    const embedder = new CachedEmbedder(counting);
    await embedder.embed(["kept"]);
    await embedder.embed(Array.from({ length: 300 }, (_, i) => `bulk ${i}`));
    await embedder.embed(["kept"]);
    expect(asked).toBe(301);
    for (let i = 0; i < 256; i++) await embedder.embed([`other ${i}`]);
    await embedder.embed(["kept"]);
    expect(asked).toBe(301 + 256 + 1);
  });
});

test("stored vectors depend on the prefix of documents, and so does the id", () => {
  const inner = new HashingEmbedder({ dimension: 64 });
  const id = (query: string, document: string) => prefixedEmbedder(inner, { query, document }).id;
  expect(id("", "")).toBe(inner.id);
  expect(id("instruct: ", "")).toBe(inner.id);
  expect(id("query: ", "passage: ")).not.toBe(inner.id);
  expect(id("query: ", "passage: ")).not.toBe(id("query: ", "other: "));
});

test("nobody waits for another's texts: a call for several is not joined", async () => {
  const inner = new HeldEmbedder();
  const embedder = new CachedEmbedder(inner);
  const theirs = embedder.embed(["their message", "the same answer"]);
  const mine = embedder.embed(["my message", "the same answer"]);
  inner.calls[1]?.answer();
  expect(await mine).toHaveLength(2);
  inner.calls[0]?.answer();
  expect(await theirs).toHaveLength(2);
});
