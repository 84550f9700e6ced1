import { join } from "node:path";
import { questionOf } from "../../recall/memory-texts.js";
import type { Contestant, Prepared, Setting } from "../contestant.js";
import { embed, expectFound, FOUND, INSTRUCTIONS, leftOut, loadMemories, messageOf, roundOf, type Said, WINDOW_MESSAGES } from "../data.js";
import { load } from "../load.js";

/** The parts of Mastra that are used. */
interface Memory {
  saveThread(options: { thread: object }): Promise<unknown>;
  saveMessages(options: { messages: object[] }): Promise<unknown>;
  recall(options: object): Promise<{ messages: object[] }>;
}
interface Packages {
  Memory: new (options: object) => Memory;
  LibSQLStore: new (options: object) => object;
  LibSQLVector: new (options: object) => object;
  Agent: new (options: object) => { generate(message: string, options: object): Promise<{ text: string }> };
}

const GUEST = "guest-0";
const THREAD = "session";
const RECALL = { topK: FOUND, messageRange: 0, scope: "resource" };

/** Mastra's memory on LibSQL: messages, and an index of their vectors where they are recalled by meaning. */
export const contestant: Contestant = {
  window: async (setting) => {
    const memory = await open(setting, false);
    await converse(memory, setting.sizes.rounds);
    const window = { threadId: THREAD, resourceId: GUEST, perPage: WINDOW_MESSAGES };
    return {
      keeps: "written",
      operation: async () => expectFound((await memory.recall(window)).messages, WINDOW_MESSAGES),
      close: async () => undefined,
    };
  },
  append: async (setting) => {
    const memory = await open(setting, false);
    await converse(memory, setting.sizes.rounds);
    return {
      keeps: "written",
      operation: async (n) => void (await memory.saveMessages({ messages: roundOf(n).map(messageAt(setting.sizes.rounds + n)) })),
      close: async () => undefined,
    };
  },
  recall: (setting) => recall(setting, setting.sizes.memories),
  recallAmongMany: (setting) => recall(setting, setting.sizes.memoriesOfAll),
  history: async (setting) => {
    const memory = await open(setting, true);
    await converse(memory, setting.sizes.rounds);
    return { keeps: "written", operation: (n) => search(memory, messageOf(n)), close: async () => undefined };
  },
  turn: (setting) => turns(setting, false),
  turnWithMemory: (setting) => turns(setting, true),
};

async function open({ dir }: Setting, semantic: boolean): Promise<Memory> {
  const { Memory } = (await load("@mastra/memory")) as Packages;
  const { LibSQLStore, LibSQLVector } = (await load("@mastra/libsql")) as Packages;
  const url = `file:${join(dir, "mastra.db")}`;
  return new Memory({
    storage: new LibSQLStore({ id: "storage", url }),
    ...(semantic && { vector: new LibSQLVector({ id: "vector", url }), embedder: EMBEDDER }),
    options: { lastMessages: WINDOW_MESSAGES, semanticRecall: semantic && RECALL },
  });
}

/** As the AI SDK wants one. */
const EMBEDDER = {
  specificationVersion: "v2",
  provider: "bench",
  modelId: "hashing",
  maxEmbeddingsPerCall: 1_000,
  supportsParallelCalls: true,
  doEmbed: async ({ values }: { values: string[] }) => ({ embeddings: await Promise.all(values.map(embed)) }),
};

async function converse(memory: Memory, rounds: number): Promise<void> {
  await begin(memory, THREAD, GUEST);
  const messages = Array.from({ length: rounds }, (_, n) => roundOf(n).map(messageAt(n))).flat();
  for (let from = 0; from < messages.length; from += 200) await memory.saveMessages({ messages: messages.slice(from, from + 200) });
}

async function begin(memory: Memory, thread: string, resource: string): Promise<void> {
  const now = new Date();
  await memory.saveThread({ thread: { id: thread, resourceId: resource, title: "", createdAt: now, updatedAt: now, metadata: {} } });
}

function messageAt(round: number) {
  return ({ role, content }: Said, place: number) => message({ id: `r${round}-${place}`, at: round * 2 + place, role, text: content });
}

function message({ id, at, role, text, user = GUEST }: { id: string; at: number; role: string; text: string; user?: string }): object {
  const thread = user === GUEST ? THREAD : `session of ${user}`;
  const content = { format: 2, parts: [{ type: "text", text }], content: text };
  return { id, role, type: "text", threadId: thread, resourceId: user, createdAt: new Date(Date.UTC(2026, 0, 1) + at * 1_000), content };
}

/** What is remembered lies in messages: it has no memories beside them. */
async function remember(memory: Memory, { sizes, loadMs }: Setting, wanted: number): Promise<number> {
  for (let n = 0; n < wanted; n += sizes.memories) {
    const user = `guest-${n / sizes.memories}`;
    await begin(memory, user === GUEST ? THREAD : `session of ${user}`, user);
  }
  const load = async (memories: readonly { readonly n: number; readonly user: string; readonly text: string }[]) => {
    const messages = memories.map(({ n, user, text }) => message({ id: `m${n}`, at: n, role: "user", text, user }));
    await memory.saveMessages({ messages });
  };
  const own = await loadMemories({ to: sizes.memories, each: sizes.memories, loadMs: Number.POSITIVE_INFINITY }, load);
  return loadMemories({ from: own, to: wanted, each: sizes.memories, loadMs }, load);
}

async function search(memory: Memory, question: string): Promise<void> {
  const { messages } = await memory.recall({ threadId: THREAD, resourceId: GUEST, perPage: 0, vectorSearchString: question });
  expectFound(messages);
}

async function recall(setting: Setting, wanted: number): Promise<Prepared> {
  const memory = await open(setting, true);
  const loaded = await remember(memory, setting, wanted);
  return {
    keeps: "written",
    ...leftOut(loaded, wanted),
    operation: (n) => search(memory, questionOf(n)),
    close: async () => undefined,
  };
}

async function turns(setting: Setting, semantic: boolean): Promise<Prepared> {
  const { Agent } = (await load("@mastra/core/agent")) as Packages;
  const memory = await open(setting, semantic);
  if (semantic) await remember(memory, setting, setting.sizes.memories);
  else await converse(memory, setting.sizes.rounds);
  const agent = new Agent({
    id: "desk",
    name: "Desk",
    instructions: INSTRUCTIONS,
    model: { providerId: "stub", modelId: "stub", url: setting.modelUrl, apiKey: "none" },
    memory,
  });
  return {
    keeps: "written",
    ...(semantic && { note: "what is remembered are the messages themselves; no model reads them" }),
    operation: async (n) => {
      const { text } = await agent.generate(messageOf(n), { memory: { thread: THREAD, resource: GUEST } });
      if (text === "") throw new Error("there was no answer");
    },
    close: async () => undefined,
  };
}
