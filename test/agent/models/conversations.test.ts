import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startWorld, tempDir, type World } from "../../e2e/world.js";
import { anthropicWire } from "../../support/providers/anthropic-wire.js";
import { chatWire } from "../../support/providers/chat-wire.js";
import { geminiWire } from "../../support/providers/gemini-wire.js";
import { responsesWire } from "../../support/providers/responses-wire.js";
import type { Wire } from "../../support/providers/wire.js";
import { WireServer } from "../../support/providers/wire-server.js";

/** The whole product over the real SDKs: a conversation with tools, thought that is signed, and a memory. */
const PROVIDERS: readonly (readonly [string, Wire, (url: string) => Record<string, string>])[] = [
  ["OpenAI's Responses API", responsesWire, (url) => ({ OPENAI_BASE_URL: url, OPENAI_API: "responses", OPENAI_MODEL: "gpt-5" })],
  ["Chat Completions of a model that thinks", chatWire, (url) => ({ OPENAI_BASE_URL: url, OPENAI_MODEL: "deepseek-reasoner" })],
  [
    "Anthropic",
    anthropicWire,
    (url) => ({ LLM_PROVIDER: "anthropic", LLM_MODEL: "claude-sonnet-4-5", LLM_API_KEY: "k", LLM_BASE_URL: url }),
  ],
  ["Gemini", geminiWire, (url) => ({ LLM_PROVIDER: "google", LLM_MODEL: "gemini-2.5-pro", LLM_API_KEY: "k", LLM_BASE_URL: url })],
];

const MEMORY = {
  op: "add",
  quote: "I love opera",
  target: null,
  text: "Loves opera",
  category: "genre",
  aspect: "genre",
  type: "preference",
  strength: "soft",
  subject: "self",
  scope: "standing",
  valid_until: null,
  confidence: 0.95,
  explicit: true,
  entities: [],
};

describe.each(PROVIDERS)("%s", (_name, wire, variables) => {
  async function withWorld(work: (world: World, server: WireServer) => Promise<void>): Promise<void> {
    const server = await WireServer.open(wire);
    server.answerTask("extraction", { text: JSON.stringify({ operations: [] }) }).answerTask("title", { text: "Opera in Vienna" });
    try {
      const world = await startWorld(await tempDir(), { EMBEDDING_PROVIDER: "hashing", ...variables(server.url) });
      await work(world, server);
      await world.stop();
      server.assertDone();
    } finally {
      await server.close();
    }
  }

  test("tools, parallel calls, signed thought, and a memory that is formed and recalled", () =>
    withWorld(async (world, server) => {
      const ada = world.as("ada");
      server.answerTask("extraction", { text: JSON.stringify({ operations: [MEMORY] }) });
      server.answer(
        {
          thought: "SECRET-THOUGHT: she wants opera.",
          calls: [
            { name: "search_events", arguments: { city: "Vienna", kind: "theatre" } },
            { name: "search_events", arguments: { city: "Vienna", kind: "music" } },
          ],
        },
        { text: ["Here is ", "what I found."] },
        { text: "You are welcome." },
      );
      const first = await ada.say("I love opera. What is on in Vienna?");
      expect(first.message.content).toBe("Here is what I found.");
      expect(first.steps.map(({ name, error }) => [name, error])).toEqual([
        ["search_events", null],
        ["search_events", null],
      ]);
      expect(first.usage).toEqual({ input_tokens: 24, cached_tokens: 8, output_tokens: 6, calls: 2, cost: null });
      server.answerTask("extraction", { text: JSON.stringify({ operations: [] }) });
      const second = await ada.say("Thanks, more opera please.", { session_id: first.session_id });
      expect(second.memory.recalled.map(({ text }) => text)).toEqual(["Loves opera"]);

      const chats = server.requests.filter(({ headers }) => headers["x-maitred-task"] === "chat");
      // Within the turn and in the next one.
      expect(chats.slice(1).map(({ said }) => said.turns.some(({ signed }) => signed))).toEqual([true, true]);
      expect(chats.every(({ said }) => said.tools.includes("search_events"))).toBe(true);

      const thread = await ada.get(`/v1/sessions/${first.session_id}/thread`);
      expect(thread.text).not.toContain("SECRET-THOUGHT");
      const extractions = server.requests.filter(({ headers }) => headers["x-maitred-task"] === "extraction");
      expect(JSON.stringify(extractions.map(({ body }) => body))).not.toContain("SECRET-THOUGHT");
      for (const record of await messageRecords(world.dir)) expect(record).not.toContain("SECRET-THOUGHT");
    }));

  test("an answer that was cut is marked as cut, and so is its message", () =>
    withWorld(async (world, server) => {
      server.answer({ text: "There is an opera on", finish: "length" });
      const answer = await world.as("ada").say("What is on?");
      expect(answer.message.metadata).toMatchObject({ finish: "length", tokens: { input_tokens: 12, output_tokens: 3 } });
      const messages = await world
        .as("ada")
        .get<{ data: { role: string; metadata: object }[] }>(`/v1/sessions/${answer.session_id}/messages`);
      expect(messages.body.data.find(({ role }) => role === "assistant")?.metadata).toMatchObject({ finish: "length" });
    }));

  test("a context that is too large is tried once more with half of it", () =>
    withWorld(async (world, server) => {
      const ada = world.as("ada");
      server.answer({ text: `Long ago. ${"And then. ".repeat(300)}` });
      const first = await ada.say("Tell me a story.");
      server.answer({ fault: { status: 400, words: "This model's maximum context length is 2048 tokens." } }, { text: "Shorter." });
      expect((await ada.say("Another?", { session_id: first.session_id })).message.content).toBe("Shorter.");
      expect(server.requests.at(-1)?.said.turns.length ?? 0).toBeLessThanOrEqual(3);
      server.answer({ fault: { status: 400, words: "prompt is too long" } });
      const alone = await ada.post<{ code: string; hint: string }>("/v1/chat", { message: "Hello" });
      expect(alone).toMatchObject({ status: 413, body: { code: "CONTEXT_TOO_LARGE" } });
    }));

  test("what a provider refuses is told in words for a person, with Retry-After passed on", () =>
    withWorld(async (world, server) => {
      server.answer({ fault: { status: 429, headers: { "retry-after": "600" }, words: "PROVIDER-WORDS" } });
      const refused = await world.as("ada").post<{ code: string; hint: string }>("/v1/chat", { message: "Hello" });
      expect(refused.body.code).toBe("MODEL_QUOTA");
      expect(refused.headers.get("retry-after")).toBe("600");
      expect(refused.text).not.toContain("PROVIDER-WORDS");
      expect(refused.body.hint).not.toContain("Idempotency-Key");
    }));
});

/** The journals' lines of messages: what was said, not what tools did. */
async function messageRecords(dir: string): Promise<string[]> {
  const names = (await readdir(dir)).filter((name) => name.endsWith(".jsonl"));
  const lines = (await Promise.all(names.map((name) => readFile(join(dir, name), "utf8")))).flatMap((text) => text.split("\n"));
  return lines.filter((line) => line.includes('"type":"message"'));
}
