import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createProviderRegistry, extractReasoningMiddleware, wrapLanguageModel } from "ai";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { aiSdkFailure } from "../../../src/agent/models/ai-sdk-model.js";
import { aiSdkModel } from "../../../src/ai-sdk.js";
import { parseConfig } from "../../../src/compose/config.js";
import { openModels } from "../../../src/compose/models.js";
import { silentLogger } from "../../../src/platform/logger.js";
import type { ChatModel } from "../../../src/ports/chat-model.js";
import { anthropicWire } from "../../support/providers/anthropic-wire.js";
import { chatWire } from "../../support/providers/chat-wire.js";
import { geminiWire } from "../../support/providers/gemini-wire.js";
import type { Wire } from "../../support/providers/wire.js";
import { WireServer } from "../../support/providers/wire-server.js";

const DOMAIN = { name: "none", prompt: "", tools: [] };
let server: WireServer | undefined;
afterEach(async () => {
  await server?.close();
  server?.assertDone();
  server = undefined;
  vi.unstubAllEnvs();
});

async function serverOf(wire: Wire): Promise<WireServer> {
  server = await WireServer.open(wire);
  return server;
}

async function textOf(model: ChatModel): Promise<string> {
  let text = "";
  for await (const event of model.stream({ messages: [{ role: "user", content: "Hello?" }] }, { signal: new AbortController().signal }))
    if (event.type === "text") text += event.delta;
  return text;
}

describe("what `ai` itself makes is a model too", () => {
  test("one with middleware", async () => {
    const { url } = (await serverOf(chatWire)).answer({ text: "<musing>Hm.</musing>Good evening." });
    const model = createOpenAICompatible({ name: "loopback", baseURL: url })("m");
    const wrapped = wrapLanguageModel({ model, middleware: extractReasoningMiddleware({ tagName: "musing" }) });
    expect((await textOf(aiSdkModel(wrapped))).trim()).toBe("Good evening.");
  });

  test("one of a registry", async () => {
    const { url } = (await serverOf(anthropicWire)).answer({ text: "Good evening." });
    const registry = createProviderRegistry({ anthropic: createAnthropic({ apiKey: "k", baseURL: url }) });
    expect(await textOf(aiSdkModel(registry.languageModel("anthropic:claude-haiku-4-5")))).toBe("Good evening.");
  });
});

describe("LLM_PROVIDER", () => {
  test.each([
    ["anthropic", anthropicWire, { ANTHROPIC_API_KEY: "own-key" }, "x-api-key"],
    ["google", geminiWire, { LLM_API_KEY: "own-key" }, "x-goog-api-key"],
  ] as const)("%s answers through its package, with its own key's variable", async (provider, wire, key, header) => {
    const { url, requests } = (await serverOf(wire)).answer({ text: "Good evening." });
    const config = parseConfig({ LLM_PROVIDER: provider, LLM_MODEL: "m", LLM_BASE_URL: url, ...key });
    const model = (await openModels(config, DOMAIN, silentLogger)).chat;
    expect(await textOf(model)).toBe("Good evening.");
    expect(requests[0]?.headers[header]).toBe("own-key");
  });

  test("names the package that isn't installed", async () => {
    const config = parseConfig({ LLM_PROVIDER: "mistral", LLM_MODEL: "mistral-small" });
    await expect(openModels(config, DOMAIN, silentLogger)).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      message: expect.stringContaining("@ai-sdk/mistral"),
      hint: expect.stringContaining("npm install @ai-sdk/mistral"),
    });
  });

  test("needs LLM_MODEL", () => {
    expect(() => parseConfig({ LLM_PROVIDER: "anthropic" })).toThrow(/LLM_MODEL/);
  });
});

describe("LLM_FALLBACK", () => {
  const opened = (variables: Record<string, string>) => openModels(parseConfig(variables), DOMAIN, silentLogger).then(({ chat }) => chat);

  test("takes over before the first token, and is named by the answer", async () => {
    const { url } = (await serverOf(chatWire)).answer({ fault: { status: 503 } }, { text: "I step in." });
    const model = await opened({ OPENAI_BASE_URL: url, OPENAI_MODEL: "first", LLM_FALLBACK: "llama3.1:8b" });
    const events = [];
    for await (const event of model.stream({ messages: [{ role: "user", content: "Hello?" }] }, { signal: new AbortController().signal }))
      events.push(event);
    expect(events.at(-1)).toMatchObject({ type: "end", model: "llama3.1:8b" });
    expect(server?.requests.map(({ body }) => (body as { model: string }).model)).toEqual(["first", "llama3.1:8b"]);
  });

  test("of another provider is told by its name, and gets no key of the first", async () => {
    const { url, requests } = (await serverOf(anthropicWire)).answer({ text: "I step in." });
    const model = await opened({
      OPENAI_BASE_URL: "http://127.0.0.1:1/v1",
      OPENAI_API_KEY: "first-key",
      LLM_FALLBACK: "anthropic:claude-haiku-4-5",
      LLM_FALLBACK_BASE_URL: url,
      LLM_FALLBACK_API_KEY: "second-key",
    });
    expect(await textOf(model)).toBe("I step in.");
    expect(requests[0]?.headers["x-api-key"]).toBe("second-key");
  });

  test.each(["", "anthropic:"])(
    "is sent no key of the environment at another origin than the first's: %sclaude-haiku-4-5",
    async (named) => {
      vi.stubEnv("ANTHROPIC_API_KEY", "environment-key");
      const { url, requests } = (await serverOf(anthropicWire)).answer({ text: "I step in." }, { text: "Here." }, { text: "Here too." });
      const away = { LLM_FALLBACK: `${named}claude-haiku-4-5`, LLM_FALLBACK_BASE_URL: url };
      const first = { LLM_PROVIDER: "anthropic", LLM_MODEL: "claude-opus-4-8", LLM_BASE_URL: "http://127.0.0.1:1/v1" };
      expect(await textOf(await opened({ ...first, ...away }))).toBe("I step in.");
      expect(await textOf(await opened({ ...first, ...away, LLM_BASE_URL: url }))).toBe("Here.");
      expect(await textOf(await opened({ ...away, OPENAI_BASE_URL: "http://127.0.0.1:1/v1", LLM_FALLBACK: "anthropic:m" }))).toBe(
        "Here too.",
      );
      expect(requests.map(({ headers }) => headers["x-api-key"])).toEqual(["none", "environment-key", "none"]);
    },
  );

  test.each(["", "anthropic:"])("at its provider's own address it is sent that one's key: %sclaude-haiku-4-5", async (named) => {
    const asked: (string | null)[][] = [];
    vi.stubGlobal("fetch", async (url: string | URL, { headers }: RequestInit) => {
      asked.push([new URL(url).host, new Headers(headers).get("x-api-key")]);
      return Response.json({ type: "error", error: { type: "x", message: "no" } }, { status: asked.length === 1 ? 503 : 401 });
    });
    onTestFinished(() => void vi.unstubAllGlobals());
    vi.stubEnv("ANTHROPIC_API_KEY", "environment-key");
    const first = { LLM_PROVIDER: "anthropic", LLM_MODEL: "claude-opus-4-8", ANTHROPIC_API_KEY: "file-key" };
    const home = { LLM_FALLBACK: `${named}claude-haiku-4-5`, LLM_FALLBACK_BASE_URL: "https://api.anthropic.com/v1" };
    await expect(textOf(await opened({ ...first, ...home }))).rejects.toThrow();
    expect(asked).toEqual(Array(2).fill(["api.anthropic.com", "file-key"]));
  });

  test("of the first's provider it goes to the first's gateway, with the key for that alone", async () => {
    const asked: (string | null)[][] = [];
    vi.stubGlobal("fetch", async (url: string | URL, { headers }: RequestInit) => {
      asked.push([new URL(url).host, new Headers(headers).get("x-api-key")]);
      return Response.json({ type: "error", error: { type: "x", message: "no" } }, { status: asked.length === 1 ? 503 : 401 });
    });
    onTestFinished(() => void vi.unstubAllGlobals());
    const gateway = { LLM_BASE_URL: "https://gateway.example/v1", LLM_API_KEY: "gateway-key", ANTHROPIC_API_KEY: "provider-key" };
    const models = { LLM_PROVIDER: "anthropic", LLM_MODEL: "claude-opus-4-8", LLM_FALLBACK: "anthropic:claude-haiku-4-5" };
    await expect(textOf(await opened({ ...gateway, ...models }))).rejects.toThrow();
    expect(asked).toEqual(Array(2).fill(["gateway.example", "gateway-key"]));
  });

  test("gets key, headers and query of the first at its own origin alone, or its own", async () => {
    const { url, requests } = (await serverOf(chatWire)).answer(
      { fault: { status: 503 } },
      { text: "Here." },
      { text: "Elsewhere." },
      { text: "By its own." },
    );
    const first = { OPENAI_API_KEY: "first", OPENAI_HEADERS: '{"api-key":"first-key"}', OPENAI_QUERY: '{"api-version":"v"}' };
    const sent = { ...first, LLM_FALLBACK: "second", LLM_FALLBACK_BASE_URL: url };
    const away = { ...sent, OPENAI_BASE_URL: "http://127.0.0.1:1/v1" };
    const own = {
      LLM_FALLBACK_API_KEY: "second",
      LLM_FALLBACK_HEADERS: '{"api-key":"second-key"}',
      LLM_FALLBACK_QUERY: '{"api-version":"w"}',
    };
    const models = [await opened({ ...sent, OPENAI_BASE_URL: url }), await opened(away), await opened({ ...away, ...own })];
    const texts = [];
    for (const model of models) texts.push(await textOf(model));
    expect(texts).toEqual(["Here.", "Elsewhere.", "By its own."]);
    const seen = ({ headers, path }: (typeof requests)[number]) => [headers.authorization, headers["api-key"], path.split("?")[1]];
    expect(requests.map(seen)).toEqual([
      ["Bearer first", "first-key", "api-version=v"],
      ["Bearer first", "first-key", "api-version=v"],
      [undefined, undefined, undefined],
      ["Bearer second", "second-key", "api-version=w"],
    ]);
  });

  test("does not take over an answer that has begun", async () => {
    const { url } = (await serverOf(chatWire)).answer({ text: ["One ", "two ", "three ", "four"], fault: "half" });
    const model = await opened({ OPENAI_BASE_URL: url, LLM_FALLBACK: "second" });
    await expect(textOf(model)).rejects.toMatchObject({ code: "MODEL_UNAVAILABLE" });
  });

  test("leaves alone a first model that asked for time", async () => {
    const { url } = (await serverOf(chatWire)).answer(
      { fault: { status: 429, headers: { "retry-after": "60" } } },
      { text: "A." },
      { text: "B." },
    );
    const model = await opened({ OPENAI_BASE_URL: url, OPENAI_MODEL: "first", LLM_FALLBACK: "second" });
    expect([await textOf(model), await textOf(model)]).toEqual(["A.", "B."]);
    expect(server?.requests).toHaveLength(3);
  });
});

test.each([
  [{ message: "throttled", code: "429" }, 429],
  [{ error: { message: "overloaded", code: 503 } }, 503],
  [{ message: "broken", code: "server_error" }, null],
])("an error within a stream, %j, has the status that it tells", (error, status) => {
  expect(aiSdkFailure(error).status).toBe(status);
});
