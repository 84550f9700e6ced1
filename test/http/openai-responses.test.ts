import type OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { AppError } from "../../src/platform/errors.js";
import { systemPrompt } from "../../src/turn/prompt.js";
import { all, openDoor } from "../support/door.js";

const model = "any";
const WEATHER = {
  type: "function",
  name: "weather",
  description: "Of a place.",
  parameters: { type: "object", properties: {} },
  strict: false,
} as const;
const CALL = { id: "call_w", name: "weather", arguments: { city: "Rome" } };
const input = "Good evening.";

describe("POST /v1/responses, by OpenAI's own client", () => {
  test("the input is a turn; the response tells its text, its usage and where its conversation goes on", async () => {
    const { openai, thread } = await openDoor([{ text: "Good evening!", usage: { input_tokens: 9, output_tokens: 3 } }, { text: "Yes." }]);
    const { data, response } = await openai()
      .responses.create({ model, input, metadata: { room: "7" } })
      .withResponse();
    expect(data).toMatchObject({
      object: "response",
      status: "completed",
      output_text: "Good evening!",
      metadata: { room: "7" },
      usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12 },
    });
    const next = await openai().responses.create({ model, input: "Still there?", previous_response_id: data.id }).withResponse();
    expect(next.data).toMatchObject({ output_text: "Yes.", previous_response_id: data.id });
    const id = response.headers.get("X-Session-Id") ?? "";
    expect(next.response.headers.get("X-Session-Id")).toBe(id);
    expect((await thread(id)).map(({ output }) => output)).toEqual([input, "Good evening!", "Still there?", "Yes."]);
  });

  test("streams its typed events, numbered, and the client puts the same response together", async () => {
    const { openai } = await openDoor([{ text: ["Good ", "evening!"] }]);
    const stream = openai().responses.stream({ model, input });
    const events = await all(stream);
    expect(events.map(({ type }) => type)).toEqual([
      ...["response.created", "response.in_progress", "response.output_item.added", "response.content_part.added"],
      ...events.slice(4, -4).map(() => "response.output_text.delta"),
      ...["response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed"],
    ]);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
    expect(await stream.finalResponse()).toMatchObject({ status: "completed", output_text: "Good evening!" });
  });

  test("a client's tool is called, and its output goes on with the turn, by the response or by the whole conversation", async () => {
    const {
      openai,
      model: script,
      thread,
    } = await openDoor([{ calls: [CALL] }, { calls: [{ ...CALL, id: "call_2" }] }, { text: "Clear." }]);
    const asked = await openai().responses.create({ model, input: "What is it like in Rome?", tools: [WEATHER] });
    expect(asked).toMatchObject({
      status: "completed",
      output: [{ type: "function_call", call_id: "call_w", name: "weather", arguments: '{"city":"Rome"}' }],
    });
    const output = { type: "function_call_output", call_id: "call_w", output: "clear" } as const;
    const again = await openai().responses.create({ model, input: [output], tools: [WEATHER], previous_response_id: asked.id });
    expect(again.output).toMatchObject([{ type: "function_call", call_id: "call_2" }]);
    const items = [
      { role: "user", content: "What is it like in Rome?" } as const,
      ...(asked.output as OpenAI.Responses.ResponseFunctionToolCall[]),
      output,
      ...(again.output as OpenAI.Responses.ResponseFunctionToolCall[]),
      { ...output, call_id: "call_2" },
    ];
    const { data, response } = await openai()
      .responses.create({ model, input: items, tools: [WEATHER] })
      .withResponse();
    expect(data.output_text).toBe("Clear.");
    expect(script.requests[2]?.messages.filter(({ role }) => role === "tool")).toHaveLength(2);
    const steps = await thread(response.headers.get("X-Session-Id") ?? "");
    expect(steps.map(({ type }) => type)).toEqual(["user_message", "tool_call", "tool_call", "assistant_message"]);
  });

  test("calls of a conversation that began elsewhere are taken in with what came of them, one that came to nothing is not", async () => {
    const { openai, model: script } = await openDoor([{ text: "Yes." }]);
    const call = (id: string, args: string) => ({ type: "function_call", call_id: id, name: "weather", arguments: args }) as const;
    const output = "x".repeat(20_000);
    await openai().responses.create({
      model,
      input: [
        { role: "user", content: "What is it like in Rome?" },
        call("call_1", '{"city":"Rome"}'),
        call("call_2", "no JSON"),
        { type: "function_call_output", call_id: "call_2", output },
        { type: "function_call_output", call_id: "call_1", output: '{"sky":"clear"}' },
        { role: "assistant", content: "Clear." },
        { role: "user", content: "And in Oslo?" },
        call("call_3", "{}"),
        { role: "user", content: "Never mind. Was it clear?" },
      ],
    });
    const told = script.requests[0]?.messages.filter(({ role }) => role === "tool" || role === "assistant");
    expect(told).toMatchObject([
      {
        tool_calls: [
          { name: "weather", arguments: '"no JSON"' },
          { name: "weather", arguments: '{"city":"Rome"}' },
        ],
      },
      { content: JSON.stringify(output.slice(0, 16_000)) },
      { content: '{"sky":"clear"}' },
      { role: "assistant", content: "Clear." },
    ]);
  });

  test("a call is streamed with its arguments", async () => {
    const { openai } = await openDoor([{ text: "x".repeat(200), calls: [CALL] }]);
    const stream = openai().responses.stream({ model, input, tools: [WEATHER] });
    const events = await all(stream);
    expect(events.slice(-5).map(({ type }) => type)).toEqual([
      ...["response.output_item.added", "response.function_call_arguments.delta", "response.function_call_arguments.done"],
      ...["response.output_item.done", "response.completed"],
    ]);
    expect((await stream.finalResponse()).output).toMatchObject([
      { type: "message", content: [{ text: "x".repeat(200) }] },
      { type: "function_call", call_id: "call_w", arguments: '{"city":"Rome"}' },
    ]);
  });

  test("instructions are this turn's prompt, and a conversation is a session by its id", async () => {
    const { openai, maitred, model: script, thread } = await openDoor([{ text: "Arr." }, { text: "Yes." }]);
    const { id } = await maitred.for({ user: "ada" }).sessions.create();
    const first = await openai().responses.create({ model, input, instructions: "Talk like a pirate.", conversation: id });
    expect(first.conversation?.id).toBe(`conv_${id.replaceAll("-", "")}`);
    await openai().responses.create({
      model,
      input: [{ role: "user", content: "And?" }],
      conversation: { id: first.conversation?.id ?? "" },
    });
    expect((await thread(id)).map(({ output }) => output)).toEqual([input, "Arr.", "And?", "Yes."]);
    const prompts = script.requests.map(({ messages }) => messages[0]);
    expect(prompts).toEqual(["Talk like a pirate.", "You help."].map((prompt) => ({ role: "system", content: systemPrompt(prompt) })));
    expect(JSON.stringify(script.requests.map(({ messages }) => messages.slice(1)))).not.toContain("pirate");
  });

  test("what was cut at the model's limit is incomplete", async () => {
    const { openai } = await openDoor([{ text: "Good", reason: "length" }]);
    expect(await openai().responses.create({ model, input })).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
  });

  test("bad input is told in OpenAI's shape, and somebody else's response is none [owner-isolation]", async () => {
    const { openai } = await openDoor([{ text: "One." }]);
    const { id } = await openai("ben").responses.create({ model, input });
    const refused: readonly (readonly [object, object])[] = [
      [{ input: "" }, { status: 400, param: "input" }],
      [
        { input, instructions: "x".repeat(32_001) },
        { status: 400, param: "instructions" },
      ],
      [{ input: [{ role: "user", content: [{ type: "input_file" }] }] }, { status: 400, param: "input[0].content[0]" }],
      [{ input: [{ type: "function_call_output", output: "a" }] }, { status: 400, param: "input[0].call_id" }],
      [
        { input, previous_response_id: id, conversation: id },
        { status: 400, param: "conversation" },
      ],
      [
        { input, previous_response_id: id },
        { status: 404, code: "session_not_found", param: "previous_response_id" },
      ],
      [
        { input, previous_response_id: "resp_1" },
        { status: 404, code: "session_not_found", param: "previous_response_id" },
      ],
      [
        { input, conversation: { id: "conv_1" } },
        { status: 404, message: "404 There is no such session. List your sessions with GET /v1/sessions.", param: "conversation.id" },
      ],
      [
        { input, tools: [{ type: "function", name: "a b" }] },
        { status: 400, param: "tools[0].name" },
      ],
    ];
    for (const [body, expected] of refused) await expect(openai().responses.create({ model, ...body })).rejects.toMatchObject(expected);
  });

  test("a turn that fails is not tried again by the client, streamed or not", async () => {
    const { openai, maitred } = await openDoor([1, 2].map(() => ({ fail: new AppError("MODEL_TIMEOUT") })));
    await expect(openai("ada", 2).responses.create({ model, input })).rejects.toMatchObject({ status: 504, code: "model_timeout" });
    await all(await openai("ada", 2).responses.create({ model, input, stream: true })).catch(() => []);
    expect((await maitred.for({ user: "ada" }).sessions.list()).data).toHaveLength(2);
  });

  test("a turn that fails in the stream ends it with `response.failed`", async () => {
    const { openai } = await openDoor([{ text: "x".repeat(500), fail: new AppError("MODEL_TIMEOUT") }]);
    const events = await all(await openai().responses.create({ model, input, stream: true }));
    expect(events.at(-1)).toMatchObject({ type: "response.failed", response: { status: "failed", error: { code: "model_timeout" } } });
  });
});
