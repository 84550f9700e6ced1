import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { afterEach, describe, expect, test } from "vitest";
import { conciergeScript } from "../../../packages/concierge/src/offline-script.js";
import { OfflineModel } from "../../../packages/offline/src/offline-model.js";
import { aiSdkModel } from "../../../src/agent/models/ai-sdk-model.js";
import { FallbackModel } from "../../../src/agent/models/fallback-model.js";
import { type OpenAIModelOptions, openAIModel } from "../../../src/agent/models/openai-model.js";
import type { Logger } from "../../../src/platform/logger.js";
import { silentLogger } from "../../../src/platform/logger.js";
import type { ChatModel, ModelImage, ModelMessage } from "../../../src/ports/chat-model.js";
import { ScriptedModel } from "../../../src/testing/scripted-model.js";
import { anthropicWire } from "../../support/providers/anthropic-wire.js";
import { chatWire } from "../../support/providers/chat-wire.js";
import { geminiWire } from "../../support/providers/gemini-wire.js";
import { responsesWire } from "../../support/providers/responses-wire.js";
import type { Wire } from "../../support/providers/wire.js";
import { WireServer } from "../../support/providers/wire-server.js";
import { PNG } from "../../support/samples.js";

const DATA: ModelImage = { data: PNG, mediaType: "image/png" };
const URL_IMAGE: ModelImage = { url: "https://pictures.example/hall.jpg" };
const BASE64 = PNG.toString("base64");
const ASKED: ModelMessage = { role: "user", content: "Which hall is this?", images: [DATA, URL_IMAGE] };

let server: WireServer | undefined;
afterEach(async () => {
  await server?.close();
  server?.assertDone();
  server = undefined;
});

async function serverOf(wire: Wire): Promise<WireServer> {
  server = await WireServer.open(wire);
  return server;
}

async function ask(model: ChatModel, messages: readonly ModelMessage[] = [ASKED]): Promise<string> {
  let text = "";
  for await (const event of model.stream({ messages }, { signal: new AbortController().signal }))
    if (event.type === "text") text += event.delta;
  return text;
}

function openai(baseUrl: string, more: Partial<OpenAIModelOptions> = {}): ReturnType<typeof openAIModel> {
  return openAIModel({ model: "m", apiKey: "key-of-the-test", baseUrl, api: "chat", maxRetries: 0, ...more });
}

describe("images behind a message, as each endpoint takes them", () => {
  test.each<[string, Wire, (url: string) => ChatModel, object]>([
    [
      "Chat Completions",
      chatWire,
      (url) => openai(url),
      {
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "Which hall is this?" },
              { type: "image_url", image_url: { url: `data:image/png;base64,${BASE64}` } },
              { type: "image_url", image_url: { url: "https://pictures.example/hall.jpg" } },
            ],
          },
        ],
      },
    ],
    [
      "the Responses API",
      responsesWire,
      (url) => openai(url, { api: "responses" }),
      {
        input: [
          {
            role: "user",
            content: [
              { type: "input_text", text: "Which hall is this?" },
              { type: "input_image", image_url: `data:image/png;base64,${BASE64}`, detail: "auto" },
              { type: "input_image", image_url: "https://pictures.example/hall.jpg", detail: "auto" },
            ],
          },
        ],
      },
    ],
    [
      "Anthropic, by the AI SDK",
      anthropicWire,
      (baseURL) => aiSdkModel(createAnthropic({ apiKey: "k", baseURL })("claude-haiku-4-5"), { maxRetries: 0 }),
      {
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "Which hall is this?" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: BASE64 } },
              { type: "image", source: { type: "url", url: "https://pictures.example/hall.jpg" } },
            ],
          },
        ],
      },
    ],
    [
      "Gemini, by the AI SDK",
      geminiWire,
      (baseURL) => aiSdkModel(createGoogleGenerativeAI({ apiKey: "k", baseURL })("gemini-2.5-flash"), { maxRetries: 0 }),
      {
        contents: [
          {
            role: "user",
            parts: [
              { text: "Which hall is this?" },
              { inlineData: { mimeType: "image/png", data: BASE64 } },
              { fileData: { mimeType: "image/jpeg", fileUri: "https://pictures.example/hall.jpg" } },
            ],
          },
        ],
      },
    ],
  ])("%s", async (_name, wire, make, body) => {
    const { url, requests } = (await serverOf(wire)).answer({ text: "The Musikverein." });
    const model = make(url);
    expect(model.takesImages?.()).toBe(true);
    expect(await ask(model)).toBe("The Musikverein.");
    expect(requests[0]?.body).toMatchObject(body);
  });

  test("stay with their message where neighbours of one role become one", async () => {
    const { url, requests } = (await serverOf(chatWire)).answer({ text: "Both." });
    await ask(openai(url), [
      { role: "user", content: "This?", images: [URL_IMAGE] },
      { role: "user", content: "Or this?", images: [DATA] },
    ]);
    const sent = requests[0]?.body as { messages: { content: { type: string; text?: string }[] }[] } | undefined;
    expect(sent?.messages[0]?.content.map(({ type, text }) => text ?? type)).toEqual(["This?\n\nOr this?", "image_url", "image_url"]);
  });
});

/** As OpenAI, DeepSeek, vLLM (two), llama.cpp, Ollama, Mistral, Groq and OpenRouter say it. */
const BLIND: readonly (readonly [number, string])[] = [
  [400, "Invalid content type. image_url is only supported by certain models."],
  [422, "Failed to deserialize the JSON body: messages[0]: unknown variant `image_url`, expected `text`"],
  [400, "m is not a multimodal model"],
  [400, "At most 0 image(s) may be provided in one request."],
  [500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"],
  [500, "failed to process inputs: this model is missing data required for image input"],
  [400, "Image input is not enabled for this model"],
  [400, "'messages.0' : for 'role:user' the following must be satisfied[('messages.0.content' : value must be a string)]"],
  [404, "No endpoints found that support image input"],
];

describe("a model that doesn't see", () => {
  test.each(BLIND)("is told by its refusal (%i: %s), and is not asked again", async (status, words) => {
    const { url, requests } = (await serverOf(chatWire)).answer({ fault: { status, words } }, { text: "Good evening." });
    const model = openai(url);
    await expect(ask(model)).rejects.toMatchObject({ code: "IMAGES_NOT_SUPPORTED", status: 400 });
    expect(model.takesImages()).toBe(false);
    await expect(ask(model)).rejects.toMatchObject({ code: "IMAGES_NOT_SUPPORTED" });
    expect(requests).toHaveLength(1);
    // In words it is asked as before.
    expect(await ask(model, [{ role: "user", content: "Hello?" }])).toBe("Good evening.");
    expect(model.facts()).toContain("takes no images");
  });

  test.each([
    "You uploaded an unsupported image. Please make sure your image has one of the following formats: png, jpeg.",
    "Error while downloading https://pictures.example/hall.jpg.",
    "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum",
    "Could not process image",
  ])("is not concluded from what is said of one image: %s", async (words) => {
    const { url } = (await serverOf(chatWire)).answer({ fault: { status: 400, words: `image: ${words}` } }, { text: "The Musikverein." });
    const model = openai(url);
    await expect(ask(model)).rejects.toMatchObject({ code: "INVALID_IMAGE", status: 400 });
    expect(model.takesImages()).toBe(true);
    expect(await ask(model)).toBe("The Musikverein.");
  });

  test("is not concluded from a refusal of something else", async () => {
    const { url } = (await serverOf(chatWire)).answer({ fault: { status: 401, words: "no image of your key here" } });
    const model = openai(url);
    await expect(ask(model)).rejects.toMatchObject({ code: "MODEL_REFUSED_REQUEST" });
    expect(model.takesImages()).toBe(true);
  });

  test("is sent no image with LLM_VISION=off, and asked every time with `on`", async () => {
    const refusal = { fault: { status: 400, words: "This model does not support images." } };
    const { url, requests } = (await serverOf(chatWire)).answer(refusal, refusal);
    const off = openai(url, { vision: "off" });
    expect(off.takesImages()).toBe(false);
    await expect(ask(off)).rejects.toMatchObject({ code: "IMAGES_NOT_SUPPORTED" });
    expect(requests).toHaveLength(0);
    const on = openai(url, { vision: "on" });
    for (const times of [1, 2]) {
      await expect(ask(on)).rejects.toMatchObject({ code: "IMAGES_NOT_SUPPORTED" });
      expect([on.takesImages(), requests.length]).toEqual([true, times]);
    }
  });

  test("is the stand-in", () => {
    expect(new OfflineModel({ script: conciergeScript })).not.toHaveProperty("takesImages");
  });

  test("[no-text-in-logs] is told in the log without the images", async () => {
    const { url } = (await serverOf(chatWire)).answer({
      fault: {
        status: 400,
        words: `image_url is only supported by others: data:image/png;base64,${BASE64} https://pictures.example/hall.jpg`,
      },
    });
    const lines: string[] = [];
    const note = (fields: object) => void lines.push(JSON.stringify(fields));
    const logger: Logger = { ...silentLogger, info: note, warn: note };
    await expect(ask(openai(url, { logger }))).rejects.toMatchObject({ code: "IMAGES_NOT_SUPPORTED" });
    expect(lines.join("\n")).toMatch(/\[image\]/);
    expect(lines.join("\n")).not.toMatch(new RegExp(`${BASE64.slice(0, 12)}|pictures\\.example`));
  });
});

describe("a fallback", () => {
  const fallback = (first: ChatModel, second: ChatModel) =>
    new FallbackModel({ first, second, firstTokenMs: 10_000, logger: silentLogger });
  const seeing = (steps: ConstructorParameters<typeof ScriptedModel>[0], sees = true) =>
    Object.assign(new ScriptedModel(steps, { name: "second" }), { takesImages: () => sees });

  test("that sees takes over from a model that doesn't", async () => {
    const { url } = (await serverOf(chatWire)).answer({ fault: { status: 400, words: "m is not a multimodal model" } });
    const model = fallback(openai(url), seeing([{ text: "I see." }, { text: "Still." }]));
    expect([await ask(model), model.takesImages(), await ask(model)]).toEqual(["I see.", true, "Still."]);
  });

  test("that doesn't see leaves a message with images to the first, whatever happens to that", async () => {
    const { url } = (await serverOf(chatWire)).answer(
      { fault: { status: 429, headers: { "retry-after": "60" } } },
      { fault: { status: 503 } },
      { text: "The Musikverein." },
    );
    const model = fallback(openai(url), seeing([{ text: "In words." }], false));
    expect(await ask(model, [{ role: "user", content: "Hello?" }])).toBe("In words.");
    await expect(ask(model)).rejects.toMatchObject({ code: "MODEL_UNAVAILABLE" });
    expect(await ask(model)).toBe("The Musikverein.");
  });
});
