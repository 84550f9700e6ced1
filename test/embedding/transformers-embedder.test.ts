import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { TransformersEmbedder } from "../../src/embedding/transformers-embedder.js";
import { describeEmbedderContract } from "../contract/embedder.contract.js";
import { loadFromEcosystem } from "../support/ecosystem.js";
import { needing } from "../support/needing.js";
import { TINY_DIMENSION, writeTinyModel } from "../support/tiny-onnx-model.js";

const load = () => loadFromEcosystem("@huggingface/transformers");

// Without the packages of test/ecosystem there is nothing to run; CI installs them.
needing("ecosystem")("the transformers embedder on a model that the test makes", () => {
  let folder: string;
  beforeAll(async () => {
    folder = join(await mkdtemp(join(tmpdir(), "maitred-model-")), "tiny");
    await writeTinyModel(folder);
  });
  afterAll(() => rm(join(folder, ".."), { recursive: true }));

  describeEmbedderContract("TransformersEmbedder", async () => {
    const embedder = await TransformersEmbedder.open({ model: folder, load });
    return { embedder, close: () => embedder.close() };
  });

  test("vectors are the mean over the tokens, of length 1, and don't depend on what they are batched with", async () => {
    const embedder = await TransformersEmbedder.open({ model: folder, load });
    const [short, long] = await embedder.embed(["ab", "a much longer text that pads the other one"]);
    const [alone] = await embedder.embed(["ab"]);
    expect(short).toHaveLength(TINY_DIMENSION);
    expect(Math.hypot(...(short ?? []))).toBeCloseTo(1, 5);
    expect(Math.hypot(...(long ?? []))).toBeCloseTo(1, 5);
    for (const [i, value] of (short ?? []).entries()) expect(value).toBeCloseTo(alone?.[i] ?? Number.NaN, 5);
    expect(embedder).toMatchObject({ id: `transformers-tiny-fp32-${TINY_DIMENSION}`, dimension: TINY_DIMENSION, lexical: false });
    await embedder.close();
  });

  test("a folder that holds no model is a configuration error", async () => {
    await expect(TransformersEmbedder.open({ model: join(folder, "onnx"), load })).rejects.toMatchObject({ code: "INVALID_CONFIG" });
  });
});

test("[query-first] a query goes through the model before what is left of a batch, which goes in pieces of eight", async () => {
  const calls: { readonly texts: readonly string[]; answer(): void }[] = [];
  const extract = (texts: string[]) =>
    new Promise((resolve) => calls.push({ texts, answer: () => resolve({ dims: [texts.length, 2], data: texts.flatMap(() => [1, 0]) }) }));
  const opening = TransformersEmbedder.open({ model: "any", load: async () => ({ env: {}, pipeline: async () => extract }) });
  await vi.waitFor(() => expect(calls).toHaveLength(1));
  calls[0]?.answer();
  const embedder = await opening;
  const done: string[] = [];
  const batch = embedder.embed(Array.from({ length: 20 }, (_, i) => `text ${i}`)).then(() => done.push("batch"));
  const query = embedder.embed(["asked"], { kind: "query" }).then(() => done.push("query"));
  for (let call = 1; call <= 4; call += 1) {
    await vi.waitFor(() => expect(calls).toHaveLength(call + 1));
    calls[call]?.answer();
  }
  await Promise.all([batch, query]);
  expect(done).toEqual(["query", "batch"]);
  expect(calls.slice(1).map(({ texts }) => texts.length)).toEqual([8, 1, 8, 4]);
});

test("a missing library says how to install it", async () => {
  const error = await TransformersEmbedder.open({ model: "any", load: () => Promise.reject(new Error("not found")) }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: "INVALID_CONFIG", hint: "Run `npm install @huggingface/transformers`." });
});
