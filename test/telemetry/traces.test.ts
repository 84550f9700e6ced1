import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
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
    const { session_id: session } = await world.as("ada").say("We come often: is there jazz in the lighthouse?");
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

describe("a request to the server", () => {
  const CALLER = { trace: "0af7651916cd43dd8448eb211c80319c", span: "b7ad6b7169203331" };
  const traceparent = `00-${CALLER.trace}-${CALLER.span}-01`;

  test("[no-text-in-logs] is a span by the HTTP conventions, above the turn, without path, query or ids", async () => {
    const world = await startWorld(await tempDir(), {}, { model: new TaskModel() });
    const { session_id } = await world.as("ada").say("Good evening.");
    const chat = only("POST /v1/chat");
    expect([chat.kind, chat.parentSpanContext]).toEqual([SpanKind.SERVER, undefined]);
    expect(chat.attributes).toEqual({ "http.request.method": "POST", "http.route": "/v1/chat", "http.response.status_code": 200 });
    const turn = only("invoke_agent concierge");
    expect(turn.parentSpanContext?.spanId).toBe(chat.spanContext().spanId);
    await world.as("ada").get(`/v1/sessions/${session_id}?title=oysters`);
    await world.as("ada").get("/nowhere/oysters?q=oysters");
    await world.as("ada").request("BREW", "/v1/chat");
    await world.stop();
    const requests = spans.getFinishedSpans().filter(({ kind }) => kind === SpanKind.SERVER);
    expect(requests.map(({ name }) => name)).toEqual([
      "POST /v1/chat",
      "POST /v1/sessions/:id/flush",
      "GET /v1/sessions/:id",
      "GET",
      "HTTP",
    ]);
    const told = JSON.stringify(requests.map(({ name, attributes, events }) => [name, attributes, events]));
    for (const word of [session_id, "oysters", "ada", "BREW"]) expect(told).not.toContain(word);
    // One that left the greeting to be read along, and one at the flush.
    expect(named("write_back").map(({ parentSpanContext }) => parentSpanContext)).toEqual([undefined, undefined]);
  });

  test("is below the caller's span where traceparent names one; what is none is passed over", async () => {
    const world = await startWorld(await tempDir(), {}, { model: new TaskModel() });
    await world.as("ada").post("/v1/chat", { message: "Good evening." }, { traceparent });
    const chat = only("POST /v1/chat");
    expect([chat.spanContext().traceId, chat.parentSpanContext?.spanId]).toEqual([CALLER.trace, CALLER.span]);
    expect(only("invoke_agent concierge").spanContext().traceId).toBe(CALLER.trace);
    spans.reset();
    await world.as("ada").post("/v1/chat", { message: "Good evening." }, { traceparent: "00-no-such-01" });
    expect(only("POST /v1/chat").parentSpanContext).toBeUndefined();
  });

  test("above a stream, too, is the turn's; a failure of the server's is told by its status, a client's mistake is none", async () => {
    const model = new TaskModel();
    const world = await startWorld(await tempDir(), {}, { model });
    await world.as("ada").post("/v1/chat", { message: "Good evening.", stream: true });
    expect(only("invoke_agent concierge").parentSpanContext?.spanId).toBe(only("POST /v1/chat").spanContext().spanId);
    spans.reset();
    model.replies.push(new AppError("MODEL_UNAVAILABLE"));
    expect((await world.as("ada").post("/v1/chat", { message: "Good evening." })).status).toBe(502);
    await world.as("ada").get("/v1/sessions/nonsense");
    const [failed, mistaken] = [only("POST /v1/chat"), only("GET /v1/sessions/:id")];
    expect([failed.status.code, failed.attributes["error.type"]]).toEqual([SpanStatusCode.ERROR, "502"]);
    expect([mistaken.status.code, mistaken.attributes["http.response.status_code"]]).toEqual([SpanStatusCode.UNSET, 400]);
  });

  test("has no second span where the application has one around", async () => {
    const world = await startWorld(await tempDir(), {}, { model: new TaskModel() });
    await trace.getTracer("application").startActiveSpan("its own", async (span) => {
      await world.as("ada").post("/v1/chat", { message: "Good evening." });
      span.end();
    });
    expect(spans.getFinishedSpans().filter(({ kind }) => kind === SpanKind.SERVER)).toEqual([]);
  });
});
