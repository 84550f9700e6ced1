import { afterEach, describe, expect, test } from "vitest";
import { OpenAIEmbedder, type OpenAIEmbedderOptions } from "../../src/embedding/openai-embedder.js";
import { AppError } from "../../src/errors.js";
import { describeEmbedderContract } from "../contract/embedder.contract.js";
import { type EmbeddingsStub, openEmbeddingsStub } from "../support/openai-embeddings-stub.js";

const DIMENSION = 48;

describeEmbedderContract("openai", async () => {
  const stub = await openEmbeddingsStub({ dimension: DIMENSION });
  const embedder = await OpenAIEmbedder.open({ baseUrl: stub.baseUrl, model: "stub", dimension: DIMENSION });
  return { embedder, close: () => stub.close() };
});

describe("OpenAIEmbedder", () => {
  const open: EmbeddingsStub[] = [];
  afterEach(async () => {
    for (const stub of open.splice(0)) await stub.close();
  });

  async function start(options: Partial<OpenAIEmbedderOptions> = {}) {
    const stub = await openEmbeddingsStub({ dimension: DIMENSION });
    open.push(stub);
    const embedder = await OpenAIEmbedder.open({ baseUrl: stub.baseUrl, model: "stub", dimension: DIMENSION, ...options });
    return { stub, embedder };
  }

  async function codeOf(work: Promise<unknown>): Promise<string> {
    const error = await work.then(
      () => "resolved",
      (thrown: unknown) => thrown,
    );
    return error instanceof AppError ? error.code : String(error);
  }

  test("a model of another dimension stops the start and names both", async () => {
    const stub = await openEmbeddingsStub({ dimension: 32 });
    open.push(stub);
    const error = await OpenAIEmbedder.open({ baseUrl: stub.baseUrl, model: "stub", dimension: DIMENSION }).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: "INVALID_CONFIG" });
    expect((error as AppError).message).toMatch(/48.*32/);
    expect((error as AppError).hint).toContain("maitred reindex");
  });

  test("an endpoint that is out of reach at start is logged, and works once it is back", async () => {
    const stub = await openEmbeddingsStub({ dimension: DIMENSION });
    open.push(stub);
    stub.fail({ kind: "status", status: 503 });
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (_: object, message: string) => void warnings.push(message) };
    const embedder = await OpenAIEmbedder.open({ baseUrl: stub.baseUrl, model: "stub", dimension: DIMENSION, logger });
    expect(warnings).toHaveLength(1);
    expect(await embedder.embed(["hello"])).toHaveLength(1);
  });

  test("150 texts are two requests, not 150", async () => {
    const { stub, embedder } = await start();
    await embedder.embed(Array.from({ length: 150 }, (_, i) => `t${i}`));
    expect(stub.requests.slice(1).map((request) => request.input.length)).toEqual([96, 54]);
  });

  test("a request stays under 200,000 bytes, and a text under 16,000, cut between characters", async () => {
    const { stub, embedder } = await start();
    await embedder.embed(Array.from({ length: 20 }, () => "界".repeat(8_000)));
    const sizes = stub.requests.slice(1).map((request) => Buffer.byteLength(request.input.join("")));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(200_000);
    expect(stub.requests[1]?.input[0]).toBe("界".repeat(5_333));
  });

  test("the dimension is asked for only from models that take it", async () => {
    const plain = await start({ model: "nomic-embed-text" });
    const matryoshka = await start({ model: "text-embedding-3-small" });
    expect(plain.stub.requests[0]?.dimensions).toBeUndefined();
    expect(matryoshka.stub.requests[0]?.dimensions).toBe(DIMENSION);
  });

  test("the key goes into the header and never into an error", async () => {
    const { stub, embedder } = await start({ apiKey: "sk-canary-1234", maxRetries: 0 });
    stub.fail({ kind: "status", status: 401 });
    const error = await embedder.embed(["private words"]).catch((e: unknown) => e);
    expect(stub.requests[1]?.authorization).toBe("Bearer sk-canary-1234");
    expect(`${(error as AppError).message} ${(error as AppError).hint}`).not.toMatch(/canary|private/);
  });

  test.each([429, 500, 503])("one status %i is retried", async (status) => {
    const { stub, embedder } = await start();
    stub.fail({ kind: "status", status });
    expect(await embedder.embed(["again"])).toHaveLength(1);
    expect(stub.requests).toHaveLength(3);
  });

  test.each([
    ["status 500 throughout", { kind: "status", status: 500 }],
    ["status 400", { kind: "status", status: 400 }],
    ["malformed JSON", { kind: "malformed" }],
    ["half an answer, then a reset", { kind: "reset" }],
    ["another dimension", { kind: "dimension", dimension: 47 }],
    ["fewer vectors than texts", { kind: "fewer" }],
    ["text instead of a number", { kind: "no-number" }],
  ] as const)("%s is EMBEDDING_UNAVAILABLE", async (_, fault) => {
    const { stub, embedder } = await start({ maxRetries: 0 });
    stub.fail(fault);
    expect(await codeOf(embedder.embed(["one", "two"]))).toBe("EMBEDDING_UNAVAILABLE");
  });

  test("a hanging endpoint is EMBEDDING_UNAVAILABLE when the timeout has passed", async () => {
    const { stub, embedder } = await start({ maxRetries: 0, timeoutMs: 100 });
    stub.fail({ kind: "hang" });
    expect(await codeOf(embedder.embed(["hello"]))).toBe("EMBEDDING_UNAVAILABLE");
  });

  test("an abort during the request is ABORTED", async () => {
    const { stub, embedder } = await start();
    stub.fail({ kind: "hang" });
    const abort = new AbortController();
    const arrived = stub.arrived();
    const work = codeOf(embedder.embed(["hello"], { signal: abort.signal }));
    await arrived;
    abort.abort();
    expect(await work).toBe("ABORTED");
  });

  test("a refused connection is EMBEDDING_UNAVAILABLE", async () => {
    const { stub, embedder } = await start({ maxRetries: 0 });
    await stub.close();
    open.splice(open.indexOf(stub), 1);
    expect(await codeOf(embedder.embed(["hello"]))).toBe("EMBEDDING_UNAVAILABLE");
  });
});
