import OpenAI from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/index.js";
import { AppError } from "../../src/platform/errors.js";
import { systemPrompt } from "../../src/turn/prompt.js";
import { all, openDoor } from "../support/door.js";
import { PNG } from "../support/samples.js";

const model = "any";
const user = (content: string) => ({ role: "user", content }) as const;
const HELLO = [user("Good evening.")];
const WEATHER = {
  type: "function",
  function: { name: "weather", description: "Of a place.", parameters: { type: "object", properties: { city: { type: "string" } } } },
} as const;
const CALL = { id: "call_w", name: "weather", arguments: { city: "Rome" } };
const CALLED = [
  user("What is it like in Rome?"),
  {
    role: "assistant",
    tool_calls: [{ id: "call_w", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } }],
  },
  { role: "tool", tool_call_id: "call_w", content: '{"sky":"clear"}' },
] satisfies ChatCompletionMessageParam[];

function textIn(message: { readonly content: unknown } | undefined): string {
  return String(message?.content);
}

describe("POST /v1/chat/completions, by OpenAI's own client", () => {
  test("the last message is a turn, and the answer has its usage, its session and how memory did", async () => {
    const { openai, thread } = await openDoor([{ text: "Good evening!", usage: { input_tokens: 9, output_tokens: 3 } }]);
    const { data, response } = await openai().chat.completions.create({ model, messages: HELLO }).withResponse();
    expect(data).toMatchObject({
      object: "chat.completion",
      model: "scripted",
      choices: [{ index: 0, message: { role: "assistant", content: "Good evening!" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    });
    expect(response.headers.get("X-Memory-Status")).toBe("empty");
    const steps = await thread(response.headers.get("X-Session-Id") ?? "");
    expect(steps.map(({ output }) => output)).toEqual(["Good evening.", "Good evening!"]);
  });

  test("streams its chunks, and the usage where it is asked for", async () => {
    const steps = [1, 2].map(() => ({ text: ["Good ", "evening!"], usage: { input_tokens: 9, output_tokens: 3 } }));
    const { openai } = await openDoor(steps);
    const request = { model, messages: HELLO, stream: true } as const;
    const { data, response } = await openai().chat.completions.create(request).withResponse();
    expect(response.headers.get("X-Session-Id")).toMatch(/^[0-9a-f-]{36}$/);
    const chunks = await all(data);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("Good evening!");
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([...chunks.slice(1).map(() => null), "stop"]);
    expect(chunks.every((chunk) => !("usage" in chunk))).toBe(true);
    const counted = await all(await openai().chat.completions.create({ ...request, stream_options: { include_usage: true } }));
    expect(counted.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 9, total_tokens: 12 } });
  });

  test("the session is the one that began so; what the client sends of it again is neither kept nor read", async () => {
    const { openai, model: script, thread } = await openDoor([{ text: "One." }, { text: "Two." }]);
    const first = await openai().chat.completions.create({ model, messages: HELLO }).withResponse();
    const messages = [...HELLO, { role: "assistant", content: "What was taken back. One." }, user("And now?")] as const;
    const second = await openai()
      .chat.completions.create({ model, messages: [...messages] })
      .withResponse();
    const id = second.response.headers.get("X-Session-Id") ?? "";
    expect(id).toBe(first.response.headers.get("X-Session-Id"));
    expect((await thread(id)).map(({ output }) => output)).toEqual(["Good evening.", "One.", "And now?", "Two."]);
    expect(JSON.stringify(script.requests)).not.toContain("taken back");
  });

  test("another user's first words are another session, and a session's id is no key to it [owner-isolation]", async () => {
    const { openai } = await openDoor([{ text: "One." }, { text: "Two." }]);
    const request = { model, messages: HELLO };
    const ids = await Promise.all(
      ["ada", "ben"].map(async (who) => {
        const { response } = await openai(who).chat.completions.create(request).withResponse();
        return response.headers.get("X-Session-Id") ?? "";
      }),
    );
    expect(new Set(ids).size).toBe(2);
    const foreign = openai("eve").chat.completions.create(request, { headers: { "X-Session-Id": ids[0] ?? "" } });
    await expect(foreign).rejects.toMatchObject({ status: 404, code: "session_not_found" });
  });

  test("a session is named by header or in metadata, and one that is archived is left alone", async () => {
    const { openai, maitred, thread } = await openDoor(["One.", "Two.", "Three.", "Four."].map((text) => ({ text })));
    const { id } = await maitred.for({ user: "ada" }).sessions.create();
    await openai().chat.completions.create({ model, messages: HELLO }, { headers: { "X-Session-Id": id } });
    await openai().chat.completions.create({ model, messages: HELLO, metadata: { session_id: id } });
    expect((await thread(id)).map(({ output }) => output)).toEqual(["Good evening.", "One.", "Good evening.", "Two."]);
    const said = async (messages: ChatCompletionMessageParam[]) => {
      const { response } = await openai().chat.completions.create({ model, messages }).withResponse();
      return response.headers.get("X-Session-Id") ?? "";
    };
    const own = await said([...HELLO, { role: "assistant", content: "Three." }, user("And now?")]);
    expect((await maitred.for({ user: "ada" }).sessions.list()).data).toHaveLength(2);
    await maitred.for({ user: "ada" }).sessions.archive(own);
    expect(await said([...HELLO, { role: "assistant", content: "Three." }, user("And now?")])).not.toBe(own);
  });

  test("one message alone begins a chat, whatever began with it before; a longer list goes on with the newest that did", async () => {
    const { openai, thread } = await openDoor(["One.", "Two.", "Three."].map((text) => ({ text })));
    const said = async (messages: ChatCompletionMessageParam[]) => {
      const { response } = await openai().chat.completions.create({ model, messages }).withResponse();
      return response.headers.get("X-Session-Id") ?? "";
    };
    const prompt: ChatCompletionMessageParam = { role: "system", content: "Be brief." };
    const first = await said([...HELLO]);
    const second = await said([prompt, ...HELLO]);
    expect(second).not.toBe(first);
    expect(await said([prompt, ...HELLO, { role: "assistant", content: "Two." }, user("And now?")])).toBe(second);
    expect((await thread(first)).map(({ output }) => output)).toEqual(["Good evening.", "One."]);
    expect((await thread(second)).map(({ output }) => output)).toEqual(["Good evening.", "Two.", "And now?", "Three."]);
  });

  test("a conversation that began elsewhere is the session's history, once, and forms memories", async () => {
    const { openai, model: script, maitred, thread } = await openDoor(["412.", "The same.", "Anew."].map((text) => ({ text })));
    const told: ChatCompletionMessageParam[] = [
      { role: "system", content: "You are the desk of the Grand." },
      user("Hi, I'm in room 412. I love jazz."),
      { role: "assistant", content: "Welcome to the Grand!" },
      ...CALLED,
      { role: "assistant", content: [{ type: "text", text: "Clear skies." }] },
      user("What is my room number?"),
    ];
    const said = async (messages: ChatCompletionMessageParam[], who = "ada") => {
      const { response } = await openai(who).chat.completions.create({ model, messages }).withResponse();
      return response.headers.get("X-Session-Id") ?? "";
    };
    const id = await said(told);
    const texts = [
      "Hi, I'm in room 412. I love jazz.",
      "Welcome to the Grand!",
      "What is it like in Rome?",
      { sky: "clear" },
      "Clear skies.",
    ];
    expect((await thread(id)).map(({ output }) => output)).toEqual([...texts, "What is my room number?", "412."]);
    expect(script.requests[0]?.messages.map(textIn).join("\n")).toContain("Welcome to the Grand!");
    expect(script.requests[0]?.messages.map(textIn).join("\n")).toContain("I'm in room 412");
    // The next request tells it all again.
    expect(await said([...told, { role: "assistant", content: "412." }, user("Sure?")])).toBe(id);
    expect(await thread(id)).toHaveLength(9);
    await maitred.for({ user: "ada" }).sessions.flush(id);
    for (const words of ["I love jazz", "like in Rome"])
      expect(script.read.filter((asked) => asked.includes(words)).length).toBeGreaterThan(0);
    expect(await said(told, "ben")).not.toBe(id);
  });

  test("system messages are the turn's prompt in the assistant's place, with the rules of memory behind them, and of no later one", async () => {
    const { openai, model: script, thread } = await openDoor(["Arr.", "Aye.", "Good evening."].map((text) => ({ text })));
    const pirate = { role: "system", content: "Talk like a pirate." } as const;
    const prompted = [pirate, ...HELLO, { role: "developer", content: "Be brief." }] as const;
    const { response } = await openai()
      .chat.completions.create({ model, messages: [...prompted] })
      .withResponse();
    const messages = [...prompted, { role: "assistant", content: "Arr." }, user("And now?")] as const;
    await openai().chat.completions.create({ model, messages: [...messages] });
    await openai().chat.completions.create({ model, messages: HELLO });
    const [first, second, third] = script.requests.map((request) => request.messages);
    expect(first?.[0]).toEqual({ role: "system", content: systemPrompt("Talk like a pirate.\n\nBe brief.") });
    expect(second?.[0]).toEqual(first?.[0]);
    expect(third?.[0]).toEqual({ role: "system", content: systemPrompt("You help.") });
    expect(JSON.stringify([first?.slice(1), second?.slice(1), third])).not.toContain("pirate");
    expect(JSON.stringify([first, second])).not.toContain("You help.");
    expect(JSON.stringify([await thread(response.headers.get("X-Session-Id") ?? ""), script.read])).not.toContain("pirate");
  });

  test("a client's tools are offered; a call of one ends the answer, and its result goes on with the turn", async () => {
    const { openai, model: script, thread } = await openDoor([{ calls: [CALL] }, { text: "Clear." }]);
    const called = await openai().chat.completions.create({ model, messages: CALLED.slice(0, 1), tools: [WEATHER] });
    expect(called.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        content: null,
        tool_calls: [{ id: "call_w", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } }],
      },
    });
    const { data, response } = await openai()
      .chat.completions.create({ model, messages: CALLED, tools: [WEATHER] })
      .withResponse();
    expect(data.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "Clear." } });
    expect(script.requests[0]?.tools).toContainEqual({ ...WEATHER.function });
    expect(script.requests[1]?.messages.at(-1)).toEqual({ role: "tool", tool_call_id: "call_w", content: '{"sky":"clear"}' });
    const steps = await thread(response.headers.get("X-Session-Id") ?? "");
    expect(steps.map(({ type }) => type)).toEqual(["user_message", "tool_call", "assistant_message"]);
    expect(steps[1]).toMatchObject({ name: "weather", input: { city: "Rome" }, output: { sky: "clear" } });
  });

  test("runs a whole loop of tools with the client's own runner, streamed", async () => {
    const { openai } = await openDoor([{ text: "I look.", calls: [CALL] }, { text: "Clear." }]);
    const given: unknown[] = [];
    const weather = (input: unknown) => {
      given.push(input);
      return "clear";
    };
    const runner = openai().chat.completions.runTools({
      model,
      stream: true,
      messages: CALLED.slice(0, 1),
      tools: [{ type: "function", function: { ...WEATHER.function, parse: JSON.parse, function: weather } }],
    });
    expect(await runner.finalContent()).toBe("Clear.");
    expect(given).toEqual([{ city: "Rome" }]);
  });

  test("tools that the client wants none of called are not offered, and of others only the one it names", async () => {
    const { openai, model: script } = await openDoor([{ text: "One." }, { text: "Two." }]);
    const other = { type: "function", function: { name: "other" } } as const;
    const tools = [WEATHER, other, { type: "custom", custom: { name: "free" } } as const];
    await openai().chat.completions.create({ model, messages: HELLO, tools, tool_choice: "none" });
    await openai().chat.completions.create({ model, messages: HELLO, tools, tool_choice: other });
    const offered = script.requests.map((request) =>
      request.tools?.map(({ name }) => name).filter((name) => /weather|other|free/.test(name)),
    );
    expect(offered).toEqual([[], ["other"]]);
  });

  test("the assistant's own tools are offered to who asks for them, by header or for all; those of memory always, and no client sees either", async () => {
    let ran = 0;
    const run = () => {
      ran += 1;
      return "noon";
    };
    const time = defineTool({ name: "time", description: "The time.", parameters: z.object({}), run });
    const asks = { name: "time", arguments: {} };
    const steps = [{ calls: [asks] }, { text: "I can't tell." }, { calls: [asks] }, { text: "Noon." }, { text: "Gladly." }];
    const { openai, model: script } = await openDoor(steps, { tools: [time] });
    const say = (tools?: string) =>
      openai().chat.completions.create({ model, messages: HELLO }, { headers: tools === undefined ? {} : { "X-Maitred-Tools": tools } });
    expect((await say()).choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "I can't tell." } });
    expect(ran).toBe(0);
    expect(textIn(script.requests[1]?.messages.at(-1))).toContain('There is no tool \\"time\\".');
    expect((await say("domain")).choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "Noon." } });
    expect(ran).toBe(1);
    await say("none");
    const offered = script.requests.map(({ tools = [] }) => tools.map(({ name }) => name));
    expect(offered.map((names) => names.includes("time"))).toEqual([false, false, true, true, false]);
    expect(offered.every((names) => names.includes("settle_memory"))).toBe(true);
    await expect(say("all")).rejects.toMatchObject({ status: 400, code: "invalid_request", message: expect.stringContaining("domain") });
    const everyone = await openDoor([{ text: "Yes." }, { text: "No." }], { tools: [time], maitredTools: "domain" });
    for (const headers of [{}, { "X-Maitred-Tools": "none" }])
      await everyone.openai().chat.completions.create({ model, messages: HELLO }, { headers });
    expect(everyone.model.requests.map(({ tools }) => tools?.some(({ name }) => name === "time"))).toEqual([true, false]);
  });

  test("without a model the stand-in says what it can't do without them, and does it with them; what it is told is remembered either way", async () => {
    const { openai, maitred } = await openDoor([], { model: undefined, prompt: undefined });
    const say = async (content: string, tools = "none") => {
      const turn = openai().chat.completions.create({ model, messages: [user(content)] }, { headers: { "X-Maitred-Tools": tools } });
      const { data, response } = await turn.withResponse();
      await maitred.for({ user: "ada" }).sessions.flush(response.headers.get("X-Session-Id") ?? "");
      return data.choices[0]?.message.content;
    };
    await say("I'm allergic to nuts, and I like jazz.");
    expect(await say("What do you know about me?")).toContain("nuts");
    expect(await say("Find me a concert, please.")).toBe("I can't search here.");
    expect(await say("Find me a concert, please.", "domain")).toContain("1. ");
  });

  test("a client's tool that is named as one of the assistant's is its own, and later turns are told all that it gave", async () => {
    const lookup = { type: "function", function: { name: "get_event", parameters: { type: "object", properties: {} } } } as const;
    const called = { id: "call_e", type: "function", function: { name: "get_event", arguments: "{}" } } as const;
    const { openai, model: script } = await openDoor(
      [{ calls: [{ ...CALL, id: "call_e", name: "get_event" }] }, { text: "One." }, { text: "Two." }],
      {
        prompt: undefined,
      },
    );
    const messages: ChatCompletionMessageParam[] = [...HELLO];
    const say = () => openai().chat.completions.create({ model, messages, tools: [lookup] });
    await say();
    messages.push({ role: "assistant", tool_calls: [called] }, { role: "tool", tool_call_id: "call_e", content: '{"room":412}' });
    await say();
    messages.push({ role: "assistant", content: "One." }, user("And now?"));
    await say();
    expect(script.requests[2]?.messages).toContainEqual({ role: "tool", tool_call_id: "c1_1", content: '{"room":412}' });
    expect(script.requests.map(({ tools }) => tools?.filter(({ name }) => /event|book/.test(name)))).toEqual(
      [1, 2, 3].map(() => [{ description: "", ...lookup.function }]),
    );
  });

  test("images go with the message, as those of a chat", async () => {
    const { openai } = await openDoor([]);
    const image_url = { url: `data:image/png;base64,${Buffer.from(PNG).toString("base64")}` };
    const content = [{ type: "text", text: "Which is it?" } as const, { type: "image_url", image_url } as const];
    const turn = openai().chat.completions.create({ model, messages: [{ role: "user", content }] });
    // The scripted model takes none: the request has come as far as that.
    await expect(turn).rejects.toMatchObject({ status: 400, code: "images_not_supported" });
  });

  test("a long conversation is taken whole", async () => {
    const { openai } = await openDoor([{ text: "Yes." }]);
    const role = (at: number) => (at % 2 === 0 ? "user" : "assistant");
    const before = Array.from({ length: 200 }, (_, at) => ({ role: role(at), content: `${at} ${"x".repeat(5_000)}` }) as const);
    const answer = await openai().chat.completions.create({ model, messages: [...before, user("Still there?")] });
    expect(answer.choices[0]?.message.content).toBe("Yes.");
  });
});

describe("errors, as OpenAI's client reads them", () => {
  const refused: readonly (readonly [string, object, object])[] = [
    ["no messages", { messages: [] }, { param: "messages" }],
    ["a message of nobody", { messages: [{ role: "guest", content: "a" }] }, { param: "messages[0].role" }],
    ["a blank message", { messages: [user(" ")] }, { param: "messages[0].content" }],
    ["a message of more than 8,000 characters", { messages: [user("x".repeat(8_001))] }, { param: "messages[0].content" }],
    ["an assistant's last word", { messages: [...HELLO, { role: "assistant", content: "a" }] }, { param: "messages[1].content" }],
    ["a part that is no text", { messages: [{ role: "user", content: [{ type: "file" }] }] }, { param: "messages[0].content[0]" }],
    ["more than one answer", { messages: HELLO, n: 2 }, { param: "n" }],
    ["a tool without a name", { messages: HELLO, tools: [{ type: "function", function: {} }] }, { param: "tools[0].function.name" }],
    ["two tools of one name", { messages: HELLO, tools: [WEATHER, WEATHER] }, { param: "tools" }],
    ["a result of no call", { messages: [...HELLO, { role: "tool", content: "a" }] }, { param: "messages[1].tool_call_id" }],
    ["a result that nothing waits for", { messages: CALLED }, { status: 404, code: "session_not_found" }],
    ["a session that can't be one", { messages: HELLO, metadata: { session_id: "x" } }, { code: "invalid_session_id" }],
    [
      "prompts without end",
      { messages: [{ role: "system", content: "x".repeat(32_000) }, ...HELLO, { role: "system", content: "x" }] },
      { code: "invalid_request", param: "messages[2].content" },
    ],
  ];

  test("each is told with its place, and none is a failure of ours [hostile-input]", async () => {
    const { openai } = await openDoor([]);
    for (const [name, body, expected] of refused) {
      const error: unknown = await openai()
        .chat.completions.create({ model, ...body } as OpenAI.ChatCompletionCreateParamsNonStreaming)
        .catch((thrown: unknown) => thrown);
      expect([name, error]).toEqual([name, expect.any(OpenAI.APIError)]);
      expect([name, error]).toMatchObject([name, { status: 400, type: "invalid_request_error", ...expected }]);
    }
  });

  test("a prompt that leaves no room for the conversation is refused before anything is kept", async () => {
    const { openai, maitred } = await openDoor([{ text: "Yes." }], { contextMaxTokens: 4_000 });
    const say = (words: number) =>
      openai().chat.completions.create({ model, messages: [{ role: "system", content: "be kind ".repeat(words / 2) }, ...HELLO] });
    await expect(say(3_000)).rejects.toMatchObject({
      status: 413,
      code: "context_length_exceeded",
      message: expect.stringMatching(/^413 The prompt has \d+ tokens/),
    });
    expect((await maitred.for({ user: "ada" }).sessions.list()).data).toEqual([]);
    await say(500);
  });

  test("a model that fails is told with its status before the stream, and in it once it has begun", async () => {
    const fail = new AppError("MODEL_UNAVAILABLE");
    const { openai } = await openDoor([{ fail }, { text: "x".repeat(500), fail }]);
    const whole = openai().chat.completions.create({ model, messages: HELLO });
    await expect(whole).rejects.toMatchObject({ status: 502, type: "server_error", code: "model_unavailable" });
    const stream = await openai().chat.completions.create({ model, messages: HELLO, stream: true });
    await expect(all(stream)).rejects.toMatchObject({ type: "server_error", code: "model_unavailable" });
  });

  test("a turn that fails is not tried again by the client, which is told the session that holds its message", async () => {
    const { openai, maitred, model: script, thread } = await openDoor([{ fail: new AppError("MODEL_UNAVAILABLE") }, { text: "Here." }]);
    const client = openai("ada", 2);
    const error: unknown = await client.chat.completions.create({ model, messages: HELLO }).catch((thrown: unknown) => thrown);
    const { data } = await maitred.for({ user: "ada" }).sessions.list();
    expect([data.length, script.requests.length]).toEqual([1, 1]);
    const id = data[0]?.id ?? "";
    expect(error).toMatchObject({ status: 502, message: expect.stringContaining(`is kept, send the header X-Session-Id: ${id}.`) });
    expect(error instanceof OpenAI.APIError && error.headers?.get("X-Session-Id")).toBe(id);
    await client.chat.completions.create({ model, messages: HELLO }, { headers: { "X-Session-Id": id } });
    expect((await thread(id)).map(({ output }) => output)).toEqual(["Good evening.", "Good evening.", "Here."]);
  });

  test("a turn that fails before its message is kept may be tried again", async () => {
    const { url } = await openDoor([]);
    const body = JSON.stringify({ model, messages: [] });
    const response = await fetch(`${url}/chat/completions`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    expect([response.status, response.headers.get("X-Should-Retry")]).toEqual([400, null]);
  });

  test("limits hold here as everywhere: the rate's and the day's [limits-hold]", async () => {
    const usage = { input_tokens: 5_000, output_tokens: 5_000 };
    const { openai } = await openDoor([{ text: "One.", usage }], { rateLimitPerMinute: 2, costHardLimitTokens: 1_000 });
    const ask = () => openai().chat.completions.create({ model, messages: HELLO });
    await ask();
    await expect(ask()).rejects.toMatchObject({ status: 429, code: "insufficient_quota" });
    await expect(ask()).rejects.toMatchObject({ status: 429, type: "rate_limit_error", code: "rate_limit_exceeded" });
  });

  test("bodies and methods that are none are told in the same shape", async () => {
    const { url } = await openDoor([]);
    const headers = { "Content-Type": "application/json" };
    const answers = await Promise.all([
      fetch(`${url}/chat/completions`, { method: "POST", headers, body: "{" }),
      fetch(`${url}/chat/completions`),
      fetch(`${url}/models`, { method: "POST", headers, body: "{}" }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([400, 405, 405]);
    for (const answer of answers) expect(await answer.json()).toMatchObject({ error: { type: "invalid_request_error" } });
  });

  test("a client that goes away ends its turn, which is kept as interrupted", async () => {
    const { openai, maitred } = await openDoor([{ text: "x".repeat(500), hang: true }]);
    const { data, response } = await openai().chat.completions.create({ model, messages: HELLO, stream: true }).withResponse();
    data.controller.abort();
    const { sessions } = maitred.for({ user: "ada" });
    const id = response.headers.get("X-Session-Id") ?? "";
    // The next turn has the session's lock only when that one has let go.
    await expect(maitred.for({ user: "ada" }).chat("Hello?", { sessionId: id })).rejects.toMatchObject({ code: "MODEL_UNAVAILABLE" });
    expect((await sessions.thread(id)).steps.map(({ type }) => type)).toEqual(["user_message", "user_message"]);
  });
});

test("GET /v1/models names the one that answers", async () => {
  const { openai } = await openDoor([]);
  expect((await all(openai().models.list())).map(({ id }) => id)).toEqual(["scripted"]);
});
