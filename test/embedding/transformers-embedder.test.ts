import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
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

  test("loading is reported file by file", async () => {
    const files = new Set<string>();
    const embedder = await TransformersEmbedder.open({ model: folder, load, onProgress: ({ file }) => files.add(file) });
    await embedder.close();
    expect([...files].some((file) => file.includes("model.onnx"))).toBe(true);
  });

  test("a folder that holds no model is a configuration error", async () => {
    await expect(TransformersEmbedder.open({ model: join(folder, "onnx"), load })).rejects.toMatchObject({ code: "INVALID_CONFIG" });
  });
});

test("a missing library says how to install it", async () => {
  const error = await TransformersEmbedder.open({ model: "any", load: () => Promise.reject(new Error("not found")) }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: "INVALID_CONFIG", hint: "Run `npm install @huggingface/transformers`." });
});
