import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/index.js";
import { AppError } from "../../src/platform/errors.js";
import { all, openDoor } from "../support/door.js";
import { PNG } from "../support/samples.js";

type Sent = Parameters<DefaultChatTransport<UIMessage>["sendMessages"]>[0];

let count = 0;
function says(text: string, more: UIMessage["parts"] = []): UIMessage {
  return { id: `m${++count}`, role: "user", parts: [{ type: "text", text }, ...more] };
}

/** As useChat sends and reads. */
async function chat(url: string, messages: UIMessage[], more: Partial<Sent> = {}) {
  const transport = new DefaultChatTransport<UIMessage>({ api: `${url}/ui/chat`, headers: { "X-User-Id": "ada" } });
  const sent = { chatId: "chat-1", trigger: "submit-message", messageId: undefined, abortSignal: undefined, ...more } as const;
  const stream = (await transport.sendMessages({ ...sent, messages })) as ReadableStream<UIMessageChunk>;
  const errors: unknown[] = [];
  const states = await all(readUIMessageStream({ stream, onError: (error) => errors.push(error) }));
  return { last: states.at(-1) as UIMessage, errors };
}

function partsOf(message: UIMessage, type: string) {
  return message.parts.filter((part) => part.type === type);
}

describe("POST /v1/ui/chat, read by the AI SDK", () => {
  const lookUp = defineTool({
    name: "look_up",
    description: "Looks up.",
    parameters: z.object({ q: z.string() }),
    run: ({ q }) => q.length,
  });

  test("text, what the tools did, what memory gave, and ids in the metadata", async () => {
    const call = { name: "look_up", arguments: { q: "Rome" } };
    const { url, thread } = await openDoor([{ calls: [call] }, { text: ["Four ", "letters."] }], { prompt: "You help.", tools: [lookUp] });
    const { last } = await chat(url, [says("Rome?")]);
    expect(partsOf(last, "text")).toMatchObject([{ text: "Four letters.", state: "done" }]);
    expect(partsOf(last, "dynamic-tool")).toMatchObject([
      { toolName: "look_up", state: "output-available", input: { q: "Rome" }, output: 4 },
    ]);
    expect(partsOf(last, "data-memory")).toMatchObject([{ data: { status: "empty", write_back: "pending", recalled: [] } }]);
    const metadata = last.metadata as { session_id: string; turn: number; message_id: string };
    expect(metadata).toMatchObject({ turn: 1, model: "scripted" });
    expect((await thread(metadata.session_id)).at(-1)).toMatchObject({ id: metadata.message_id, output: "Four letters." });
  });

  test("what an answer shows comes as data parts, where it came", async () => {
    const card = { id: "event:1", type: "event_card", name: "Opera", content: "{}", display: "inline" } as const;
    const show = defineTool({ name: "show", description: "Shows.", parameters: z.object({}), run: () => "shown", elements: () => [card] });
    const long = "I look for an opera that you would like. ".repeat(5);
    const { url } = await openDoor([{ text: long, calls: [{ name: "show", arguments: {} }] }, { text: "This one." }], { tools: [show] });
    const { last } = await chat(url, [says("An opera?")]);
    const told = last.parts.filter(({ type }) => type === "text" || type === "data-cards");
    expect(told).toMatchObject([
      { type: "text", text: long },
      { type: "data-cards", id: "part-1", data: { elements: [card] } },
      { type: "text", text: "\n\nThis one." },
    ]);
  });

  test("a chat's id is its session; what the client sends of it again is neither kept nor read", async () => {
    const { url, maitred } = await openDoor([{ text: "One." }, { text: "Two." }, { text: "Elsewhere." }]);
    const messages = [says("Good evening.")];
    messages.push((await chat(url, messages)).last, says("And now?"));
    const { last } = await chat(url, messages);
    expect(last.metadata).toMatchObject({ turn: 2 });
    const other = await chat(url, [says("Good evening.")], { chatId: "chat-2" });
    expect(other.last.metadata).toMatchObject({ turn: 1 });
    const { data } = await maitred.for({ user: "ada" }).sessions.list();
    expect(data.map((session) => session.external_id)).toEqual(["chat-2", "chat-1"]);
  });

  test("an answer is made anew, and the last message edited: the turn before is taken back", async () => {
    const { url, thread } = await openDoor(["One.", "Two.", "Three.", "Four."].map((text) => ({ text })));
    const first = says("Good evening.");
    const { last } = await chat(url, [first]);
    const { session_id } = last.metadata as { session_id: string };
    await chat(url, [first], { trigger: "regenerate-message", messageId: last.id });
    expect((await thread(session_id)).map(({ output }) => output)).toEqual(["Good evening.", "Two."]);
    const second = says("And now?");
    await chat(url, [first, last, second]);
    const edited = { ...second, parts: says("And tomorrow?").parts };
    await chat(url, [first, last, edited], { messageId: second.id });
    expect((await thread(session_id)).map(({ output }) => output)).toEqual(["Good evening.", "Two.", "And tomorrow?", "Four."]);
    await expect(chat(url, [first], { trigger: "regenerate-message" })).rejects.toThrow(/EDIT_NOT_LAST/);
    await expect(chat(url, [first], { messageId: first.id })).rejects.toThrow(/EDIT_NOT_LAST/);
  });

  test("a chat that is not there yet has nothing to make anew: its message is said", async () => {
    const { url } = await openDoor([{ text: "One." }]);
    const { last } = await chat(url, [says("Good evening.")], { trigger: "regenerate-message" });
    expect(partsOf(last, "text")).toMatchObject([{ text: "One." }]);
  });

  test("a turn that fails is a problem before the stream, and the protocol's error in it", async () => {
    const fail = new AppError("MODEL_TIMEOUT");
    const { url } = await openDoor([{ text: "x".repeat(500), fail }]);
    const { last, errors } = await chat(url, [says("Good evening.")]);
    expect(partsOf(last, "text")).toMatchObject([{ text: "x".repeat(500) }]);
    expect(String(errors[0])).toMatch(/The model took too long\. Your message is kept/);
    await expect(chat(url, [says(" ")])).rejects.toThrow(/"pointer":"\/messages\/0\/parts"/);
    await expect(chat(url, [says("x".repeat(8_001))])).rejects.toThrow(/at most 8000 characters/);
    await expect(chat(url, [says("a"), { ...says("b"), role: "assistant" }])).rejects.toThrow(/"pointer":"\/messages\/1\/role"/);
    await expect(chat(url, [says("a")], { body: { page_contxt: "x" } })).rejects.toThrow(/UNKNOWN_FIELD.*page_context/);
  });

  test("files that are images go with the message, and no others; fields of a chat are taken beside it", async () => {
    const { url, model } = await openDoor([{ text: "I see." }]);
    const image = { type: "file", mediaType: "image/png", url: `data:image/png;base64,${PNG.toString("base64")}` } as const;
    await expect(chat(url, [says("Which?", [image])])).rejects.toThrow(/IMAGES_NOT_SUPPORTED/);
    const sheet = { ...image, mediaType: "application/pdf" };
    await expect(chat(url, [says("Which?", [sheet])])).rejects.toThrow(/INVALID_REQUEST/);
    await chat(url, [says("Which?", [{ type: "data-note", data: 1 }])], { body: { page_context: "The jazz night" } });
    expect(JSON.stringify(model.requests[0])).toContain("The jazz night");
  });
});
