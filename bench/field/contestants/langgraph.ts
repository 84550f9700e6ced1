import { createRequire } from "node:module";
import { join } from "node:path";
import OpenAI from "openai";
import { questionOf } from "../../recall/memory-texts.js";
import type { Contestant, Prepared, Setting } from "../contestant.js";
import {
  DIMENSION,
  embed,
  expectFound,
  FOUND,
  INSTRUCTIONS,
  leftOut,
  loadMemories,
  messageOf,
  roundOf,
  roundsOf,
  type Said,
  WINDOW_MESSAGES,
} from "../data.js";
import { load } from "../load.js";

/** The parts of LangGraph that are used. */
interface Message {
  readonly type: string;
  readonly content: unknown;
}
interface Store {
  put(namespace: string[], key: string, value: object): Promise<void>;
  batch(operations: object[]): Promise<unknown>;
  search(namespace: string[], options: { query: string; limit: number }): Promise<{ value: { text: string } }[]>;
}
interface Graph {
  invoke(input: object, config: object): Promise<{ messages: Message[] }>;
  getState(config: object): Promise<{ values: { messages: Message[] } }>;
  updateState(config: object, values: object, asNode: string): Promise<unknown>;
}
interface Builder {
  addNode(name: string, node: (state: { messages: Message[] }, config: { store?: Store }) => Promise<object>): Builder;
  addEdge(from: string, to: string): Builder;
  compile(options: object): Graph;
}
interface LangGraph {
  StateGraph: new (annotation: unknown) => Builder;
  MessagesAnnotation: unknown;
  InMemoryStore: new (options: object) => Store;
  START: string;
  END: string;
}

/** The project's own build of the driver: packages of this folder run no install scripts. */
const Database = createRequire(new URL("../../../package.json", import.meta.url))("better-sqlite3") as typeof import("better-sqlite3");
const GUEST = ["memories", "guest-0"];
const THREAD = { configurable: { thread_id: "session" } };

/** LangGraph's checkpointer on SQLite, and the one store that it has without a server, which is in memory. */
export const contestant: Contestant = {
  window: async (setting) => {
    const { graph, close } = await openGraph(setting, null);
    return {
      keeps: "written",
      note: "the whole state is read, the last messages are cut from it",
      operation: async () => expectFound((await graph.getState(THREAD)).values.messages.slice(-WINDOW_MESSAGES), WINDOW_MESSAGES),
      close,
    };
  },
  append: async (setting) => {
    const { graph, close } = await openGraph(setting, null);
    return {
      keeps: "written",
      note: "a checkpoint holds the whole conversation",
      operation: async (n) => void (await graph.updateState(THREAD, { messages: roundOf(n) }, "model")),
      close,
    };
  },
  recall: (setting) => recall(setting, setting.sizes.memories),
  recallAmongMany: (setting) => recall(setting, setting.sizes.memoriesOfAll),
  turn: (setting) => turns(setting, false),
  turnWithMemory: (setting) => turns(setting, true),
};

/** A session with its rounds: one node that calls the model, with the store's memories where there is a store. */
async function openGraph({ dir, modelUrl, sizes }: Setting, store: Store | null): Promise<{ graph: Graph; close: () => Promise<void> }> {
  const { StateGraph, MessagesAnnotation, START, END } = (await load("@langchain/langgraph")) as LangGraph;
  const { SqliteSaver } = (await load("@langchain/langgraph-checkpoint-sqlite")) as { SqliteSaver: new (db: unknown) => object };
  const db = new Database(join(dir, "checkpoints.db"));
  const model = new OpenAI({ apiKey: "none", baseURL: modelUrl });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("model", async (state, config) => {
      const window = state.messages.slice(-WINDOW_MESSAGES - 1).map(plain);
      const question = window.at(-1)?.content ?? "";
      const known = (await config.store?.search(GUEST, { query: question, limit: FOUND })) ?? [];
      const system = `${INSTRUCTIONS}\n${known.map(({ value }) => `- ${value.text}`).join("\n")}`;
      const answer = await model.chat.completions.create({ model: "stub", messages: [{ role: "system", content: system }, ...window] });
      await config.store?.put(GUEST, `said-${state.messages.length}`, { text: question });
      return { messages: [{ role: "assistant", content: answer.choices[0]?.message.content ?? "" }] };
    })
    .addEdge(START, "model")
    .addEdge("model", END)
    .compile({ checkpointer: new SqliteSaver(db), ...(store !== null && { store }) });
  await graph.updateState(THREAD, { messages: roundsOf(sizes.rounds) }, "model");
  return {
    graph,
    close: async () => {
      db.close();
    },
  };
}

function plain({ type, content }: Message): Said {
  return { role: type === "human" ? "user" : "assistant", content: String(content) };
}

async function openStore({ sizes, loadMs }: Setting, wanted: number): Promise<{ store: Store; loaded: number }> {
  const { InMemoryStore } = (await load("@langchain/langgraph")) as LangGraph;
  const embeddings = { embedQuery: embed, embedDocuments: (texts: string[]) => Promise.all(texts.map(embed)) };
  const store = new InMemoryStore({ index: { dims: DIMENSION, embeddings, fields: ["text"] } });
  const loaded = await loadMemories({ to: wanted, each: sizes.memories, loadMs }, async (memories) => {
    await store.batch(memories.map(({ n, user, text }) => ({ namespace: ["memories", user], key: `m-${n}`, value: { text } })));
  });
  return { store, loaded };
}

async function recall(setting: Setting, wanted: number): Promise<Prepared> {
  const { store, loaded } = await openStore(setting, wanted);
  return {
    keeps: "in memory",
    ...leftOut(loaded, wanted),
    operation: async (n) => expectFound(await store.search(GUEST, { query: questionOf(n), limit: FOUND })),
    close: async () => undefined,
  };
}

async function turns(setting: Setting, withMemory: boolean): Promise<Prepared> {
  const opened = withMemory ? await openStore(setting, setting.sizes.memories) : null;
  const { graph, close } = await openGraph(setting, opened?.store ?? null);
  return {
    keeps: "written",
    ...(withMemory && { note: "the conversation is written, what is remembered is in memory" }),
    operation: async (n) => {
      const { messages } = await graph.invoke({ messages: [{ role: "user", content: messageOf(n) }] }, THREAD);
      expectFound(messages.slice(-1), 1);
    },
    close,
  };
}
