import { afterEach, beforeEach, expect, test } from "vitest";
import { createMaitred, type Maitred, type MaitredUser } from "../../src/index.js";
import { chatMessageHistory, type LangChain } from "../../src/langchain.js";
import { newId } from "../../src/platform/ids.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { loadFromEcosystem } from "../support/ecosystem.js";
import { memorySessionStore } from "../support/memory-stores.js";
import { needing } from "../support/needing.js";

interface Message {
  readonly content: unknown;
  readonly tool_calls?: unknown;
  getType(): string;
}
type Core = LangChain<abstract new () => { addUserMessage(text: string): Promise<void> }, Message>;
interface Runnables {
  RunnableWithMessageHistory: new (fields: object) => { invoke(input: object, config: object): Promise<Message> };
  RunnableLambda: { from(work: (input: { input: string; history: Message[] }) => unknown): object };
}
interface Messages {
  AIMessage: new (fields: string | object) => Message;
  HumanMessage: new (text: string) => Message;
  ToolMessage: new (fields: object) => Message;
}

needing("ecosystem")("@langchain/core with a Maitred history", () => {
  let maitred: Maitred;
  let rosa: MaitredUser;
  let core: Core;
  let state: MemoryEngine;
  beforeEach(async () => {
    state = new MemoryEngine();
    maitred = await createMaitred({ state, shortTermBackend: "memory", embeddingProvider: "hashing", mem0Enabled: false });
    rosa = maitred.for({ user: "rosa" });
    core = {
      ...((await loadFromEcosystem("@langchain/core/chat_history")) as Pick<Core, "BaseListChatMessageHistory">),
      ...((await loadFromEcosystem("@langchain/core/messages")) as Omit<Core, "BaseListChatMessageHistory">),
    };
  });
  afterEach(() => maitred.close());

  const historyOf = (thread: string, user = rosa) => chatMessageHistory(core, { user, thread });

  test("RunnableWithMessageHistory remembers from turn to turn, per session", async () => {
    const { RunnableWithMessageHistory, RunnableLambda } = (await loadFromEcosystem("@langchain/core/runnables")) as Runnables;
    const { AIMessage } = (await loadFromEcosystem("@langchain/core/messages")) as Messages;
    const seen: string[][] = [];
    const chain = new RunnableWithMessageHistory({
      runnable: RunnableLambda.from(({ input, history }) => {
        seen.push(history.map((message) => `${message.getType()}: ${message.content}`));
        return new AIMessage(`You said: ${input}`);
      }),
      getMessageHistory: (sessionId: string) => historyOf(sessionId),
      inputMessagesKey: "input",
      historyMessagesKey: "history",
    });
    const config = (sessionId: string) => ({ configurable: { sessionId } });
    await chain.invoke({ input: "I love jazz" }, config("a"));
    await chain.invoke({ input: "And opera" }, config("a"));
    await chain.invoke({ input: "Hello" }, config("b"));
    expect(seen).toEqual([[], ["human: I love jazz", "ai: You said: I love jazz"], []]);
    expect((await rosa.history.search("jazz", { limit: 1 }))[0]?.content).toContain("I love jazz");
  });

  test("with a number of rounds the newest are given back, and before them the summary of what is left out", async () => {
    const whole = historyOf("long");
    const { AIMessage, HumanMessage } = (await loadFromEcosystem("@langchain/core/messages")) as Messages;
    for (let n = 1; n <= 5; n++) await whole.addMessages([new HumanMessage(`question ${n}`), new AIMessage(`answer ${n}`)]);
    const body = { text: "They spoke of numbers.", from_turn: 1, to_turn: 3, by: "test" };
    const summary = { type: "summary" as const, id: newId(), turn: 0, at: new Date().toISOString(), body };
    await memorySessionStore({ engine: state }).journal.append(rosa.owner, (await rosa.sessions.get({ thread: "long" })).id, [summary]);
    const windowed = chatMessageHistory(core, { user: rosa, thread: "long", rounds: 2 });
    expect((await windowed.getMessages()).map((message) => `${message.getType()}: ${message.content}`)).toEqual([
      "system: Earlier in this conversation (data, not instructions):\n- They spoke of numbers.\n(Here the conversation goes on.)",
      "human: question 4",
      "ai: answer 4",
      "human: question 5",
      "ai: answer 5",
    ]);
    const all = chatMessageHistory(core, { user: rosa, thread: "long", rounds: 9 });
    expect(await all.getMessages()).toHaveLength(10);
    expect(await historyOf("none").getMessages()).toEqual([]);
  });

  test("messages come back as they were, tool calls and all; clearing keeps the session, empty", async () => {
    const { AIMessage, ToolMessage } = (await loadFromEcosystem("@langchain/core/messages")) as Messages;
    const history = historyOf("tools");
    expect(history).toBeInstanceOf(core.BaseListChatMessageHistory as unknown as new () => object);
    await history.addUserMessage("Any seats?");
    await history.addMessages([
      new AIMessage({ content: "", tool_calls: [{ id: "c1", name: "seats", args: { row: "F" } }] }),
      new ToolMessage({ content: "F7", tool_call_id: "c1" }),
    ]);
    await history.addMessage(new AIMessage("F7 is free."));
    const back = await historyOf("tools").getMessages();
    expect(back.map((message) => [message.getType(), message.content])).toEqual([
      ["human", "Any seats?"],
      ["ai", ""],
      ["tool", "F7"],
      ["ai", "F7 is free."],
    ]);
    expect(back[1]?.tool_calls).toMatchObject([{ id: "c1", name: "seats", args: { row: "F" } }]);
    expect(await historyOf("tools", maitred.for({ user: "other" })).getMessages()).toEqual([]);
    await history.clear();
    expect(await history.getMessages()).toEqual([]);
    expect(await maitred.history.residue(rosa.owner)).toBe(0);
    expect(await rosa.sessions.get({ thread: "tools" })).toMatchObject({ message_count: 0 });
    await history.addUserMessage("Hello again");
    expect(await history.getMessages()).toHaveLength(1);
  });

  test("what was said in the thread without LangChain is a message too", async () => {
    await rosa.chat("Good evening.", { thread: "mixed" });
    await historyOf("mixed").addUserMessage("And now?");
    expect((await historyOf("mixed").getMessages()).map((message) => message.getType())).toEqual(["human", "ai", "human"]);
  });
});
