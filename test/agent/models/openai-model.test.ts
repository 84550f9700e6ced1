import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EVERYTHING } from "../../../src/agent/models/capabilities.js";
import { KnownCapabilities } from "../../../src/agent/models/known-capabilities.js";
import { chatBody } from "../../../src/agent/models/openai-chat.js";
import { type OpenAIModelOptions, openAIModel } from "../../../src/agent/models/openai-model.js";
import { responsesBody } from "../../../src/agent/models/openai-responses.js";
import type { AppError } from "../../../src/platform/errors.js";
import type { ModelEvent, ModelRequest } from "../../../src/ports/agent.js";
import { type ChatBody, OpenAIStub } from "../../support/openai-stub.js";

const KEY = "sk-test-0123456789abcdef";
const ASK: ModelRequest = { messages: [{ role: "user", content: "Hello?" }] };

let stub: OpenAIStub;
beforeEach(async () => {
  stub = await OpenAIStub.open();
});
afterEach(async () => {
  await stub.close();
  stub.assertDone();
});

function model(options: Partial<OpenAIModelOptions> = {}): ReturnType<typeof openAIModel> {
  return openAIModel({ model: "gpt-test", apiKey: KEY, baseUrl: stub.url, maxRetries: 0, ...options });
}

async function collect(
  request: ModelRequest,
  options: Partial<OpenAIModelOptions> = {},
  signal = new AbortController().signal,
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model(options).stream(request, { signal })) events.push(event);
  return events;
}

async function failure(request: ModelRequest = ASK, options: Partial<OpenAIModelOptions> = {}): Promise<AppError> {
  return collect(request, options).then(
    () => expect.fail("it answered"),
    (error: AppError) => error,
  );
}

const bodies = () => stub.requests.map(({ body }) => body as ChatBody);

describe("over real HTTP", () => {
  test("text streams as it comes, and the usage is counted", async () => {
    stub.chat({ text: ["Good ", "evening."], usage: { prompt_tokens: 12, completion_tokens: 3 } });
    expect(await collect(ASK)).toEqual([
      { type: "text", delta: "Good " },
      { type: "text", delta: "evening." },
      { type: "end", reason: "stop", usage: { input_tokens: 12, output_tokens: 3 } },
    ]);
    expect(stub.requests[0]).toMatchObject({ path: "/chat/completions", authorization: `Bearer ${KEY}` });
    expect(bodies()[0]).toEqual({
      model: "gpt-test",
      messages: [{ role: "user", content: "Hello?" }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test("tool calls that come in pieces come out whole", async () => {
    stub.chat({
      calls: [
        { id: "a", name: "search", arguments: { city: "Vienna" } },
        { id: "b", name: "list", arguments: {} },
      ],
    });
    const tools = [{ name: "search", description: "Searches.", parameters: { type: "object" } }];
    const events = await collect({ ...ASK, tools });
    expect(events.filter(({ type }) => type === "tool_call")).toEqual([
      { type: "tool_call", call: { id: "a", name: "search", arguments: '{"city":"Vienna"}' } },
      { type: "tool_call", call: { id: "b", name: "list", arguments: "{}" } },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "end", reason: "tool_calls" });
    expect(bodies()[0]?.tools).toEqual([{ type: "function", function: tools[0] }]);
  });

  test("calls are calls even where an endpoint says that it stopped", async () => {
    stub.chat({ calls: [{ name: "list", arguments: {} }], finish: "stop" });
    expect((await collect(ASK)).at(-1)).toMatchObject({ reason: "tool_calls" });
  });

  test("an answer that was cut for length says so", async () => {
    stub.chat({ text: "And so", finish: "length" });
    expect((await collect({ ...ASK, maxOutputTokens: 3 })).at(-1)).toMatchObject({ reason: "length" });
    expect(bodies()[0]?.max_completion_tokens).toBe(3);
  });

  test("a round with tool calls goes back as the endpoint expects it; malformed arguments don't", async () => {
    stub.chat({ text: "Fine." });
    await collect({
      messages: [
        { role: "user", content: "List." },
        { role: "assistant", content: "", tool_calls: [{ id: "a", name: "list", arguments: "{ oops" }] },
        { role: "tool", tool_call_id: "a", content: '{"error":"no"}' },
      ],
    });
    expect(bodies()[0]?.messages.slice(1)).toEqual([
      { role: "assistant", content: null, tool_calls: [{ id: "a", type: "function", function: { name: "list", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "a", content: '{"error":"no"}' },
    ]);
  });
});

describe("an endpoint that takes less than OpenAI", () => {
  const JSON_ASK: ModelRequest = { ...ASK, json: { name: "answer", schema: { type: "object", properties: { ok: { type: "boolean" } } } } };

  test("asks for a JSON schema first", async () => {
    stub.chat({ text: "{}" });
    await collect(JSON_ASK);
    expect(bodies()[0]?.response_format).toEqual({ type: "json_schema", json_schema: { name: "answer", schema: JSON_ASK.json?.schema } });
  });

  test("falls back to a JSON object, names the schema in words, and stays with it", async () => {
    const chat = model();
    stub.refuseParameter("json_schema");
    stub.chatOtherwise({ text: "{}" });
    const ask = async () => {
      for await (const _ of chat.stream(JSON_ASK, { signal: new AbortController().signal }));
    };
    await ask();
    await ask();
    expect(bodies().map((body) => body.response_format?.type)).toEqual(["json_schema", "json_object", "json_object"]);
    expect(JSON.stringify(bodies()[1]?.messages[0])).toMatch(/JSON Schema/);
  });

  test("does without usage where stream_options are refused", async () => {
    stub.refuseParameter("stream_options");
    stub.chatOtherwise({ text: "Hello." });
    expect((await collect(ASK)).at(-1)).toMatchObject({ type: "end", usage: { input_tokens: 0, output_tokens: 0 } });
  });

  test("says max_tokens where max_completion_tokens is unknown", async () => {
    stub.refuseParameter("max_completion_tokens");
    stub.chatOtherwise({ text: "Hello." });
    await collect({ ...ASK, maxOutputTokens: 5 });
    expect(bodies()[1]).toMatchObject({ max_tokens: 5 });
  });

  test("a 400 about anything else is an error, once", async () => {
    stub.chat({ fault: 400 });
    expect(await failure(JSON_ASK)).toMatchObject({ code: "MODEL_REFUSED_REQUEST" });
    expect(stub.requests).toHaveLength(1);
  });
});

describe("faults", () => {
  test.each([
    ["refuse", "MODEL_UNAVAILABLE"],
    [500, "MODEL_UNAVAILABLE"],
    [503, "MODEL_UNAVAILABLE"],
    [429, "MODEL_QUOTA"],
    [402, "MODEL_QUOTA"],
    [401, "MODEL_REFUSED_REQUEST"],
    [404, "MODEL_REFUSED_REQUEST"],
    ["malformed", "MODEL_UNAVAILABLE"],
    ["half", "MODEL_UNAVAILABLE"],
  ] as const)("%s → %s", async (fault, code) => {
    stub.failChat(fault);
    expect((await failure()).code).toBe(code);
  });

  test("an endpoint that is not there → MODEL_UNAVAILABLE", async () => {
    expect((await failure(ASK, { baseUrl: "http://127.0.0.1:1/v1" })).code).toBe("MODEL_UNAVAILABLE");
  });

  test("hang → MODEL_TIMEOUT, and the request is taken back", async () => {
    stub.chat({ fault: "hang" });
    expect((await failure(ASK, { timeoutMs: 500 })).code).toBe("MODEL_TIMEOUT");
    await stub.requests[0]?.aborted;
  });

  test("an answer that stalls half-way → MODEL_TIMEOUT", async () => {
    stub.chat({ text: ["One ", "two ", "three ", "four"], fault: "stall" });
    expect((await failure(ASK, { timeoutMs: 500 })).code).toBe("MODEL_TIMEOUT");
  });

  test("an abort ends the call and the request", async () => {
    stub.chat({ fault: "hang" });
    const controller = new AbortController();
    const pending = collect(ASK, {}, controller.signal);
    await stub.arrived(1);
    controller.abort();
    await expect(pending).rejects.toMatchObject({ code: "ABORTED" });
    await stub.requests[0]?.aborted;
  });

  test("a reader that stops reading ends the request", async () => {
    stub.chat({ text: ["One ", "two ", "three ", "four"], fault: "stall" });
    for await (const event of model().stream(ASK, { signal: new AbortController().signal })) if (event.type === "text") break;
    await stub.requests[0]?.aborted;
  });

  test("before the first token it is tried again; Retry-After is passed on when that fails too", async () => {
    stub.chat({ fault: 503 }, { text: "Here." });
    expect((await collect(ASK, { maxRetries: 1 }))[0]).toEqual({ type: "text", delta: "Here." });
    stub.chat({ fault: 429 });
    expect(await failure()).toMatchObject({ retryAfterSeconds: 7 });
  });

  test("after the first token it is not", async () => {
    stub.chat({ text: ["One ", "two ", "three ", "four"], fault: "half" });
    expect((await failure(ASK, { maxRetries: 2 })).code).toBe("MODEL_UNAVAILABLE");
    expect(stub.requests).toHaveLength(1);
  });

  test.each([401, 500])("the key is in no part of an error, even when the endpoint repeats it (%s)", async (status) => {
    stub.failChat(status);
    const error = await failure();
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(KEY);
    expect(JSON.stringify({ ...error, message: error.message, stack: error.stack })).not.toContain(KEY);
  });
});

describe("a key for the endpoint's cache", () => {
  const keyed: ModelRequest = { ...ASK, cacheKey: "abc" };
  const sent = () => bodies().map((body) => (body as { prompt_cache_key?: string }).prompt_cache_key);

  test("is not sent to an endpoint that is not OpenAI's own, unless an option says so", async () => {
    stub.chat({ text: "a" }, { text: "b" }, { text: "c" });
    await collect(keyed);
    await collect(keyed, { cacheKeys: "always" });
    await collect(ASK, { cacheKeys: "always" });
    expect(sent()).toEqual([undefined, "abc", undefined]);
  });

  test("that is refused is left out from then on", async () => {
    stub.refuseParameter("prompt_cache_key");
    stub.chat({ text: "a" }, { text: "b" });
    const known = new KnownCapabilities();
    for (let call = 0; call < 2; call += 1) await collect(keyed, { cacheKeys: "always", known });
    expect(sent()).toEqual(["abc", undefined, undefined]);
  });

  test("is named alike at both of OpenAI's APIs", () => {
    const options = { model: "m", by: "b", cacheKeys: true };
    expect(chatBody(keyed, EVERYTHING, options)).toMatchObject({ prompt_cache_key: "abc" });
    expect(responsesBody(keyed, EVERYTHING, options)).toMatchObject({ prompt_cache_key: "abc" });
    expect(responsesBody(keyed, EVERYTHING, { model: "m", by: "b" })).not.toHaveProperty("prompt_cache_key");
  });
});

describe("thought whose begin stands in the template", () => {
  const pieces = ["Okay, the user ", "says hello.", "</think>", "Good evening."];
  const texts = (events: readonly ModelEvent[]) => events.flatMap((event) => (event.type === "text" ? [event.delta] : []));

  test("never reaches the user, not even in the first answer of a model that is known to be served so", async () => {
    stub.chat({ text: pieces }, { text: pieces });
    const options = { model: "qwen3-32b", known: new KnownCapabilities() };
    for (let call = 0; call < 2; call += 1) expect(texts(await collect(ASK, options)).join("")).toBe("Good evening.");
  });

  test("is waited for in the first answer alone: where none came, the next is streamed as it comes", async () => {
    stub.chat({ text: ["Good ", "evening."] }, { text: ["Good ", "evening."] });
    const options = { model: "deepseek-chat", known: new KnownCapabilities() };
    expect(texts(await collect(ASK, options))).toEqual(["Good evening."]);
    expect(texts(await collect(ASK, options))).toEqual(["Good ", "evening."]);
  });

  test("that shows itself while the answer is read along is taken back; where nobody reads along it is never given", async () => {
    stub.chat({ text: pieces }, { text: pieces });
    const read = await collect(ASK, { known: new KnownCapabilities() });
    expect(read.filter(({ type }) => type === "retract")).toHaveLength(1);
    expect(texts(await collect({ ...ASK, task: "summary" }, { known: new KnownCapabilities() }))).toEqual(["Good evening."]);
  });

  test("once met at any model, it is held back from the next answer on", async () => {
    stub.chat({ text: pieces }, { text: pieces });
    const options = { known: new KnownCapabilities() };
    const first = await collect(ASK, options);
    expect(texts(first.slice(first.findIndex(({ type }) => type === "retract") + 1)).join("")).toBe("Good evening.");
    const next = await collect(ASK, options);
    expect(next.map(({ type }) => type)).toEqual(["text", "end"]);
    expect(texts(next).join("")).toBe("Good evening.");
  });
});
