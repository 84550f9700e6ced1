import OpenAI from "openai";
import type { ChatCompletionCreateParamsNonStreaming, ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { expect, test } from "vitest";
import { systemPrompt } from "../../src/turn/prompt.js";
import { all, openDoor } from "../support/door.js";
import { needQuoted, type ReadDocument, TaskModel } from "../support/task-model.js";
import recorded from "./recorded-chat.json" with { type: "json" };

/** The requests of a hotel's chat application, made for OpenAI itself: only the address is another. */
const first = recorded.first as ChatCompletionCreateParamsNonStreaming;
const TOLD = "Hello, I'm in room 412 and I'm allergic to peanuts.";
const PROMPT = "You are Clara, the desk of the Grand Hotel. Answer in two sentences at most.";
const OWN_TOOLS = ["get_weather", "order_room_service"];
const MEMORY_TOOLS = ["remember", "forget", "no_longer_true", "search_memories", "list_memories", "settle_memory", "search_history"];
const ORDER = { room: 412, what: "breakfast", at: "08:00" };

/** What a document has to be read: its message, and those that are read along. */
const saidIn = ({ MESSAGE, EARLIER = [] }: ReadDocument) => [MESSAGE, ...EARLIER.map((each) => each.MESSAGE)];

/** The concierge, with a model that reads the allergy where it is told, and a client that changes its address alone. */
async function opened() {
  const model = new TaskModel();
  model.read = (document) => {
    const quote = "I'm allergic to peanuts";
    const told = saidIn(document).some((said) => said.includes(quote));
    return { off_record: null, operations: told ? [needQuoted(quote, "peanuts", "no_nuts")] : [] };
  };
  const { url, maitred } = await openDoor([], { model, prompt: undefined });
  const ada = maitred.for({ user: "ada" });
  const openai = new OpenAI({ baseURL: url, apiKey: "sk-recorded", defaultHeaders: { "X-User-Id": "ada", Authorization: null } });
  const readOf = (message: string) => model.documents.flatMap(saidIn).filter((said) => said === message).length;
  return { model, ada, openai, readOf };
}

const said = ({ messages }: { readonly messages: readonly { readonly content: unknown }[] } = { messages: [] }) =>
  messages.slice(1).map(({ content }) => String(content));

test("a chat application's conversation goes on as with OpenAI, and its user's next one knows what was told", async () => {
  const { model, ada, openai, readOf } = await opened();
  model.replies.push(
    "You are in room 412.",
    { name: "order_room_service", arguments: ORDER },
    "Breakfast comes at eight.",
    "Peanuts, as you told me.",
    "At the harbour.",
  );
  const whole = await openai.chat.completions.create(first).withResponse();
  expect(whole.data.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "You are in room 412." } });
  expect(whole.data.choices[0]?.message.tool_calls).toBeUndefined();

  const messages: ChatCompletionMessageParam[] = [...first.messages, { role: "assistant", content: "You are in room 412." }];
  const streamed = async () => {
    const stream = openai.chat.completions.stream({ ...first, messages, stream: true });
    const message = await stream.finalMessage();
    messages.push(message);
    return message;
  };
  messages.push({ role: "user", content: recorded.then[0] ?? "" });
  const [call] = (await streamed()).tool_calls ?? [];
  expect(call).toMatchObject({ type: "function", function: { name: "order_room_service" } });
  expect(JSON.parse(call?.type === "function" ? call.function.arguments : "")).toEqual(ORDER);
  messages.push({ role: "tool", tool_call_id: call?.id ?? "", content: '{"ordered":true}' });
  expect((await streamed()).content).toBe("Breakfast comes at eight.");
  messages.push({ role: "user", content: recorded.then[1] ?? "" });
  const last = await openai.chat.completions.create({ ...first, messages }).withResponse();
  expect(last.data.choices[0]?.message.content).toBe("Peanuts, as you told me.");
  const id = whole.response.headers.get("X-Session-Id") ?? "";
  expect(last.response.headers.get("X-Session-Id")).toBe(id);

  await ada.sessions.flush(id);
  const another = { ...first, messages: [...first.messages.slice(0, 1), { role: "user" as const, content: recorded.another }] };
  const next = await openai.chat.completions.create(another).withResponse();
  expect(next.response.headers.get("X-Session-Id")).not.toBe(id);

  const [answered, ordering, , told, elsewhere] = model.of("chat");
  expect(said(answered)).toEqual([
    TOLD,
    "Welcome to the Grand! I have noted that for the kitchen.",
    "What is the weather like tomorrow?",
    "",
    '{"sky":"clear","high":24}',
    "Clear skies and 24 degrees.",
    expect.stringMatching(/\nWhat is my room number\?$/),
  ]);
  const looked = [{ id: expect.any(String), name: "get_weather", arguments: '{"day":"tomorrow"}' }];
  expect(answered?.messages[4]).toMatchObject({ role: "assistant", tool_calls: looked });
  expect(said(ordering).slice(0, 8)).toEqual([...said(answered).slice(0, 6), "What is my room number?", "You are in room 412."]);
  expect(said(told).at(-2)).toBe("Breakfast comes at eight.");
  expect(said(elsewhere)).toHaveLength(1);
  expect(said(elsewhere)[0]).toContain("User Context:\n- [m1] Needs: peanuts (dietary, must hold)");
  for (const request of model.of("chat")) {
    expect(request.messages[0]).toEqual({ role: "system", content: systemPrompt(PROMPT) });
    expect(JSON.stringify(request)).not.toMatch(/concierge/i);
    expect(request.tools?.map(({ name }) => name)).toEqual([...MEMORY_TOOLS, ...OWN_TOOLS]);
  }
  await ada.sessions.flush(next.response.headers.get("X-Session-Id") ?? "");
  expect((await ada.memories.list()).data.map(({ text }) => text)).toEqual(["Needs: peanuts"]);
  expect(readOf(TOLD)).toBe(1);
  expect(model.documents.map((document) => JSON.stringify(document)).filter((document) => document.includes("Clara"))).toEqual([]);
  expect((await ada.sessions.list()).data).toHaveLength(2);
});

test("the same by the Responses API, with instructions, whole lists of input and a response's id", async () => {
  const { model, ada, openai, readOf } = await opened();
  model.replies.push("You are in room 412.", "Until ten.", "At the harbour.");
  const request = { model: "gpt-4o-mini", instructions: PROMPT, temperature: 0.3, store: true };
  const input: OpenAI.Responses.ResponseInputItem[] = [
    { role: "user", content: TOLD },
    { role: "assistant", content: "Welcome to the Grand! I have noted that for the kitchen." },
    { role: "user", content: [{ type: "input_text", text: "What is my room number?" }] },
  ];
  const answered = await openai.responses.create({ ...request, input });
  expect([answered.output_text, answered.instructions]).toEqual(["You are in room 412.", PROMPT]);
  input.push(...(answered.output as OpenAI.Responses.ResponseOutputMessage[]), { role: "user", content: "How long is there breakfast?" });
  const events = await all(await openai.responses.create({ ...request, input, stream: true }));
  const ended = events.find((event) => event.type === "response.completed");
  expect(ended?.response.output).toMatchObject([{ type: "message", content: [{ text: "Until ten." }] }]);
  const [{ id } = { id: "" }] = (await ada.sessions.list()).data;
  await ada.sessions.flush(id);
  await openai.responses.create({ ...request, input: recorded.another });
  const [first_, second, elsewhere] = model.of("chat");
  expect(said(first_)[0]).toBe(TOLD);
  expect(said(second).slice(-3, -1)).toEqual(["What is my room number?", "You are in room 412."]);
  expect(said(elsewhere)[0]).toContain("User Context:\n- [m1] Needs: peanuts (dietary, must hold)");
  for (const { messages, tools } of model.of("chat")) {
    expect(messages[0]).toEqual({ role: "system", content: systemPrompt(PROMPT) });
    expect(tools?.map(({ name }) => name)).toEqual(MEMORY_TOOLS);
  }
  expect((await ada.sessions.list()).data).toHaveLength(2);
  expect(readOf(TOLD)).toBe(1);
});
