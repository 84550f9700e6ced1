import { describe, expect, test } from "vitest";
import { startWorld, tempDir } from "../e2e/world.js";
import { DIALECTS, type Dialect, openSmallWindowServer, plainConcierge } from "./small-window-server.js";
import { taskOf } from "./task-of.js";

const SAID = [
  "I love jazz, are there any concerts in Vienna?",
  "And on Saturday?",
  "Which of those concerts has step-free access?",
  "What about dinner before it?",
  "Thank you, and what did I say that I love?",
];

async function windowWorld(dialect: Dialect, tokens: number, variables: Readonly<Record<string, string>> = {}) {
  const server = await openSmallWindowServer(dialect, tokens, plainConcierge);
  const env = { OPENAI_BASE_URL: server.url, OPENAI_MODEL: "m", EMBEDDING_PROVIDER: "hashing", ...variables };
  const logged: string[] = [];
  const log = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const world = await startWorld(await tempDir(), env, { logger: { debug: log, info: log, warn: log, error: log } });
  const client = world.as("ada");
  /** What the log has of its refusals. */
  const refusals = () => logged.filter((line) => line.startsWith("the model's endpoint"));
  const readyz = async () => (await client.get<{ parts: { model: object } }>("/readyz")).body.parts.model;
  const memories = async () => (await client.get<{ data: { text: string }[] }>("/v1/memories")).body.data;
  const written = () => world.application.parts.worker.drain(20_000);
  const sayAll = async () => {
    const statuses: number[] = [];
    let session_id: string | undefined;
    for (const message of SAID) {
      const { status, body } = await client.post<{ session_id: string }>("/v1/chat", { message, session_id });
      session_id ??= body.session_id;
      statuses.push(status);
      await written();
    }
    return statuses;
  };
  return { server, client, memories, sayAll, logged, refusals, readyz };
}

describe.each(DIALECTS)("%s", (dialect) => {
  test("[small-window] of 4,096 tokens: all turns answer, a memory forms, and what was told of the window is kept to", async () => {
    const { server, memories, sayAll, refusals, readyz } = await windowWorld(dialect, 4_096);
    expect(await sayAll()).toEqual(SAID.map(() => 200));
    expect(await memories()).toMatchObject([{ text: "Loves jazz" }]);
    expect(server.refused.length).toBeLessThanOrEqual(1);
    expect(server.cut).toEqual([]);
    expect(server.answered.some(({ tools = [] }) => tools.some((tool) => tool.function.name === "search_events"))).toBe(true);
    expect(refusals()).toHaveLength(server.refused.length);
    expect(await readyz()).toMatchObject({ status: "ok" });
  });

  test("[small-window] of 2,048 tokens: all turns answer, with the tools that the message is about, and a memory forms in short", async () => {
    const { server, memories, sayAll, refusals, readyz } = await windowWorld(dialect, 2_048);
    expect(await sayAll()).toEqual(SAID.map(() => 200));
    expect(await memories()).toMatchObject([{ text: "Loves jazz" }]);
    expect(server.refused.length).toBeLessThanOrEqual(1);
    // Nobody tells it before the first answer.
    expect(server.cut.length).toBeLessThanOrEqual(dialect === "Ollama" ? 2 : 0);
    const turns = server.answered.filter((body) => taskOf(body) === "turn" && !server.cut.includes(body));
    expect(turns.at(-1)?.tools?.map((tool) => tool.function.name) ?? []).not.toEqual([]);
    // What a token of it is in bytes is known from the first answer that tells of a whole request: before, it is guessed with care.
    const told = dialect === "Ollama" ? SAID.slice(1) : SAID;
    const concerts = turns.filter(({ messages }) => {
      const said = String(messages.findLast(({ role }) => role === "user")?.content);
      return told.some((message) => message.includes("concerts") && said.endsWith(message));
    });
    expect(concerts).not.toEqual([]);
    for (const { tools = [] } of concerts) expect(tools.map((tool) => tool.function.name)).toContain("search_events");
    for (const { messages } of turns) expect(String(messages[0]?.content)).toMatch(/^You are the concierge/);
    expect(refusals()).toHaveLength(server.refused.length);
    for (const line of refusals())
      expect(line).toMatch(/told how much it reads at once.*"task":"chat".*2048 tokens.*"learnt":{"contextTokens":2048}/);
    expect(await readyz()).toMatchObject({ status: "ok", detail: expect.stringMatching(/^2,048 tokens at once/) });
  });
});

test("[small-window] where prompt and message can't fit, the refusal says what they need and what to use", async () => {
  const { client, logged, readyz } = await windowWorld("llama.cpp", 1_024);
  const { status, body } = await client.post<{ detail: string; hint: string }>("/v1/chat", { message: "Any concerts?" });
  expect(status).toBe(413);
  expect(body.detail).toMatch(/reads 1,024 tokens.*need about \d,\d{3}/);
  expect(body.hint).toMatch(/--ctx-size/);
  expect(logged.join("\n")).toMatch(/turn failed .*CONTEXT_TOO_LARGE.*--ctx-size/);
  expect(await readyz()).toMatchObject({
    status: "degraded",
    detail: expect.stringMatching(/m: The model reads 1,024 tokens at once; prompt/),
  });
});

test("[small-window] MODEL_CONTEXT_TOKENS is kept to from the first request on", async () => {
  const { server, sayAll, refusals, readyz } = await windowWorld("Ollama", 2_048, { MODEL_CONTEXT_TOKENS: "2048" });
  expect(await sayAll()).toEqual(SAID.map(() => 200));
  expect(server.cut).toEqual([]);
  expect(refusals()).toEqual([]);
  expect(await readyz()).toMatchObject({ status: "ok", detail: expect.stringMatching(/^2,048 tokens at once/) });
});

test("[small-window] a MODEL_CONTEXT_TOKENS that says too much is kept to until the endpoint refuses one request, not one a turn", async () => {
  const { server, sayAll, refusals, readyz } = await windowWorld("vLLM", 2_048, { MODEL_CONTEXT_TOKENS: "32768" });
  expect(await sayAll()).toEqual(SAID.map(() => 200));
  expect(server.refused).toHaveLength(1);
  expect(refusals()).toHaveLength(1);
  expect(await readyz()).toMatchObject({ status: "ok", detail: expect.stringMatching(/^2,048 tokens at once/) });
});

test("[small-window] a message that is too long for it is refused, and says nothing against the model", async () => {
  const { client, logged, readyz } = await windowWorld("vLLM", 2_048, { MODEL_CONTEXT_TOKENS: "2048" });
  const { status } = await client.post("/v1/chat", { message: `Find me this: ${"a quiet table by the window ".repeat(250)}` });
  expect(status).toBe(413);
  expect(logged.join("\n")).toMatch(/turn failed .*CONTEXT_TOO_LARGE/);
  expect(await readyz()).toMatchObject({ status: "ok" });
});
