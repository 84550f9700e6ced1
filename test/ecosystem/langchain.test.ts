import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chatMessageHistory, type LangChain } from "../../src/langchain.js";
import { type Owner, ownerOf } from "../../src/owner.js";
import { openLog } from "../support/conversation-log.js";
import { ecosystemInstalled, loadFromEcosystem } from "../support/ecosystem.js";

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
  ToolMessage: new (fields: object) => Message;
}

describe.skipIf(!ecosystemInstalled)("@langchain/core with a Maitred history", () => {
  let opened: Awaited<ReturnType<typeof openLog>>;
  let core: Core;
  const owner = ownerOf("test", "rosa");
  beforeEach(async () => {
    opened = await openLog();
    core = {
      ...((await loadFromEcosystem("@langchain/core/chat_history")) as Pick<Core, "BaseListChatMessageHistory">),
      ...((await loadFromEcosystem("@langchain/core/messages")) as Omit<Core, "BaseListChatMessageHistory">),
    };
  });
  afterEach(() => opened.close());

  const historyOf = (sessionId: string, whose: Owner = owner) => chatMessageHistory(core, { log: opened.log, owner: whose, sessionId });

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
    expect((await opened.history.search(owner, { query: "jazz", limit: 1 }))[0]?.content).toContain("I love jazz");
  });

  test("messages come back as they were, tool calls and all; clearing leaves nothing", async () => {
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
    expect(await historyOf("tools", ownerOf("test", "other")).getMessages()).toEqual([]);
    await history.clear();
    expect(await history.getMessages()).toEqual([]);
    expect(await opened.history.residue(owner)).toBe(0);
  });
});
