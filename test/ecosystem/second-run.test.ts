import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { adkSessionService, MaitredMemoryService } from "../../src/integrations/adk.js";
import type { AdkEvent, AdkSession } from "../../src/integrations/adk-events.js";
import { chatMessageHistory, type LangChain } from "../../src/integrations/langchain.js";
import { MaitredSession, memoryInstructions } from "../../src/integrations/openai-agents.js";
import { openWorld, type World } from "../e2e/world.js";
import { loadFromEcosystem } from "../support/ecosystem.js";
import { needing } from "../support/needing.js";
import { type ChatBody, OpenAIStub } from "../support/openai-stub.js";

interface Agents {
  Agent: new (options: object) => object;
  run(agent: object, input: string, options: { session: object }): Promise<{ finalOutput?: unknown }>;
  OpenAIChatCompletionsModel: new (client: OpenAI, model: string) => object;
  setTracingDisabled(disabled: boolean): void;
}
interface Message {
  readonly content: unknown;
  getType(): string;
}
type Core = LangChain<abstract new () => object, Message> & {
  AIMessage: new (text: string) => Message;
  RunnableWithMessageHistory: new (fields: object) => { invoke(input: object, config: object): Promise<Message> };
  RunnableLambda: { from(work: (input: { input: string; history: Message[] }) => unknown): object };
};
interface Adk {
  BaseSessionService: abstract new () => object;
  BaseLlm: abstract new (options: { model: string }) => object;
  LlmAgent: new (options: object) => object;
  PRELOAD_MEMORY: object;
  Runner: new (options: object) => { runAsync(request: object): AsyncIterable<AdkEvent> };
}
interface LlmRequest {
  readonly contents: readonly { readonly role?: string; readonly parts?: readonly { readonly text?: string }[] }[];
  readonly config?: { readonly systemInstruction?: unknown };
}

const SAID = "I prefer jazz concerts, and I need step-free access.";
const ASKED = "Anything good this weekend?";
const ROLES: Readonly<Record<string, "user" | "assistant" | "system">> = {
  human: "user",
  user: "user",
  ai: "assistant",
  model: "assistant",
};

/** A real agent of each framework speaks to a model over loopback, twice: the second conversation is another one of the same user. */
needing("ecosystem")("a second run knows what the first was told", () => {
  let world: World;
  let stub: OpenAIStub;
  let client: OpenAI;
  beforeAll(async () => {
    world = await openWorld(await mkdtemp(join(tmpdir(), "maitred-second-run-")));
    stub = await OpenAIStub.open();
    stub.chatOtherwise({ text: "Very well." });
    client = new OpenAI({ baseURL: stub.url, apiKey: "none", maxRetries: 0 });
  });
  afterAll(async () => {
    await stub.close();
    await world.stop();
    await rm(world.dir, { recursive: true });
  });
  beforeEach(() => {
    stub.requests.length = 0;
  });

  const ask = async (messages: readonly { role: "user" | "assistant" | "system"; content: string }[]): Promise<string> => {
    const { choices } = await client.chat.completions.create({ model: "loopback", messages: [...messages] });
    return choices[0]?.message.content ?? "";
  };
  /** What the model was sent with the newest request. */
  const sent = () => JSON.stringify((stub.requests.at(-1)?.body as ChatBody | undefined)?.messages);
  const written = () => world.application.parts.worker.drain(20_000);
  const remembered = async (owner: Owner) => (await world.application.memories.list(owner, {})).data.map(({ text }) => text).sort();
  const knows = async (owner: Owner) => {
    expect(await remembered(owner)).toEqual(["Needs step-free access", "Prefers jazz concerts"]);
    expect(sent()).toContain(ASKED);
    expect(sent()).toContain("Needs step-free access");
    expect(sent()).toContain("Prefers jazz concerts");
    expect(sent()).not.toContain(SAID);
  };

  test("@openai/agents, by its session and its instructions", async () => {
    const { Agent, run, OpenAIChatCompletionsModel, setTracingDisabled } = (await loadFromEcosystem("@openai/agents")) as Agents;
    setTracingDisabled(true);
    const owner = ownerOf("agents", "rosa");
    const { log } = world.application.parts;
    const say = async (sessionId: string, text: string) => {
      const session = new MaitredSession({ log, owner, sessionId });
      const instructions = memoryInstructions("You are a concierge.", { known: world.application.ownAgent, session });
      const model = new OpenAIChatCompletionsModel(client, "loopback");
      return (await run(new Agent({ name: "desk", instructions, model }), text, { session })).finalOutput;
    };
    expect(await say("first", SAID)).toBe("Very well.");
    expect(sent()).toContain("You are a concierge.");
    await written();
    await say("second", ASKED);
    await knows(owner);
  });

  test("@langchain/core, by its message history", async () => {
    const core = {
      ...((await loadFromEcosystem("@langchain/core/chat_history")) as object),
      ...((await loadFromEcosystem("@langchain/core/messages")) as object),
      ...((await loadFromEcosystem("@langchain/core/runnables")) as object),
    } as Core;
    const owner = ownerOf("langchain", "rosa");
    const { log } = world.application.parts;
    const historyOf = (sessionId: string) =>
      chatMessageHistory<Core["BaseListChatMessageHistory"], Message>(core, { log, owner, sessionId, known: world.application.ownAgent });
    const chain = new core.RunnableWithMessageHistory({
      runnable: core.RunnableLambda.from(async ({ input, history }) => {
        const before = history.map((message) => ({ role: ROLES[message.getType()] ?? "system", content: String(message.content) }));
        return new core.AIMessage(await ask([...before, { role: "user", content: input }]));
      }),
      getMessageHistory: historyOf,
      inputMessagesKey: "input",
      historyMessagesKey: "history",
    });
    await chain.invoke({ input: SAID }, { configurable: { sessionId: "first" } });
    await written();
    await chain.invoke({ input: ASKED }, { configurable: { sessionId: "second" } });
    await knows(owner);
    const kept = await historyOf("second").getMessages();
    expect(kept.map((message) => message.getType())).toEqual(["system", "human", "ai"]);
    expect(await log.items({ owner, channel: "langchain", conversation: "second" })).toHaveLength(2);
  });

  test("@google/adk, by its session service and its memory service", async () => {
    const adk = (await loadFromEcosystem("@google/adk")) as Adk;
    const { log } = world.application.parts;
    const options = { log, history: world.application.history, known: world.application.ownAgent, searchLimit: 1 };
    const sessionService = adkSessionService(adk.BaseSessionService, options) as { createSession(request: object): Promise<AdkSession> };
    const memoryService = new MaitredMemoryService(options);
    class LoopbackLlm extends (adk.BaseLlm as unknown as new (options: { model: string }) => object) {
      async *generateContentAsync({ contents, config }: LlmRequest) {
        const system = { role: "system" as const, content: JSON.stringify(config?.systemInstruction ?? "") };
        const said = contents.map(({ role = "user", parts = [] }) => {
          return { role: ROLES[role] ?? "user", content: parts.map(({ text = "" }) => text).join("\n") };
        });
        yield { content: { role: "model", parts: [{ text: await ask([system, ...said]) }] } };
      }
    }
    const agent = new adk.LlmAgent({ name: "desk", model: new LoopbackLlm({ model: "loopback" }), tools: [adk.PRELOAD_MEMORY] });
    const runner = new adk.Runner({ appName: "desk", agent, sessionService, memoryService });
    const say = async (text: string) => {
      const { id: sessionId } = await sessionService.createSession({ appName: "desk", userId: "rosa" });
      const events: AdkEvent[] = [];
      const newMessage = { role: "user", parts: [{ text }] };
      for await (const event of runner.runAsync({ userId: "rosa", sessionId, newMessage })) events.push(event);
      return events;
    };
    expect((await say(SAID)).at(-1)?.content?.parts?.[0]?.text).toBe("Very well.");
    await written();
    await say(ASKED);
    const owner = ownerOf("adk.desk", "rosa");
    expect(await remembered(owner)).toEqual(["Needs step-free access", "Prefers jazz concerts"]);
    expect(sent()).toContain("Needs step-free access");
    expect(sent()).toContain("Prefers jazz concerts");
    const { memories } = await memoryService.searchMemory({ appName: "desk", userId: "rosa", query: "jazz" });
    expect(memories.map(({ author, customMetadata }) => [author, customMetadata.kind])).toEqual([
      ["memory", "memory"],
      ["memory", "memory"],
      ["user", "message"],
    ]);
    expect(memories[0]).toMatchObject({ id: expect.any(String), customMetadata: { strength: "hard", category: "accessibility" } });
    expect(memories[2]?.customMetadata).toMatchObject({ turn: 1, session_id: expect.any(String), score: expect.any(Number) });
  });
});
