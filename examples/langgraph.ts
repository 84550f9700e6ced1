/**
 * LangGraph with Maitred as its store: what one thread was told, the next one knows. A scripted model stands where yours would, so that
 * this runs without a key: `npm install maitred @langchain/langgraph @langchain/core`, then `npx tsx examples/langgraph.ts`.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { BaseStore, END, type LangGraphRunnableConfig, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createMaitred } from "maitred";
import { memoryStore } from "maitred/langchain";

/** Yours: `await model.invoke([new SystemMessage(prompt), ...messages])`. This one repeats what it was told of the guest. */
async function yourModel(prompt: string): Promise<string> {
  return prompt === "" ? "Very well." : `I know of you:\n${prompt}`;
}

async function agent({ messages }: typeof MessagesAnnotation.State, { store, configurable }: LangGraphRunnableConfig) {
  const message = messages.at(-1)?.text ?? "";
  // The user comes from the server's own sign-in, never from the model.
  const namespace = ["memories", String(configurable?.user)];
  const known = await store?.search(namespace, { query: message, limit: 5 });
  const answer = await yourModel((known ?? []).map(({ value }) => `- ${value.text}`).join("\n"));
  // As a tool of the model's would: one sentence that the guest said.
  if (message.startsWith("I prefer ")) await store?.put(namespace, crypto.randomUUID(), { text: message.replace("I prefer", "Prefers") });
  return { messages: [new AIMessage(answer)] };
}

const dir = await mkdtemp(join(tmpdir(), "maitred-langgraph-"));
const maitred = await createMaitred({ memoryStorageDir: dir, logLevel: "warn" });
try {
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("agent", agent)
    .addEdge(START, "agent")
    .addEdge("agent", END)
    .compile({
      checkpointer: new MemorySaver(),
      store: memoryStore({ BaseStore }, { maitred }),
    });
  const says = async (thread: string, content: string) => {
    const config = { configurable: { thread_id: thread, user: "ada" } };
    const answer = (await graph.invoke({ messages: [{ role: "user", content }] }, config)).messages.at(-1)?.text ?? "";
    console.log(`Guest: ${content}\nAgent: ${answer}\n`);
    return answer;
  };
  await says("first", "I prefer a table by the window");
  assert.match(await says("second", "Which table should you keep for me?"), /by the window/);
  console.log("The second thread knows what the first was told.");
} finally {
  await maitred.close();
  await rm(dir, { recursive: true });
}
