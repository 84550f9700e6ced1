import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { AppError } from "../../src/platform/errors.js";
import { openDoor } from "../support/door.js";

const CALL = { id: "call_w", name: "weather", arguments: { city: "Rome" } };
const weather = tool({
  description: "Of a place.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, sky: "clear" }),
});

async function provider(...steps: Parameters<typeof openDoor>) {
  const door = await openDoor(...steps);
  const maitred = createOpenAICompatible({ name: "maitred", baseURL: door.url, headers: { "X-User-Id": "ada" }, includeUsage: true });
  return { ...door, model: maitred("any") };
}

describe("the AI SDK's provider for what is compatible with OpenAI", () => {
  test("generates an answer with its usage", async () => {
    const { model } = await provider([{ text: "Good evening!", usage: { input_tokens: 9, output_tokens: 3 } }]);
    const { text, usage, finishReason } = await generateText({ model, prompt: "Good evening." });
    expect({ text, usage, finishReason }).toMatchObject({
      text: "Good evening!",
      usage: { inputTokens: 9, outputTokens: 3 },
      finishReason: "stop",
    });
  });

  test("streams one through its own tools, in one turn", async () => {
    const usage = { input_tokens: 9, output_tokens: 3 };
    const { model, thread } = await provider([
      { calls: [CALL], usage },
      { text: ["Clear ", "sky."], usage },
    ]);
    const result = streamText({ model, prompt: "What is it like in Rome?", tools: { weather }, stopWhen: stepCountIs(3) });
    expect(await result.text).toBe("Clear sky.");
    expect((await result.steps).map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"]);
    expect((await result.totalUsage).inputTokens).toBe(18);
    const id = (await result.response).headers?.["x-session-id"] ?? "";
    expect((await thread(id)).map(({ type, output }) => [type, output])).toEqual([
      ["user_message", "What is it like in Rome?"],
      ["tool_call", { city: "Rome", sky: "clear" }],
      ["assistant_message", "Clear sky."],
    ]);
  });

  test("tells what went wrong in words", async () => {
    const { model } = await provider([{ fail: new AppError("MODEL_CONTENT_FILTER") }]);
    await expect(generateText({ model, prompt: "Good evening.", maxRetries: 0 })).rejects.toMatchObject({
      statusCode: 422,
      message: expect.stringContaining("provider filtered this"),
    });
  });
});
