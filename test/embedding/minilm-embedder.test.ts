import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import workers from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { MiniLm } from "../../packages/minilm/src/minilm.js";
import { ModelThreads } from "../../packages/minilm/src/model-threads.js";
import { ModelWorker } from "../../packages/minilm/src/model-worker.js";
import { packagedModel } from "../../packages/minilm/src/packaged-files.js";
import { SentenceModel } from "../../packages/minilm/src/sentence-model.js";
import { WordPieces } from "../../packages/minilm/src/word-pieces.js";
import { HashingEmbedder } from "../../src/embedding/hashing-embedder.js";
import { SentenceEmbedder } from "../../src/embedding/sentence-embedder.js";
import { cosine, describeEmbedderContract } from "../contract/embedder.contract.js";
import { SLOW } from "../support/projects.js";

// A busy machine takes its time over a thread from the sources.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const grams = new HashingEmbedder({ dimension: 128 });
let shared: SentenceEmbedder;
beforeAll(async () => {
  shared = new SentenceEmbedder(new MiniLm(), grams);
  await shared.load();
});
afterAll(() => shared.close());

async function vectorOf(text: string): Promise<Float32Array> {
  return (await shared.embed([text]))[0] ?? new Float32Array();
}

describeEmbedderContract("SentenceEmbedder, MiniLm", async () => ({ embedder: shared }));

describe("the model of the package", () => {
  test("compares meanings: what shares no word is near, what has to do with nothing is not", async () => {
    const [question, answer, stranger] = await shared.embed([
      "Is there somewhere my puppy may sleep?",
      "Travels with a small dog",
      "Collects stamps of the Baltic states",
    ]);
    if (!question || !answer || !stranger) throw new Error("three texts, three vectors");
    expect(cosine(question, answer)).toBeGreaterThan(cosine(question, stranger) + 0.1);
    expect(cosine(question, answer)).toBeGreaterThan(shared.relevantFrom(question));
  });

  test("gives the vectors of the file that it was made from, but for what int8 costs", async () => {
    const vector = await vectorOf("two tickets for jazz");
    for (const [i, value] of [0.0221, 0.016, -0.0549, -0.0117].entries()) expect(Math.abs((vector[i] ?? 1) - value)).toBeLessThan(0.02);
    expect(vector.slice(384).every((value) => value === 0)).toBe(true);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 4);
  });

  test.each(["zzzz", "what time is it", "What time is it?", "Hello!", "thank you"])("%j asks for nothing", async (text) => {
    expect(shared.relevantFrom(await vectorOf(text))).toBe(Number.POSITIVE_INFINITY);
  });

  test.each(["What time does the spa close?", "a quiet room, please", "Is breakfast included?"])("%j asks for something", async (text) => {
    expect(shared.relevantFrom(await vectorOf(text))).toBeLessThan(0.2);
  });

  test("words in scripts that it can't read are compared by their letters", async () => {
    const [asked, same, other] = await shared.embed(["люблю джаз", "Любит джаз и блюз", "Нужен номер без ступенек"]);
    if (!asked || !same || !other) throw new Error("three texts, three vectors");
    expect(cosine(asked, same)).toBeGreaterThan(cosine(asked, other) + 0.15);
  });

  test("a long text is known by its beginning", async () => {
    const beginning = "A quiet room away from the lift. ".repeat(20);
    const [long, longer] = await shared.embed([beginning + "x ".repeat(1_000), beginning + "jazz ".repeat(1_400)]);
    expect([...(long ?? [])]).toEqual([...(longer ?? [])]);
  });
});

describe("its thread", () => {
  test("does what somebody waits for first", async () => {
    const done: string[] = [];
    // So many that the thread is at them for longer than the query needs to come to it on a busy machine.
    const found = Array.from({ length: 60 }, (_, n) => `number ${n} to be found`);
    const documents = shared.embed(found).then(() => done.push("documents"));
    const query = shared.embed(["what is asked"], { kind: "query" }).then(() => done.push("query"));
    await Promise.all([documents, query]);
    expect(done).toEqual(["query", "documents"]);
  });

  test("[query-first] has a second beside it while documents are written, which gives the same vectors", { tags: [SLOW] }, async () => {
    const threads = new ModelThreads(packagedModel(), { cores: 2 });
    onTestFinished(() => threads.close());
    const alone = await threads.embed("what is asked", { kind: "query" });
    expect(threads.areTwo).toBe(false);
    let isWriting = true;
    const writing = (async () => {
      while (isWriting) await threads.embed("a long text that is to be found ".repeat(40), { kind: "document" });
    })();
    while (!threads.areTwo) await threads.embed("what is asked", { kind: "query" });
    expect([...(await threads.embed("what is asked", { kind: "query" }))]).toEqual([...alone]);
    isWriting = false;
    await writing;
  });

  test("[query-first] what nobody waits for comes behind all else, and begins no second thread for a query that meets it", async () => {
    const embedding = vi.spyOn(ModelWorker.prototype, "embed");
    const starting = vi.spyOn(ModelWorker.prototype, "start");
    const threads = new ModelThreads(packagedModel(), { cores: 2 });
    onTestFinished(() => threads.close());
    await threads.start();
    const done: string[] = [];
    const embed = (text: string, kind: "query" | "document" | "background") => threads.embed(text, { kind }).then(() => done.push(text));
    await Promise.all([embed("b1", "background"), embed("b2", "background"), embed("d1", "document"), embed("q1", "query")]);
    expect(done).toEqual(["b1", "q1", "d1", "b2"]);
    expect(new Set([...embedding.mock.contexts, ...starting.mock.contexts]).size).toBe(1);
    await Promise.all([embed("d2", "document"), embed("q2", "query")]);
    expect(new Set(starting.mock.contexts).size).toBe(2);
    vi.restoreAllMocks();
  });

  test("[query-first] where no second one can be begun, the first does all", async () => {
    const threads = new ModelThreads(packagedModel(), { cores: 2 });
    onTestFinished(() => threads.close());
    await threads.start();
    const beginning = vi.spyOn(workers, "Worker").mockImplementation(function (this: unknown) {
      throw new Error("no more threads");
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      beginning.mockRestore();
      syncBuiltinESMExports();
    });
    const written = threads.embed("is to be found", { kind: "document" });
    const asked = await Promise.all(["one", "two"].map((text) => threads.embed(text, { kind: "query" })));
    expect(asked.map(({ length }) => length)).toEqual([384, 384]);
    await written;
    expect([beginning.mock.calls.length, threads.areTwo, threads.failure]).toEqual([1, false, null]);
    const none = new ModelThreads(packagedModel());
    await none.start();
    expect(none.failure).toBe("no more threads");
    await expect(none.embed("anything", { kind: "query" })).rejects.toThrow("no more threads");
  });

  test("[query-first] has done a text when it is loaded: the first, which takes longest, is nobody's", async () => {
    const vectors: number[] = [];
    const model = vi.spyOn(SentenceModel, "open").mockResolvedValue({ vectorOf: async () => vectors.push(1) } as never);
    const told: unknown[] = [];
    vi.doMock("node:worker_threads", () => ({
      parentPort: { postMessage: (message: unknown) => told.push({ message, after: vectors.length }), on: () => {} },
      workerData: {},
    }));
    await import("../../packages/minilm/src/model-thread.js");
    vi.doUnmock("node:worker_threads");
    model.mockRestore();
    expect(told).toEqual([{ message: { type: "ready" }, after: 1 }]);
  });

  test("begins nothing that was given up, and the rest is answered", async () => {
    const giveUp = new AbortController();
    const given = shared.embed(["given up", "given up too"], { signal: giveUp.signal });
    const kept = shared.embed(["kept"]);
    giveUp.abort();
    await expect(given).rejects.toMatchObject({ code: "ABORTED" });
    await expect(kept).resolves.toHaveLength(1);
  });

  test("that ends is told to who waits, and is there again for a later text", { tags: [SLOW] }, async () => {
    const embedder = new SentenceEmbedder(new MiniLm(), grams);
    onTestFinished(() => embedder.close());
    await embedder.load();
    const waiting = expect(embedder.embed(["waits"])).rejects.toMatchObject({ code: "EMBEDDING_UNAVAILABLE" });
    await embedder.close();
    await waiting;
    expect(embedder.problem).toContain("EMBEDDING_PROVIDER=hashing");
    await embedder.load();
    expect(embedder.problem).toBeNull();
    await expect(embedder.embed(["again"])).resolves.toHaveLength(1);
  });

  test("that can't load its model says so, and holds nobody up", async () => {
    const dir = await mkdtemp(join(tmpdir(), "maitred-minilm-"));
    onTestFinished(() => rm(dir, { recursive: true }));
    const model = join(dir, "model.onnx");
    await writeFile(model, "no model");
    const embedder = new SentenceEmbedder(new MiniLm({ ...packagedModel(), model }), grams);
    onTestFinished(() => embedder.close());
    await expect(embedder.embed(["anything"])).rejects.toMatchObject({ code: "EMBEDDING_UNAVAILABLE" });
    await expect(embedder.embed(["anything"])).rejects.toMatchObject({ code: "EMBEDDING_UNAVAILABLE" });
    expect(embedder.problem).toContain("does not run here");
  });
});

test("words are cut into pieces as the model was trained with, and marks of its own in a text are plain words", () => {
  const pieces = new WordPieces(packagedModel().vocabulary);
  expect(pieces.idsOf("Crème brûlée, unaffable!", 128)).toEqual([101, 13675, 21382, 7987, 9307, 2063, 1010, 14477, 20961, 3468, 999, 102]);
  expect(pieces.idsOf("[SEP]", 128)).not.toEqual([101, 102, 102]);
  expect(pieces.idsOf("a ".repeat(4_000), 128)).toHaveLength(128);
});
