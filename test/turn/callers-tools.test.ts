import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createMaitred, defineTool } from "../../src/index.js";
import { AppError } from "../../src/platform/errors.js";
import type { ChatEvent } from "../../src/ports/application.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import type { ScriptedStep } from "../../src/testing/scripted-model.js";
import { ChatScript } from "../support/chat-script.js";
import { PNG } from "../support/samples.js";

const WEATHER = { name: "weather", description: "The weather of a place.", parameters: { type: "object", properties: {} } };
const CALL = { id: "call_w", name: "weather", arguments: { city: "Rome" } };
const OWN = { id: "call_t", name: "time", arguments: {} };
const message = "What is it like in Rome?";

async function opened(steps: readonly ScriptedStep[]) {
  const model = new ChatScript(steps);
  const time = defineTool({ name: "time", description: "The time.", parameters: z.object({}), run: () => "noon" });
  const maitred = await createMaitred({
    model,
    prompt: "You help.",
    tools: [time],
    shortTermBackend: "memory",
    embeddingProvider: "hashing",
    mem0Enabled: false,
  });
  onTestFinished(() => maitred.close());
  const owner = await maitred.owner("ada");
  const say = (text: string) => maitred.chat.chat({ owner, message: text, externalId: "talk", tools: [WEATHER] });
  const resume = (results: Readonly<Record<string, string>>, onEvent?: (event: ChatEvent) => void) =>
    maitred.chat.resume(
      {
        owner,
        externalId: "talk",
        tools: [WEATHER],
        results: Object.entries(results).map(([callId, output]) => ({ callId, output })),
      },
      onEvent && { onEvent },
    );
  const thread = async ({ session_id }: ChatAnswer) => (await maitred.sessions.thread(owner, session_id)).steps;
  return { model, maitred, owner, say, resume, thread };
}

describe("a tool of the caller's own", () => {
  test("is offered beside the agent's, and a call of it ends the answer, which waits", async () => {
    const { model, say, thread } = await opened([{ calls: [CALL] }]);
    const answer = await say(message);
    expect(answer.calls).toEqual([{ id: "call_w", name: "weather", arguments: '{"city":"Rome"}' }]);
    expect([answer.message.content, answer.steps]).toEqual(["", []]);
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(["time", "weather"]);
    expect((await thread(answer)).map(({ type }) => type)).toEqual(["user_message"]);
    model.assertDone();
  });

  test("goes on with its result: one turn, one message of the user's, and the later turn knows all of it", async () => {
    const { model, say, resume, thread } = await opened([{ calls: [OWN, CALL] }, { text: "Sunny at noon." }, { text: "Yes." }]);
    const waiting = await say(message);
    expect(waiting.steps).toMatchObject([{ name: "time", output: "noon" }]);
    const events: string[] = [];
    const answer = await resume({ call_w: "sunny" }, ({ type }) => void events.push(type));
    expect(answer).toMatchObject({ turn: 1, message: { content: "Sunny at noon." } });
    expect(answer).not.toHaveProperty("calls");
    expect(events).toEqual(["session", "memory", "token"]);
    expect(answer.steps).toMatchObject([
      { name: "time", output: "noon" },
      { name: "weather", input: { city: "Rome" }, output: "sunny" },
    ]);
    const rest = (time: string, weather: string) => [
      { role: "assistant", tool_calls: [{ id: time }, { id: weather, arguments: '{"city":"Rome"}' }] },
      { role: "tool", tool_call_id: time, content: '"noon"' },
      { role: "tool", tool_call_id: weather, content: '"sunny"' },
    ];
    expect(model.requests[1]?.messages.slice(-3)).toMatchObject(rest("call_t", "call_w"));
    await say("Are you sure?");
    expect(model.requests[2]?.messages.slice(-5, -2)).toMatchObject(rest("c1_1", "c1_2"));
    expect((await thread(answer)).map(({ type }) => type)).toEqual([
      ...["user_message", "tool_call", "tool_call", "assistant_message"],
      ...["user_message", "assistant_message"],
    ]);
    model.assertDone();
  });

  test("may be called again and again; what the model said beside a call is not lost on it", async () => {
    const long = "I look that up for you now. ".repeat(10);
    const again = { ...CALL, id: "call_2" };
    const { model, say, resume } = await opened([{ text: long, calls: [CALL] }, { calls: [again] }, { text: "Sunny, then rain." }]);
    expect((await say(message)).message.content).toBe(long);
    expect((await resume({ call_w: "sunny" })).calls).toMatchObject([{ id: "call_2" }]);
    expect((await resume({ call_2: "rain" })).message.content).toBe("Sunny, then rain.");
    expect(model.requests[2]?.messages.slice(-4)).toMatchObject([
      { role: "assistant", content: long },
      { role: "tool", content: '"sunny"' },
      { role: "assistant", content: "" },
      { role: "tool", content: '"rain"' },
    ]);
  });

  test("with the same results again gives the same answer, and nothing is done twice", async () => {
    const { model, say, resume } = await opened([{ calls: [CALL] }, { text: "Sunny." }]);
    await say(message);
    const answer = await resume({ call_w: "sunny" });
    expect(await resume({ call_w: "sunny" })).toEqual(answer);
    model.assertDone();
  });

  test("whose continuation failed waits still", async () => {
    const { say, resume } = await opened([{ calls: [CALL] }, { fail: new AppError("MODEL_UNAVAILABLE") }, { text: "Sunny." }]);
    await say(message);
    await expect(resume({ call_w: "sunny" })).rejects.toMatchObject({ code: "MODEL_UNAVAILABLE" });
    expect((await resume({ call_w: "sunny" })).message.content).toBe("Sunny.");
  });

  test("that nobody answers leaves the session open, and is no part of what comes later", async () => {
    const { model, say, resume } = await opened([{ calls: [CALL] }, { text: "Good evening." }]);
    await say(message);
    expect(await say("Never mind.")).toMatchObject({ turn: 2, message: { content: "Good evening." } });
    expect(JSON.stringify(model.requests[1]?.messages)).not.toContain(message);
    await expect(resume({ call_w: "late" })).rejects.toMatchObject({ code: "TOOL_CALL_NOT_WAITING", status: 400 });
  });

  test("takes one result for each of its calls, in a session of one's own [owner-isolation]", async () => {
    const { maitred, owner, say, resume } = await opened([{ calls: [CALL, { ...CALL, id: "call_2" }] }]);
    const { session_id: sessionId } = await say(message);
    const notWaiting = { code: "TOOL_CALL_NOT_WAITING" };
    await expect(resume({ call_w: "sunny" })).rejects.toMatchObject(notWaiting);
    await expect(resume({ call_w: "sunny", call_3: "rain" })).rejects.toMatchObject(notWaiting);
    await expect(resume({})).rejects.toMatchObject(notWaiting);
    const results = [{ callId: "call_w", output: "sunny" }];
    const other = maitred.chat.resume({ owner: await maitred.owner("ben"), sessionId, results });
    await expect(other).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    await expect(maitred.chat.resume({ owner, externalId: "nowhere", results })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    await expect(maitred.chat.resume({ owner, sessionId: "x", results })).rejects.toMatchObject({ code: "INVALID_SESSION_ID" });
  });

  test("has the model shown the message's images again when it goes on", async () => {
    const { model, maitred, owner, resume } = await opened([{ calls: [CALL] }, { text: "Sunny." }]);
    model.sees = true;
    const images = [{ data: PNG }, { url: "https://example.org/rome.png" }];
    await maitred.chat.chat({ owner, message, images, externalId: "talk", tools: [WEATHER] });
    await resume({ call_w: "sunny" });
    const shown = model.requests.map(({ messages }) => messages.find(({ role }) => role === "user"));
    expect(shown[1]).toMatchObject({ images: [{ data: new Uint8Array(PNG), mediaType: "image/png" }, { url: images[1]?.url }] });
  });

  test("named as one of the agent's stands in its place", async () => {
    const { model, maitred, owner } = await opened([{ calls: [OWN] }]);
    const answer = await maitred.chat.chat({ owner, message, tools: [{ ...WEATHER, name: "time" }] });
    expect(answer.calls).toMatchObject([{ name: "time", arguments: "{}" }]);
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(["time"]);
  });
});
