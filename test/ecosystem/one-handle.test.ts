import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adkSessionService, MaitredMemoryService } from "../../src/adk.js";
import { withMemory } from "../../src/ai-sdk.js";
import { createMaitred, type Maitred, type MaitredUser } from "../../src/index.js";
import { chatMessageHistory, type LangChain, memoryStore } from "../../src/langchain.js";
import { MaitredSession, memoryInstructions } from "../../src/openai-agents.js";
import { EVERY_ENGINE } from "../state/engines/every-engine.js";
import { loadFromEcosystem } from "../support/ecosystem.js";
import { needing } from "../support/needing.js";

/**
 * Every framework's real package with the same handle: `{ user: maitred.for({ user }), thread }` where an adapter is for one user,
 * `{ maitred }` where it serves many. Two conversations of one user; in the second the model is told what was said in the first. MCP's own
 * client is in `e2e/client-examples`.
 */

const SAID = "I prefer jazz concerts, and I need step-free access.";
const ASKED = "Anything good this weekend?";
const ANSWER = "Very well.";

/** One turn of a real agent. Gives what its model was sent. */
type Say = (thread: string, text: string) => Promise<string>;

interface Framework {
  readonly name: string;
  agent(maitred: Maitred, user: MaitredUser, id: string): Promise<Say>;
  /** As Maitred's own name of the framework's thread. Default: the same. */
  readonly threadOf?: (thread: string) => string;
  /** With an option that there isn't, and what it was meant for. */
  readonly misspelt: readonly [(maitred: Maitred, user: MaitredUser) => unknown, string];
  /** Makers that lack what they need. */
  readonly mistakes: readonly ((maitred: Maitred, user: MaitredUser) => unknown)[];
}

interface Agents {
  Agent: new (options: object) => object;
  run(agent: object, input: string, options: { session: object }): Promise<{ finalOutput?: unknown }>;
  Usage: new () => object;
  setTracingDisabled(disabled: boolean): void;
}
interface Message {
  readonly content: unknown;
  getType(): string;
}
type Core = LangChain<abstract new () => object, Message> & {
  AIMessage: new (text: string) => Message;
  HumanMessage: new (text: string) => Message;
  RunnableWithMessageHistory: new (fields: object) => { invoke(input: object, config: object): Promise<Message> };
  RunnableLambda: { from(work: (input: { input: string; history: Message[] }) => unknown): object };
};
interface Store {
  search(namespace: string[], options: object): Promise<{ value: { text: string } }[]>;
}
interface Graph {
  addNode(name: string, node: (state: { messages: Message[] }, runtime: { store: Store }) => Promise<object>): Graph;
  addEdge(from: string, to: string): Graph;
  compile(options: object): { invoke(input: object, config: object): Promise<unknown> };
}
interface LangGraph {
  BaseStore: abstract new () => Store;
  StateGraph: new (state: unknown) => Graph;
  MessagesAnnotation: unknown;
  MemorySaver: new () => object;
  START: string;
  END: string;
}
interface Adk {
  BaseSessionService: abstract new () => object;
  BaseLlm: abstract new (options: { model: string }) => object;
  LlmAgent: new (options: object) => object;
  PRELOAD_MEMORY: object;
  Runner: new (options: object) => { runAsync(request: object): AsyncIterable<object> };
}

interface Mastra {
  Agent: new (options: object) => { generate(message: string, options?: object): Promise<{ text: string }> };
}

const none = undefined as never;
/** What Mastra asks of every agent. */
const DESK = { id: "desk", name: "desk", instructions: "You are a concierge." };
let core: Core;

const FRAMEWORKS: readonly Framework[] = [
  {
    name: "ai",
    agent: async (_, user) => {
      const { generateText } = await import("ai");
      const model = await scriptedModel();
      return async (thread, prompt) => {
        const { text } = await generateText({ model: withMemory(model, { user, thread }), prompt });
        expect(text).toBe(ANSWER);
        return JSON.stringify(model.doGenerateCalls.at(-1)?.prompt);
      };
    },
    misspelt: [(_, user) => withMemory(aModel(), { user, thread: "t1", maxToken: 100 } as never), "maxTokens"],
    mistakes: [
      () => withMemory(aModel(), { thread: "t1" } as never),
      (_, user) => withMemory(aModel(), { user } as never),
      (_, user) => withMemory("openai/gpt-5" as never, { user, thread: "t1" }),
    ],
  },
  {
    name: "@openai/agents",
    agent: async (_, user) => {
      const { Agent, run, Usage, setTracingDisabled } = (await loadFromEcosystem("@openai/agents")) as Agents;
      setTracingDisabled(true);
      let sent = "";
      const model = {
        async getResponse(request: { systemInstructions?: string; input: unknown }) {
          sent = JSON.stringify([request.systemInstructions, request.input]);
          const content = [{ type: "output_text", text: ANSWER }];
          return { usage: new Usage(), output: [{ type: "message", role: "assistant", status: "completed", content }] };
        },
      };
      return async (thread, text) => {
        const instructions = memoryInstructions("You are a concierge.", { user, thread });
        await run(new Agent({ name: "desk", instructions, model }), text, { session: new MaitredSession({ user, thread }) });
        return sent;
      };
    },
    misspelt: [(_, user) => new MaitredSession({ user, thread_id: "t1" } as never), "thread"],
    mistakes: [
      () => new MaitredSession(none),
      () => new MaitredSession({ user: "ada", thread: "t1" } as never),
      (_, user) => memoryInstructions("You are a concierge.", { user }),
    ],
  },
  {
    name: "@langchain/core",
    agent: async (_, user) => {
      let sent = "";
      const chain = new core.RunnableWithMessageHistory({
        runnable: core.RunnableLambda.from(async ({ input, history }) => {
          sent = JSON.stringify([...history.map(({ content }) => content), input]);
          return new core.AIMessage(ANSWER);
        }),
        getMessageHistory: (thread: string) => chatMessageHistory(core, { user, thread }),
        inputMessagesKey: "input",
        historyMessagesKey: "history",
      });
      return async (thread, input) => {
        await chain.invoke({ input }, { configurable: { sessionId: thread } });
        return sent;
      };
    },
    misspelt: [(_, user) => chatMessageHistory(core, { user, thread: "t1", round: 3 } as never), "rounds"],
    mistakes: [
      () => chatMessageHistory(core, { thread: "t1" } as never),
      (_, user) => chatMessageHistory({} as never, { user, thread: "t1" }),
      (_, user) => chatMessageHistory(none, { user, thread: "t1" }),
    ],
  },
  {
    name: "@langchain/langgraph",
    agent: async (maitred, user, id) => {
      const { BaseStore, StateGraph, MessagesAnnotation, MemorySaver, START, END } = (await loadFromEcosystem(
        "@langchain/langgraph",
      )) as LangGraph;
      let sent = "";
      const graph = new StateGraph(MessagesAnnotation)
        .addNode("agent", async ({ messages }, { store }) => {
          const known = await store.search(["memories", id], { query: String(messages.at(-1)?.content), limit: 5 });
          sent = JSON.stringify([known.map(({ value }) => value.text), messages.map(({ content }) => content)]);
          return { messages: [new core.AIMessage(ANSWER)] };
        })
        .addEdge(START, "agent")
        .addEdge("agent", END)
        .compile({ checkpointer: new MemorySaver(), store: memoryStore({ BaseStore }, { maitred }) });
      return async (thread, text) => {
        await graph.invoke({ messages: [{ role: "user", content: text }] }, { configurable: { thread_id: thread } });
        const said = [new core.HumanMessage(text), new core.AIMessage(ANSWER)];
        await chatMessageHistory<Core["BaseListChatMessageHistory"], Message>(core, { user, thread }).addMessages(said);
        return sent;
      };
    },
    misspelt: [(maitred) => memoryStore({ BaseStore: class {} }, { maitred, namespaces: [] } as never), "namespace"],
    mistakes: [
      () => memoryStore({ BaseStore: class {} }, none),
      (maitred) => memoryStore({} as never, { maitred }),
      () => memoryStore({ BaseStore: class {} }, { maitred: Promise.resolve({}) } as never),
    ],
  },
  {
    name: "@google/adk",
    agent: async (maitred, user, id) => {
      const adk = (await loadFromEcosystem("@google/adk")) as Adk;
      let sent = "";
      class ScriptedLlm extends (adk.BaseLlm as unknown as new (options: { model: string }) => object) {
        async *generateContentAsync({ contents, config }: { contents: unknown; config?: { systemInstruction?: unknown } }) {
          sent = JSON.stringify([config?.systemInstruction, contents]);
          yield { content: { role: "model", parts: [{ text: ANSWER }] } };
        }
      }
      const options = { maitred, user: () => user };
      const sessionService = adkSessionService(adk.BaseSessionService, options) as { createSession(request: object): Promise<unknown> };
      const memoryService = new MaitredMemoryService(options);
      const agent = new adk.LlmAgent({ name: "desk", model: new ScriptedLlm({ model: "scripted" }), tools: [adk.PRELOAD_MEMORY] });
      const runner = new adk.Runner({ appName: "desk", agent, sessionService, memoryService });
      return async (sessionId, text) => {
        await sessionService.createSession({ appName: "desk", userId: id, sessionId });
        const newMessage = { role: "user", parts: [{ text }] };
        for await (const event of runner.runAsync({ userId: id, sessionId, newMessage })) expect(event).toBeDefined();
        return sent;
      };
    },
    threadOf: (thread) => `adk:desk/${thread}`,
    misspelt: [(maitred) => new MaitredMemoryService({ maitred, searchLimits: 3 } as never), "searchLimit"],
    mistakes: [
      () => new MaitredMemoryService(none),
      (maitred) => adkSessionService(none, { maitred }),
      (_, user) => adkSessionService(class {}, { maitred: user } as never),
    ],
  },
  {
    name: "@mastra/core: the model",
    agent: async (_, user) => {
      const model = await scriptedModel();
      const { Agent } = (await loadFromEcosystem("@mastra/core/agent")) as Mastra;
      return async (thread, text) => {
        const agent = new Agent({ ...DESK, model: () => withMemory(model, { user, thread }) });
        expect((await agent.generate(text)).text).toBe(ANSWER);
        return JSON.stringify(model.doGenerateCalls.at(-1)?.prompt);
      };
    },
    misspelt: [(_, user) => withMemory(aModel(), { user, threadId: "t1" } as never), "thread"],
    mistakes: [(_, user) => withMemory("openai/gpt-5" as never, { user, thread: "t1" })],
  },
  {
    // As docs/coming-from.md has it, where the model is a name of Mastra's own.
    name: "@mastra/core: the two calls beside each turn",
    agent: async (_, user) => {
      const model = await scriptedModel();
      const { Agent } = (await loadFromEcosystem("@mastra/core/agent")) as Mastra;
      const agent = new Agent({ ...DESK, model });
      return async (thread, message) => {
        const { text: known } = await user.context(message, { thread });
        const { text: content } = await agent.generate(message, { instructions: `${DESK.instructions}\n\n${known}` });
        const said = [{ role: "user", content: message } as const, { role: "assistant", content } as const];
        await user.add(said, { thread });
        return JSON.stringify(model.doGenerateCalls.at(-1)?.prompt);
      };
    },
    misspelt: [(_, user) => user.context(ASKED, { thread_id: "t1" } as never), "thread"],
    mistakes: [(_, user) => user.add(none, { thread: "t1" }), (_, user) => user.context(ASKED, { thread: 7 } as never)],
  },
];

/** A model of the AI SDK that gives the same answer to all. */
async function scriptedModel() {
  const { MockLanguageModelV3 } = await import("ai/test");
  const tokens = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 };
  return new MockLanguageModelV3({
    doGenerate: async () => ({
      content: [{ type: "text", text: ANSWER }],
      finishReason: { unified: "stop", raw: "stop" },
      usage: { inputTokens: tokens, outputTokens: { total: 0, text: 0, reasoning: 0 } },
      warnings: [],
    }),
  });
}

/** Two conversations of one user: the second's model knows, and what is kept is just what was said. */
async function remembers(maitred: Maitred, { agent, threadOf = (thread) => thread }: Framework, id: string): Promise<void> {
  const user = maitred.for({ user: id });
  const say = await agent(maitred, user, id);
  expect(await say("first", SAID)).toContain(SAID);
  const first = { thread: threadOf("first") };
  expect(await user.sessions.flush(first, { timeoutMs: 20_000 })).toEqual({ pending_turns: 0, failed_turns: 0 });
  const sent = await say("second", ASKED);
  expect(sent).toContain(ASKED);
  expect(sent).toContain("step-free access");
  expect(sent).toContain("jazz concerts");
  expect((await user.sessions.messages(first)).data.map(({ role, content }) => [role, content])).toEqual([
    ["user", SAID],
    ["assistant", ANSWER],
  ]);
  expect((await user.memories.list()).data.map(({ text }) => text).sort()).toEqual(["Needs step-free access", "Prefers jazz concerts"]);
}

async function loadCore(): Promise<Core> {
  const parts = ["chat_history", "messages", "runnables"].map((part) => loadFromEcosystem(`@langchain/core/${part}`));
  return Object.assign({}, ...(await Promise.all(parts))) as Core;
}

for (const { name: engineName, program, home } of EVERY_ENGINE)
  needing(...(program === null ? [] : [program]), "ecosystem")(`one handle over ${engineName}`, () => {
    let place: Awaited<ReturnType<typeof home>>;
    let maitred: Maitred;
    beforeAll(async () => {
      place = await home();
      const state = await (await place.fresh()).open();
      const dir = await mkdtemp(join(tmpdir(), "maitred-handle-"));
      maitred = await createMaitred({ state, memoryStorageDir: dir, embeddingProvider: "hashing", recallDeadlineMs: 30_000 });
      core = await loadCore();
    }, 120_000);
    afterAll(async () => {
      await maitred.close();
      await place.close();
    });

    test.each(FRAMEWORKS)("$name: the second conversation knows the first", (framework) =>
      remembers(maitred, framework, `bo-${framework.name.replaceAll(/\W/g, "-")}`),
    );
  });

needing("ecosystem")("one user, one handle", () => {
  let maitred: Maitred;
  beforeAll(async () => {
    maitred = await createMaitred({ shortTermBackend: "memory", embeddingProvider: "hashing", recallDeadlineMs: 30_000 });
    core = await loadCore();
  });
  afterAll(() => maitred.close());

  describe.each(FRAMEWORKS)("$name", (framework) => {
    const { name, agent, mistakes } = framework;
    const [misspelt, meant] = framework.misspelt;
    const id = `ada-${name.replaceAll(/\W/g, "-")}`;

    test("in the second conversation the model is told what was said in the first", () => remembers(maitred, framework, id));

    test("an option that there isn't is refused, with the nearest name", async () => {
      const refused = expect.objectContaining({ code: "UNKNOWN_FIELD", message: expect.stringContaining(`did you mean \`${meant}\`?`) });
      expect(await thrownBy(() => misspelt(maitred, maitred.for({ user: id })))).toEqual(refused);
    });

    test("a mistake is a MaitredError with a hint", async () => {
      const { MaitredError } = await import("../../src/index.js");
      for (const mistake of mistakes) {
        const error = await thrownBy(() => mistake(maitred, maitred.for({ user: id })));
        expect([String(mistake), error]).toEqual([String(mistake), expect.any(MaitredError)]);
        expect(error).toMatchObject({ hint: expect.stringMatching(/./) });
      }
    });

    test("what is closed says so", async () => {
      const closed = await createMaitred({ shortTermBackend: "memory", embeddingProvider: "hashing" });
      const user = closed.for({ user: id });
      await closed.close();
      const using = async () => (await agent(closed, user, id))("first", SAID);
      expect(await thrownBy(using)).toMatchObject({ code: "SHUTTING_DOWN", hint: expect.stringContaining("createMaitred") });
    });
  });
});

async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  return null;
}

function aModel() {
  const never = () => Promise.reject(new Error("not expected"));
  return { specificationVersion: "v3", provider: "none", modelId: "none", supportedUrls: {}, doGenerate: never, doStream: never };
}
