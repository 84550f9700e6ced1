import { APICallError, generateText, type ModelMessage, stepCountIs, streamText, tool } from "ai";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { withMemory } from "../../src/ai-sdk.js";
import { createMaitred, type Maitred, type MaitredUser } from "../../src/index.js";

type Generated = Awaited<ReturnType<MockLanguageModelV3["doGenerate"]>>;
type StreamPart = Awaited<ReturnType<MockLanguageModelV3["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;

const tokens = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 };
const usage = { inputTokens: tokens, outputTokens: { total: 0, text: 0, reasoning: 0 } };
const finishReason = { unified: "stop", raw: "stop" } as const;
const answer = (text: string): Generated => ({ content: [{ type: "text", text }], finishReason, usage, warnings: [] });
const call = { type: "tool-call", toolCallId: "c1", toolName: "seats", input: "{}" } as const;
const calling: Generated = { content: [{ type: "text", text: "Let me see." }, call], finishReason, usage, warnings: [] };
const delta = (text: string): StreamPart => ({ type: "text-delta", id: "1", delta: text });
const begin: StreamPart[] = [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "1" },
];
const end: StreamPart[] = [
  { type: "text-end", id: "1" },
  { type: "finish", finishReason, usage },
];
const seats = tool({ description: "Free seats", inputSchema: z.object({}), execute: async () => "F7" });

describe("a model of the AI SDK with memory", () => {
  let maitred: Maitred;
  let ada: MaitredUser;
  let guests = 0;
  const warned: string[] = [];
  beforeAll(async () => {
    const note = (_: unknown, message: string) => void warned.push(message);
    const logger = { debug: () => {}, info: () => {}, warn: note, error: note };
    maitred = await createMaitred({ shortTermBackend: "memory", embeddingProvider: "hashing", recallDeadlineMs: 30_000, logger });
  });
  afterAll(() => maitred.close());
  beforeEach(() => {
    ada = maitred.for({ user: `ada-${++guests}` });
    warned.length = 0;
  });
  const thread = "t1";
  const kept = async (user = ada) => (await user.sessions.messages({ thread })).data.map(({ role, content }) => `${role}: ${content}`);
  const sent = (model: MockLanguageModelV3, n = -1) => model.doGenerateCalls.at(n)?.prompt ?? [];

  test("is told what is known before the user's words, and what was said in the thread where the call doesn't tell", async () => {
    await ada.memories.add("Needs step-free access", { category: "accessibility", strength: "hard" });
    const model = new MockLanguageModelV3({ doGenerate: [answer("A trio plays at nine."), answer("At the harbour."), answer("By tram.")] });
    const remembering = withMemory(model, { user: ada, thread });
    expect(remembering).toMatchObject({ specificationVersion: "v3", provider: model.provider, modelId: model.modelId });
    await generateText({ model: remembering, system: "You are a concierge.", prompt: "Is there any jazz tonight?" });
    expect(sent(model).map(({ role }) => role)).toEqual(["system", "user"]);
    expect(sent(model)[0]).toMatchObject({ content: "You are a concierge." });
    const known = { type: "text", text: expect.stringContaining("Needs step-free access") };
    expect(sent(model)[1]?.content).toEqual([known, { type: "text", text: "Is there any jazz tonight?" }]);

    await generateText({ model: remembering, prompt: "Where is that?" });
    expect(JSON.stringify(sent(model))).toContain("A trio plays at nine.");
    const messages: ModelMessage[] = [
      { role: "user", content: "Is there any jazz tonight?" },
      { role: "assistant", content: "A trio plays at nine." },
      { role: "user", content: "How do I get there?" },
    ];
    await generateText({ model: remembering, messages });
    expect(JSON.stringify(sent(model)).split("A trio plays at nine.")).toHaveLength(2);
    expect(JSON.stringify(sent(model)).split("step-free access")).toHaveLength(2);
    expect(await kept()).toEqual([
      "user: Is there any jazz tonight?",
      "assistant: A trio plays at nine.",
      "user: Where is that?",
      "assistant: At the harbour.",
      "user: How do I get there?",
      "assistant: By tram.",
    ]);
  });

  test("keeps a turn of several steps once, and tells all steps the same", async () => {
    await ada.memories.add("Needs step-free access", { category: "accessibility", strength: "hard" });
    const model = new MockLanguageModelV3({ doGenerate: [calling, calling, answer("F7 is free.")] });
    const remembering = withMemory(model, { user: ada, thread });
    await generateText({ model: remembering, tools: { seats }, stopWhen: stepCountIs(3), prompt: "Any seats?" });
    expect(await kept()).toEqual(["user: Any seats?", "assistant: F7 is free."]);
    const told = [0, 1, 2].map((n) => JSON.stringify(sent(model, n)[0]));
    expect(told[0]).toContain("step-free");
    expect(new Set(told).size).toBe(1);
  });

  test("a loop that ends with a tool's call keeps what the user said", async () => {
    const model = new MockLanguageModelV3({ doGenerate: [calling] });
    await generateText({ model: withMemory(model, { user: ada, thread }), tools: { seats }, prompt: "Any seats?" });
    expect(await kept()).toEqual(["user: Any seats?"]);
  });

  test("a call that is tried again keeps the user's message once", async () => {
    const responseHeaders = { "retry-after-ms": "1" };
    const failure = new APICallError({ message: "busy", url: "http://none", requestBodyValues: {}, isRetryable: true, responseHeaders });
    let tries = 0;
    const model = new MockLanguageModelV3({
      doGenerate: async () => {
        if (++tries === 1) throw failure;
        return answer("Good evening.");
      },
    });
    await generateText({ model: withMemory(model, { user: ada, thread }), prompt: "Hello" });
    expect(tries).toBe(2);
    expect(await kept()).toEqual(["user: Hello", "assistant: Good evening."]);
  });

  test("a call that fails keeps what the user said, and fails as it does without", async () => {
    const model = new MockLanguageModelV3({ doGenerate: () => Promise.reject(new Error("no such model")) });
    await expect(generateText({ model: withMemory(model, { user: ada, thread }), prompt: "Hello" })).rejects.toThrow("no such model");
    expect(await kept()).toEqual(["user: Hello"]);
  });

  test("a stream is kept when it ends, and comes as it is", async () => {
    const parts = [...begin, delta("Good "), delta("evening."), ...end];
    const model = new MockLanguageModelV3({ doStream: { stream: simulateReadableStream({ chunks: parts }) } });
    const { stream } = await withMemory(model, { user: ada, thread }).doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    });
    const seen: StreamPart[] = [];
    for await (const part of stream) seen.push(part);
    expect(seen).toEqual(parts);
    expect(await kept()).toEqual(["user: Hello", "assistant: Good evening."]);
  });

  test("a stream that is aborted, or that nobody reads on, keeps what the user said", async () => {
    const model = new MockLanguageModelV3({
      doStream: async ({ abortSignal }) => ({
        stream: new ReadableStream<StreamPart>({
          start: (controller) => {
            for (const part of [...begin, delta("Good ")]) controller.enqueue(part);
            abortSignal?.addEventListener("abort", () => controller.error(abortSignal.reason));
          },
        }),
      }),
    });
    const remembering = withMemory(model, { user: ada, thread });
    const stop = new AbortController();
    const { textStream } = streamText({ model: remembering, prompt: "Hello", abortSignal: stop.signal, onError: () => {} });
    for await (const _ of textStream) stop.abort();
    await vi.waitFor(async () => expect(await kept()).toEqual(["user: Hello"]));
    const { stream } = await remembering.doStream({ prompt: [{ role: "user", content: [{ type: "text", text: "And now?" }] }] });
    await stream.cancel();
    expect(await kept()).toEqual(["user: Hello", "user: And now?"]);
  });

  test("a stream that tells of an error keeps what the user said", async () => {
    const parts: StreamPart[] = [...begin, delta("Good "), { type: "error", error: new Error("lost") }, ...end];
    const model = new MockLanguageModelV3({ doStream: { stream: simulateReadableStream({ chunks: parts }) } });
    const streamed = streamText({ model: withMemory(model, { user: ada, thread }), prompt: "Hello", onError: () => {} });
    await streamed.consumeStream();
    expect(await kept()).toEqual(["user: Hello"]);
  });

  test("a memory that fails is told to the logger, and the call goes on without", async () => {
    const { id } = await ada.sessions.create({ thread });
    await ada.sessions.delete(id);
    const model = new MockLanguageModelV3({ doGenerate: [answer("Good evening.")] });
    const { text } = await generateText({ model: withMemory(model, { user: ada, thread }), prompt: "Hello" });
    expect(text).toBe("Good evening.");
    expect(sent(model)).toMatchObject([{ role: "user", content: [{ type: "text", text: "Hello" }] }]);
    expect(warned).toEqual(["the model is asked without what is known of the user", "what was said with the model is not kept"]);
  });

  test("a picture without a word asks for nothing, and is not kept; a long message is kept as far as it is read", async () => {
    const model = new MockLanguageModelV3({ doGenerate: [answer("A piano."), answer("Very long.")] });
    const remembering = withMemory(model, { user: ada, thread });
    const image = new Uint8Array([137, 80, 78, 71]);
    await generateText({ model: remembering, messages: [{ role: "user", content: [{ type: "image", image, mediaType: "image/png" }] }] });
    await generateText({ model: remembering, prompt: "x".repeat(9_000) });
    expect(await kept()).toEqual(["assistant: A piano.", `user: ${"x".repeat(8_000)}`, "assistant: Very long."]);
    expect(warned).toEqual([]);
  });

  test("a session of Maitred's own id is gone on with", async () => {
    const { session_id: sessionId } = await ada.add([{ role: "user", content: "I am in room 12." }]);
    const model = new MockLanguageModelV3({ doGenerate: [answer("Room 12.")] });
    await generateText({ model: withMemory(model, { user: ada, sessionId }), prompt: "Which room?" });
    expect((await ada.sessions.messages(sessionId)).data.map(({ content }) => content)).toEqual([
      "I am in room 12.",
      "Which room?",
      "Room 12.",
    ]);
  });
});
