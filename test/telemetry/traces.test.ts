import { context, propagation, SpanStatusCode, trace } from "@opentelemetry/api";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../src/platform/errors.js";
import type { ChatModel, ModelEvent } from "../../src/ports/chat-model.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { TaskModel } from "../support/task-model.js";

let spans: InMemorySpanExporter;
let provider: NodeTracerProvider;
beforeEach(() => {
  spans = new InMemorySpanExporter();
  provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  provider.register();
});
afterEach(async () => {
  for (const part of [trace, context, propagation]) part.disable();
  await provider.shutdown();
});

const named = (name: string) => spans.getFinishedSpans().filter((span) => span.name === name);
const only = (name: string) => {
  const [span, ...others] = named(name);
  expect([name, others.length]).toEqual([name, 0]);
  if (span === undefined) throw new Error(`There is no span ${name}: ${spans.getFinishedSpans().map((each) => each.name)}`);
  return span;
};

describe("a turn", () => {
  test("[no-text-in-logs] is one trace by the GenAI conventions: recall, model, tools below the agent; its write-back is another", async () => {
    const model = new TaskModel();
    model.replies.push({ name: "search_events", arguments: { text: "jazz in the lighthouse" } }, "There is none, dear Ada.");
    const world = await startWorld(await tempDir(), {}, { model });
    const { session_id: session } = await world.as("ada").say("Is there jazz in the lighthouse?");
    await world.stop();

    const turn = only("invoke_agent concierge");
    const chat = { "gen_ai.operation.name": "chat", "gen_ai.provider.name": "custom", "gen_ai.request.model": "by task" };
    const usage = { "gen_ai.usage.input_tokens": 100, "gen_ai.usage.cache_read.input_tokens": 40, "gen_ai.usage.output_tokens": 10 };
    expect(turn.attributes).toMatchObject({
      ...chat,
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "concierge",
      "gen_ai.conversation.id": session,
      "gen_ai.usage.input_tokens": 200,
      "maitred.turn": 1,
      "maitred.memory.status": "empty",
    });
    const below = spans.getFinishedSpans().filter(({ parentSpanContext }) => parentSpanContext?.spanId === turn.spanContext().spanId);
    expect(below.map(({ name }) => name).sort()).toEqual(["chat by task", "chat by task", "execute_tool search_events", "recall"]);
    const asked = below.filter(({ name }) => name.startsWith("chat"));
    expect(asked.map(({ attributes }) => attributes["gen_ai.response.finish_reasons"])).toEqual([["tool_calls"], ["stop"]]);
    for (const { attributes } of asked) expect(attributes).toMatchObject({ ...chat, ...usage, "maitred.task": "chat" });
    expect(only("execute_tool search_events").attributes).toMatchObject({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "search_events",
      "gen_ai.tool.call.id": "call_1",
    });

    const writeBack = only("write_back");
    expect(writeBack.attributes).toMatchObject({ "gen_ai.conversation.id": session, "maitred.turn": 1, "maitred.attempt": 1 });
    expect([writeBack.parentSpanContext, writeBack.spanContext().traceId === turn.spanContext().traceId]).toEqual([undefined, false]);
    const read = named("chat by task").filter(({ attributes }) => attributes["maitred.task"] === "extraction");
    expect(read.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([writeBack.spanContext().spanId]);
    const told = JSON.stringify(spans.getFinishedSpans().map(({ name, attributes, events, status }) => [name, attributes, events, status]));
    for (const word of ["lighthouse", "dear Ada", 'ada"']) expect(told).not.toContain(word);
  });

  test("that fails says so by code, in the call and in the turn, without the error's text", async () => {
    const model = new TaskModel();
    model.replies.push(new AppError("MODEL_UNAVAILABLE", { detail: "the lighthouse is dark" }));
    const world = await startWorld(await tempDir(), {}, { model });
    const { status } = await world.as("ada").post("/v1/chat", { message: "Good evening." });
    expect(status).toBe(502);
    for (const name of ["chat by task", "invoke_agent concierge"]) {
      const { attributes, status, events } = only(name);
      expect(attributes["error.type"]).toBe("MODEL_UNAVAILABLE");
      expect([status, events]).toEqual([{ code: SpanStatusCode.ERROR }, []]);
    }
  });

  test("whose model pays no heed to its end leaves no span open", async () => {
    const model: ChatModel = {
      name: "stuck",
      standIn: false,
      async *stream(): AsyncGenerator<ModelEvent, void, undefined> {
        await new Promise(() => {});
      },
    };
    const world = await startWorld(await tempDir(), { MODEL_TIMEOUT_MS: "1000" }, { model });
    expect((await world.as("ada").post("/v1/chat", { message: "Good evening." })).status).toBe(504);
    expect(only("chat stuck").status).toEqual({ code: SpanStatusCode.ERROR });
  });

  test("is below the application's own span, where there is one", async () => {
    const world = await startWorld(await tempDir(), {}, { model: new TaskModel() });
    await trace.getTracer("own").startActiveSpan("the application's", async (span) => {
      await world.as("ada").post("/v1/chat", { message: "Good evening." });
      span.end();
    });
    expect(only("invoke_agent concierge").parentSpanContext?.spanId).toBe(only("the application's").spanContext().spanId);
  });
});
