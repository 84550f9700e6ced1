import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { OpenAIEmbedder, type OpenAIEmbedderOptions } from "../../src/embedding/openai-embedder.js";
import { AppError } from "../../src/platform/errors.js";
import { tokenCounterFor } from "../../src/platform/tokens.js";
import { describeEmbedderContract } from "../contract/embedder.contract.js";
import {
  type EmbeddingsRequest,
  type EmbeddingsStub,
  type EmbeddingsStubOptions,
  openEmbeddingsStub,
} from "../support/openai-embeddings-stub.js";

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

  async function start(options: Partial<OpenAIEmbedderOptions> = {}, service: Partial<EmbeddingsStubOptions> = {}) {
    const stub = await openEmbeddingsStub({ dimension: DIMENSION, ...service });
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
    const stub = await openEmbeddingsStub({ dimension: 32, ignoresDimensions: true });
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

  test("a request stays under 200,000 bytes, whatever the texts", async () => {
    const { stub, embedder } = await start();
    await embedder.embed(Array.from({ length: 20 }, () => "界".repeat(8_000)));
    const sizes = stub.requests.slice(1).map((request) => Buffer.byteLength(request.input.join("")));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(200_000);
    expect(stub.requests[1]?.input[0]).toBe("界".repeat(8_000));
  });

  test("a text of OpenAI's models is cut at 8,191 of their tokens before it is sent", async () => {
    const { stub, embedder } = await start({ model: "text-embedding-3-small" });
    const words = Array.from({ length: 9_000 }, (_, i) => ` word${i % 10}`).join("");
    await embedder.embed([words, "short"]);
    const [sent = "", short] = stub.requests.slice(1).flatMap((request) => request.input);
    expect(short).toBe("short");
    expect(words.startsWith(sent)).toBe(true);
    const tokens = (await tokenCounterFor("text-embedding-3-small")).count(sent);
    expect(tokens).toBeLessThanOrEqual(8_191);
    expect(tokens).toBeGreaterThan(7_500);
  });

  test("the dimension is asked for, and left out for good where it is refused: one request more, once", async () => {
    const refuse = ({ dimensions }: EmbeddingsRequest) =>
      dimensions === undefined ? null : { status: 400, body: { error: { message: "This model does not support specifying dimensions." } } };
    const { stub, embedder } = await start({}, { refuse });
    await embedder.embed(["one"]);
    await embedder.embed(["two"]);
    expect(stub.requests.map((request) => request.dimensions)).toEqual([DIMENSION, undefined, undefined, undefined]);
    expect(stub.requests.every((request) => request.encoding_format === "float")).toBe(true);
  });

  test("encoding_format is left out where a server without an error key refuses it", async () => {
    const refuse = ({ encoding_format }: EmbeddingsRequest) =>
      encoding_format === undefined ? null : { status: 422, body: { detail: [{ loc: ["body", "encoding_format"], msg: "Extra inputs" }] } };
    const { stub, embedder } = await start({}, { refuse });
    await embedder.embed(["one"]);
    expect(stub.requests.map((request) => request.encoding_format)).toEqual(["float", undefined, undefined]);
    expect(stub.requests.at(-1)?.dimensions).toBe(DIMENSION);
  });

  test("a refusal that names nothing is tried once without options", async () => {
    const refuse = ({ dimensions }: EmbeddingsRequest) => (dimensions === undefined ? null : { status: 400, body: { message: "invalid" } });
    const { stub, embedder } = await start({}, { refuse });
    await embedder.embed(["one"]);
    const options = stub.requests.map(({ dimensions, encoding_format }) => [dimensions, encoding_format]);
    expect(options).toEqual([
      [DIMENSION, "float"],
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  test("a dimension that nobody set gives way to the model's own, and the log says what to set", async () => {
    const told: string[] = [];
    const logger = { debug() {}, warn() {}, error() {}, info: (_: object, message: string) => void told.push(message) };
    const { embedder } = await start({ dimension: 768, adapt: { stored: null }, logger }, { ignoresDimensions: true });
    expect(embedder).toMatchObject({ dimension: DIMENSION, id: `openai-stub-${DIMENSION}` });
    expect(told.join("\n")).toContain(`MEMORY_EMBEDDING_DIMENSIONALITY=${DIMENSION}`);
    expect(await embedder.embed(["fits"])).toHaveLength(1);
  });

  test("out of reach at start, a dimension that nobody set is that of what is stored", async () => {
    const stub = await openEmbeddingsStub({ dimension: DIMENSION });
    open.push(stub);
    stub.fail({ kind: "status", status: 503 });
    const embedder = await OpenAIEmbedder.open({ baseUrl: stub.baseUrl, model: "stub", dimension: 768, adapt: { stored: DIMENSION } });
    expect(embedder.dimension).toBe(DIMENSION);
    expect(embedder.problem).toMatch(/503/);
    await embedder.embed(["back"]);
    expect(embedder.problem).toBeNull();
  });

  test("a provider without /embeddings doesn't stop the start, and is told with what to set", async () => {
    const { embedder } = await start({}, { refuse: () => ({ status: 404, body: { error: { message: "Not Found" } } }) });
    expect(embedder.problem).toMatch(/makes no embeddings.*EMBEDDING_BASE_URL.*EMBEDDING_API_KEY/);
    await expect(embedder.embed(["one"])).rejects.toMatchObject({
      code: "EMBEDDING_UNAVAILABLE",
      hint: expect.stringContaining("EMBEDDING_BASE_URL"),
    });
  });

  test("a model that the service doesn't know is told apart from that", async () => {
    const { embedder } = await start({}, { refuse: () => ({ status: 404, body: { error: { message: 'model "stub" not found' } } }) });
    expect(embedder.problem).toMatch(/MEMORY_EMBEDDING_MODEL/);
  });

  test("a text that is too long for the model is cut further, and not sent as long again", async () => {
    const refuse = ({ input }: EmbeddingsRequest) =>
      input.some((text) => text.length > 1_500) ? { status: 400, body: { error: { message: "input exceeds the context length" } } } : null;
    const { stub, embedder } = await start({ model: "intfloat/e5-small" }, { refuse });
    await embedder.embed(["x".repeat(4_000)]);
    await embedder.embed(["x".repeat(4_000)]);
    expect(stub.requests.slice(1).map(({ input }) => input[0]?.length)).toEqual([1_536, 768, 768]);
  });

  test("a batch that is too large for the service goes in halves, from then on", async () => {
    const refuse = ({ input }: EmbeddingsRequest) =>
      input.length > 32 ? { status: 413, body: { error: "batch size 96 > maximum allowed batch size 32" } } : null;
    const { stub, embedder } = await start({}, { refuse });
    expect(await embedder.embed(Array.from({ length: 96 }, (_, i) => `t${i}`))).toHaveLength(96);
    const before = stub.requests.length;
    await embedder.embed(Array.from({ length: 48 }, (_, i) => `t${i}`));
    expect(stub.requests.slice(before).map(({ input }) => input.length)).toEqual([24, 24]);
  });

  test("a Retry-After of minutes is not waited for, and told", async () => {
    const { stub, embedder } = await start();
    stub.fail({ kind: "status", status: 429, headers: { "retry-after": "600" } });
    await expect(embedder.embed(["one"])).rejects.toMatchObject({ code: "EMBEDDING_UNAVAILABLE", retryAfterSeconds: 600 });
    expect(stub.requests).toHaveLength(2);
  });

  test("a service that asks for time is left alone until it is over, and is asked again then", async () => {
    const { stub, embedder } = await start();
    const now = vi.spyOn(performance, "now");
    onTestFinished(() => now.mockRestore());
    const began = Math.ceil(performance.now());
    now.mockReturnValue(began);
    stub.fail({ kind: "status", status: 429, headers: { "retry-after": "90" } });
    await expect(embedder.embed(["one"])).rejects.toMatchObject({ retryAfterSeconds: 90 });
    const asked = stub.requests.length;
    now.mockReturnValue(began + 30_000);
    await expect(embedder.embed(["one"], { kind: "query" })).rejects.toMatchObject({ retryAfterSeconds: 60 });
    expect(stub.requests).toHaveLength(asked);
    now.mockReturnValue(began + 90_001);
    expect(await embedder.embed(["one"])).toHaveLength(1);
    expect(embedder.problem).toBeNull();
  });

  test("a wait for the next try ends with the signal", async () => {
    const { stub, embedder } = await start();
    stub.fail({ kind: "status", status: 429, headers: { "retry-after": "4" } });
    const abort = new AbortController();
    const arrived = stub.arrived();
    const work = codeOf(embedder.embed(["one"], { signal: abort.signal }));
    await arrived;
    abort.abort();
    expect(await work).toBe("ABORTED");
    expect(stub.requests).toHaveLength(2);
  });

  test("a query, which a reply waits for, is tried once more at most", async () => {
    const { stub, embedder } = await start();
    const fault = { kind: "status", status: 500 } as const;
    stub.fail(fault, fault, fault);
    expect(await codeOf(embedder.embed(["one"], { kind: "query" }))).toBe("EMBEDDING_UNAVAILABLE");
    expect(stub.requests).toHaveLength(3);
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
